"""A study manifest: what a study consists of, byte for byte, and what its figures were.

``make`` lists every file below the given paths with size and SHA-256, and for run folders the scores, the health of the
output and the size of the audit queue. ``check`` names every file that changed, vanished or appeared, except the two
that ``make`` wrote itself; if none did, every summary that its files do not bear out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
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
    written = {file.resolve() for file in (out, markdown) if file is not None}
    files = [_entry(file, base) for file in sorted(set(_files(paths, skip=written)))]
    made = {
        "format": FORMAT,
        "version": 1,
        "roots": [_relative(path, base) for path in paths],
        "written": sorted(_relative(file, base) for file in written if file.is_relative_to(base)),
        "files": files,
        "runs": [summary for path in paths for summary in _runs(path, base)],
        "data": [summary for path in paths for summary in _data(path, base)],
    }
    write_json(out, made)
    if markdown is not None:
        write_atomically(markdown, _markdown(made).encode())
    return made


def check(manifest: Path) -> list[str]:
    """What differs from the manifest, a line for each file or figure; an empty list if nothing does."""
    made = _manifest(manifest)
    base = manifest.resolve().parent
    listed = {entry["path"]: entry for entry in made["files"]}
    problems = []
    for path, entry in listed.items():
        file = base / path
        if not os.path.isfile(file):  # False, too, for a path that no file can have
            problems.append(f"{path}: is gone")
        elif _entry(file, base) != entry:
            problems.append(f"{path}: changed ({entry['bytes']} bytes then, {file.stat().st_size} now)")
    roots = [base / root for root in made["roots"]]
    skip = {manifest.resolve(), *(base / path for path in made["written"])}
    present = {_relative(file, base) for file in _files([r for r in roots if os.path.exists(r)], skip=skip)}
    problems += [f"{path}: is new" for path in sorted(present - set(listed))]
    return problems or _wrong_summaries(made, base)


def _wrong_summaries(made: Mapping[str, Any], base: Path) -> list[str]:
    """What the manifest says of runs and data that its own files, all of them unchanged, do not."""
    roots = [base / root for root in made["roots"]]
    problems = []
    for part, summarize in (("runs", _runs), ("data", _data)):
        found = {summary["path"]: summary for root in roots for summary in summarize(root, base)}
        said = {summary["path"]: summary for summary in made[part]}
        for path in sorted(found.keys() | said.keys()):
            now, then = found.get(path, {}), said.get(path, {})
            wrong = [key for key in sorted(now.keys() | then.keys()) if now.get(key) != then.get(key)]
            problems += [
                f"{part}, {path}: {key} is {then.get(key)} there, {now.get(key)} by the files" for key in wrong
            ]
    return problems


def digest(file: Path) -> str:
    """SHA-256 of a file, hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _manifest(file: Path) -> dict[str, Any]:
    """The manifest in `file`, each part that `check` reads being what it must be."""
    made = _json(file, "not a readable manifest")
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise UsageError(f"{file}: not a manifest of this package")
    for key in ("files", "roots", "written", "runs", "data"):
        if not isinstance(made.get(key), list):
            raise UsageError(f"{file}: {key} is missing or no list; make the manifest again")
    for key in ("runs", "data"):
        if not all(isinstance(summary, dict) and isinstance(summary.get("path"), str) for summary in made[key]):
            raise UsageError(f"{file}: {key} holds something other than summaries with a path")
    for key in ("roots", "written"):
        if not all(isinstance(path, str) for path in made[key]):
            raise UsageError(f"{file}: {key} holds something other than paths")
    for number, entry in enumerate(made["files"], start=1):
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str) or "bytes" not in entry:
            raise UsageError(f"{file}, file {number}: not an object with path, bytes and sha256")
    return made


def _json(file: Path, problem: str = "cannot be read") -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {problem} ({error})") from error


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
    try:
        return {"path": _relative(file, base), "bytes": file.stat().st_size, "sha256": digest(file)}
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror or error})") from error


def _relative(path: Path, base: Path) -> str:
    try:
        return path.resolve().relative_to(base).as_posix()
    except ValueError as error:
        raise UsageError(f"{path} lies outside {base}: put the manifest at the root of the study") from error


def _runs(path: Path, base: Path) -> Iterable[dict[str, Any]]:
    """A summary of each run at `path`; a ``run.json`` of something else is a file like any other."""
    cards = [path] if path.name == "run.json" else sorted(path.rglob("run.json")) if path.is_dir() else []
    for card_file in cards:
        card = _json(card_file)
        prompt, data = _part(card, "prompt"), _part(card, "data")
        if "sha256" in prompt and "fingerprint" in data:
            summary = {"path": _relative(card_file.parent, base), "prompt_sha256": prompt["sha256"]}
            yield summary | {"data_fingerprint": data["fingerprint"]} | _scores(card_file.parent / "scores.json")


def _part(value: Any, key: str) -> Mapping[str, Any]:
    """The object at `key` of `value`; an empty one if there is none."""
    part = value.get(key) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}


def _scores(file: Path) -> dict[str, Any]:
    scores = _json(file) if file.is_file() else {}
    if not isinstance(scores, dict):
        raise UsageError(f"{file}: not the scores of a run, which are an object")
    summary = {key: scores[key] for key in (*_SUMMARY, *_MORE) if key in scores}
    predicted, matched = scores.get("predicted"), scores.get("matched")
    if isinstance(predicted, int) and isinstance(matched, int):
        summary["audit_queue"] = predicted - matched
    return summary


def _data(path: Path, base: Path) -> Iterable[dict[str, Any]]:
    from ..build.scry import buckets_of
    from ..rows import iter_jsonl

    for file in sorted(path.rglob("test.jsonl")) if path.is_dir() else []:
        rows = [row for _, row in iter_jsonl(file)]
        summary: dict[str, Any] = {"path": _relative(file, base), "rows": len(rows)}
        if any("issues" in row for row in rows):
            issues = sum(len(_issues(row)) for row in rows)
            summary |= {"issues": issues, "buckets": buckets_of({"bucket": _bucket(row)} for row in rows)}
        yield summary


def _issues(row: Mapping[str, Any]) -> Sequence[Any]:
    issues = row.get("issues")
    return issues if isinstance(issues, list) else []


def _bucket(row: Mapping[str, Any]) -> str:
    """The bucket of a row as building reads it: named so, or ``split`` as in the authors' data, or by its issues."""
    from ..dataset_scripts.scry_design_diff import bucket

    return str(row.get("bucket") or row.get("split") or bucket(len(_issues(row))))


def _markdown(made: dict[str, Any]) -> str:
    files = [[entry["path"], str(entry["bytes"]), entry["sha256"][:16]] for entry in made["files"]]
    text = ["# Study manifest", render(["file", "bytes", "SHA-256 (first 16)"], files, markdown=True)]
    if made["runs"]:
        keys = [key for key in (*_SUMMARY[1:], *_MORE) if any(key in run for run in made["runs"])]
        rows = [[run["path"], *(json.dumps(run.get(key)) for key in keys)] for run in made["runs"]]
        text.append(render(["run", *keys], rows, markdown=True))
    return "\n\n".join(text) + "\n"
