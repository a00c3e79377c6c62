"""Rows a second and GPU utilisation of the transformers backend against a bare loop, and against vLLM if installed.

    bash benches/gpu.sh                                  (all steps, under eight minutes on one recent GPU)
    python benches/gpu.py make FOLDER [--size medium]    a model of random weights, made on the spot
    python benches/gpu.py compare FOLDER [--rows 64] [--batch 8] [--tokens 64] [--pairs 3]
    python benches/gpu.py vllm FOLDER [--rows 64] [--tokens 64]

All sides answer the same rows (two noisy 1280x800 pictures each) with the same weights and the same number of tokens:
the end token can never win. Loading is outside the figures. Sides alternate within one process.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from PIL import Image, ImageDraw

from diffspot_hf.images import encode_png
from diffspot_hf.models.decoding import forget_pixels
from diffspot_hf.models.served.messages import messages
from diffspot_hf.models.tiny import build
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.types import Picture, Request

SIZES = {
    # (layers, width, inner width, heads) of the language half, then of the vision tower
    "tiny": None,
    "small": ((12, 1024, 4096, 16), (12, 768, 3072, 12)),
    "medium": ((24, 2048, 8192, 32), (27, 1152, 4304, 16)),
}
TILE, PATCH, QUESTION = 364, 14, "List what differs between these two screenshots."


def make(folder: Path, size: str) -> None:
    """An Idefics3 of random weights at `folder`; ``medium`` has about 2 billion, in the proportions of a real one."""
    import torch
    from transformers import AutoConfig, AutoProcessor, Idefics3ForConditionalGeneration

    tiny = build("idefics3", folder / "tiny")
    if SIZES[size] is None:
        shutil.copytree(tiny, folder / "model", dirs_exist_ok=True)
        return
    (layers, width, inner, heads), (see_layers, see_width, see_inner, see_heads) = SIZES[size]
    processor, config = AutoProcessor.from_pretrained(tiny), AutoConfig.from_pretrained(tiny)
    processor.image_processor.size = {"longest_edge": 4 * TILE}
    processor.image_processor.max_image_size = {"longest_edge": TILE}
    processor.image_seq_len = (TILE // PATCH) ** 2 // config.scale_factor**2
    text = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": inner, "head_dim": width // heads}
    text |= {"num_attention_heads": heads, "num_key_value_heads": heads // 4, "vocab_size": 49280}
    see = {"num_hidden_layers": see_layers, "hidden_size": see_width, "intermediate_size": see_inner}
    see |= {"num_attention_heads": see_heads, "image_size": TILE, "patch_size": PATCH}
    for part, values in ((config.text_config, text), (config.vision_config, see)):
        for name, value in values.items():
            setattr(part, name, value)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = Idefics3ForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        model.get_output_embeddings().weight[256:] = 0  # only letters ever win, never a control token
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.save_pretrained(folder / "model")
    processor.save_pretrained(folder / "model")
    print(f"{size}: {sum(p.numel() for p in model.parameters()) / 1e9:.2f} billion weights")


def rows(count: int) -> list[Request]:
    """`count` rows of two noisy pages; eight different pages are enough."""
    draw, pages = random.Random(0), []
    for _ in range(8):
        page = Image.new("RGB", (1280, 800), "white")
        pen = ImageDraw.Draw(page)
        for _ in range(400):
            x, y = draw.randrange(1280), draw.randrange(800)
            pen.rectangle([x, y, x + draw.randrange(120), y + 12], fill=tuple(draw.randrange(256) for _ in range(3)))
        pages.append(encode_png(page))
    pairs = ((pages[n % 8], pages[(n + 1) % 8]) for n in range(count))
    return [Request(f"row-{n}", (QUESTION, Picture(one), Picture(two))) for n, (one, two) in enumerate(pairs)]


class Watch:
    """Mean GPU utilisation in percent, and the largest memory in GiB, while the block runs; None without nvidia-smi."""

    def __enter__(self) -> Watch:
        self.busy: list[float] = []
        self.memory: list[float] = []
        self._process = None
        if shutil.which("nvidia-smi"):
            query = ["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
            self._process = subprocess.Popen([*query, "-lms", "200", "-i", "0"], stdout=subprocess.PIPE, text=True)
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        return self

    def _read(self) -> None:
        for line in self._process.stdout:
            busy, memory = line.split(",")
            self.busy.append(float(busy))
            self.memory.append(float(memory) / 1024)

    def __exit__(self, *_: Any) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._reader.join()

    def __str__(self) -> str:
        if not self.busy:
            return "GPU not watched"
        return f"GPU {statistics.mean(self.busy):3.0f} % busy, {max(self.memory):.1f} GiB"


def bare(model: TransformersModel, requests: list[Request], batch: int, tokens: int) -> int:
    """The loop one would write by hand; returns the number of answers."""
    import torch

    processor, weights, answers = model.processor, model.engine.model, []
    for start in range(0, len(requests), batch):
        chats = []
        for request in requests[start : start + batch]:
            pictures = [{"type": "image", "image": picture.rgb} for picture in request.pictures]
            chats.append([{"role": "user", "content": [{"type": "text", "text": request.text}, *pictures]}])
        inputs = processor.apply_chat_template(
            chats,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(weights.device, dtype=weights.dtype)
        with torch.inference_mode():
            out = weights.generate(**inputs, max_new_tokens=tokens, do_sample=False)
        answers += processor.batch_decode(out[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        for request in requests[start : start + batch]:
            forget_pixels(request)
    return len(answers)


def rate(action: Callable[[], int], count: int) -> tuple[float, Watch]:
    with Watch() as watch:
        began = time.perf_counter()
        answered = action()
        seconds = time.perf_counter() - began
    assert answered == count, f"{answered} of {count} rows were answered"
    return count / seconds, watch


def compare(folder: Path, count: int, batch: int, tokens: int, pairs: int) -> None:
    """Our model against the bare loop at `batch`, then against itself at batch 1."""
    requests = rows(count)
    model = TransformersModel(str(folder / "model"), batch_size=batch, max_new_tokens=tokens)
    model.load()
    print({key: model.describe()[part][key] for part, key in (("loaded", "dtype"), ("route", "device"))})

    def ours(size: int, some: list[Request]) -> int:
        model.engine.batch.now = size
        return sum(response.error is None for response in model.generate(some))

    ours(batch, requests[:batch])  # warm-up of both
    bare(model, requests[:batch], batch, tokens)
    ratios = []
    for pair in range(pairs):
        sides = {"ours": lambda: ours(batch, requests), "bare": lambda: bare(model, requests, batch, tokens)}
        found = {name: rate(sides[name], count) for name in (sides if pair % 2 else reversed(sides))}
        ratios.append(found["ours"][0] / found["bare"][0])
        for name, (speed, watch) in found.items():
            print(
                f"pair {pair + 1} {name}: batch {batch}, {speed:6.2f} rows/s, {speed * tokens:6.0f} tokens/s, {watch}"
            )
    print(f"ours / bare: median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    few = requests[: max(batch, count // 4)]
    speed, watch = rate(lambda: ours(1, few), len(few))
    print(f"ours alone: batch 1, {speed:6.2f} rows/s, {watch}")
    alone = [r.text for r in model.generate(few)]
    model.engine.batch.now = batch
    together = [r.text for r in model.generate(few)]
    same = sum(one == other for one, other in zip(alone, together, strict=True))
    print(f"{same} of {len(few)} replies are equal at batch 1 and batch {batch} (kernels depend on shapes)")


def vllm(folder: Path, count: int, tokens: int) -> None:
    """The same rows through vLLM's offline engine, all given at once."""
    from vllm import LLM, SamplingParams

    engine = LLM(str(folder / "model"), dtype="bfloat16", max_model_len=16384, limit_mm_per_prompt={"image": 2})
    sampling = SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True)
    chats = [messages(request) for request in rows(count)]
    engine.chat(chats[:2], sampling, use_tqdm=False)
    speed, watch = rate(lambda: len(engine.chat(chats, sampling, use_tqdm=False)), count)
    print(f"vllm: {speed:6.2f} rows/s, {speed * tokens:6.0f} tokens/s, {watch}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("make", "compare", "vllm"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=SIZES, default="medium")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=3)
    given = parser.parse_args()
    if given.step == "make":
        make(given.folder, given.size)
    elif given.step == "compare":
        compare(given.folder, given.rows, given.batch, given.tokens, given.pairs)
    else:
        vllm(given.folder, given.rows, given.tokens)


if __name__ == "__main__":
    main()
