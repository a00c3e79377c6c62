"""The evaluate module `tag_box_iou`: how well the boxes of found issues fit."""

import datasets
import evaluate

from diffspot_hf.scoring.iou_scores import score_overlap
from diffspot_hf.scoring.issue_inputs import check_options, normal_columns, normal_single, only_inputs, take_inputs

_COLUMNS = ("predictions", "references", "states")

_DESCRIPTION = """
Matches tagged and boxed issues one to one, as `known_issue_recall` does, and gives the IoU of the matched pairs (the
better of the two sides): mean, quartiles, and recall as the demanded IoU rises from 0.1 to 0.9.
"""

_INPUTS = """
Args:
    predictions (list of lists of dict): for each pair of screens the reported issues: `labels` (list of tags), `box_a`
        and `box_b` (`{"x", "y", "w", "h"}` in fractions of the picture, or None). Missing keys are filled, other keys
        dropped; None instead of a list is a row without a prediction.
    references (list of lists of dict): the known issues in the same form; None, or a box that leaves the picture
        (pixels), is an error.
    states (list of str, optional): state of each row; issues count in `ok` (default) and `truncated` only.
    iou_threshold (float): overlap that a match needs for mean and quartiles; default 0.10.
    method (str): `maximum` (default) or `greedy`.
Returns:
    mean_iou, quartiles (25 %, 50 %, 75 %; None without a matched pair), recall_at ("0.1" to "0.9", each with numerator
    and denominator), matched, human, n_total, boxes_outside_frame (predicted boxes that leave the picture).
Examples:

    >>> import evaluate
    >>> import diffspot_hf
    >>> metric = evaluate.load("tag_box_iou")
    >>> known = {"labels": ["Icon/Nav"], "box_b": {"x": 0.0, "y": 0.0, "w": 0.5, "h": 0.5}}
    >>> found = {"labels": ["Icon/Nav"], "box_b": {"x": 0.0, "y": 0.0, "w": 0.5, "h": 0.25}}
    >>> scores = metric.compute(predictions=[[found]], references=[[known]])
    >>> scores["mean_iou"], scores["recall_at"]["0.5"]["value"], scores["recall_at"]["0.6"]["value"]
    (0.5, 1.0, 0.0)
"""

_CITATION = "Scry Design Diff Eval, blog.scrymore.com/paper, 2026 (the matching rule; this figure is ours)."


class TagBoxIou(evaluate.Metric):
    """See the module's description."""

    def _info(self):
        text, number = datasets.Value("string"), datasets.Value("float64")
        box = dict.fromkeys(("x", "y", "w", "h"), number)
        issues = datasets.List({"labels": datasets.List(text), "box_a": box, "box_b": box})
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": issues, "references": issues, "states": text}),
        )

    def compute(self, *, predictions=None, references=None, states=None, **options):
        """The figures over all rows given here and added before."""
        given = {"predictions": predictions, "references": references, "states": states}
        inputs, options = take_inputs(given | options, _COLUMNS)
        check_options(score_overlap, options)  # before the rows that were added are used up
        return super().compute(**inputs, **options)

    def add_batch(self, *, predictions=None, references=None, states=None, **singular):
        """Adds rows, brought to one form first."""
        given = {"predictions": predictions, "references": references, "states": states}
        super().add_batch(**normal_columns(only_inputs(given | singular, _COLUMNS)))

    def add(self, *, prediction=None, reference=None, state=None, **plural):
        """Adds one row, brought to one form first."""
        given = {"prediction": prediction, "reference": reference, "state": state}
        row = normal_single(only_inputs(given | plural, _COLUMNS))
        super().add(prediction=row.pop("predictions"), reference=row.pop("references"), **row)

    def _compute(self, predictions, references, states, **options):
        return score_overlap(predictions, references, states, **options)
