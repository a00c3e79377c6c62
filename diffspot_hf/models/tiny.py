"""Tiny vision-language models of random weights, made on the spot without any network.

They are ordinary model folders that the Auto classes load, so they prove the whole path (processor, batching, padding,
generation, decoding) on any machine in seconds. Their replies are made-up letters: no score of theirs means anything.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..errors import UsageError, need
from . import tiny_recipes
from .hf.loading import quiet
from .tiny_recipes import ARCHITECTURES


def build(arch: str, out: str | Path, seed: int = 0) -> Path:
    """The folder `out`, now holding a model, a processor and a chat template of the architecture `arch`.

    The same seed gives the same weights under the same torch. Raises `UsageError` for an unknown `arch`, and for the
    Qwen ones when torchvision, which their processors need, is missing.
    """
    if arch not in ARCHITECTURES:
        raise UsageError(f"unknown tiny architecture {arch!r}: choose one of {', '.join(ARCHITECTURES)}")
    torch = need("torch", "vlm")
    need("transformers", "vlm")
    out = Path(out)
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            model, processor = ARCHITECTURES[arch]()
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"tiny {arch} cannot be built here ({error}): its processor needs a torchvision that matches torch"
            ) from error
        _make_readable(model, processor.tokenizer)
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    with quiet():
        model.save_pretrained(out)
        processor.save_pretrained(out)
    return out


def tiny_vlm_folder(arch: str = "idefics3", seed: int = 0) -> Path:
    """The folder of the built-in model `tiny-vlm`, built at the first call and kept in the user's cache.

    Several processes may ask at once: each builds beside the final name and the first to finish puts its own there.
    """
    torch, transformers = need("torch", "vlm"), need("transformers", "vlm")
    recipe = b"".join(Path(file).read_bytes() for file in (__file__, tiny_recipes.__file__))
    recipe += f"{torch.__version__} {transformers.__version__} {seed}".encode()
    target = _cache_root() / f"tiny-{arch}-{hashlib.sha256(recipe).hexdigest()[:12]}"
    if target.is_dir():
        return target
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        scratch.chmod(0o755)  # mkdtemp makes private folders; a cache is read by whoever shares it
        build(arch, scratch, seed)
        os.rename(scratch, target)
    except OSError:
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _cache_root() -> Path:
    """A folder that can be written: the user's cache, else the system's temporary folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "diffspot_hf"
    fallback = Path(tempfile.gettempdir()) / f"diffspot_hf-{os.environ.get('USER') or os.environ.get('USERNAME', '')}"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        home = fallback
    if not os.access(home, os.W_OK):
        home = fallback
    home.mkdir(parents=True, exist_ok=True)
    return home


def _make_readable(model: Any, tokenizer: Any) -> None:
    """Changes the random `model` so that its replies are printable, differ with the picture, and end by themselves.

    Small random weights all but ignore their input, which would make a test for mixed-up pictures blind. So the weights
    that look and attend are enlarged, letters outside printable ASCII are silenced, and the end token is made likelier.
    The factors are ours, found by counting distinct replies to pictures of plain colours.
    """
    torch = need("torch", "vlm")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2 or "embed_tokens" in name:
                continue
            if not weight.any():  # gemma3 begins with a projection of zeros, that is, blind
                weight.normal_(std=0.02)
            sees = any(part in name for part in ("vision", "connector", "projector"))
            weight.mul_(4.0 if "lm_head" in name else 8.0 if sees else 12.0)
        head = model.get_output_embeddings().weight
        printable = torch.zeros(len(head), 1)
        for letter in range(32, 127):
            printable[tokenizer.convert_tokens_to_ids(tokenizer.tokenize(chr(letter)))] = 1.0
        printable[tokenizer.eos_token_id] = 1.5
        head.mul_(printable)
