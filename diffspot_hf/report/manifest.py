"""A study manifest: what a study consists of, byte for byte, and what its figures were.

``make`` lists every file below the given paths with size and SHA-256, and for run folders the scores, the health of the
output and the size of the audit queue. ``check`` names every file that changed, vanished or appeared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..running.store import write_atomically, write_json
from .tables import render

FORMAT = "diffspot-hf/manifest"
_IGNORED = {"__pycache__", ".git"}
_SUMMARY = ("benchmark", "model", "n_total", "health", "known_issue_recall", "diagnostic_precision", "issue_f1")
_MORE = ("diff_screen_recall", "no_diff_specificity", "overall_accuracy", "diff_overall_recall", "micro_accuracy")


def make(paths: Sequence[Path], out: Path, markdown: Path | None = None) -> dict[str, Any]:
    """Writes the manifest of `paths` (files and folders: data, prompts, runs, tables, documents, scripts) to `out`.

    Paths in it are relative to the manifest's own folder, so that a study can be moved as a whole.
    """
    base = out.resolve().parent
    files = [_entry(file, base) for file in sorted(set(_files(paths, skip={out.resolve(), *_resolved(markdown)})))]
    made = {
        "format": FORMAT,
        "version": 1,
        "roots": [_relative(path, base) for path in paths],
        "files": files,
        "runs": [summary for path in paths for summary in _runs(path, base)],
        "data": [summary for path in paths for summary in _data(path, base)],
    }
    write_json(out, made)
    if markdown is not None:
        write_atomically(markdown, _markdown(made).encode())
    return made


def check(manifest: Path) -> list[str]:
    """What differs from the manifest, one line a file; an empty list if nothing does."""
    try:
        made = json.loads(manifest.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{manifest}: not a readable manifest ({error})") from error
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise UsageError(f"{manifest}: not a manifest of this package")
    base = manifest.resolve().parent
    listed = {entry["path"]: entry for entry in made["files"]}
    problems = []
    for path, entry in listed.items():
        file = base / path
        if not file.is_file():
            problems.append(f"{path}: is gone")
        elif _entry(file, base) != entry:
            problems.append(f"{path}: changed ({entry['bytes']} bytes then, {file.stat().st_size} now)")
    roots = [base / root for root in made["roots"]]
    skip = {manifest.resolve(), manifest.resolve().with_suffix(".md")}
    present = {_relative(file, base) for file in _files([r for r in roots if r.exists()], skip=skip)}
    problems += [f"{path}: is new" for path in sorted(present - set(listed))]
    return problems


def digest(file: Path) -> str:
    """SHA-256 of a file, hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _resolved(path: Path | None) -> list[Path]:
    return [] if path is None else [path.resolve()]


def _files(paths: Iterable[Path], skip: set[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_file():
            if path.resolve() not in skip:
                yield path.resolve()
        elif path.is_dir():
            for file in path.rglob("*"):
                if file.is_file() and not _IGNORED & set(file.parts) and file.resolve() not in skip:
                    yield file.resolve()
        else:
            raise UsageError(f"{path}: neither a file nor a folder")


def _entry(file: Path, base: Path) -> dict[str, Any]:
    return {"path": _relative(file, base), "bytes": file.stat().st_size, "sha256": digest(file)}


def _relative(path: Path, base: Path) -> str:
    try:
        return path.resolve().relative_to(base).as_posix()
    except ValueError as error:
        raise UsageError(f"{path} lies outside {base}: put the manifest at the root of the study") from error


def _runs(path: Path, base: Path) -> Iterable[dict[str, Any]]:
    cards = [path] if path.name == "run.json" else sorted(path.rglob("run.json")) if path.is_dir() else []
    for card_file in cards:
        card = json.loads(card_file.read_bytes())
        summary = {"path": _relative(card_file.parent, base), "prompt_sha256": card["prompt"]["sha256"]}
        summary |= {"data_fingerprint": card["data"]["fingerprint"]}
        scores_file = card_file.parent / "scores.json"
        if scores_file.is_file():
            scores = json.loads(scores_file.read_bytes())
            summary |= {key: scores[key] for key in (*_SUMMARY, *_MORE) if key in scores}
            if "predicted" in scores and "matched" in scores:
                summary["audit_queue"] = scores["predicted"] - scores["matched"]
        yield summary


def _data(path: Path, base: Path) -> Iterable[dict[str, Any]]:
    from ..rows import iter_jsonl

    for file in sorted(path.rglob("test.jsonl")) if path.is_dir() else []:
        rows = [row for _, row in iter_jsonl(file)]
        summary: dict[str, Any] = {"path": _relative(file, base), "rows": len(rows)}
        if rows and "issues" in rows[0]:
            from ..build.scry import buckets_of

            summary |= {"issues": sum(len(row["issues"]) for row in rows), "buckets": buckets_of(rows)}
        yield summary


def _markdown(made: dict[str, Any]) -> str:
    files = [[entry["path"], str(entry["bytes"]), entry["sha256"][:16]] for entry in made["files"]]
    text = ["# Study manifest", render(["file", "bytes", "SHA-256 (first 16)"], files, markdown=True)]
    if made["runs"]:
        keys = [key for key in (*_SUMMARY[1:], *_MORE) if any(key in run for run in made["runs"])]
        rows = [[run["path"], *(json.dumps(run.get(key)) for key in keys)] for run in made["runs"]]
        text.append(render(["run", *keys], rows, markdown=True))
    return "\n\n".join(text) + "\n"
