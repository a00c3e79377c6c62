"""A model that cannot be used is one line that says why, before any row is spent."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.models.hf.loading import pad_left
from diffspot_hf.models.hf.source import find, fingerprint
from diffspot_hf.models.transformers import TransformersModel

pytestmark = pytest.mark.vlm
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def torn_config(folder: Path) -> None:
    (folder / "config.json").write_text("{nope")


def text_only(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))


def unknown_architecture(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "brandnew"}))


def own_code(folder: Path) -> None:
    classes = {"AutoConfig": "own.Config", "AutoModelForImageTextToText": "own.Model"}
    (folder / "config.json").write_text(json.dumps({"model_type": "brandnew", "auto_map": classes}))


def no_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def no_processor(folder: Path) -> None:
    (folder / "processor_config.json").unlink()


def no_padding(folder: Path) -> None:
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(
        json.dumps({key: value for key, value in settings.items() if key not in ("pad_token", "eos_token")})
    )


def torn_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"x" * 100)


def missing_tensors(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    tensors = load_file(file)
    tensors.pop(next(name for name in tensors if "q_proj" in name))
    save_file(tensors, file, metadata={"format": "pt"})


FAULTS: list[tuple[Callable[[Path], None], str]] = [
    (no_weights, r"holds no weights"),
    (no_config, r"holds no config\.json"),
    (torn_config, r"not a valid JSON file"),
    (text_only, r"'llama' takes no images"),
    (unknown_architecture, r"`brandnew`"),
    (own_code, r"needs code from its own repository.*--trust-remote-code"),
    (no_template, r"has no chat template"),
    (no_processor, r"cannot be loaded|no processor of texts and images"),
    (no_padding, r"cannot pad"),
    (torn_weights, r"weights cannot be read"),
    (missing_tensors, r"1 tensors are missing"),
]


@pytest.mark.parametrize(("break_it", "message"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_a_folder_that_is_no_usable_model(tiny, tmp_path: Path, make_request, break_it, message: str) -> None:
    folder = Path(shutil.copytree(tiny("llava"), tmp_path / "model"))
    break_it(folder)
    with pytest.raises(UsageError, match=message) as caught:
        list(TransformersModel(str(folder), max_new_tokens=2).generate([make_request(0)]))
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("./nowhere", {}, "no such folder"),
        ("/nowhere/at/all", {}, "no such folder"),
        ("org/never-downloaded", {}, "not in the local cache"),
        ("org/never-downloaded", {"revision": "v2"}, "org/never-downloaded at v2: not in the local cache"),
        ("org/name", {"trust_remote_code": True}, "pin it with --revision"),
        ("org/name", {"trust_remote_code": True, "revision": "main"}, "pin it with --revision"),
        ("org/name", {"max_new_tokens": 0}, "--max-new-tokens 0"),
        ("org/name", {"batch_size": 0}, "--batch-size 0"),
        ("org/name", {"batch_size": "many"}, "--batch-size many"),
    ],
)
def test_a_call_that_cannot_work(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        TransformersModel(name, **options).describe()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int4"}, "--dtype int4: choose one of"),
        ({"attention": "sideways"}, "sideways"),
        ({"attention": "flash_attention_2"}, "FlashAttention2"),
        ({"revision": "main"}, "is a folder, it has no revisions"),
        ({"chat_template_kwargs": {"enable_thinking": True}}, "does not read enable_thinking"),
        ({"reasoning_effort": "high"}, "does not read reasoning_effort"),
    ],
)
def test_an_option_that_this_model_cannot_honour(tiny, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        TransformersModel(str(tiny("llava")), **options).load()
    assert "\n" not in str(caught.value)


def test_a_pinned_commit_admits_code_of_the_repository() -> None:
    assert TransformersModel("org/name", trust_remote_code=True, revision=COMMIT).trust_remote_code


@pytest.mark.skipif(importlib.util.find_spec("torchvision") is not None, reason="torchvision is here")
def test_missing_torchvision_comes_with_its_install_line(tiny, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny("llava"), tmp_path / "model"))
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_vl"}))
    (folder / "processor_config.json").unlink()
    images = {"image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen3VLProcessor"}
    (folder / "preprocessor_config.json").write_text(json.dumps(images))
    with pytest.raises(UsageError, match=r'needs torchvision: pip install "torchvision==0\.\d+\.\*"'):
        TransformersModel(str(folder)).load()


class RightPadding:
    """A tokenizer that takes the setting and pads on the right all the same."""

    pad_token_id, padding_side = 0, "right"

    def __call__(self, texts: list[str], padding: bool) -> dict[str, list[list[int]]]:
        longest = max(map(len, texts))
        return {"attention_mask": [[1] * len(text) + [0] * (longest - len(text)) for text in texts]}


def test_a_tokenizer_that_pads_right_is_refused_by_what_it_does() -> None:
    with pytest.raises(UsageError, match="cannot pad on the left"):
        pad_left(RightPadding(), "right-padder")


def test_the_fingerprint_tells_checkpoints_apart(tiny, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny("llava"), tmp_path / "model"))
    first = fingerprint(folder)
    assert find(str(folder)).revision == first == fingerprint(tiny("llava"))
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert fingerprint(folder) != first


def test_large_files_are_sampled_at_head_middle_and_tail(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    data = bytearray(9 << 20)
    prints = set()
    for place in (None, 0, len(data) // 2, len(data) - 1):
        changed = bytearray(data)
        if place is not None:
            changed[place] = 1
        file.write_bytes(changed)
        prints.add(fingerprint(tmp_path))
    assert len(prints) == 4


def test_a_hub_id_is_pinned_to_one_commit_and_needs_no_network_once_cached(tiny, tmp_path: Path, monkeypatch) -> None:
    repository = tmp_path / "models--org--tiny"
    shutil.copytree(tiny("llava"), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for revision in (None, "main", COMMIT):
        assert TransformersModel("org/tiny", revision=revision).describe()["revision"] == COMMIT
    model = TransformersModel("org/tiny", max_new_tokens=2)
    model.load()
    assert model.describe()["loaded"]["architecture"] == "LlavaForConditionalGeneration"


def test_describing_a_folder_imports_no_torch(tiny) -> None:
    code = f"""
import sys
from diffspot_hf.models.transformers import TransformersModel
TransformersModel({str(tiny("llava"))!r}).describe()
print([name for name in ("torch", "transformers", "accelerate") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "a finished run would pay for loading"
