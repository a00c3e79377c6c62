"""DiCoBench: what is asked, that nothing else is, how replies are read, and what the controls score."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from PIL import Image

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.benchmarks.dicobench import PROMPT, DiCoBench, agreement
from diffspot_hf.build.mcq.tasks import TASKS
from diffspot_hf.build.mcq.views import View
from diffspot_hf.errors import UsageError
from diffspot_hf.report.dicobench import tables
from diffspot_hf.types import Benchmark, Response


def png(color):
    out = io.BytesIO()
    Image.new("RGB", (80, 60), color).save(out, "PNG")
    return out.getvalue()


def row(number=0, answer="B", **more):
    return {
        "id": f"secret-id-{number}",
        "track": "differential",
        "task": "attribute",
        "image_1": {"path": "secret-path.png", "bytes": png((number, 0, 0))},
        "image_2": {"path": "secret-path.png", "bytes": png((number, 0, 200))},
        "question": "What is the difference?",
        "options": ["The mug is red.", "The mug is blue.", "The mug is gone.", "A second mug.", "No difference."],
        "answer": answer,
        "group_id": "secret-group",
        "bbox_1": {"x": 10.0, "y": 10.0, "w": 20.0, "h": 20.0},
        "bbox_2": {"x": 10.0, "y": 10.0, "w": 20.0, "h": 20.0},
        "edit_area_fraction": 0.0123,
        "instruction": "secret instruction",
        **more,
    }


def test_it_is_a_benchmark():
    made = benchmark("dicobench")
    assert isinstance(made, Benchmark)
    assert made.settings == {}


def test_images_come_first_then_the_question_and_the_lettered_options():
    request = DiCoBench().request(row(), PROMPT)
    first, second, text = request.parts
    assert (first.data, second.data) == (row()["image_1"]["bytes"], row()["image_2"]["bytes"])
    lines = text.splitlines()
    start = lines.index("A. The mug is red.")
    assert lines[start - 2] == "What is the difference?"
    assert lines[start + 1 : start + 5] == [
        "B. The mug is blue.",
        "C. The mug is gone.",
        "D. A second mug.",
        "E. No difference.",
    ]
    assert "letter alone" in text


@pytest.mark.parametrize(
    "asked",
    [DiCoBench(), DiCoBench(shuffle_options=1, swap_images=True), DiCoBench(view=View("crop"))],
    ids=["plain", "shuffled and swapped", "cropped"],
)
def test_nothing_that_gives_the_answer_away_is_asked(asked):
    base = asked.request(row(), PROMPT)
    assert "secret" not in base.text
    other = asked.request(row(answer="C", group_id="g", instruction="x", edit_area_fraction=0.5), PROMPT)
    assert base == other  # whatever the answer is, the request is the same


def test_braces_in_a_question_are_only_text():
    text = DiCoBench().request(row(question="What about {options} and {x}?"), PROMPT).text
    assert "What about {options} and {x}?" in text


@pytest.mark.parametrize(
    "prompt",
    ["Answer.", "{question}", "{options} {question} {options}"],
    ids=["neither", "no options", "options twice"],
)
def test_a_prompt_without_question_and_options_is_refused(prompt):
    with pytest.raises(UsageError, match=r"\{question\} and \{options\}, each exactly once"):
        DiCoBench().request(row(), prompt)


REPLIES = {
    "the letter": ("B", "stop", "ok", "B", "B"),
    "the letter with space around": (" B\n", "stop", "ok", "B", "B"),
    "the letter, cut after it": ("B", "length", "ok", "B", "B"),
    "a lower-case letter": ("b", "stop", "unparsed", None, "B"),
    "a sentence": ("The answer is B.", "stop", "unparsed", None, "B"),
    "an option's text": ("The mug is gone.", "stop", "unparsed", None, "C"),
    "no letter": ("I see two mugs.", "stop", "unparsed", None, None),
    "nothing": ("", "stop", "empty", None, None),
    "a thought that was cut": ("<think>the mug", "length", "truncated", None, None),
    "a refusal": ("I'm sorry, but I can't view the images.", "stop", "refused", None, None),
    "no answer at all": ("", "error", "error", None, None),
}


@pytest.mark.parametrize(("text", "finish", "state", "strict", "lenient"), REPLIES.values(), ids=REPLIES)
def test_only_the_exact_letter_is_an_answer_and_the_lenient_one_stands_beside(text, finish, state, strict, lenient):
    found = DiCoBench().read(row(), Response("x", text, finish_reason=finish))
    assert (found.state, found.value, found.notes) == (state, strict, {"lenient": lenient})


def test_shuffled_options_keep_the_last_one_last_and_are_read_back():
    asked = DiCoBench(shuffle_options=5)
    orders = set()
    for number in range(30):
        item = row(number)
        order = asked.order(item)
        orders.add(order)
        assert order[-1] == "E"
        assert sorted(order) == list("ABCDE")
        text = asked.request(item, PROMPT).text
        shown = order.index("B")  # where the option that the data calls B stands now
        assert f"{'ABCDE'[shown]}. The mug is blue." in text
        found = asked.read(item, Response("x", "ABCDE"[shown]))
        assert (found.value, found.notes["shown"], found.notes["order"]) == ("B", "ABCDE"[shown], order)
    assert len(orders) > 5
    assert asked.settings == {"shuffle_options": 5}
    assert DiCoBench(shuffle_options=6).order(row()) != asked.order(row()) or len(orders) > 1


def test_an_option_quoted_in_full_is_read_in_the_order_shown():
    asked = DiCoBench(shuffle_options=2)
    for number in range(8):
        assert asked.read(row(number), Response("x", "The mug is gone.")).notes["lenient"] == "C"


def test_swapped_images_are_asked_in_the_other_order():
    plain, swapped = DiCoBench().request(row(), PROMPT), DiCoBench(swap_images=True).request(row(), PROMPT)
    assert swapped.parts == (plain.parts[1], plain.parts[0], plain.parts[2])


def test_agreement_of_both_orders_counts_letters_only():
    answers = dict(zip("abcde", "ABCDE", strict=True))
    first = {i: {"prediction": p} for i, p in zip("abcde", ["A", "B", "A", None, "E"], strict=True)}
    second = {i: {"prediction": p} for i, p in zip("abcd", ["A", "C", "A", None], strict=True)}
    found = agreement(first, second, answers)
    assert found == {
        "n": 4,
        "same_letter": 2,
        "consistency": 0.5,
        "right_in_both": 1,
        "right_in_first_only": 1,
        "right_in_second_only": 0,
        "unread_in_either": 1,
    }
    assert agreement({}, {}, answers)["consistency"] is None


def test_options_of_a_run_configure_it():
    asked = DiCoBench().configured(
        "m", SimpleNamespace(shuffle_options=3, swap_images=True, view="crop", view_margin=1.0)
    )
    assert asked.settings == {
        "shuffle_options": 3,
        "swap_images": True,
        "view": {"kind": "crop", "margin": 1.0, "filter": "lanczos", "least": 64},
    }
    assert DiCoBench().configured("m", SimpleNamespace()).settings == {}


ROWS = [
    row(10 * t + n, answer="ABCDE"[n], id=f"{task.label}-{n}", track=task.track, task=task.name, group_id=task.label)
    for t, task in enumerate(TASKS)
    for n in range(5)
]
CONTROLS = {"oracle": 1.0, "always-none": 0.2, "always-generic": 0.0, **{f"always-{c}": 0.2 for c in "ABCDE"}}


@pytest.mark.parametrize("asked", [DiCoBench(), DiCoBench(shuffle_options=4)], ids=["as given", "shuffled"])
@pytest.mark.parametrize(("kind", "accuracy"), CONTROLS.items(), ids=CONTROLS)
def test_controls_score_what_they_must(asked, kind, accuracy):
    records = {}
    for item in ROWS:
        found = asked.read(item, Response(item["id"], asked.scripted(kind, item, seed=0)))
        records[item["id"]] = {"prediction": found.value, "state": found.state, "notes": dict(found.notes)}
    scores = asked.score(ROWS, records)
    if asked.shuffle_options is None or kind in ("oracle", "always-none", "always-E", "always-generic"):
        assert scores["micro_accuracy"] == accuracy
        assert scores["lenient"]["micro_accuracy"] == accuracy
    assert scores["n_total"] == 40
    assert scores["errors"]["format_failure"]["numerator"] == (40 if kind == "always-generic" else 0)


def test_always_none_answers_with_the_last_letter():
    assert DiCoBench().scripted("always-none", row(), 0) == "E"


def test_random_is_a_letter_that_the_seed_decides():
    letters = [DiCoBench().scripted("random", item, 1) for item in ROWS]
    assert letters == [DiCoBench().scripted("random", item, 1) for item in ROWS]
    assert set(letters) == set("ABCDE")


def test_a_row_without_a_record_is_not_right():
    scores = DiCoBench().score(ROWS[:5], {})
    assert (scores["n_total"], scores["micro_accuracy"]) == (5, 0.0)


def table_of(asked, rows, kind, **options):
    """The printed tables of a control's answers to `rows`, each line as its words."""
    records = {}
    for item in rows:
        found = asked.read(item, Response(item["id"], asked.scripted(kind, item, seed=0)))
        records[item["id"]] = {"prediction": found.value, "state": found.state, "notes": dict(found.notes)}
    scores = asked.score(rows, records) | {"model": kind}
    return [line.split() for line in tables([scores], **options).splitlines()], scores


