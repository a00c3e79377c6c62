"""The evaluate module `dicobench_accuracy`: multiple choice over two images, read strictly and leniently."""

import datasets
import evaluate

from diffspot_hf.scoring.mcq_scores import choice_scores, read_choice

_DESCRIPTION = """
Reads an option letter out of each reply, strictly (the reply is exactly the letter; the headline) and as a careful
reader would, and gives accuracy by task and track, micro and macro, with the kinds of error. A reply without a letter
is wrong, is counted, and is never replaced by a guess. Option E says that there is nothing to see.
"""

_INPUTS = """
Args:
    predictions (list of str): the raw replies; None is a row without a prediction.
    references (list of str): the right letters.
    tasks, tracks, groups (lists of str, optional): task, track and group of five of each item.
    options (list of lists of str, optional): the option texts in the order of the letters. With them a reply that
        quotes one option in full gives its letter, and a letter beside another option's text gives none (lenient
        reading only).
    states (list of str, optional): state of each reply, where it is known; else read off the reply.
    letters (str): the letters of the items, capitals; default "ABCDE".
Returns:
    micro_accuracy (right answers over all items, None over none), macro_accuracy (mean over tasks), by_task, by_track,
    lenient, over_parsed, unparsed, unparsed_lenient, empty, gold_none and gold_cue (accuracy on items whose answer is
    E, or not), errors (missed_cue, thin_air, wrong_cue, format_failure), letters (counts, what always giving one letter
    would score, chi-square of the key), groups, health, n_total.
Examples:

    >>> import evaluate
    >>> import diffspot_hf
    >>> metric = evaluate.load("dicobench_accuracy")
    >>> scores = metric.compute(predictions=["B", "The answer is C.", "E"], references=["B", "C", "A"])
    >>> round(scores["micro_accuracy"], 3), round(scores["lenient"]["micro_accuracy"], 3)
    (0.333, 0.667)
    >>> scores["errors"]["missed_cue"]["numerator"], scores["errors"]["format_failure"]["numerator"]
    (1, 1)
"""

_CITATION = "Li, Peng: DiCoBench. arXiv 2606.26602, 2026."

_OPTIONAL = ("tasks", "tracks", "groups", "states")


class DicobenchAccuracy(evaluate.Metric):
    """See the module's description."""

    def _info(self):
        text = datasets.Value("string")
        names = ("predictions", "references", *_OPTIONAL)
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(dict.fromkeys(names, text) | {"options": datasets.List(text)}),
        )

    def compute(
        self,
        *,
        predictions=None,
        references=None,
        tasks=None,
        tracks=None,
        groups=None,
        options=None,
        states=None,
        **kwargs,
    ):
        """The figures over all rows given here and added before."""
        return super().compute(
            predictions=predictions,
            references=references,
            tasks=tasks,
            tracks=tracks,
            groups=groups,
            options=options,
            states=states,
            **kwargs,
        )

    def add_batch(self, *, predictions=None, references=None, options=None, **columns):
        """Adds items; a column that is not given is empty."""
        n = len(predictions)
        filled = {name: columns.pop(name, None) or [""] * n for name in _OPTIONAL}
        filled["states"] = [
            "missing" if reply is None and not state else state or ""
            for reply, state in zip(predictions, filled["states"], strict=True)
        ]
        super().add_batch(
            predictions=[reply or "" for reply in predictions],
            references=references,
            options=[list(texts or ()) for texts in options or [()] * n],
            **{name: [value or "" for value in column] for name, column in filled.items()},
            **columns,
        )

    def add(
        self, *, prediction=None, reference=None, task=None, track=None, group=None, options=None, state=None, **kwargs
    ):
        """Adds one item."""
        super().add(
            prediction=prediction or "",
            reference=reference,
            tasks=task or "",
            tracks=track or "",
            groups=group or "",
            states=state or ("missing" if prediction is None else ""),
            options=list(options or ()),
            **kwargs,
        )

    def _compute(self, predictions, references, tasks, tracks, groups, states, options, letters="ABCDE"):
        rows = zip(predictions, references, tasks, tracks, groups, states, options, strict=True)
        return choice_scores(
            [
                read_choice(
                    reply, answer, options=texts or None, letters=letters, task=task, track=track,
                    group=group or None, state=state or None,
                )
                for reply, answer, task, track, group, state, texts in rows
            ]
        )  # fmt: skip
