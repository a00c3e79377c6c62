"""run: ask a model about every row."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..options import ModelOptions
from ..types import STATES

if TYPE_CHECKING:
    from ..running.runner import Summary

DEFAULTS = ModelOptions()
PREFLIGHT_REQUESTS = 2
"""Requests of a served model's preflight: the pictures in both orders."""


def add_to(commands: Any) -> None:
    _add_run(commands.add_parser("run", help="ask a model about every row; the same command continues a stopped run"))


def _add_run(add: argparse.ArgumentParser) -> None:
    add.add_argument("benchmark", help="diffspot, scry or dicobench")
    add.add_argument("--model", required=True, help="Hub id, folder, or built-in (pixel-diff, tiny-vlm, oracle, …)")
    add.add_argument("--data", default="sample", help="sample, official or a folder (default: sample)")
    add.add_argument("--out", help="run folder (default: runs/BENCH-MODEL)")
    add.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    add.add_argument("--limit", type=int, help="only the first N rows")
    add.add_argument("--batch-size", default=DEFAULTS.batch_size, type=_batch_size, metavar="N|auto")
    add.add_argument("--max-new-tokens", type=int, default=DEFAULTS.max_new_tokens)
    add.add_argument("--prompt", type=Path, help="file with another prompt")
    add.add_argument("--seed", type=int, default=DEFAULTS.seed)
    add.add_argument("--revision", help="commit, tag or branch of the model")
    add.add_argument("--dtype", default=DEFAULTS.dtype, choices=("auto", "bfloat16", "float16", "float32"))
    add.add_argument("--attention", default=DEFAULTS.attention)
    add.add_argument("--device-map", choices=("auto",), help="spread one large model over all devices")
    add.add_argument("--max-pixels", type=int, help="upper bound of pixels an image is processed at")
    add.add_argument("--require-native", action="store_true", help="refuse to run if the processor shrinks an image")
    add.add_argument("--trust-remote-code", action="store_true", help="run code of the model (needs --revision)")
    add.add_argument("--chat-template-kwargs", type=_json_object, default={}, metavar="JSON")
    add.add_argument("--reasoning-effort")
    add.add_argument("--box-frame", help="the frame in which the model gives boxes")
    add.add_argument("--constrain-json", action="store_true", help="force the answer into the benchmark's JSON schema")
    add.add_argument(
        "--endpoint",
        metavar="URL",
        help="an OpenAI-compatible server; a run goes on at its own one only, except with --retry",
    )
    add.add_argument("--endpoint-moved", action="store_true", help="the run's own server now has this URL (recorded)")
    add.add_argument("--provider", help="an inference provider of the Hub")
    add.add_argument("--concurrency", type=int, default=DEFAULTS.concurrency)
    add.add_argument("--timeout", type=float, default=DEFAULTS.timeout, help="seconds for one request")
    add.add_argument(
        "--max-requests",
        type=int,
        metavar="N",
        help="at most N requests to the server now; processes share them, and repeated tries and the preflight count",
    )
    add.add_argument(
        "--max-tokens-total", type=int, metavar="N", help="the same for tokens; what is in flight may go beyond"
    )
    add.add_argument("--no-preflight", action="store_true", help="skip the check of image order (recorded)")
    add.add_argument(
        "--retry",
        type=_states,
        default=(),
        metavar="STATES",
        help="ask only the rows in these states again, also at another --endpoint; only a valid answer replaces a "
        'failed one, and the score says "+ route recovery" beside what it was before',
    )
    add.add_argument("--max-failed", help="rows in state error to accept: a count, or a share like 5%%")
    add.add_argument("--no-progress", action="store_true")
    mcq = add.add_argument_group("multiple choice (dicobench)")
    mcq.add_argument("--shuffle-options", type=int, metavar="SEED", help="shuffle the options, the last stays last")
    mcq.add_argument("--both-orders", action="store_true", help="ask again with the images swapped, into RUN/swapped")
    mcq.add_argument("--subset", choices=("tenth",), help="the paper's subset of a tenth of each task")
    mcq.add_argument(
        "--view", default="full", choices=("full", "crop", "crop-resize"), help="what is shown of an image"
    )
    mcq.add_argument("--view-margin", type=float, help="margin around the cue, as a share of its box")
    mcq.add_argument("--view-filter", help="resampling filter of crop-resize")
    mcq.add_argument("--view-cues", metavar="FILE", help="cue boxes by id, where the data has none")
    add.set_defaults(action=run)


