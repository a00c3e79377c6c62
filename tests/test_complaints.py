"""The index of complaints is whole, and every test it names is there."""

from __future__ import annotations

import ast
import tomllib

import pytest


def complaints(folder):
    return tomllib.loads((folder / "tests" / "complaints.toml").read_text(encoding="utf-8"))["complaint"]


def test_twenty_five_are_listed_in_order(repo):
    assert [entry["number"] for entry in complaints(repo)] == list(range(1, 26))


def test_at_least_fifteen_have_a_faulty_variant_that_is_shown_to_fail(repo):
    assert sum(bool(entry.get("faulty")) for entry in complaints(repo)) >= 15


@pytest.mark.parametrize("number", range(1, 26))
def test_every_named_test_exists(repo, number):
    entry = complaints(repo)[number - 1]
    for name in [*entry["tests"], *entry.get("faulty", [])]:
        path, _, function = name.partition("::")
        tree = ast.parse((repo / path).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in functions if function else any(f.startswith("test_") for f in functions), name
