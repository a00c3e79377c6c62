"""Page packages fetched through the npm client, checked against pinned checksums, and unpacked without trust.

A fetched package lies in ``OUT/<slug>/``: ``package/`` (its files), ``LICENCE.txt`` and ``source.json``. The last is
written before the folder gets its name, so a folder that has its name is whole, and an interrupted fetch is continued
by the same call.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from ...errors import MissingExtra, UsageError
from .sources import Source, known_sources, select

PACK_SECONDS = 600
MAX_FILES = 50_000
MAX_BYTES = 1 << 30
"""Limits of one unpacked package (our choice, an order of magnitude above the largest of the table)."""

Packer = Callable[[Source, Path], Path]
"""Puts the packed form of a source into a folder and returns its path."""


@dataclass(frozen=True)
class Fetched:
    """One package on disk."""

    source: Source
    folder: Path
    fresh: bool  # False: it was there already

    @property
    def package(self) -> Path:
        return self.folder / "package"


def fetch(
    names: Iterable[str] = (),
    out: Path | str = "pages/fetched",
    *,
    pack: Packer | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Fetched]:
    """The packages of `names` (default: the whole table) with what they use, fetched into `out` where they are missing.

    `pack` brings the packed file (default: ``npm pack`` with whatever registry the client is set up for). Raises
    `MissingExtra` without npm, and `UsageError` for an unknown name, a package that cannot be had, a wrong checksum,
    or an archive that does not keep to its folder.
    """
    return fetch_sources(select(names), out, pack=pack, progress=progress)


def fetch_sources(
    sources: Iterable[Source],
    out: Path | str,
    *,
    pack: Packer | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Fetched]:
    """As `fetch`, for given `sources`."""
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror}; give another --out") from error
    done = []
    for source in sources:
        folder = out / source.slug
        if _is_whole(folder, source):
            progress(f"{source.spec}: already there")
            done.append(Fetched(source, folder, fresh=False))
            continue
        progress(f"{source.spec}: fetching")
        with tempfile.TemporaryDirectory(prefix=f".{source.slug}-", dir=out) as scratch:
            archive = (pack or npm_pack)(source, Path(scratch))
            check(archive, source)
            ready = Path(scratch) / "ready"
            unpack(archive, ready / "package")
            _write_licence(source, ready)
            (ready / "source.json").write_text(
                json.dumps(asdict(source), indent=1, ensure_ascii=False), encoding="utf-8"
            )
            if folder.exists():
                shutil.rmtree(folder)  # another version, or one that was not finished by an older release
            ready.rename(folder)
        done.append(Fetched(source, folder, fresh=True))
    return done


def npm_pack(source: Source, folder: Path) -> Path:
    """The packed file of `source`, brought into `folder` by the npm client."""
    npm = shutil.which("npm")
    if npm is None:
        raise MissingExtra(
            "npm is needed to fetch page packages: install Node.js with npm (Debian: apt-get install npm)"
        )
    command = [npm, "pack", source.spec, "--pack-destination", str(folder.resolve()), "--ignore-scripts", "--silent"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PACK_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"npm did not bring {source.spec} within {PACK_SECONDS} s; try again later") from error
    found = sorted(folder.glob("*.tgz"))
    if done.returncode or len(found) != 1:
        # --silent hides npm's own message, and without it npm prints a page; ask once more only to be able to say why.
        again = subprocess.run(
            [npm, "view", source.spec, "version", "--loglevel=error"], capture_output=True, text=True, check=False
        )
        lines = [line for line in again.stderr.splitlines() if line.strip() and "complete log" not in line]
        why = lines[0].removeprefix("npm error ").strip() if lines else f"npm ended with {done.returncode}"
        raise UsageError(
            f"npm could not bring {source.spec} ({why}); check the network and the client's registry setting"
        )
    return found[0]


def check(archive: Path, source: Source) -> None:
    """Nothing, or a `UsageError` when the SHA-256 of `archive` is not the pinned one."""
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != source.sha256:
        raise UsageError(
            f"{source.spec}: not the pinned package (sha256 {found}, expected {source.sha256}); nothing was unpacked"
        )


def unpack(archive: Path, folder: Path) -> None:
    """Nothing: the files of a packed npm package lie in `folder`, without the archive's own top folder.

    Only plain files and folders are taken. A link, a device, a path that leaves the folder, or more than `MAX_FILES`
    files or `MAX_BYTES` bytes is a `UsageError`, and what was written so far is of no use.
    """
    files = size = 0
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts or "\0" in member.name or "\\" in member.name:
                    raise UsageError(f"{archive.name}: refused, {member.name!r} does not stay inside the package")
                if member.isdir():
                    continue
                if not member.isreg():
                    raise UsageError(f"{archive.name}: refused, {member.name!r} is a link or a device")
                files, size = files + 1, size + member.size
                if files > MAX_FILES or size > MAX_BYTES:
                    raise UsageError(f"{archive.name}: refused, more than {MAX_FILES} files or {MAX_BYTES >> 20} MB")
                target = folder.joinpath(*path.parts[1:] or path.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(member)
                assert content is not None  # it is a plain file
                with target.open("wb") as out:
                    shutil.copyfileobj(content, out)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UsageError(f"{archive.name}: cannot be unpacked ({error})") from error
    if not files:
        raise UsageError(f"{archive.name}: holds no files")


def fetched_in(folder: Path) -> list[Fetched]:
    """The packages that lie in `folder`, sorted by name; an empty list when it is no folder of fetched packages."""
    found = []
    for record in sorted(Path(folder).glob("*/source.json")):
        try:
            fields = json.loads(record.read_text(encoding="utf-8"))
            source = Source.read(fields)
            # What the table says of a package today (its pages, what they lack) holds for one fetched yesterday too.
            current = known_sources().get(source.spec)
            if current is not None and current.sha256 == source.sha256:
                source = current
        except (ValueError, TypeError) as error:
            raise UsageError(f"{record} cannot be read ({error}); remove its folder and fetch again") from error
        found.append(Fetched(source, record.parent, fresh=False))
    return found


def _is_whole(folder: Path, source: Source) -> bool:
    try:
        fields = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return [fields.get(key) for key in ("name", "version", "sha256")] == [source.name, source.version, source.sha256]


def _write_licence(source: Source, ready: Path) -> None:
    text = ready / "package" / source.licence_file
    if not text.is_file():
        raise UsageError(f"{source.spec}: its licence file {source.licence_file} is missing; nothing was kept")
    shutil.copyfile(text, ready / "LICENCE.txt")