def test_published_rows_stand_with_their_own_number_of_items_and_those_that_do_not_reconcile_are_marked():
    lines, _ = table_of(DiCoBench(), ROWS, "oracle")
    rows = {line[0]: line for line in lines if line and len(line) > 9}
    assert rows["Gemini-3-Flash"][-3:] == ["41.9", "–", "74"]
    assert rows["Human"][-1] == rows["GPT-4.1"][-1] == "765"
    assert {name for name, line in rows.items() if line[1:2] == ["(odd)"]} == {
        "Gemini-3-Flash", "Gemini-3-Pro", "GPT-4o",
    }  # fmt: skip
    text = "\n".join(map(" ".join, lines))
    assert "- Gemini-3-Pro, Rea-C 36.4: not a share of 115" in text
    assert "- Gemini-3-Flash, Attr 25.0" in text


KEYS = {
    "the whole": (DiCoBench(), ROWS, ["20.0"] * 5),
    "the first seven": (DiCoBench(), ROWS[:7], ["28.6", "28.6", "14.3", "14.3", "14.3"]),
}


@pytest.mark.parametrize(("asked", "rows", "shares"), KEYS.values(), ids=KEYS)
def test_what_one_letter_scores_is_that_of_the_rows_that_were_asked(asked, rows, shares):
    lines, _ = table_of(asked, rows, "oracle", published=False)
    assert ["(always", "this", "letter", "scores,", "%)", *shares] in lines


def test_with_shuffled_options_it_is_that_of_the_letters_as_shown():
    asked = DiCoBench(shuffle_options=4)
    for letter in "ABCDE":
        lines, scores = table_of(asked, ROWS, f"always-{letter}", published=False)
        line = next(line for line in lines if line[:3] == ["(always", "this", "letter"])
        assert line[5 + "ABCDE".index(letter)] == f"{100 * scores['micro_accuracy']:.1f}"
        assert [f"always-{letter}", *("40" if x == letter else "0" for x in "ABCDE")] in lines


def test_runs_over_other_rows_have_a_key_of_their_own():
    both = [table_of(DiCoBench(), rows, "oracle")[1] for rows in (ROWS, ROWS[:7])]
    text = tables(both, published=False)
    assert text.count("(right answers)") == 2
    assert tables([both[0], both[0]], published=False).count("(right answers)") == 1
