"""The evaluate module `no_diff_specificity`: how often nothing is invented on pairs without a change."""

import datasets
import evaluate

from diffspot_hf.scoring.rates import diffspot_rates, outcome

_DESCRIPTION = """
Share of pairs without a change on which nothing was claimed, and its complement, the hallucination rate.
"""

_INPUTS = """
Args:
    predictions (list of int): for each pair, how many differences the reply claims that are not there.
    references (list of int): 1 if the pair has a change (such pairs are left out), 0 if it has none.
    states (list of str, keyword of `compute`): state of each reply; default all `ok`. A reply in any other state is
        never a true negative.
Returns:
    no_diff_specificity, hallucination_rate, n_no_diff, n_tn and `rates` with numerators, denominators and intervals.
Examples:

    >>> import evaluate
    >>> import diffspot_hf
    >>> metric = evaluate.load("no_diff_specificity")
    >>> metric.compute(predictions=[0, 2, 1], references=[0, 0, 1])["no_diff_specificity"]
    0.5
"""


class NoDiffSpecificity(evaluate.Metric):
    """See the module's description."""

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="Zhang, Liu, Liu, Zhou: DiffSpot. arXiv 2605.29615, 2026.",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("int64"), "references": datasets.Value("int64")}),
        )

    def _compute(self, predictions, references, states=None):
        states = states or ["ok"] * len(predictions)
        if len(states) != len(predictions):
            raise ValueError(f"{len(states)} states for {len(predictions)} predictions")
        rows = zip(predictions, references, states, strict=True)
        outcomes = [
            outcome(has_diff=False, correct=claims == 0, state=state)
            for claims, has_diff, state in rows
            if not has_diff
        ]
        figures = diffspot_rates(outcomes)
        rates = {name: figures["rates"][name] for name in ("no_diff_specificity", "hallucination_rate")}
        return {name: figures[name] for name in ("no_diff_specificity", "hallucination_rate", "n_no_diff", "n_tn")} | {
            "rates": rates
        }
