"""Scry Design Diff results as tables: your runs, and the published rows beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..published import table
from .tables import clean, percent, render

HEADER = ("model", "recall", "precision", "F1", "screen recall", "specificity", "matched", "predicted", "human", "rows")
NOT_OFFICIAL = (
    "Published rows are over 311 screens whose annotations are known positives only, with unaudited controls: their "
    "precision and specificity are diagnostics."
)
KNOWN = (
    "the annotations are known positives, so recall comes first. Precision is diagnostic, as an unmatched report may "
    "be a real defect, and so is specificity, as controls are unaudited; see diffspot-hf audit."
)
EXHAUSTIVE = "In the rows of {models} nothing is unlabelled: precision and specificity are what they say."
_KEYS = ("known_issue_recall", "diagnostic_precision", "issue_f1", "diff_screen_recall", "no_diff_specificity")
_METRICS = ("known_issue_recall_pct", "diagnostic_precision_pct", "issue_f1_pct")


def tables(scores: Sequence[dict[str, Any]], *, published: bool = True, markdown: bool = False) -> str:
    """The headline table with the published rows below, and recall by tag of the runs."""
    rows = [_own(score) for score in scores]
    if published:
        rows += [["published, official data:"] + [""] * (len(HEADER) - 1), *published_rows()]
    text = [render(HEADER, rows, markdown=markdown), "\n".join(_caveats(scores, published))]
    tags = sorted({tag for score in scores for tag, cell in score["by_tag"].items() if cell["human"]})
    header = ("recall by tag", *(str(score["model"]) for score in scores))
    cells = [[_tag(tag, scores), *(_cell(score["by_tag"].get(tag)) for score in scores)] for tag in tags]
    text.append(render(header, cells, markdown=markdown))
    return "\n\n".join(text)


def _caveats(scores: Sequence[dict[str, Any]], published: bool) -> list[str]:
    """What has to be known to read precision and specificity, and boxes that could not be used as they were given."""
    exhaustive = [str(score["model"]) for score in scores if score.get("exhaustive")]
    known = [str(score["model"]) for score in scores if not score.get("exhaustive")]
    lines = [NOT_OFFICIAL] if published else []
    if exhaustive:
        lines.append(EXHAUSTIVE.format(models=", ".join(exhaustive)))
    if known:
        lines.append(f"{', '.join(known)}: {KNOWN}")
    for score in scores:
        boxes = score.get("boxes") or {}
        if any(boxes.values()):
            lines.append(
                f"{score['model']}: {boxes['dropped']} boxes could not be used (wrong frame? see --box-frame), "
                f"{boxes['clipped']} were clipped at the edge"
            )
        if salvaged := score.get("salvaged_issues"):
            lines.append(f"{score['model']}: {salvaged} issues were read from replies that the limit of tokens cut")
    return [clean(line) for line in lines]


def _own(score: dict[str, Any]) -> list[str]:
    figures = [percent(None if key in score["undefined"] else score[key]) for key in _KEYS]
    return [str(score["model"]), *figures, *(str(score[key]) for key in ("matched", "predicted", "human", "n_total"))]


def _tag(tag: str, scores: Sequence[dict[str, Any]]) -> str:
    return f"{tag} (few)" if any(score["by_tag"].get(tag, {}).get("few") for score in scores) else tag


def _cell(cell: dict[str, Any] | None) -> str:
    return f"{cell['matched']}/{cell['human']}" if cell else "–"


def published_rows() -> list[list[str]]:
    """The full runs that the authors printed; counts that only follow from them are left out."""
    found: dict[str, dict[str, str]] = {}
    for row in table("scry_results"):
        if row["run"] == "full" and row["slice"] == "all" and row["status"] == "stated" and row["model"]:
            found.setdefault(row["model"], {})[row["metric"]] = row["value"]
    ranked = sorted((m for m in found if _METRICS[0] in found[m]), key=lambda m: -float(found[m][_METRICS[0]]))
    rest = len(HEADER) - 1 - len(_METRICS)
    return [[m, *(found[m].get(metric, "–") for metric in _METRICS), *["–"] * (rest - 2), "557", "311"] for m in ranked]
