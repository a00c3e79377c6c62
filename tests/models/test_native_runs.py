"""Whole runs of real tiny models through the command line: what is said of sizes, what may not shrink, what is long."""

from __future__ import annotations

import logging
import re

import pytest

from diffspot_hf.cli import main
from diffspot_hf.running.store import read_lines

pytestmark = pytest.mark.vlm


@pytest.fixture
def run(tiny, pairs, tmp_path, capsys):
    def call(arch, *words):
        out = tmp_path / "run"
        options = ["--data", str(pairs), "--out", str(out), "--max-new-tokens", "4", "--no-progress"]
        code = main(["run", "diffspot", "--model", str(tiny(arch)), *options, *words])
        return code, read_lines(out / "predictions.jsonl"), capsys.readouterr().err

    return call


PREFLIGHT = pytest.mark.parametrize("preflight", [[], ["--no-preflight"]], ids=["preflight", "no preflight"])


@PREFLIGHT
def test_rows_that_are_only_enlarged_are_native(run, preflight):
    """The preflight's own picture is larger than the model's and would shrink; these rows do not."""
    code, records, _ = run("idefics3", "--require-native", *preflight)
    assert (code, len(records)) == (0, 8)
    assert all(i["processed_width"] >= i["width"] for record in records for i in record["images"])


@PREFLIGHT
@pytest.mark.parametrize("size", [(60, 52), (200, 20), (20, 200)], ids=["small", "wide", "tall"])
def test_a_picture_that_would_shrink_is_named_before_any_row_is_spent(run, pairs, tmp_path, make, preflight, size):
    from PIL import Image

    folder = make(tmp_path / "data", 8)
    for i in range(8):
        for side in ("before", "after"):
            shape = size if i == 5 and side == "after" else (56, 54)  # only one, neither the first nor the largest
            Image.new("RGB", shape, (9 * i, 80, 200)).save(folder / f"images/{i}-{side}.png")
    code, records, said = run("llava", "--require-native", "--data", str(folder), *preflight)
    assert (code, records) == (2, [])
    assert said.count("\n") == 1
    assert "pair-5" in said
    assert "image_after" in said or "after.png" in said
    assert f"at 56x56 instead of {size[0]}x{size[1]}" in said
    assert not (tmp_path / "run").exists()


def test_the_preflight_says_at_what_size_a_picture_is_processed(run):
    _, _, said = run("idefics3", "--limit", "1")
    assert said == "preflight: order proved; a 64x48 picture is processed at 112x112 (20 visual tokens)\n"
    _, _, said = run("idefics3", "--limit", "3", "--no-preflight")
    assert said == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prompt", "{long}"], r"row pair-\d: prompt of 20\d\d\d\d tokens and --max-new-tokens 4 exceed the context"),
        (["--max-new-tokens", "1000000"], r"row pair-\d: prompt of \d+ tokens and --max-new-tokens 1000000 exceed"),
    ],
    ids=["prompt", "reply"],
)
def test_what_exceeds_the_context_is_one_line_and_no_row(run, tmp_path, caplog, words, message):
    long = tmp_path / "long.txt"
    long.write_text("word " * 40_000)
    logger = logging.getLogger("transformers.tokenization_utils_base")
    logger.addHandler(caplog.handler)  # transformers hands nothing on to the root
    try:
        code, records, said = run("llava", *[word.format(long=long) for word in words])
    finally:
        logger.removeHandler(caplog.handler)
    assert (code, records, caplog.text) == (2, [], "")
    assert re.match(f"error: {message}", said)
    assert said.count("\n") == 1
    assert "test picture" not in said
