"""The rows of a run: truth without pictures in memory, pictures on disk until they are asked for."""

from __future__ import annotations

import copy
import hashlib
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from PIL import Image

from ..dataset_scripts.common import commit_read, logger, refused_rows
from ..errors import UsageError
from ..loading import MappedRows, fingerprint, is_sample, picture_columns, rows_for
from ..types import Benchmark, Request, Row


class RowSet:
    """Rows of `benchmark` out of `data` (``sample``, ``official`` or a folder), the first `limit` of them.

    `subset` names a choice of rows that the benchmark itself defines (its method `subset`). `strict` stops at the first
    row of the data that cannot be used; otherwise it is left out, named and counted.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        data: str,
        limit: int | None = None,
        subset: str | None = None,
        *,
        strict: bool = False,
    ) -> None:
        if limit is not None and limit < 1:
            raise UsageError(f"--limit {limit}: at least one row is needed")
        self.benchmark, self.source, self.limit, self.subset = benchmark, data, limit, subset
        self._rows = rows_for(benchmark.dataset, data, strict=strict)
        self.refused = refused_rows(self._rows.info)
        """Rows of the data that could not be used, each with file, row and reason."""
        missing = [column for column in benchmark.columns if column not in self._rows.column_names]
        if missing:
            raise UsageError(f"{data}: column {', '.join(missing)} is missing, {benchmark.name} needs it")
        self.fingerprint, digests = fingerprint(MappedRows(self._rows))
        self.is_sample = is_sample(benchmark.dataset, digests)
        self.n_data = len(self._rows)
        all_ids = list(self._rows["id"])
        if subset is not None:
            self._rows = self._chosen(subset)
        if limit is not None:
            self._rows = self._rows.select(range(min(limit, len(self._rows))))
        self.left_out: list[str] = []
        """Ids of rows that cannot be asked the way the benchmark is configured; they stand in `refused` too."""
        self._index()
        if unfit := getattr(benchmark, "unfit", None):
            self._refuse(unfit(all_ids, iter(self._mapped)), strict)

    def _index(self) -> None:
        self._mapped = MappedRows(self._rows)
        self.ids: list[str] = list(self._rows["id"])
        self._place = {identifier: index for index, identifier in enumerate(self.ids)}

    def _refuse(self, unfit: Mapping[str, str], strict: bool) -> None:
        """Leaves rows out that cannot be asked, by id with the reason. With `strict` the first is a `UsageError`."""
        lines = list(unfit.values())
        if lines and (strict or len(lines) == len(self.ids)):
            raise UsageError(
                lines[0] if strict else f"{self.source}: no row can be asked, the first because: {lines[0]}"
            )
        for line in lines if os.environ.get("RANK", "0") == "0" else ():
            logger.warning("refused: %s", line)
        self.refused += lines
        self.leave_out(unfit)

    def leave_out(self, ids: Iterable[str]) -> None:
        """Takes rows away that cannot be asked, so that they are neither answered nor scored."""
        gone = set(ids)
        self.left_out = [identifier for identifier in self.ids if identifier in gone]
        if self.left_out:
            self._rows = self._rows.select([i for i, identifier in enumerate(self.ids) if identifier not in gone])
            self._index()

    def _chosen(self, subset: str) -> Any:
        choose = getattr(self.benchmark, "subset", None)
        if choose is None:
            raise UsageError(f"--subset {subset}: {self.benchmark.name} defines no subsets")
        pictures = picture_columns(self._rows[0]) if len(self._rows) else []
        wanted = set(choose(subset, list(self._rows.remove_columns(pictures))))
        if not wanted:
            raise UsageError(f"--subset {subset}: of these {len(self._rows)} rows it chooses none")
        return self._rows.select([i for i, identifier in enumerate(self._rows["id"]) if identifier in wanted])

    def asked_by(self, benchmark: Benchmark) -> RowSet:
        """The same rows, asked as `benchmark` is configured."""
        other = copy.copy(self)
        other.benchmark = benchmark
        return other

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._place

    def describe(self) -> dict[str, Any]:
        """What the run card says of the rows."""
        return {
            "source": self.source,
            "commit": commit_read(self._rows.info),
            "fingerprint": self.fingerprint,
            "rows": len(self),
            "limit": self.limit,
            "subset": self.subset,
            "is_sample": self.is_sample,
            "refused": len(self.refused),
            "left_out": self.left_out,
        }

    def row(self, identifier: str) -> dict[str, Any]:
        """The whole row, pictures as ``{"path", "bytes"}``."""
        return self._mapped[self._place[identifier]]

    @cached_property
    def plain(self) -> list[dict[str, Any]]:
        """All rows without their pictures, in the order of the data."""
        pictures = picture_columns(self._rows[0]) if self.ids else []
        return list(self._rows.remove_columns(pictures))

    def truth(self, identifier: str) -> Row:
        return self.plain[self._place[identifier]]

    def request(self, identifier: str, prompt: str) -> Request:
        return self.benchmark.request(self.row(identifier), prompt)

    def by_size(self, identifiers: Iterable[str]) -> list[str]:
        """`identifiers`, most pixels first, so that a batch holds like sizes and memory trouble shows at once."""
        pixels = {identifier: self._pixels(identifier) for identifier in identifiers}
        return sorted(pixels, key=lambda identifier: (-pixels[identifier], self._place[identifier]))

    def _pixels(self, identifier: str) -> int:
        row, total = self.row(identifier), 0
        for column in picture_columns(row):
            try:
                with Image.open(io.BytesIO(row[column]["bytes"])) as image:  # reads the header only
                    total += image.width * image.height
            except Exception:  # a broken picture is reported when it is asked for; here it only has no size
                continue
        return total


def answer_key(identity: str, request: Request) -> str:
    """What an answer depends on, as one digest: the run's identity, the texts and the encoded pictures, in order."""
    digest = hashlib.sha256(identity.encode())
    for part in request.parts:
        piece = part.encode() if isinstance(part, str) else part.data
        digest.update(hashlib.sha256(piece).digest())
    return digest.hexdigest()


def dealt(identifiers: Sequence[str], rank: int, world: int) -> list[str]:
    """The share of one of `world` processes: every `world`-th row, so that each gets the same mix of sizes.

    >>> [dealt("abcde", rank, 2) for rank in (0, 1)]
    [['a', 'c', 'e'], ['b', 'd']]
    """
    return list(identifiers[rank::world])
