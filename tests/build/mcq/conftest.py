"""Small photographs, a released copy of the benchmark made on the spot, and a small kit of objects."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw


@pytest.fixture(scope="session")
def photo() -> Image.Image:
    """Ground with a grain, 480 x 360, and a red disc at (240, 180) that edits can be about."""
    draw = np.random.default_rng(0)
    grain = draw.normal(0, 9, (360, 480, 1)) + np.linspace(0, 40, 480)[None, :, None]
    image = Image.fromarray(np.clip(np.array([96, 120, 70]) + grain, 0, 255).astype(np.uint8))
    ImageDraw.Draw(image).ellipse([226, 168, 254, 192], fill=(190, 40, 40))
    return image


@pytest.fixture(scope="session")
def as_jpeg() -> Callable[..., bytes]:
    """Encodes a picture: ``as_jpeg(image, quality)``."""

    def encode(image: Image.Image, quality: int = 88) -> bytes:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality)
        return out.getvalue()

    return encode


@pytest.fixture
def released(tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy in the released layout: ``released({file: [items]})`` returns its folder."""

    def make(files: dict[str, Any], index: Any = None) -> Path:
        root = tmp_path / "copy"
        (root / "questions").mkdir(parents=True)
        (root / "images").mkdir()
        for number in range(10):
            for end in ("", "-edited"):
                shade = (20 * number, 100, 150 if end else 90)
                Image.new("RGB", (64, 48), shade).save(root / f"images/{number}{end}.png")
        for name, items in files.items():
            text = items if isinstance(items, str) else json.dumps(items)
            (root / "questions" / name).write_text(text, encoding="utf-8")
        entries = {"datasets": [{"file": name} for name in files]} if index is None else index
        (root / "dataset_index.json").write_text(json.dumps(entries), encoding="utf-8")
        return root

    return make


@pytest.fixture(scope="session")
def tiny_flux(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a pipeline of random weights, of the flux editor's class and stored the way real ones are."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _save_tiny_flux(tmp_path_factory.mktemp("flux"))


def _save_tiny_flux(folder: Path) -> Path:
    import torch
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2KleinInpaintPipeline,
        Flux2Transformer2DModel,
    )
    from tokenizers import pre_tokenizers
    from transformers import Qwen2TokenizerFast, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: i for i, symbol in enumerate(alphabet)}
    for token in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"):
        vocabulary[token] = len(vocabulary)
    tokenizer = Qwen2TokenizerFast(vocab=vocabulary, merges=[])
    turn = "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    tokenizer.chat_template = "{% for message in messages %}" + turn + "{% endfor %}"
    text = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=8,
        )
    )
    transformer = Flux2Transformer2DModel(
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=48,
        timestep_guidance_channels=16,
        axes_dims_rope=(4, 4, 4, 4),
        guidance_embeds=False,
    )
    vae = AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        block_out_channels=(8,),
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=4,
    )
    pipeline = Flux2KleinInpaintPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=text,
        tokenizer=tokenizer,
        transformer=transformer,
        is_distilled=True,
    )
    pipeline.save_pretrained(folder)
    return folder
