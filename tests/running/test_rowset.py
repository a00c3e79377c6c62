"""Rows are read from a file that is mapped, not held."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import datasets
import pytest

from diffspot_hf import loading

PICTURE, N = 1 << 20, 64


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """64 MiB of rows in a file, mapped."""
    made = datasets.Dataset.from_list(
        [{"id": f"row-{i}", "image": {"path": None, "bytes": random.Random(i).randbytes(PICTURE)}} for i in range(N)],
        features=datasets.Features({"id": datasets.Value("string"), "image": datasets.Image(decode=False)}),
    )
    folder = str(tmp_path_factory.mktemp("mapped"))
    made.save_to_disk(folder)
    return datasets.load_from_disk(folder)


def held(file: str) -> int:
    """Bytes of `file` that are in this process's memory now."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if "-" in line.split(" ", 1)[0]:
            inside = line.endswith(file)
        elif inside and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system what it maps")
@pytest.mark.parametrize("limit", [8 << 20, 1 << 40])
def test_of_a_mapped_file_only_so_much_stays_in_memory(rows, monkeypatch, limit):
    monkeypatch.setattr(loading, "HELD_BYTES", limit)
    copy = datasets.load_from_disk(str(Path(rows.cache_files[0]["filename"]).parent))
    [file] = [entry["filename"] for entry in copy.cache_files]
    read = loading.MappedRows(copy)
    del copy
    most = 0
    for row in read:
        assert len(row["image"]["bytes"]) == PICTURE
        most = max(most, held(file))
    assert (most > 0.9 * PICTURE * N) == (limit > PICTURE * N), most  # without the limit all of it stays
    assert limit > PICTURE * N or most < 3 * limit


def test_rows_are_the_same_in_order_by_number_and_chosen(rows, monkeypatch):
    monkeypatch.setattr(loading, "HELD_BYTES", 3 * PICTURE)
    expected = list(rows)
    read = loading.MappedRows(rows)
    assert list(read) == expected
    order = random.Random(1).sample(range(N), N)
    assert [read[i] for i in order] == [expected[i] for i in order]
    assert list(loading.MappedRows(rows.select(order))) == [expected[i] for i in order]
