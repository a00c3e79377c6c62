"""What does the runner cost? `run` with everything it promises against a bare hand-written loop, same model, same rows.

Both sides decode the same pictures, use the same processor and weights and the same batches; loading and imports are
outside. The bare side keeps its answers in a list; ours stores, keys, checks, records and can be killed. Sides
alternate, and the figures are ratios within one run: ``python benches/runner.py [--seconds 60] [--pairs 7]``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from PIL import Image, ImageDraw

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run

BATCH, TOKENS, SIZE = 8, 32, (1280, 800)


def make_rows(folder: Path, n: int) -> Path:
    """`n` pairs of noisy 1280x800 pages, as JSONL and PNG; eight different pictures are enough."""
    (folder / "images").mkdir(parents=True)
    draw = random.Random(0)
    for i in range(8):
        page = Image.new("RGB", SIZE, "white")
        pen = ImageDraw.Draw(page)
        for _ in range(400):
            x, y = draw.randrange(SIZE[0]), draw.randrange(SIZE[1])
            pen.rectangle([x, y, x + draw.randrange(120), y + 12], fill=tuple(draw.randrange(256) for _ in range(3)))
        page.save(folder / f"images/{i}.png")
    lines = [
        {"id": f"row-{i:05d}", "image_before": f"images/{i % 8}.png", "image_after": f"images/{(i + 1) % 8}.png"}
        | {"task_type": "visual_diff", "difficulty": "easy", "ground_truth_diff": "x"}
        for i in range(n)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def bare(model: TransformersModel, rows: RowSet, prompt: str) -> list[str]:
    """The loop one would write by hand."""
    processor, weights, answers = model.processor, model.engine.model, []
    order = rows.by_size(rows.ids)
    for start in range(0, len(order), BATCH):
        conversations = []
        for identifier in order[start : start + BATCH]:
            pictures = [picture.rgb for picture in rows.request(identifier, prompt).pictures]
            content = [{"type": "text", "text": prompt}, *({"type": "image", "image": p} for p in pictures)]
            conversations.append([{"role": "user", "content": content}])
        inputs = processor.apply_chat_template(
            conversations,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(weights.device, dtype=weights.dtype)
        with torch.inference_mode():
            tokens = weights.generate(**inputs, max_new_tokens=TOKENS, do_sample=False)
        answers += processor.batch_decode(tokens[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return answers


def ours(model: TransformersModel, rows: RowSet, prompt: str, folder: Path, tokens: int = TOKENS) -> None:
    settings = Settings(prompt=prompt, generation={"max_new_tokens": tokens}, progress=False)
    summary = run(rows.benchmark, rows, model, RunFolder(folder), settings, check=lambda m, sample: m.preflight(sample))
    assert summary.n_unanswered == 0


def timed(action) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="least time of one side of one pair")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--batches", action="store_true", help="instead: batch 8 against batch 1")
    parser.add_argument("--memory-rows", type=int, default=0, help="instead: peak memory over so many rows")
    args = parser.parse_args()
    chosen = benchmark("diffspot")
    with tempfile.TemporaryDirectory() as scratch:
        if args.memory_rows:
            return memory(chosen, Path(scratch), args.memory_rows)
        if args.batches:
            return batches(chosen, Path(scratch), args.pairs)
        model = TransformersModel("tiny-vlm", batch_size=BATCH, max_new_tokens=TOKENS)
        model.load()
        probe = RowSet(chosen, str(make_rows(Path(scratch, "probe"), 4 * BATCH)))
        bare(model, probe, chosen.prompt)
        n = int(4 * BATCH * args.seconds / timed(lambda: bare(model, probe, chosen.prompt)) * 1.1)
        rows = RowSet(chosen, str(make_rows(Path(scratch, "rows"), n)))
        print(f"{n} rows a side, batches of {BATCH}, {TOKENS} tokens, {args.pairs} interleaved pairs")
        ratios, costs = [], []
        for pair in range(args.pairs):
            sides = {
                "ours": lambda pair=pair: ours(model, rows, chosen.prompt, Path(scratch, f"run-{pair}")),
                "bare": lambda: bare(model, rows, chosen.prompt),
            }
            order = ("ours", "bare") if pair % 2 else ("bare", "ours")
            seconds = {side: timed(sides[side]) for side in order}
            ratios.append(seconds["ours"] / seconds["bare"])
            costs.append(1000 * (seconds["ours"] - seconds["bare"]) / n)
            print(
                f"pair {pair + 1}: ours {seconds['ours']:.1f} s, bare {seconds['bare']:.1f} s, ratio {ratios[-1]:.3f}",
                flush=True,
            )
        print(
            f"median ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), "
            f"overhead {statistics.median(costs):+.1f} ms a row ({min(costs):+.1f} to {max(costs):+.1f})"
        )


def batches(chosen, scratch: Path, pairs: int) -> None:
    """Rows a second at batch 8 and batch 1, by length of the reply: what is done once a row cannot be batched away."""
    rows = RowSet(chosen, str(make_rows(scratch / "rows", 8 * BATCH)))
    for tokens in (32, 128, 512):
        models = {size: TransformersModel("tiny-vlm", batch_size=size, max_new_tokens=tokens) for size in (1, BATCH)}
        speed: dict[int, list[float]] = {1: [], BATCH: []}
        for pair in range(pairs):
            for size, model in models.items():
                model.load()
                folder = scratch / f"{tokens}-{size}-{pair}"
                seconds = timed(partial(ours, model, rows, chosen.prompt, folder, tokens))
                speed[size].append(len(rows) / seconds)
        ratios = [many / one for one, many in zip(speed[1], speed[BATCH], strict=True)]
        one, many = (statistics.median(found) for found in speed.values())
        print(
            f"{tokens} tokens: batch 1 {one:.2f} rows/s, batch {BATCH} {many:.2f} rows/s, median ratio "
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


class Memory(threading.Thread):
    """Follows this process: the peaks, in MB, of its resident memory, and of what is its own and mapped files of it."""

    FIELDS = ("VmRSS", "RssAnon", "RssFile")

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks = [0, 0, 0]

    def run(self) -> None:
        while True:
            self.look()
            time.sleep(0.02)

    def look(self) -> None:
        lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        now = [int(lines[field].split()[0]) // 1024 for field in self.FIELDS]
        self.peaks = [max(pair) for pair in zip(self.peaks, now, strict=True)]

    def peak(self) -> list[int]:
        """The peaks since the last call."""
        self.look()
        found, self.peaks = self.peaks, [0, 0, 0]
        return found


def memory(chosen, scratch: Path, n: int) -> None:
    """Peak memory of reading and running `n` rows, above that of tiny-vlm loaded and used once."""
    from diffspot_hf.types import Response

    class Instant:
        def describe(self):
            return {"id": "instant"}

        def generate(self, requests):
            for request in requests:
                _ = [picture.rgb.size for picture in request.pictures]
                yield Response(id=request.id, text="No differences.")

    rows_folder = make_rows(scratch / "rows", n)
    few = RowSet(chosen, str(make_rows(scratch / "few", 2 * BATCH)))
    model = TransformersModel("tiny-vlm", batch_size=BATCH, max_new_tokens=TOKENS)
    ours(model, few, chosen.prompt, scratch / "few-run")
    watch = Memory()
    watch.start()
    base = watch.peak()
    rows = RowSet(chosen, str(rows_folder))
    read = watch.peak()
    run(chosen, rows, Instant(), RunFolder(scratch / "run"), Settings(prompt=chosen.prompt, progress=False))
    ran = watch.peak()
    for what, peaks in (("model loaded", base), (f"{n} rows read", read), (f"{n} rows asked", ran)):
        parts = [f"{value} MB ({value - first:+d})" for value, first in zip(peaks, base, strict=True)]
        print(
            what,
            *(f"{name} {part}" for name, part in zip(("resident", "own", "mapped"), parts, strict=True)),
            sep=": ",
            flush=True,
        )


if __name__ == "__main__":
    main()
