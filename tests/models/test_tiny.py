"""The tiny models: made offline, ordinary folders, and sensitive to what they are shown."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
from pathlib import Path

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.models import tiny as tiny_module
from diffspot_hf.models.hf.source import fingerprint
from diffspot_hf.models.tiny import build, tiny_vlm_folder
from diffspot_hf.models.transformers import TransformersModel

pytestmark = pytest.mark.vlm
ARCHITECTURES = ("idefics3", "llava", "gemma3")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_tiny_model_is_an_ordinary_folder(tiny, arch: str) -> None:
    names = {file.name for file in tiny(arch).iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= names
    assert sum(file.stat().st_size for file in tiny(arch).iterdir()) < 1_000_000


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_replies_are_printable_and_depend_on_the_pictures(tiny, arch: str, make_request) -> None:
    model = TransformersModel(str(tiny(arch)), batch_size=8, max_new_tokens=12)
    same_text = [make_request(n) for n in range(8)]
    same_text = [type(r)(r.id, ("What differs?", *r.pictures)) for r in same_text]
    replies = [response.text for response in model.generate(same_text)]
    assert all(reply.isascii() and reply.isprintable() for reply in replies)
    assert len(set(replies)) >= 4, "replies hardly depend on the pictures: a mix-up would go unnoticed"


def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    prints = [fingerprint(build("llava", tmp_path / name, seed)) for name, seed in (("a", 0), ("b", 0), ("c", 1))]
    assert prints[0] == prints[1] != prints[2]


def test_building_leaves_the_callers_random_numbers_alone(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    build("llava", tmp_path / "model")
    assert torch.equal(torch.rand(3), expected)


def test_unknown_architecture_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'clip'.*idefics3.*gemma3"):
        build("clip", tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.skipif(importlib.util.find_spec("torchvision") is not None, reason="torchvision is here")
def test_without_torchvision_qwen_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="torchvision"):
        build("qwen3_vl", tmp_path / "model")
    assert not (tmp_path / "model").exists()


def _folder_in_cache(cache: str, answers) -> None:
    os.environ["XDG_CACHE_HOME"] = cache
    answers.put(str(tiny_vlm_folder("llava")))


def test_several_ranks_may_build_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    ranks = [context.Process(target=_folder_in_cache, args=(str(tmp_path), answers)) for _ in range(3)]
    for rank in ranks:
        rank.start()
    folders = {answers.get(timeout=60) for _ in ranks}
    for rank in ranks:
        rank.join()
    assert len(folders) == 1
    assert [entry.name for entry in (tmp_path / "diffspot_hf").iterdir()] == [Path(folders.pop()).name], "leftovers"


def test_the_cache_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = tiny_vlm_folder("llava")
    monkeypatch.setattr(tiny_module, "build", lambda *_: pytest.fail("built again"))
    assert tiny_vlm_folder("llava") == first


def test_a_cache_that_cannot_be_written_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert tiny_vlm_folder("llava").parent.name.startswith("diffspot_hf-")


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def half_built(arch: str, out: Path, seed: int) -> None:
        (out / "config.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(tiny_module, "build", half_built)
    with pytest.raises(KeyboardInterrupt):
        tiny_vlm_folder("llava")
    assert list((tmp_path / "diffspot_hf").iterdir()) == []
