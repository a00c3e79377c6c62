"""The rules judge: agreement with labelled cases, what it returns, and what no reply may do to it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.judging.agreement import agreement, main, read_cases
from diffspot_hf.judging.rules import NAME, VERDICTS, RulesJudge, judge
from diffspot_hf.types import Judge

CASES = Path(__file__).parents[1] / "cases/judge_cases.jsonl"
SHARED = Path(__file__).parents[3] / "shared/cases/judge_triples.jsonl"
HEADING = {
    "type": "font_weight",
    "element": 'the heading "Plan your visit"',
    "property": "font-weight",
    "direction": "increase",
    "old_value": "400",
    "new_value": "700",
    "template": "the heading becomes bold",
}
DIFF = 'The heading "Plan your visit" is bold.'


def rate(reply, mutation=HEADING, diff=DIFF):
    return judge(mutation=mutation, ground_truth_diff=diff, reply=reply)


def verdict(reply, mutation=HEADING):
    return rate(reply, mutation)["mutations"][0]["verdict"]


@pytest.fixture(scope="module")
def own():
    return read_cases(CASES)


# Agreement. The targets are those that the judge was built for: 95 % of binary outcomes, no operator under 75 %.


def check(found):
    table = "\n".join(found.lines())
    assert found.share >= 0.95, table
    assert all(found.of(name) >= 0.75 for name in found.cases), table


def test_own_cases_agree(own):
    assert len(own) >= 150
    check(agreement(own))


@pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not here")
def test_shared_cases_agree():
    check(agreement(read_cases(SHARED)))


def test_own_cases_cover_every_operator_and_verdict(own):
    from diffspot_hf.judging.lexicon import vocabulary

    operators = {name for name, table in vocabulary("operators").items() if "names" in table}
    seen = {(case["operator"], case["verdict"]) for case in own}
    assert len(operators) == 13
    assert seen >= {(name, verdict) for name in operators for verdict in VERDICTS}
    assert seen >= {(None, None)}


def test_command_prints_operators_and_verdicts(capsys):
    assert main([str(CASES)]) == 0
    printed = capsys.readouterr().out
    assert "rules (unofficial)" in printed
    assert "letter_spacing" in printed
    assert "three-way agreement" in printed


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "cannot be read"), ("{", "line 1: not JSON"), ('{"reply": ""}', "line 1: a case needs mutation")],
    ids=["no file", "broken JSON", "keys missing"],
)
def test_command_says_what_is_wrong_with_cases(tmp_path, capsys, text, says):
    path = tmp_path / "cases.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main([str(path)]) == 2
    assert says in capsys.readouterr().err


def test_command_without_cases_says_how_to_call_it(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


# What it returns.


def test_schema_is_the_official_one_and_names_the_judge():
    given = rate("- The heading is bolder.\n- The footer is gone.")
    assert given == {
        "mutations": [{"gt": DIFF, "type": "font_weight", "verdict": "correct", "vlm_match": "The heading is bolder."}],
        "hallucinations": ["The footer is gone."],
        "summary": {"correct": 1, "partial": 0, "missed": 0, "hallucinated": 1},
        "judge": "rules (unofficial)",
    }


def test_pair_without_change_has_no_mutations():
    given = judge(mutation=None, ground_truth_diff="", reply="- The logo moved.\n- The logo moved.")
    assert given["mutations"] == []
    assert given["hallucinations"] == ["The logo moved."], "one difference claimed twice is one invention"


def test_judge_object_is_a_judge():
    assert isinstance(RulesJudge(), Judge)
    assert RulesJudge().name == NAME
    assert "unofficial" in NAME
    assert RulesJudge().judge(mutation=HEADING, ground_truth_diff=DIFF, reply="") == rate("")


@pytest.mark.parametrize("kind", ["font_weight", "mutate_font_weight"])
def test_operator_names_with_and_without_prefix(kind):
    given = rate("- The heading is bolder.", {**HEADING, "type": kind})
    assert given["mutations"][0]["type"] == "font_weight"
    assert given["summary"]["correct"] == 1


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"type": "font_weight"},
        {"type": "no such operator", "element": "the logo", "property": "filter"},
        {**HEADING, "old_value": None, "new_value": None, "direction": None},
        {**HEADING, "element": "", "old_value": "calc(1px", "new_value": "var(--x)"},
    ],
    ids=["empty", "only a type", "unknown operator", "nulls", "odd values"],
)
def test_odd_records_give_a_verdict(record):
    assert verdict("- The heading is bolder. The logo is blue.", record) in VERDICTS


# What no reply may do.

ODD = {
    "empty": "",
    "blank": " \n\t ",
    "opened thinking": "<think>The heading is bolder.",
    "only a closing tag": "The heading is bolder.</think>No differences.",
    "two thoughts": "<think>a</think>x<think>The heading is bolder.</think>None.",
    "refusal": "I'm sorry, I cannot view images.",
    "JSON, nothing": '{"differences": []}',
    "JSON, cut": '{"differences": [{"element": "heading", "chan',
    "JSON, deep": "[" * 5000 + "]" * 5000,
    "HTML": "<html><body><p>No differences</p></body></html>",
    "null bytes": "\x00\x00",
    "surrogate": "\ud800",
    "Arabic": "لا توجد اختلافات",
    "marks": "§A §B §Q7 §C3 §S §T",
}


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD.keys())
def test_odd_replies_score_nothing_and_invent_nothing(reply):
    assert verdict(reply) == "missed"
    assert judge(mutation=None, ground_truth_diff="", reply=reply)["hallucinations"] == []


NOTHING = [
    "No differences.",
    "The two images are identical.",
    "I could not find any difference between Image A and Image B.",
    "- Heading: same weight, same size\n- Footer: unchanged",
    "The heading is not bolder, and nothing moved.",
    "Es sind keine Unterschiede zu sehen.",
    "No hay diferencias.",
    "Aucune différence.",
    "没有任何差异。",
    "違いはありません。",
]


@pytest.mark.parametrize("reply", NOTHING)
def test_nothing_changed_never_scores(reply, own):
    assert verdict(reply) == "missed"
    assert judge(mutation=None, ground_truth_diff="", reply=reply)["hallucinations"] == []
    for case in own[::20]:
        if case["mutation"] is not None:
            assert rate(reply, case["mutation"], case["ground_truth_diff"])["summary"]["correct"] == 0


HUGE = {
    "one word": "a" * 5_000_000,
    "quotes": "'a " * 1_600_000,
    "brackets": "(" * 5_000_000,
    "openings": "<" * 5_000_000,
    "claims": "".join(f"- The heading {k} is bolder in Image B than in Image A.\n" for k in range(90_000)),
    "one sentence": "the heading is bolder and " * 200_000,
    "no blanks": "没有变化" * 1_250_000,
    "JSON": json.dumps([{"element": f"card {k}", "change": "bolder"} for k in range(120_000)]),
    "labels": "Change: bolder\n" * 330_000,
    "both sides": "Image A:\n- a b c\nImage B:\n- a b d\n" * 140_000,
}


@pytest.mark.parametrize("reply", HUGE.values(), ids=HUGE.keys())
def test_five_megabytes_take_seconds(reply):
    started = time.process_time()
    assert verdict(reply) in VERDICTS
    assert time.process_time() - started < 6


def test_the_end_of_an_enormous_reply_is_read():
    assert verdict("Nothing else to say here. " * 200_000 + "\n- The heading is bolder in Image B.") == "correct"


def test_ordinary_replies_are_judged_a_thousand_a_second(own):
    for case in own[:50]:
        rate(case["reply"], case["mutation"], case["ground_truth_diff"])
    started = time.process_time()
    for number in range(1_000):
        case = own[number % len(own)]
        judge(
            mutation=case["mutation"], ground_truth_diff=case["ground_truth_diff"], reply=f"{case['reply']}\n\n{number}"
        )
    assert time.process_time() - started < 2, "10,000 replies must take less than 10 s on a quiet machine"


# Properties.

UNRELATED = [
    "- The weather widget in the sidebar shows a new icon.",
    "- The pagination moved to the left.",
    "- The video player has a darker border.",
    "- Everything else is unchanged.",
    "- The chart legend is larger in Image B.",
]


def bulleted(case):
    lines = case["reply"].splitlines()
    return bool(lines) and all(line.startswith("- ") for line in lines)


@pytest.mark.parametrize("bullet", UNRELATED)
def test_an_unrelated_bullet_never_lowers_a_verdict(own, bullet):
    for case in own[UNRELATED.index(bullet) :: 2]:
        if case["mutation"] is None or not case["reply"] or "<think>" in case["reply"]:
            continue
        alone = rate(case["reply"], case["mutation"], case["ground_truth_diff"])["mutations"][0]["verdict"]
        for reply in (f"{case['reply']}\n{bullet}", f"{bullet}\n{case['reply']}"):
            both = rate(reply, case["mutation"], case["ground_truth_diff"])["mutations"][0]["verdict"]
            assert VERDICTS.index(both) <= VERDICTS.index(alone), reply


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_order_of_bullets_changes_nothing(own, data):
    case = data.draw(st.sampled_from([c for c in own if bulleted(c)]))
    lines = case["reply"].splitlines() + data.draw(st.lists(st.sampled_from(UNRELATED), unique=True))
    turned = data.draw(st.permutations(lines))
    one, other = (
        judge(mutation=case["mutation"], ground_truth_diff=case["ground_truth_diff"], reply="\n".join(order))
        for order in (lines, turned)
    )
    assert one["mutations"] == other["mutations"]
    assert sorted(one["hallucinations"]) == sorted(other["hallucinations"])


WORDS = [
    "the",
    "heading",
    "bolder",
    "in",
    "Image",
    "A",
    "B",
    "is",
    "not",
    "→",
    ":",
    ";",
    '"',
    "'",
    "§",
    "§A",
    "§Q9",
    "§C4",
    "<think>",
    "</think>",
    "**",
    "|",
    "-",
    "#",
    "\n",
    "12px",
    "#fff",
    "rgb(",
    "{",
    "[",
    "]",
    "}",
    "大きく",
    "no",
    "same",
]


@settings(max_examples=300, deadline=None)
@given(reply=st.one_of(st.text(max_size=400), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)))
def test_any_text_gets_the_same_verdict_twice(reply):
    given = rate(reply)
    assert given == rate(reply)
    assert given["mutations"][0]["verdict"] in VERDICTS
    assert judge(mutation=None, ground_truth_diff="", reply=reply)["mutations"] == []


def test_the_description_itself_is_correct(own):
    described = {(json.dumps(c["mutation"]), c["ground_truth_diff"]): c for c in own if c["mutation"]}
    wrong = []
    for case in described.values():
        given = rate(f"- {case['ground_truth_diff']}", case["mutation"], case["ground_truth_diff"])
        if given["summary"] != {"correct": 1, "partial": 0, "missed": 0, "hallucinated": 0}:
            wrong.append(case["ground_truth_diff"])
    assert len(described) > 100
    assert len(wrong) <= 0.02 * len(described), wrong