def _batch_size(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a positive number or auto")
    return int(text)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("a JSON object is expected")
    return value


def _states(text: str) -> tuple[str, ...]:
    states = tuple(part.strip() for part in text.split(",") if part.strip())
    if unknown := [state for state in states if state not in STATES or state == "ok"]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {', '.join(STATES[1:])}")
    return states


def options(args: argparse.Namespace) -> ModelOptions:
    """The model options among the parsed arguments."""
    names = {name for name in ModelOptions.__dataclass_fields__ if hasattr(args, name)}
    return ModelOptions(**{name: getattr(args, name) for name in names})


ONLY_FOR = {
    "box_frame": "scry",
    "shuffle_options": "dicobench",
    "both_orders": "dicobench",
    "subset": "dicobench",
    "view": "dicobench",
    "view_margin": "dicobench",
    "view_filter": "dicobench",
    "view_cues": "dicobench",
}
"""Options that one benchmark alone understands; given to another they would be ignored, so they are refused."""


def run(args: argparse.Namespace) -> int:
    from ..benchmarks import benchmark
    from ..models import BUILT_IN, load_model
    from ..running.folder import RunFolder
    from ..running.processes import Processes, share
    from ..running.rowset import RowSet

    chosen = benchmark(args.benchmark)
    for name, owner in ONLY_FOR.items():
        if chosen.name != owner and getattr(args, name) not in (None, False, "full"):
            raise UsageError(f"--{name.replace('_', '-')} is for {owner}, not for {chosen.name}")
    if args.endpoint_moved and (args.retry or not args.endpoint):
        raise UsageError("--endpoint-moved: needs the new --endpoint, and no --retry")
    asked = options(args)
    chosen = chosen.configured(args.model, asked)
    allowed = _allowed_failures(args.max_failed)
    prompt = chosen.prompt if args.prompt is None else _read_prompt(args.prompt)
    rows = RowSet(chosen, args.data, args.limit, args.subset, strict=args.strict)
    rank, world = Processes.place()
    workers = _workers(args, world)
    limits = {name: getattr(asked, name) for name in ("max_requests", "max_tokens_total")}
    shares = {name: share(n, min(rank, workers - 1), workers) for name, n in limits.items() if n is not None}
    try:
        model = load_model(args.model, chosen, rows.truth, replace(asked, **shares))
    except UsageError as error:
        if "/" in args.model or args.model in BUILT_IN or Path(args.model).exists():
            raise
        model = _Gone(error)
    out = RunFolder(args.out or Path("runs") / f"{chosen.name}-{args.model.strip('/').replace('/', '--')}")
    todo = [(chosen, out)]
    if args.both_orders:
        turned = chosen.configured(args.model, replace(asked, swap_images=True))
        todo.append((turned, RunFolder(out.path / "swapped")))
    processes = Processes.from_environment()
    try:
        summaries = [_ask(args, each, rows, model, folder, prompt, processes, workers) for each, folder in todo]
    finally:
        processes.close()
    if not processes.is_main:
        return 0
    if rows.refused:
        print(f"{len(rows.refused)} rows or files of {args.data} cannot be used and were left out", file=sys.stderr)
    if rows.is_sample:
        print("The rows are the sample of this package; its score cannot stand for the benchmark.")
    if shares and workers > 1 and any(summary.stopped_because for summary in summaries):
        print(f"of a limit each of {workers} processes has its share", file=sys.stderr)
    again = "the same command without --retry" if args.retry else "the same command"
    return max(_say(summary, folder, allowed, again) for summary, (_, folder) in zip(summaries, todo, strict=True))


class _Gone:
    """Stands for a model that cannot be found: a finished run needs none, any other raises why when it describes it."""

    def __init__(self, error: UsageError) -> None:
        self.error = error

    def describe(self) -> Any:
        raise self.error

    def generate(self, requests: Any) -> Any:
        raise self.error


def _workers(args: argparse.Namespace, world: int) -> int:
    """How many of `world` processes can ask a server within the limits: each needs a request beside its preflight."""
    least = 1 if args.no_preflight else PREFLIGHT_REQUESTS + 1
    bounds = [world]
    if args.endpoint or args.provider:
        bounds += [] if args.max_requests is None else [args.max_requests // least]
        bounds += [] if args.max_tokens_total is None else [args.max_tokens_total]
    return max(1, min(bounds))


def _ask(
    args: argparse.Namespace, chosen: Any, rows: Any, model: Any, out: Any, prompt: str, processes: Any, workers: int
) -> Summary:
    from ..running.runner import Settings
    from ..running.runner import run as run_rows

    settings = Settings(
        prompt=prompt,
        generation={"max_new_tokens": args.max_new_tokens, "seed": args.seed, "temperature": 0},
        retry=args.retry,
        moved=args.endpoint_moved,
        options={"model": args.model} | asdict(options(args)),
        progress=not args.no_progress,
        workers=workers,
    )
    return run_rows(chosen, rows.asked_by(chosen), model, out, settings, processes, check=_preflight(args, processes))


def _say(summary: Summary, out: Any, allowed: Any, again: str) -> int:
    from ..report.diffspot import health_line

    unasked = summary.n_total - sum(summary.health.values())
    print(f"{out.path}: {health_line(summary.health | {'not asked': unasked})}, {summary.asked} asked now")
    if summary.elsewhere:
        print(
            f"{summary.elsewhere} of these answers are not in {out.path}: without a shared disk each process writes a "
            f"folder of its own. Copy {', '.join(summary.parts)} to this machine, then: diffspot-hf merge {out.path} "
            "PART…",
            file=sys.stderr,
        )
    if summary.stopped_because:
        print(f"stopped early: {summary.stopped_because}; the same command continues", file=sys.stderr)
    if summary.n_unanswered > allowed(summary.n_total):
        print(f"{summary.n_unanswered} rows have no answer; {again} asks them again", file=sys.stderr)
        return 1
    return 1 if summary.elsewhere else 0


def _preflight(args: argparse.Namespace, processes: Any) -> Any:
    def check(model: Any, sample: Any) -> dict[str, Any]:
        preflight = getattr(model, "preflight", None)
        if preflight is None:
            return {}
        if args.no_preflight:
            return {"skipped": True}
        found = dict(preflight(sample))
        if processes.is_main and "pictures" in found:
            print(f"preflight: order proved; {'; '.join(found['pictures'])}", file=sys.stderr)
        return found

    return check


def _allowed_failures(text: str | None) -> Any:
    if text is None:
        return lambda n: 0
    count = 0
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
        elif "." in text:
            share = float(text)
        else:
            share, count = 0.0, int(text)
        if not 0 <= share <= 1 or count < 0:  # a share that is no number is not in between either
            raise ValueError
    except ValueError:
        raise UsageError(f"--max-failed {text}: a count, or a share like 5% or 0.05") from None
    return lambda n: count or share * n


def _read_prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--prompt {path}: cannot be read ({error})") from error
    if not text.strip():
        raise UsageError(f"--prompt {path}: the file is empty")
    return text
