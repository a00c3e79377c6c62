"""What DiffSpot sends, and what it never sends."""

from __future__ import annotations

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.running.rowset import RowSet

DIFFSPOT = benchmark("diffspot")


def test_pairs_with_and_without_a_change_are_asked_alike(pairs):
    rows = RowSet(DIFFSPOT, str(pairs))
    kinds = {rows.truth(i)["task_type"]: rows.request(i, DIFFSPOT.prompt) for i in rows.ids}
    assert set(kinds) == {"visual_diff", "no_diff"}
    assert kinds["visual_diff"].text.encode() == kinds["no_diff"].text.encode() == DIFFSPOT.prompt.encode()
    for request in kinds.values():
        assert [type(part).__name__ for part in request.parts] == ["str", "Picture", "Picture"]


def test_before_comes_before_after(pairs):
    rows = RowSet(DIFFSPOT, str(pairs))
    row = rows.row("pair-0")
    before, after = rows.request("pair-0", "").pictures
    assert (before.data, after.data) == (row["image_before"]["bytes"], row["image_after"]["bytes"])


def test_nothing_of_the_truth_is_in_a_request(pairs):
    rows = RowSet(DIFFSPOT, str(pairs))
    for identifier in rows.ids:
        request, truth = rows.request(identifier, DIFFSPOT.prompt), rows.truth(identifier)
        secrets = [truth["user_query"], truth["ground_truth_diff"], *truth["mutation_types"]]
        assert not any(secret and secret in request.text for secret in secrets)


def test_the_prompt_leaves_open_whether_anything_changed():
    assert "there may be none" in DIFFSPOT.prompt
    assert "No differences." in DIFFSPOT.prompt
