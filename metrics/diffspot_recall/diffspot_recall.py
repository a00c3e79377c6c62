"""The evaluate module `diffspot_recall`: accuracy, recall and specificity of DiffSpot verdicts."""

import datasets
import evaluate

from diffspot_hf.scoring.operators import FAMILY, bare_operator
from diffspot_hf.scoring.rates import diffspot_rates, outcome

_DESCRIPTION = """
Share of pairs with a change whose change was named (recall), over all pairs and by tier, operator, family and domain,
with specificity on pairs without a change, the hallucination rate and the overall accuracy (TP + TN) / n.
"""

_INPUTS = """
Args:
    predictions (list of bool): for each pair, whether the reply was right: its change named correctly (a true
        positive), or nothing invented on a pair without a change (a true negative).
    references (list of dict): for each pair `task_type` (`visual_diff` or `no_diff`), `difficulty`, `operator`
        (empty on `no_diff`), `domain`.
    states (list of str, keyword of `compute`): state of each reply (`ok`, `unparsed`, `empty`, `truncated`,
        `refused`, `error`); default all `ok`. A pair without a change is only right in state `ok`.
Returns:
    overall_accuracy, diff_overall_recall, no_diff_specificity, hallucination_rate, their numerators, denominators and
    95 % Wilson intervals under `rates`, by_tier, by_operator, by_family, by_domain, health, over_parsed.
Examples:

    >>> import evaluate
    >>> import diffspot_hf
    >>> metric = evaluate.load("diffspot_recall")
    >>> same = {"task_type": "no_diff", "difficulty": "no_diff", "operator": "", "domain": "travel"}
    >>> bold = {"task_type": "visual_diff", "difficulty": "hard", "operator": "font_weight", "domain": "travel"}
    >>> scores = metric.compute(predictions=[True, False, True], references=[bold, bold, same])
    >>> scores["diff_overall_recall"], scores["no_diff_specificity"]
    (0.5, 1.0)
"""

_CITATION = "Zhang, Liu, Liu, Zhou: DiffSpot. arXiv 2605.29615, 2026."


class DiffspotRecall(evaluate.Metric):
    """See the module's description."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("bool"),
                    "references": {"task_type": text, "difficulty": text, "operator": text, "domain": text},
                }
            ),
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """As the base method, after bringing each reference to the four expected keys: a whole data set row will do."""
        super().add_batch(predictions=predictions, references=[_reference(row) for row in references], **kwargs)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """As the base method, for one pair; see `add_batch`."""
        super().add(prediction=prediction, reference=_reference(reference), **kwargs)

    def _compute(self, predictions, references, states=None):
        states = states or ["ok"] * len(predictions)
        if len(states) != len(predictions):
            raise ValueError(f"{len(states)} states for {len(predictions)} predictions")
        rows = zip(predictions, references, states, strict=True)
        return diffspot_rates([_outcome(right, row, state) for right, row, state in rows])


def _reference(row):
    missing = [key for key in ("task_type", "difficulty") if not row.get(key)]
    if missing:
        raise ValueError(f"a reference has no {' and no '.join(missing)}: {row}")
    return {key: row.get(key) or "" for key in ("task_type", "difficulty", "operator", "domain")}


def _outcome(right, row, state):
    operator = bare_operator(row["operator"] or "")
    return outcome(
        has_diff=row["task_type"] != "no_diff",
        correct=right,
        state=state,
        tier=row["difficulty"],
        operator=operator or None,
        family=FAMILY.get(operator),
        domain=row["domain"] or "other",
    )
