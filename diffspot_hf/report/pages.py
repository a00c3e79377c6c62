"""Static pages for people: annotate pairs, audit predictions, check controls, verify items, sit the test.

A page is one HTML file with its script, style and rows inside, no server and no network: it opens from the disk. Its
policy allows the one script by its digest and no connection. Whatever stands in the rows (replies, notes, ids) is
shown as text only.

What a page exports, each a JSON object with ``version`` 1; boxes are xywh_norm, fractions of the picture:

======== ==========================================================================================================
mode     export
======== ==========================================================================================================
annotate ``{"format": "diffspot-hf/annotations", "screens": [{id, image_a, image_b, completed, annotations: [{labels,
         note, box_a, box_b}]}]}``; a box that was not drawn is null, every row is there, completed or not
audit    ``{"format": "diffspot-hf/decisions", "mode": "audit", "decisions": [{row_id, prediction_index, about,
         decision, note}]}``; ``about`` is a digest of the prediction, ``decision`` one of ``real``, ``not_a_defect``
         and ``unsure``; what is undecided is left out, as below
controls the same format, mode ``controls``: ``{row_id, decision, note}`` with ``clean``, ``defect`` or ``unsure``
verify   the same format, mode ``verify``: ``{row_id, decision, checks, note}`` with ``accept`` or ``reject`` and
         ``pass`` or ``fail`` for ``text_fidelity``, ``naturalness``, ``exclusivity``, ``scale`` and, on the commonality
         track, ``deducibility``; beside it ``fallback``, the row ids that were rejected
answer   JSON lines ``{id, prediction, seconds, timed_out, model, time_limit}`` that ``diffspot-hf import`` reads
         (``prediction`` is a letter, or empty when the time ran out); and a session ``{"format": "diffspot-hf/answers",
         name, time_limit, answers}`` that the page itself reads again
======== ==========================================================================================================

Each page reads its own JSON export back (for `answer` the session), of version 1 only, in one step that can be undone
(in `answer` it cannot). Before it replaces what people decided in this browser it asks. Boxes are read as
`scoring.boxes.read_box` reads them; the message counts those that were cut or left out. Work is saved in the browser
at every change.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from PIL import Image

from ..errors import UsageError
from ..images import decode_rgb, encode_png
from ..scoring.tags import TAGS
from ..types import Picture

EMBED_BYTES = 12_000_000
"""Up to so many bytes of pictures go into the page itself; more become files beside it (our choice)."""
LIMITS: tuple[int | None, ...] = (30, 60, 120, None)
"""Seconds an item that a person may choose from in mode `answer`; None is no limit."""

_MARK = '<script type="application/json" id="data">'
_SHOWN_BY_BROWSERS = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif"}
_BASE = ("core.js", "viewer.js", "boxes.js")
_SCRIPTS = {
    "annotate": "annotate.js",
    "audit": "audit.js",
    "controls": "decide.js",
    "verify": "decide.js",
    "answer": "answer.js",
}
_TITLES = {
    "annotate": "Annotate screens",
    "audit": "Audit unmatched predictions",
    "controls": "Audit controls",
    "verify": "Verify items",
    "answer": "Answer items",
}
_SCREENS = (("image_a", "image_b"), ("A: reference", "B: implementation"))
_PHOTOS = (("image_1", "image_2"), ("Image 1", "Image 2"))


def write_page(
    mode: str,
    rows: Iterable[Mapping[str, Any]],
    out: str | Path,
    *,
    title: str | None = None,
    embed: bool | None = None,
    tags: Sequence[str] = TAGS,
    prefill: bool = False,
    limits: Sequence[int | None] = LIMITS,
) -> Path:
    """Path of the written page of `mode` for `rows`: `out` itself if it ends in ``.html``, else ``index.html`` in it.

    Each row has an ``id`` and two pictures (``image_a``, ``image_b``; modes verify and answer: ``image_1``,
    ``image_2``), given as bytes, as `Picture`, or as ``{"path", "bytes"}``; the path is what an annotation export calls
    the picture. Further keys by mode: annotate ``issues`` (taken over if `prefill`); audit ``predictions``
    (``prediction_index, about, labels, note, box_a, box_b``) and ``issues``; verify ``question, options, answer, track,
    instruction, bbox_1, bbox_2``; answer ``question, options`` (no answer gets into that page).
    Pictures lie in the page if they are small together (see `EMBED_BYTES`) or `embed` says so, else in ``pictures/``
    beside it. Raises `UsageError` for an unknown mode, no rows, a repeated id, or a picture that cannot be read.
    """
    if mode not in _SCRIPTS:
        raise UsageError(f"mode {mode!r}: there are {', '.join(_SCRIPTS)}")
    keys, sides = _PHOTOS if mode in ("verify", "answer") else _SCREENS
    shown: list[dict[str, Any]] = []
    seen: set[str] = set()
    pictures: dict[str, tuple[str, bytes]] = {}
    for row in rows:
        identifier = str(row.get("id") or "")
        if not identifier:
            raise UsageError(f"row {len(shown) + 1} has no id")
        if identifier in seen:
            raise UsageError(f"id {identifier!r} stands twice")
        seen.add(identifier)
        made: dict[str, Any] = {"id": identifier, "pictures": []}
        names: list[str] = []
        for key in keys:
            name, content = _picture(row, key)
            digest = hashlib.sha256(content).hexdigest()[:20]
            if digest not in pictures:
                pictures[digest] = _for_browsers(content, f"row {identifier}, {key}")
            made["pictures"].append(digest)
            names.append(name)
        made |= _FIELDS[mode](row, prefill)
        shown.append(made | {"names": names} if mode == "annotate" else made)
    if not shown:
        raise UsageError("there are no rows to show: nothing is left to decide, or the data is empty")
    out = Path(out)
    page = out if out.suffix == ".html" else out / "index.html"
    if page.exists() and _MARK not in page.read_text(encoding="utf-8", errors="replace"):
        raise UsageError(f"{page}: exists and is no page of this kind; choose another --out")
    page.parent.mkdir(parents=True, exist_ok=True)
    size = sum(len(content) for _, content in pictures.values())
    inside = size <= EMBED_BYTES if embed is None else embed
    sources = {digest: _source(page.parent, digest, *picture, inside) for digest, picture in pictures.items()}
    identity = hashlib.sha256(json.dumps([mode, shown], sort_keys=True).encode()).hexdigest()[:16]
    for made in shown:
        made["pictures"] = [sources[digest] for digest in made["pictures"]]
    data = {
        "mode": mode,
        "page": identity,
        "title": title or _TITLES[mode],
        "sides": sides,
        "tags": list(tags),
        "options": {"limits": list(limits)},
        "rows": shown,
    }
    page.write_text(_html(mode, data), encoding="utf-8")
    return page


# The rows


def _picture(row: Mapping[str, Any], key: str) -> tuple[str, bytes]:
    given = row.get(key)
    if isinstance(given, Picture):
        return given.name, given.data
    if isinstance(given, Mapping) and isinstance(given.get("bytes"), bytes):
        return str(given.get("path") or f"{row['id']}-{key}"), given["bytes"]
    if isinstance(given, bytes):
        return f"{row['id']}-{key}", given
    raise UsageError(f"row {row['id']}: {key} holds no picture")


def _for_browsers(content: bytes, where: str) -> tuple[str, bytes]:
    """File ending and bytes of a picture as every browser shows it; other formats become PNG."""
    image = decode_rgb(content, where)  # refuses what is broken or enormous
    with Image.open(io.BytesIO(content)) as file:
        ending = _SHOWN_BY_BROWSERS.get(file.format or "")
    return (ending, content) if ending else ("png", encode_png(image))


def _source(folder: Path, digest: str, ending: str, content: bytes, inside: bool) -> str:
    if inside:
        kind = "jpeg" if ending == "jpg" else ending
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    target = folder / "pictures" / f"{digest}.{ending}"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return f"pictures/{target.name}"


def _issue(issue: Any) -> dict[str, Any]:
    issue = issue if isinstance(issue, Mapping) else {}
    labels = issue.get("labels")
    return {
        "labels": [str(label) for label in labels] if isinstance(labels, (list, tuple)) else [],
        "note": str(issue.get("note") or ""),
        "box_a": _box(issue.get("box_a")),
        "box_b": _box(issue.get("box_b")),
    }


def _box(box: Any) -> dict[str, float] | None:
    if not isinstance(box, Mapping):
        return None
    try:
        found = {key: float(box[key]) for key in ("x", "y", "w", "h")}
    except (KeyError, TypeError, ValueError):
        return None
    return found if all(abs(value) < 1e9 for value in found.values()) else None


def _annotate(row: Mapping[str, Any], prefill: bool) -> dict[str, Any]:
    return {"annotations": [_issue(issue) for issue in row.get("issues") or []] if prefill else []}


def _audit(row: Mapping[str, Any], _: bool) -> dict[str, Any]:
    predictions = row.get("predictions") or []
    return {
        "predictions": [
            {"index": int(p["prediction_index"]), "about": str(p.get("about") or ""), **_issue(p)} for p in predictions
        ],
        "known": [_issue(issue) for issue in row.get("issues") or []],
    }


def _controls(_row: Mapping[str, Any], _: bool) -> dict[str, Any]:
    return {}


def _answer(row: Mapping[str, Any], _: bool) -> dict[str, Any]:
    return {"question": str(row.get("question") or ""), "options": [str(option) for option in row.get("options") or []]}


def _verify(row: Mapping[str, Any], prefill: bool) -> dict[str, Any]:
    texts = {key: str(row.get(key) or "") for key in ("answer", "track", "instruction")}
    return _answer(row, prefill) | texts | {"boxes": [_box(row.get("bbox_1")), _box(row.get("bbox_2"))]}


_FIELDS: dict[str, Callable[[Mapping[str, Any], bool], dict[str, Any]]] = {
    "annotate": _annotate,
    "audit": _audit,
    "controls": _controls,
    "verify": _verify,
    "answer": _answer,
}


# The file


def _html(mode: str, data: Mapping[str, Any]) -> str:
    folder = files(__package__).joinpath("annotator")
    read = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "style.css")}
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in (*_BASE, _SCRIPTS[mode], "main.js")]
    script = '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src 'self' file: data: blob:; base-uri 'none'; form-action 'none'"
    )
    page = read["page.html"]
    # The rows go in last, so that no text in them is ever taken for a placeholder.
    for mark, text in (
        ("__POLICY__", policy),
        ("__STYLE__", read["style.css"]),
        ("__TITLE__", _text(str(data["title"]))),
        ("__SCRIPT__", script),
        ("__DATA__", _safe_json(data)),
    ):
        head, tail = page.split(mark, 1)
        page = head + text + tail
    return page


def _safe_json(data: Any) -> str:
    """`data` as JSON that can stand in a script element: no ``<``, ``>``, ``&`` or line separator in it is a character.

    >>> _safe_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _text(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
