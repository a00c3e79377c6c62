"""DiffSpot results as tables: your runs, and the published rows beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..published import table
from ..scoring.operators import FAMILY, TIERS
from .tables import percent, render

HEADER = ("model", "Easy", "Medium", "Hard", "recall", "specificity", "accuracy", "rows")
NOT_OFFICIAL = (
    "The sample and the rules judge are not the official benchmark: published rows are over 4,400 pairs and an LLM "
    "judge, and stand here for orientation only."
)
_SLICES = ("tier=easy", "tier=medium", "tier=hard", "has_diff_3900", "no_diff_500", "all_4400")


def tables(scores: Sequence[dict[str, Any]], *, published: bool = True, markdown: bool = False) -> str:
    """The tier table with the published rows below, and the operator table of the runs."""
    rows = [_own(score) for score in scores]
    if published:
        rows += [["published, official benchmark:"] + [""] * (len(HEADER) - 1), *published_rows()]
    text = [render(HEADER, rows, markdown=markdown)]
    text.append("Recall and accuracy in percent over all rows; a row without a readable answer counts as not right.")
    if published:
        text.append(NOT_OFFICIAL)
    header = ("recall by operator", *(str(score["model"]) for score in scores))
    operators = [name for name in FAMILY if any(name in score["by_operator"] for score in scores)]
    by_operator = [[name, *(_cell(score, name) for score in scores)] for name in operators]
    text.append(render(header, by_operator, markdown=markdown))
    return "\n\n".join(text)


def _own(score: dict[str, Any]) -> list[str]:
    tiers = [score["by_tier"].get(tier, {}).get("recall") for tier in TIERS]
    recall = score["diff_overall_recall"] if score["n_has_diff"] else None
    specificity = score["no_diff_specificity"] if score["n_no_diff"] else None
    figures = [*tiers, recall, specificity, score["overall_accuracy"]]
    return [str(score["model"]), *(percent(figure) for figure in figures), str(score["n_total"])]


def _cell(score: dict[str, Any], operator: str) -> str:
    cell = score["by_operator"].get(operator)
    return f"{cell['n_tp']}/{cell['n_pairs']}" if cell else "–"


def published_rows() -> list[list[str]]:
    """The papers' main table, best accuracy first (no figure is recomputed)."""
    found: dict[str, dict[str, str]] = {}
    for row in table("diffspot_results"):
        found.setdefault(row["model"], {})[row["slice"]] = row["percent"]
    ranked = sorted((m for m in found if "all_4400" in found[m]), key=lambda m: -float(found[m]["all_4400"]))
    return [[model.replace("_", " "), *(found[model].get(s, "–") for s in _SLICES), "4400"] for model in ranked]


def health_line(health: dict[str, int]) -> str:
    """The states on one line, those that occur and `ok` always; they sum to n.

    >>> health_line({"ok": 3, "unparsed": 0, "empty": 1})
    'ok 3 · empty 1 (of 4 rows)'
    """
    shown = " · ".join(f"{state} {count}" for state, count in health.items() if count or state == "ok")
    return f"{shown} (of {sum(health.values())} rows)"
