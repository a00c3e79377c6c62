"""DiCoBench results as tables: accuracy by task, what the wrong answers are, and the published rows beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..published import table
from .tables import percent, render

TASKS = {
    "differential/attribute": "Attr",
    "differential/entity": "Ent",
    "differential/spatial": "Spa-D",
    "differential/reasoning": "Rea-D",
    "commonality/instance": "Ins",
    "commonality/category": "Cat",
    "commonality/spatial": "Spa-C",
    "commonality/reasoning": "Rea-C",
}
"""Task → its short name."""
HEADER = ("model", *TASKS.values(), "micro", "macro", "items")
LETTERS = "ABCDE"
_AS_SHOWN = (("", "strict"), ("_key", "key"), ("_always", "always"))
ERRORS = ("missed_cue", "thin_air", "wrong_cue", "format_failure")
NOT_OFFICIAL = (
    "The published rows are over the official items, as many as the last column says, and stand here for orientation; "
    "their Avg is the micro average. Those marked odd hold figures that do not reconcile with the official counts:"
)


def tables(scores: Sequence[dict[str, Any]], *, published: bool = True, markdown: bool = False) -> str:
    """The task table with the published rows below, the reading and error table, and the letters that were given."""
    rows = [_own(score) for score in scores]
    if published:
        rows += [["published, official benchmark:"] + [""] * (len(HEADER) - 1), *published_rows()]
    text = [render(HEADER, rows, markdown=markdown)]
    text.append("Accuracy in percent over all items, strict: the reply is the letter and nothing else, or it is wrong.")
    if published:
        text.append("\n".join([NOT_OFFICIAL, *odd_figures()]))
    header = ("reading and errors", "strict", "lenient", "unparsed", "cue seen", "none seen", *_words(ERRORS))
    text.append(render(header, [_reading(score) for score in scores], markdown=markdown))
    text.append(render(("letters given", *LETTERS), _letters(scores), markdown=markdown))
    text += [_both_orders(score) for score in scores if "both_orders" in score]
    return "\n\n".join(text)


def _own(score: dict[str, Any]) -> list[str]:
    by_task = [percent(score["by_task"].get(task, {}).get("accuracy")) for task in TASKS]
    averages = [percent(score["micro_accuracy"]), percent(score["macro_accuracy"])]
    return [str(score["model"]), *by_task, *averages, str(score["n_total"])]


def _reading(score: dict[str, Any]) -> list[str]:
    figures = [
        score["micro_accuracy"],
        score["lenient"]["micro_accuracy"],
        score["unparsed"]["value"],
        _value(score["gold_cue"]),
        _value(score["gold_none"]),
    ]
    return [str(score["model"]), *map(percent, figures), *(str(score["errors"][name]["numerator"]) for name in ERRORS)]


def _letters(scores: Sequence[dict[str, Any]]) -> list[list[str]]:
    """How often each letter was given, as it was shown; above that, for each key, how often it is right and what
    always giving it would score."""
    rows, last = [], None
    for score in scores:
        letters = score["letters"]
        given, key, always = (letters.get(f"shown{name}", letters[plain]) for name, plain in _AS_SHOWN)
        if key != last:
            rows.append(["(right answers)", *(str(key.get(letter, 0)) for letter in LETTERS)])
            rows.append(["(always this letter scores, %)", *(percent(always.get(letter, 0.0)) for letter in LETTERS)])
            last = key
        rows.append([str(score["model"]), *(str(given.get(letter, 0)) for letter in LETTERS)])
    return rows


def _value(rate: Mapping[str, Any]) -> float | None:
    return rate["value"] if rate["denominator"] else None


def _both_orders(score: Mapping[str, Any]) -> str:
    found = score["both_orders"]
    return (
        f"{score['model']}, images swapped: {percent(found['consistency'])} % of the letters stay the same, "
        f"{found['right_in_both']} of {found['n']} items right in both orders."
    )


def _words(names: Sequence[str]) -> list[str]:
    return [name.replace("_", " ") for name in names]


def published_rows() -> list[list[str]]:
    """The paper's table as far as it is known, best average first (no figure is recomputed)."""
    found: dict[str, dict[str, str]] = {}
    items: dict[str, str] = {}
    for row in table("dicobench_results"):
        if row["metric"] == "accuracy_pct":
            found.setdefault(row["model"], {})[row["slice"]] = row["value"]
        elif row["metric"] == "n_samples" and row["slice"] in ("avg", "total"):
            items[row["model"]] = row["value"]  # without a model: of every row that has no number of its own
    ranked = sorted((model for model in found if "avg" in found[model]), key=lambda m: -float(found[m]["avg"]))
    odd = {row["model"] for row in _odd()}
    return [
        [
            model.replace("_", " ") + " (odd)" * (model in odd),
            *(found[model].get(task, "–") for task in TASKS),
            found[model]["avg"],
            "–",
            items.get(model, items[""]),
        ]
        for model in ranked
    ]


def odd_figures() -> list[str]:
    """One line for each reason why figures of a published row do not reconcile."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in _odd():
        name = TASKS.get(row["slice"], row["slice"])
        found.setdefault((row["model"], row["note"]), []).append(f"{name} {row['value']}")
    return [f"- {model}, {', '.join(figures)}: {note}" for (model, note), figures in found.items()]


def _odd() -> list[dict[str, str]]:
    return [row for row in table("dicobench_results") if row["metric"] == "accuracy_pct" and row["status"] == "odd"]
