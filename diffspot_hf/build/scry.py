"""Makes Scry data sets out of people's annotations, and small stratified pilots out of data sets.

Source of the rules: the Scry paper, section on the data set: completed screens count, annotations need an explicit tag
and a usable box, a completed screen without one is a control. Bucket cuts are ours and parameters.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UsageError
from ..folders import can_be_made, must_take_files, new_folder
from ..rows import Refuse, inside, stop
from ..running.store import write_atomically, write_json, write_lines

FORMAT = "diffspot-hf/annotations"
VERSION = 1
BUCKETS = ("no-tagged", "single", "multi", "dense")
SIDES = ("image_a", "image_b")

Pictures = dict[str, Path | bytes]
"""The pictures of a set: path below its folder, and the file or the bytes that they are copied from."""


class _Kept(NamedTuple):
    """A completed screen as a row, with its pictures and a count of its annotations that could not be used."""

    row: dict[str, Any]
    pictures: Pictures
    unusable: Counter[str]


def from_annotations(
    export: Path, images: Path, out: Path, *, dense_from: int = 4, strict: bool = False
) -> dict[str, Any]:
    """Writes the data set `out` (``test.jsonl`` and ``images/``) and returns a report of what was kept and why not.

    `export` is the JSON file that the annotation page exports; the picture paths in it are relative to `images`. A
    screen that cannot be used is named in the report (with `strict`: the first one is an error). A completed screen
    none of whose annotations can be used is a control by the rule, and named in the report, as its annotator saw
    something. `out` appears only when complete.
    """
    if isinstance(dense_from, bool) or not isinstance(dense_from, int) or dense_from < 2:
        raise UsageError(f"--dense-from {dense_from}: a dense screen has at least 2 issues, as one issue is single")
    if not images.is_dir():
        raise UsageError(f"--images {images}: no such folder")
    can_be_made(out)
    kept: dict[str, _Kept] = {}
    position: dict[str, str] = {}
    refused: list[str] = []
    not_completed = 0
    for number, screen in enumerate(_screens(export)):
        where = f"{export}, screen {number} ({_name(screen)})"
        try:
            made = _kept(screen, number, images, dense_from)
            if made is not None and (first := position.get(made.row["id"])):
                raise UsageError(f"the id stands twice, first at {first}")
        except UsageError as error:
            if strict:
                raise UsageError(f"{where}: {error}") from error
            refused.append(f"{where}: {error}")
            continue
        if made is None:
            not_completed += 1
        else:
            kept[made.row["id"]], position[made.row["id"]] = made, f"screen {number}"
    if not kept:
        raise UsageError(f"{export}: no completed screen can be used" + (f"; {refused[0]}" if refused else ""))
    rows = [made.row for made in kept.values()]
    unusable = sum((made.unusable for made in kept.values()), Counter[str]())
    report = {
        "rows": len(rows),
        "buckets": buckets_of(rows),
        "issues": sum(len(row["issues"]) for row in rows),
        "not_completed": not_completed,
        "annotations_without_tag": unusable["without tag"],
        "annotations_without_box": unusable["without box"],
        "controls_with_unusable_annotations": [
            identifier for identifier, made in kept.items() if made.unusable and not made.row["issues"]
        ],
        "refused": refused,
        "dense_from": dense_from,
    }
    with new_folder(out) as folder:
        for made in kept.values():
            _copy(made.pictures, folder)
        write_lines(folder / "test.jsonl", rows)
        write_json(folder / "build.json", report)
    return report


def _screens(export: Path) -> list[Any]:
    try:
        data = json.loads(export.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{export}: not a readable export ({error})") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("screens"), list):
        raise UsageError(f"{export}: not an export of the annotation page (format {FORMAT!r} with a list of screens)")
    if isinstance(data.get("version"), bool) or data.get("version") != VERSION:
        raise UsageError(
            f"{export}: this export has version {_short(data.get('version'))}, only version {VERSION} is known"
        )
    screens: list[Any] = data["screens"]
    return screens


def _kept(screen: Any, number: int, images: Path, dense_from: int) -> _Kept | None:
    """The screen, None if it is not completed; `UsageError` says why it cannot be used."""
    from ..dataset_scripts.scry_design_diff import bucket

    if not isinstance(screen, Mapping) or not isinstance(screen.get("id"), str) or not screen["id"]:
        raise UsageError("a screen needs an id, a text that is not empty")
    completed, annotations = screen.get("completed"), screen.get("annotations")
    if not isinstance(completed, bool):
        raise UsageError(f"completed must be true or false, not {_short(completed)}")
    if not completed:
        return None
    if not isinstance(annotations, list):
        raise UsageError(f"annotations must be a list, not {_short(annotations)}")
    unusable: Counter[str] = Counter()
    issues = [issue for note in annotations if (issue := _issue(note, unusable))]
    pictures: Pictures = {}
    row = {
        "id": screen["id"],
        **{side: _picture(images, screen.get(side), side, pictures) for side in SIDES},
        "bucket": bucket(len(issues), dense_from=dense_from),
        "issues": issues,
        "meta": json.dumps({"made_from": "annotations", "screen": number}),
    }
    _check_text(row)
    return _Kept(row, pictures, unusable)


def _issue(annotation: Any, unusable: Counter[str]) -> dict[str, Any] | None:
    """The annotation as an issue, None if it has no explicit tag or no usable box."""
    from ..scoring.boxes import read_box
    from ..scoring.tags import read_labels

    if not isinstance(annotation, Mapping):
        raise UsageError(f"an annotation is no object: {_short(annotation)}")
    labels, note = annotation.get("labels"), annotation.get("note")
    if not isinstance(labels, (list, str, type(None))) or not isinstance(note, (str, type(None))):
        raise UsageError(f"an annotation has a list of labels and a text as note, not {_short([labels, note])}")
    labels = read_labels(labels)
    boxes = {side: read_box(annotation.get(side))[0] for side in ("box_a", "box_b")}
    if not labels:
        unusable["without tag"] += 1
    elif not any(boxes.values()):
        unusable["without box"] += 1
    else:
        return {"labels": labels, "note": note or "", **boxes}
    return None


def _picture(folder: Path, value: Any, column: str, pictures: Pictures) -> str:
    """Notes one picture, proven to be readable, in `pictures`; returns its path there, the digest of its bytes.

    `value` is a path below `folder`, or bytes with the path that they had, as in Parquet.
    """
    from ..images import decode_rgb

    try:
        if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):
            source: Path | bytes = value["bytes"]
            data, suffix = value["bytes"], Path(value.get("path") or "").suffix
        else:
            source = inside(folder, value)
            data, suffix = source.read_bytes(), source.suffix
        decode_rgb(data, value if isinstance(value, str) else "bytes")
    except (UsageError, OSError) as error:
        raise UsageError(f"{column}: {error}") from error
    name = f"images/{hashlib.sha256(data).hexdigest()[:16]}{suffix.lower()}"
    pictures[name] = source
    return name


def _copy(pictures: Pictures, folder: Path) -> None:
    for name, source in pictures.items():
        if not (folder / name).exists():
            write_atomically(folder / name, source if isinstance(source, bytes) else source.read_bytes())


def pilot(
    data: Path,
    out: Path,
    *,
    per_bucket: int = 15,
    seed: int = 0,
    manifest: Path | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """Writes a stratified sample of the data set `data` to `out` and returns its manifest.

    `data` is any folder that the loader reads. `per_bucket` screens are drawn from each bucket with `seed`; a bucket
    that has fewer is an error that names it. The draw depends on the ids alone, not on the order of the rows. A row
    that the loader would refuse is not drawn and stands under ``refused`` (with `strict`: the first one is an error).
    `out` appears only when complete.
    """
    from ..dataset_scripts.common import find_manifests

    if per_bucket < 1:
        raise UsageError(f"--per-bucket {per_bucket}: at least one screen a bucket is needed")
    sources = find_manifests(data)
    place = _manifest_place(manifest or out / "manifest.json", out, sources)
    can_be_made(out)
    refused: list[str] = []
    refuse = stop if strict else lambda error: refused.append(str(error))
    bucket_of = {row["id"]: row["bucket"] for row, _ in _usable(sources, refuse)}
    chosen: list[str] = []
    for bucket in BUCKETS:
        members = sorted(identifier for identifier, own in bucket_of.items() if own == bucket)
        if len(members) < per_bucket:
            also = f" ({len(refused)} rows are refused; the first: {refused[0]})" if refused else ""
            raise UsageError(f"{data}: bucket {bucket} has {len(members)} screens, {per_bucket} are asked for{also}")
        chosen += sorted(random.Random(f"{seed}:{bucket}").sample(members, per_bucket))
    rows: dict[str, dict[str, Any]] = {}
    with new_folder(out) as folder:
        for row, pictures in _usable(sources, lambda _: None, only=set(chosen)):  # again, so that few pictures are held
            rows[row["id"]] = row
            _copy(pictures, folder)
        write_lines(folder / "test.jsonl", [rows[identifier] for identifier in chosen])
        made = {
            "source": {
                "file": ", ".join(file.relative_to(data.expanduser()).as_posix() for file in sources),
                "sha256": hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest(),
                "rows": len(bucket_of),
            },
            "refused": refused,
            "seed": seed,
            "per_bucket": per_bucket,
            "rows": len(chosen),
            "issues": sum(len(rows[identifier]["issues"]) for identifier in chosen),
            "ids": chosen,
            "sha256": hashlib.sha256((folder / "test.jsonl").read_bytes()).hexdigest(),
        }
        write_json(folder / place if isinstance(place, str) else place, made)
    return made


def _manifest_place(manifest: Path, out: Path, sources: Iterable[Path]) -> Path | str:
    """Where the manifest of a pilot goes: a path, or the name below `out`, which is not there yet."""
    path, folder = Path(os.path.abspath(manifest)), Path(os.path.abspath(out))
    if path == folder or path.is_dir():
        raise UsageError(f"--manifest {manifest}: is a folder; give the name of a file")
    if path in {Path(os.path.abspath(source)) for source in sources} or path == folder / "test.jsonl":
        raise UsageError(f"--manifest {manifest}: would replace the rows; choose another name")
    if path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    must_take_files(path.parent, manifest)
    return path


def _usable(
    sources: Iterable[Path], refuse: Refuse, only: Collection[str] | None = None
) -> Iterator[tuple[dict[str, Any], Pictures]]:
    """Each row that the loader takes, as it stands but for id, bucket and the paths of its pictures, and the pictures.

    Those that it would refuse are given to `refuse`, each as an error that names file, row and reason. With `only`,
    rows of other ids are passed over, and so is an id that stands twice.
    """
    from ..dataset_scripts.common import jsonl_rows, parquet_rows

    first: dict[str, str] = {}
    for file in sources:
        for where, row in parquet_rows(file) if file.suffix == ".parquet" else jsonl_rows(file, refuse):
            pictures: Pictures = {}
            try:
                row = _checked(row)
                if only is not None and (row["id"] not in only or row["id"] in first):
                    continue
                if row["id"] in first:
                    raise UsageError(f"id {row['id']!r} stands twice, first at {first[row['id']]}")
                row |= {side: _picture(file.parent, row[side], side, pictures) for side in SIDES}
                _check_text(row)
            except UsageError as error:
                refuse(UsageError(f"{where}: {error}"))
                continue
            first[row["id"]] = where
            yield row, pictures


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its id as text and its bucket as given or derived. `UsageError` for what the loader refuses."""
    from ..dataset_scripts.common import read_identifier
    from ..dataset_scripts.scry_design_diff import ScryDesignDiff, complete

    missing = [column for column in ScryDesignDiff.REQUIRED if row.get(column) is None]
    if missing:
        raise UsageError(f"no value in column {', '.join(missing)}")
    completed = complete(dict(row))
    return row | {"id": read_identifier(row["id"]), "bucket": completed["bucket"]}


def _check_text(row: Mapping[str, Any]) -> None:
    """Raises `UsageError` for what no JSONL file can hold, such as half a character (a lone surrogate)."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeError is a ValueError
        raise UsageError(f"cannot be written as JSON in UTF-8 ({error})") from error


def _name(screen: Any) -> str:
    identifier = screen.get("id") if isinstance(screen, Mapping) else None
    return f"id {_short(identifier)}" if isinstance(identifier, str) and identifier else "without id"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = f"a deep {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}…"


def buckets_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Number of rows in each bucket, all four named."""
    found = Counter(str(row["bucket"]) for row in rows)
    return {bucket: found[bucket] for bucket in BUCKETS}
