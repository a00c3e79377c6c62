"""The evaluate module `known_issue_recall`: which known issues of a screen were found, and what else was reported."""

import datasets
import evaluate

from diffspot_hf.scoring.issue_inputs import check_options, normal_columns, normal_single, only_inputs, take_inputs
from diffspot_hf.scoring.issue_scores import score_issues

_COLUMNS = ("predictions", "references", "states", "buckets")

_DESCRIPTION = """
Scores lists of tagged and boxed issues against the known issues of pairs of screens. A predicted and a known issue
match if they share a tag and their boxes overlap with IoU >= 0.10 on the same side; each issue is used at most once,
and as many pairs are made as possible. A pair without a known issue is a control.
"""

_INPUTS = """
Args:
    predictions (list of lists of dict): for each pair of screens the reported issues: `labels` (list of tags), `box_a`
        and `box_b` (`{"x", "y", "w", "h"}` in fractions of the picture, x and y the top-left corner, or None). Missing
        keys are filled, other keys dropped; None instead of a list is a row without a prediction (state `missing`).
    references (list of lists of dict): the known issues in the same form; an empty list is a control, None an error,
        and so is a box that leaves the picture (pixels).
    states (list of str, optional): state of each row: `ok`, `unparsed`, `empty`, `truncated`, `refused`, `error` or
        `missing`; default `ok`. Issues count in `ok` and `truncated` only; only `ok` without issues is an abstention.
    buckets (list of str, optional): a group for each row, such as `single`, `multi` or `dense`.
    iou_threshold (float): overlap that a match needs; default 0.10.
    method (str): `maximum` (default) or `greedy` (predictions in order, each takes the free issue it overlaps most).
    malformed_controls (str): what a control without a readable answer is: `failed` (default, no abstention),
        `abstained`, or `excluded` from the denominator.
Returns:
    known_issue_recall, diagnostic_precision, issue_f1, diff_screen_recall, no_diff_specificity; their numerators,
    denominators and 95 % Wilson intervals under `rates`; matched, predicted, human, flagged_controls,
    malformed_controls, coverage, health, boxes_outside_frame (predicted boxes that leave the picture), by_tag (tags
    with fewer than five issues are marked `few`), by_bucket, over_parsed, and `readings`: the figures under each
    reading of what the paper leaves open.
Examples:

    >>> import evaluate
    >>> import diffspot_hf
    >>> metric = evaluate.load("known_issue_recall")
    >>> known = {"labels": ["Typography"], "box_a": {"x": 0.1, "y": 0.1, "w": 0.4, "h": 0.1}, "box_b": None}
    >>> found = {"labels": ["Typography"], "box_a": {"x": 0.1, "y": 0.1, "w": 0.3, "h": 0.1}}
    >>> vague = {"labels": ["other"]}
    >>> scores = metric.compute(predictions=[[found, vague], []], references=[[known], []])
    >>> scores["known_issue_recall"], scores["diagnostic_precision"], scores["no_diff_specificity"]
    (1.0, 0.5, 1.0)
"""

_CITATION = "Scry Design Diff Eval, blog.scrymore.com/paper, 2026."


class KnownIssueRecall(evaluate.Metric):
    """See the module's description."""

    def _info(self):
        text, number = datasets.Value("string"), datasets.Value("float64")
        box = dict.fromkeys(("x", "y", "w", "h"), number)
        issues = datasets.List({"labels": datasets.List(text), "box_a": box, "box_b": box})
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": issues, "references": issues, "states": text, "buckets": text}),
        )

    def compute(self, *, predictions=None, references=None, states=None, buckets=None, **options):
        """The figures over all rows given here and added before."""
        given = {"predictions": predictions, "references": references, "states": states, "buckets": buckets}
        inputs, options = take_inputs(given | options, _COLUMNS)
        check_options(score_issues, options)  # before the rows that were added are used up
        return super().compute(**inputs, **options)

    def add_batch(self, *, predictions=None, references=None, states=None, buckets=None, **singular):
        """Adds rows, brought to one form first."""
        given = {"predictions": predictions, "references": references, "states": states, "buckets": buckets}
        super().add_batch(**normal_columns(only_inputs(given | singular, _COLUMNS)))

    def add(self, *, prediction=None, reference=None, state=None, bucket=None, **plural):
        """Adds one row, brought to one form first."""
        given = {"prediction": prediction, "reference": reference, "state": state, "bucket": bucket}
        row = normal_single(only_inputs(given | plural, _COLUMNS))
        super().add(prediction=row.pop("predictions"), reference=row.pop("references"), **row)

    def _compute(self, predictions, references, states, buckets, **options):
        return score_issues(predictions, references, states, buckets if any(buckets) else None, **options)
