"""The build report: what was made, what was refused and why, and what is missing."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .corpus import CorpusPage
from .plan import NO_DIFF
from .rows import write_whole
from .scales import OPERATORS, TIERS
from .takes import Tally

Row = Mapping[str, Any]


def make(
    rows: Sequence[Row],
    wanted: Mapping[str, int],
    pages: Sequence[CorpusPage],
    surveyed: Mapping[str, Mapping[str, Any]],
    finished: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Everything that ``report.json`` holds, from the rows and the diary of a build."""
    got = Counter(cell_of(row) for row in rows)
    tally, unfit, dropped, refused = Tally(), Counter[str](), Counter[str](), Counter[str]()
    lost = []
    for found in [*surveyed.values(), *finished]:
        if found["dropped"]:
            dropped[found["dropped"]] += 1
            lost.append({name: found[name] for name in ("page_id", "dropped", "detail")})
        if "tally" in found:
            tally.add(Tally.from_json(found["tally"]))
        unfit.update(found.get("unfit", {}))
        refused.update(found.get("refused", {}))
    sources = {page.page_id: page.source for page in pages}
    by_page = Counter(row["page_id"] for row in rows)
    return {
        "rows": len(rows),
        "cells": {cell: {"wanted": count, "got": got[cell]} for cell, count in wanted.items()},
        "missing": {cell: count - got[cell] for cell, count in wanted.items() if got[cell] < count},
        "pages": {
            "in_corpus": len(pages),
            "surveyed": len(surveyed),
            "used": len(by_page),
            "most_pairs_from_one": max(by_page.values(), default=0),
            "dropped": dict(sorted(dropped.items())),
            "refused_requests": dict(sorted(refused.items())),
        },
        "dropped_pages": lost,
        "unfit_elements": dict(sorted(unfit.items())),
        "operators": {name: _operator(name, rows, tally) for name in OPERATORS if f"{name}/easy" in wanted},
        "domains": dict(sorted(Counter(row["domain"] for row in rows).items())),
        "sources": dict(sorted(Counter(sources[row["page_id"]] for row in rows).items())),
        "mechanisms": dict(sorted(Counter(row["mechanism"] for row in rows if row["mechanism"]).items())),
        "largest_source_share_of_a_cell": _largest_share(rows, sources),
    }


def _operator(name: str, rows: Sequence[Row], tally: Tally) -> dict[str, Any]:
    mine = [row for row in rows if row["operator"] == name]
    ratios = []
    for row in mine:
        own = meta_of(row)["own_box_xywh_px"]
        ratios.append(row["target_bbox_w"] * row["target_bbox_h"] / max(1, own[2] * own[3]))
    changed = {tier: [row["pixel_diff"] for row in mine if row["difficulty"] == tier] for tier in TIERS}
    return {
        "tried": tally.tried[name],
        "captured": tally.captured[name],
        "kept": tally.kept[name],
        "yield": round(tally.kept[name] / tally.captured[name], 3) if tally.captured[name] else None,
        "rejected": {reason: n for (operator, reason), n in sorted(tally.rejected.items()) if operator == name},
        "box_over_own_box": {"median": round(statistics.median(ratios), 3), "max": round(max(ratios), 3)}
        if mine
        else None,
        "mean_changed_percent": {tier: round(statistics.fmean(v), 4) for tier, v in changed.items() if v},
        "directions": dict(sorted(Counter(meta_of(row)["direction"] for row in mine).items())),
        "mechanisms": dict(sorted(Counter(row["mechanism"] for row in mine).items())),
    }


def _largest_share(rows: Sequence[Row], sources: Mapping[str, str]) -> float:
    cells = Counter(cell_of(row) for row in rows)
    both = Counter((cell_of(row), sources[row["page_id"]]) for row in rows)
    return round(max((n / cells[cell] for (cell, _), n in both.items()), default=0.0), 3)


def cell_of(row: Row) -> str:
    """The cell of a row: "color/easy", or "no_diff"."""
    return f"{row['operator']}/{row['difficulty']}" if row["task_type"] == "visual_diff" else NO_DIFF


def meta_of(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["meta"])
    return found


def element_of(row: Row) -> str:
    return str(json.loads(row["mutation_dicts_json"][0])["element"])


def what_is_missing(report: Mapping[str, Any]) -> str:
    """One line that names every cell that is not full, and the pages that were dropped."""
    cells = [f"{cell} lacks {n}" for cell, n in report["missing"].items()]
    pages = report["pages"]
    lost = sum(pages["dropped"].values())
    dropped = f" ({lost} dropped, see report.md)" if lost else ""
    return f"the {pages['in_corpus']} pages{dropped} do not fill every cell: {', '.join(cells)} (limit per source kept)"


def write(out: Path, report: Mapping[str, Any]) -> None:
    """Nothing: ``report.json`` and ``report.md`` are in `out`."""
    write_whole(out / "report.json", (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode())
    write_whole(out / "report.md", markdown(report).encode())


def read(out: Path) -> dict[str, Any]:
    """The report of a finished build."""
    found: dict[str, Any] = json.loads((out / "report.json").read_text("utf-8"))
    return found


def markdown(report: Mapping[str, Any]) -> str:
    """The report as a page for people."""
    pages = report["pages"]
    lines = [
        "# Build report",
        "",
        f"{report['rows']} pairs from {pages['used']} pages, at most {pages['most_pairs_from_one']} from one; "
        f"{pages['surveyed']} of {pages['in_corpus']} pages were looked at.",
        "",
    ]
    if report["missing"]:
        lines += [
            "**Not filled:** " + ", ".join(f"{cell} lacks {n}" for cell, n in report["missing"].items()) + ".",
            "",
        ]
    lines += [
        "## Operators",
        "",
        "Tried on the layout, captured, kept by the gate; area of the box over the element's own.",
        "",
    ]
    lines += _table(
        ["operator", "tried", "captured", "kept", "yield", "box/own median", "max", "directions", "mechanisms"],
        [
            [
                name, one["tried"], one["captured"], one["kept"], one["yield"],
                (one["box_over_own_box"] or {}).get("median"), (one["box_over_own_box"] or {}).get("max"),
                _counts(one["directions"]), _counts(one["mechanisms"]),
            ]
            for name, one in report["operators"].items()
        ],
    )  # fmt: skip
    lines += ["## Refused, and why", ""]
    lines += _table(["operator", "reasons"], [[n, _counts(o["rejected"])] for n, o in report["operators"].items()])
    lines += ["## Pages dropped", ""]
    lines += _table(
        ["page", "reason"], [[p["page_id"], _cell(f"{p['dropped']} {p['detail']}")] for p in report["dropped_pages"]]
    )
    asked = _counts(pages["refused_requests"])
    lines += [f"What pages asked for and did not get: {asked or 'nothing'}.", "", "## Where the pairs come from", ""]
    lines += _table(["domain", "pairs"], list(report["domains"].items()))
    lines += _table(["source", "pairs"], list(report["sources"].items()))
    lines += ["Elements left out whatever the operator: " + (_counts(report["unfit_elements"]) or "none") + "."]
    return "\n".join(lines) + "\n"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or '-'} {n}" for name, n in counts.items())


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _table(head: list[str], body: Sequence[Sequence[Any]]) -> list[str]:
    if not body:
        return ["none", ""]
    rows = [[("" if value is None else str(value)) for value in row] for row in body]
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]] + [""]
