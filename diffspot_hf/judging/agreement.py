"""How far a judge agrees with labelled cases: ``python -m diffspot_hf.judging.agreement CASES.jsonl``.

A case is a JSON object with `mutation` (a record, or null for a pair without a change), `ground_truth_diff`, `reply`,
the expected `verdict` (null without a change), the expected number of `hallucinations`, and `operator`. What scores
are made of is binary: a change counts if its verdict is correct, a pair without one if nothing is invented.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import DiffspotError, UsageError
from ..types import Judge
from .rules import VERDICTS, RulesJudge

NO_CHANGE = "no change"
_KEYS = ("mutation", "ground_truth_diff", "reply", "verdict", "hallucinations")


@dataclass
class Agreement:
    """Counts of a comparison. `binary` and `cases` by operator, `verdicts` by (expected, given), `inventions` the cases
    whose number of inventions agrees; `misses` are the numbers (from 1) of the cases whose outcome differs."""

    judge: str
    cases: Counter[str] = field(default_factory=Counter)
    binary: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    inventions: int = 0
    misses: list[int] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of binary outcomes that agree (1.0 of none)."""
        return sum(self.binary.values()) / max(1, sum(self.cases.values())) if self.cases else 1.0

    def of(self, operator: str) -> float:
        """Share of binary outcomes of one operator that agree."""
        return self.binary[operator] / max(1, self.cases[operator])

    def lines(self) -> list[str]:
        """The comparison as a table for people."""
        n, changed = sum(self.cases.values()), sum(self.verdicts.values())
        same = sum(count for (expected, given), count in self.verdicts.items() if expected == given)
        table = [f"judge: {self.judge}", f"{'operator':<16}{'agree':>7}{'of':>6}{'share':>9}"]
        for name in [*sorted(set(self.cases) - {NO_CHANGE}), *([NO_CHANGE] if NO_CHANGE in self.cases else [])]:
            table.append(f"{name:<16}{self.binary[name]:>7}{self.cases[name]:>6}{self.of(name):>9.1%}")
        table.append(f"{'all':<16}{sum(self.binary.values()):>7}{n:>6}{self.share:>9.1%}")
        table += ["", f"{'verdict':<16}" + "".join(f"{given:>9}" for given in VERDICTS)]
        for expected in VERDICTS:
            table.append(f"{expected:<16}" + "".join(f"{self.verdicts[expected, given]:>9}" for given in VERDICTS))
        table.append(f"three-way agreement {same} of {changed}; same number of inventions {self.inventions} of {n}")
        if self.misses:
            table.append(f"outcomes that differ, by line: {', '.join(map(str, self.misses))}")
        return table


def agreement(cases: Iterable[Mapping[str, Any]], judge: Judge | None = None) -> Agreement:
    """The agreement of `judge` (the rules judge unless given) with labelled `cases`."""
    judge = judge or RulesJudge()
    found = Agreement(judge.name)
    for number, case in enumerate(cases, 1):
        mutation = case["mutation"]
        given = judge.judge(mutation=mutation, ground_truth_diff=case["ground_truth_diff"], reply=case["reply"])
        invented = len(given["hallucinations"])
        if mutation is None:
            name, agrees = NO_CHANGE, (invented == 0) == (case["hallucinations"] == 0)
        else:
            name, verdict = str(case.get("operator") or mutation["type"]), given["mutations"][0]["verdict"]
            found.verdicts[case["verdict"], verdict] += 1
            agrees = (verdict == "correct") == (case["verdict"] == "correct")
        found.cases[name] += 1
        found.binary[name] += agrees
        found.inventions += invented == case["hallucinations"]
        if not agrees:
            found.misses.append(number)
    return found


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The cases of a JSONL file. Raises `UsageError` that names file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); give a JSONL file of labelled cases") from error
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: not JSON ({error})") from error
        missing = [key for key in _KEYS if key not in case] if isinstance(case, dict) else list(_KEYS)
        if missing:
            raise UsageError(f"{path}, line {number}: a case needs {', '.join(missing)}")
        cases.append(case)
    return cases


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the agreement with the cases of one or more files; the exit code."""
    paths = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not paths or paths[0].startswith("-"):
            raise UsageError("usage: python -m diffspot_hf.judging.agreement CASES.jsonl [MORE.jsonl …]")
        cases = [case for path in paths for case in read_cases(Path(path))]
        print("\n".join(agreement(cases).lines()))
    except DiffspotError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
