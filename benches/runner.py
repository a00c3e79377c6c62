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
import resource
import statistics
import tempfile
import time
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


def ours(model: TransformersModel, rows: RowSet, prompt: str, folder: Path) -> None:
    settings = Settings(prompt=prompt, generation={"max_new_tokens": TOKENS}, progress=False)
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
    parser.add_argument("--memory-rows", type=int, default=0, help="instead: peak memory over so many rows")
    args = parser.parse_args()
    chosen = benchmark("diffspot")
    with tempfile.TemporaryDirectory() as scratch:
        if args.memory_rows:
            return memory(chosen, Path(scratch), args.memory_rows)
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
                f"pair {pair + 1}: ours {seconds['ours']:.1f} s, bare {seconds['bare']:.1f} s, ratio {ratios[-1]:.3f}"
            )
        print(
            f"median ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), "
            f"overhead {statistics.median(costs):+.1f} ms a row ({min(costs):+.1f} to {max(costs):+.1f})"
        )
        speed = {}
        for batch in (1, BATCH):
            fresh = TransformersModel("tiny-vlm", batch_size=batch, max_new_tokens=TOKENS)
            fresh.load()
            folder = Path(scratch, f"batch-{batch}")
            seconds = timed(lambda fresh=fresh, folder=folder: ours(fresh, probe, chosen.prompt, folder))
            speed[batch] = len(probe) / seconds
        print(f"rows/s: batch 1 {speed[1]:.2f}, batch {BATCH} {speed[BATCH]:.2f}, {speed[BATCH] / speed[1]:.2f} times")


def memory(chosen, scratch: Path, n: int) -> None:
    """Peak memory of a run over `n` rows above that of the loaded model, in MB."""
    from diffspot_hf.types import Response

    class Instant:
        def describe(self):
            return {"id": "instant"}

        def generate(self, requests):
            for request in requests:
                _ = [picture.rgb.size for picture in request.pictures]
                yield Response(id=request.id, text="No differences.")

    rows_folder = make_rows(scratch / "rows", n)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = RowSet(chosen, str(rows_folder))
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    run(chosen, rows, Instant(), RunFolder(scratch / "run"), Settings(prompt=chosen.prompt, progress=False))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n} rows: {base:.0f} MB before, {loaded:.0f} MB after reading the data, {peak:.0f} MB at the end of the run"
    )


if __name__ == "__main__":
    main()
