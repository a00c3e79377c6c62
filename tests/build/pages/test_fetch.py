"""Packages are fetched whole, checked against their pin, and unpacked inside their folder, or not at all."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tarfile

import pytest

from diffspot_hf.build.pages import fetch as fetching
from diffspot_hf.build.pages.fetch import fetch, fetch_sources, fetched_in
from diffspot_hf.build.pages.sources import known_aliases, known_sources, select
from diffspot_hf.errors import MissingExtra, UsageError


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_a_fetched_package_has_its_files_licence_and_record(make_source, tmp_path):
    source, pack = make_source({"index.html": b"<p>hello", "css/a.css": b"p{}"})
    [done] = fetch_sources([source], tmp_path, pack=pack)
    assert done.fresh
    assert (done.package / "css/a.css").read_bytes() == b"p{}"
    assert (done.folder / "LICENCE.txt").read_text() == "Do as you like.\n"
    assert json.loads((done.folder / "source.json").read_text())["sha256"] == source.sha256
    assert [one.source for one in fetched_in(tmp_path)] == [source]


def test_what_is_there_is_not_fetched_again(make_source, tmp_path):
    source, pack = make_source({"index.html": b"x"})
    fetch_sources([source], tmp_path, pack=pack)
    [again] = fetch_sources([source], tmp_path, pack=pack)
    assert not again.fresh
    assert pack.calls == [source.spec]


def test_an_interrupted_fetch_is_done_anew(make_source, tmp_path):
    source, pack = make_source({"index.html": b"x"})
    half = tmp_path / source.slug / "package"
    half.mkdir(parents=True)
    (half / "index.html").write_text("half")
    [done] = fetch_sources([source], tmp_path, pack=pack)
    assert done.fresh
    assert (half / "index.html").read_text() == "x"


def test_another_package_than_the_pinned_one_is_refused_unopened(make_source, tmp_path):
    source, pack = make_source({"index.html": b"x"})
    other = dataclasses.replace(source, sha256="0" * 64)
    with pytest.raises(UsageError, match="not the pinned package"):
        fetch_sources([other], tmp_path, pack=pack)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "member",
    [
        pytest.param({"../../escaped.txt": b"x"}, id="path-climbs-out"),
        pytest.param({"x": entry("/etc/escaped", tarfile.REGTYPE)}, id="absolute-path"),
        pytest.param({"x": entry("package/link", tarfile.SYMTYPE, "/etc/passwd")}, id="symbolic-link"),
        pytest.param({"x": entry("package/link", tarfile.LNKTYPE, "package/LICENSE")}, id="hard-link"),
        pytest.param({"x": entry("package/pipe", tarfile.FIFOTYPE)}, id="device"),
        pytest.param({"a\\..\\b": b"x"}, id="backslashes"),
    ],
)
def test_an_archive_that_does_not_keep_to_its_folder_is_refused(make_source, tmp_path, member):
    source, pack = make_source(member)
    out = tmp_path / "deep" / "out"
    with pytest.raises(UsageError, match="refused"):
        fetch_sources([source], out, pack=pack)
    assert not list(out.iterdir())
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_BYTES"])
def test_an_archive_that_unpacks_without_end_is_refused(make_source, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(fetching, limit, 1)
    source, pack = make_source({"a.html": b"x" * 100})
    with pytest.raises(UsageError, match="refused, more than"):
        fetch_sources([source], tmp_path, pack=pack)


def test_a_broken_archive_is_an_error_that_names_it(make_source, tmp_path):
    source, _ = make_source({"a.html": b"x"})

    def cut(wanted, folder):
        file = folder / "cut.tgz"
        file.write_bytes(b"\x1f\x8b no")
        return file

    monkey = dataclasses.replace(source, sha256=__import__("hashlib").sha256(b"\x1f\x8b no").hexdigest())
    with pytest.raises(UsageError, match="cut.tgz: cannot be unpacked"):
        fetch_sources([monkey], tmp_path, pack=cut)


def test_a_package_without_its_licence_text_is_not_kept(make_source, tmp_path):
    source, pack = make_source({"a.html": b"x"}, licence_file="COPYING")
    with pytest.raises(UsageError, match="licence file COPYING is missing"):
        fetch_sources([source], tmp_path, pack=pack)
    assert not list(tmp_path.iterdir())


def test_without_npm_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="npm is needed"):
        fetch(["admin-lte"], tmp_path)


def test_npm_that_cannot_bring_a_package_is_one_line_with_its_reason(tmp_path, monkeypatch):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error code E404' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(npm))
    with pytest.raises(UsageError, match=r"npm could not bring admin-lte@3.2.0 \(code E404\)"):
        fetch(["admin-lte"], tmp_path / "out")


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match="no page package named 'nosuch'; known are: gentelella"):
        fetch(["nosuch"], tmp_path)


def test_out_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        fetch(["admin-lte"], tmp_path / "file" / "out")


def test_selecting_brings_what_the_pages_need_once():
    specs = [source.spec for source in select(["tabler-ui", "tabler-ui", "material-kit"])]
    assert specs == ["tabler-ui@0.0.34", "material-kit@2.0.4", "font-awesome@4.7.0", "material-icons@1.13.14"]


def test_the_table_is_whole():
    known = known_sources()
    assert all(need in known for source in known.values() for need in source.needs)
    assert all(alias.package in known for alias in known_aliases())
    assert all(len(source.sha256) == 64 and source.licence and source.copyright for source in known.values())
    assert {source.licence for source in known.values() if source.role == "pages"} == {"MIT"}
    assert len({source.slug for source in known.values()}) == len(known)


def test_the_notice_names_every_package(repo):
    notice = (repo / "NOTICE").read_text(encoding="utf-8")
    lacking = [
        source.spec
        for source in known_sources().values()
        if f"{source.name} {source.version}" not in notice or source.copyright not in notice
    ]
    assert not lacking
