"""What the three builders share: choosing a configuration, finding manifests, reading rows, writing a Parquet copy."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import DatasetInfo, Features, Split, SplitGenerator
from datasets.builder import Key

from diffspot_hf.errors import UsageError
from diffspot_hf.folders import can_be_made, new_folder
from diffspot_hf.images import decode_rgb
from diffspot_hf.rows import Refuse, iter_jsonl, read_picture, stop

MANIFESTS = ("dataset_index.json", "*.jsonl", "*.jsonl.gz", "*.parquet", "data/*.parquet", "test/*.parquet")
"""Where a data folder may keep its rows, relative to the folder; the first pattern that finds files wins. The first is
the index of DiCoBench as its authors release it."""


COMMIT, WARNING, REFUSED = "Commit read: ", "Warning: ", "Refused: "
"""How lines begin that say something of the rows; they stand in the description of the data, so that loading it from
the cache later tells it too."""
logger = logging.getLogger("diffspot_hf.data")


@dataclass
class PairConfig(datasets.BuilderConfig):
    """`strict` stops at the first row that cannot be used; by default it is left out, named and counted."""

    strict: bool = False


def configurations(official: str) -> list[PairConfig]:
    """The three configurations that every data set of ours has; `official` describes the authors' data."""
    version = datasets.Version("1.0.0")
    return [
        PairConfig(name="sample", version=version, description="ships with the package"),
        PairConfig(name="local", version=version, description="rows of data_dir or data_files"),
        PairConfig(name="official", version=version, description=official),
    ]


class PairBuilder(datasets.GeneratorBasedBuilder):
    """A builder with the configurations ``sample`` (ships with the package), ``local`` and ``official``.

    ``local`` is chosen by `data_dir` or `data_files`. Each configuration has the one split ``test``. Subclasses
    set the class attributes and may override `complete`.
    """

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = PairConfig
    DEFAULT_CONFIG_NAME = "sample"

    FEATURES: ClassVar[Features]
    PICTURES: ClassVar[Sequence[str]]
    REQUIRED: ClassVar[Sequence[str]]
    OFFICIAL: ClassVar[tuple[str, str]]
    """Hub repository of the official data, and its commit (or the branch whose commit is looked up)."""
    BENCHMARK: ClassVar[str]
    LICENSE: ClassVar[str] = ""
    HOMEPAGE: ClassVar[str] = ""

    def __init__(
        self,
        *args: Any,
        config_name: str | None = None,
        data_dir: str | None = None,
        data_files: Any = None,
        **kwargs: Any,
    ) -> None:
        given = bool(data_dir or data_files)
        if config_name is None:
            config_name = "local" if given else self.DEFAULT_CONFIG_NAME
        if config_name in ("sample", "official") and given:
            raise UsageError(
                f"{self.BENCHMARK}: the configuration {config_name!r} has its own data; drop data_dir/data_files, "
                'or ask for "local"'
            )
        if config_name == "local" and not given:
            raise UsageError(f'{self.BENCHMARK}: the configuration "local" needs data_dir= or data_files=')
        self._said: set[str] = set()
        self._readable: set[bytes] = set()
        """Digests of the pictures that were decoded once, to see that they can be."""
        super().__init__(*args, config_name=config_name, data_dir=data_dir, data_files=data_files, **kwargs)

    def _info(self) -> DatasetInfo:
        return DatasetInfo(
            description=self.__doc__ or "", features=self.FEATURES, license=self.LICENSE, homepage=self.HOMEPAGE
        )

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        files = [str(path) for path in self.manifests(dl_manager)]
        return [SplitGenerator(name=str(Split.TEST), gen_kwargs={"files": files})]

    def manifests(self, dl_manager: Any) -> Sequence[str | Path]:
        """The files that hold the rows of the chosen configuration. Raises `UsageError` when there are none."""
        if self.config.name == "official":
            return self._official(dl_manager)
        if self.config.data_files:
            found = self.config.data_files
            listed = found["test"] if isinstance(found, dict) else found
            return dl_manager.download([str(f) for f in ([listed] if isinstance(listed, str) else listed)])
        return find_manifests(self.config.data_dir or sample_folder(self.BENCHMARK))

    def _official(self, dl_manager: Any) -> Sequence[str]:
        from datasets.data_files import DataFilesDict

        repo, commit = self.OFFICIAL
        try:
            found = DataFilesDict.from_patterns({"test": ["**/*.parquet"]}, base_path=f"hf://datasets/{repo}@{commit}")
            files: Sequence[str] = dl_manager.download([str(f) for f in found["test"]])
        except Exception as error:  # the Hub client raises many kinds; all mean the same to the caller
            raise UsageError(
                f"{self.BENCHMARK}: the official data ({repo} at {commit[:12]}) could not be fetched ({error}); "
                "check the network, HF_HUB_OFFLINE and your access, or pass data_dir= with a local copy"
            ) from error
        self.keep(COMMIT, commit)
        return files

    def keep(self, kind: str, line: str) -> None:
        """Keeps a `line` of a `kind` (`COMMIT`, `WARNING` or `REFUSED`) with the data."""
        self.info.description += f"\n{kind}{' '.join(line.splitlines())}"
        self._say()

    def _say(self) -> None:
        """Logs the warnings and refusals that were not logged yet."""
        for kind in (WARNING, REFUSED):
            for line in kept(self.info, kind):
                if line not in self._said:
                    self._said.add(line)
                    logger.warning("%s%s", kind.lower(), line)

    def as_dataset(self, *args: Any, **options: Any) -> Any:
        """The rows; what is known against some of them is said each time, from the cache too."""
        self._say()
        return super().as_dataset(*args, **options)

    def _generate_examples(self, files: Sequence[str]) -> Iterator[tuple[Key, dict[str, Any]]]:
        seen: dict[str, str] = {}
        refused: list[str] = []
        refuse = stop if self.config.strict else lambda error: refused.append(str(error))
        for shard, file in enumerate(files):
            for number, (where, row) in enumerate(self.read(Path(file), refuse)):
                identifier = str(row["id"])
                if identifier in seen:
                    refuse(UsageError(f"{where}: id {identifier!r} stands twice, first at {seen[identifier]}"))
                    continue
                seen[identifier] = where
                yield Key(shard, number), row
        if refused and not seen:
            raise UsageError(f"{self.BENCHMARK}: no row can be used; the first is refused because: {refused[0]}")
        for line in refused:
            self.keep(REFUSED, line)

    def read(self, file: Path, refuse: Refuse = stop) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each usable row of one manifest, completed to the feature columns, with the words that say where it stood.

        The others are given to `refuse`, each as an error that names file, row and reason.
        """
        rows = parquet_rows(file) if file.suffix == ".parquet" else jsonl_rows(file, refuse)
        for where, row in rows:
            where = f"{where} (id {row['id']!r})" if row.get("id") is not None else where
            try:
                row = self._checked(row, where)
                for column in self.PICTURES:
                    row[column] = self._picture(file, row[column], f"{where}, column {column}")
            except UsageError as error:
                refuse(error)
                continue
            yield where, row

    def _picture(self, file: Path, value: Any, where: str) -> dict[str, Any]:
        """The picture that a row of `file` holds (as a path below its folder, or as bytes in Parquet) or was given.

        Rows of the user's own are proven to be readable, each different picture once.
        """
        try:
            if isinstance(value, str) and file.suffix != ".parquet":
                value = read_picture(file.parent, value)
            elif not isinstance(value, dict) or not isinstance(value.get("bytes"), bytes):
                raise UsageError(
                    f"a path relative to {file.name} is expected, or bytes in Parquet, not {_short(value)}"
                )
            if self.config.name == "local":
                self._prove_readable(value["bytes"], str(value.get("path") or "bytes"))
        except (UsageError, OSError) as error:
            raise UsageError(f"{where}: {error}") from error
        return {"path": value.get("path"), "bytes": value["bytes"]}

    def _prove_readable(self, data: bytes, name: str) -> None:
        digest = hashlib.sha256(data).digest()
        if digest not in self._readable:
            decode_rgb(data, name)
            self._readable.add(digest)

    def _checked(self, row: dict[str, Any], where: str) -> dict[str, Any]:
        missing = [column for column in self.REQUIRED if row.get(column) is None]
        if missing:
            raise UsageError(f"{where}: no value in column {', '.join(missing)}; needed are {', '.join(self.REQUIRED)}")
        try:
            row["id"] = read_identifier(row["id"])
            row = self.complete(row)
            row = {column: row.get(column) for column in self.FEATURES}
            self._fits(row)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        return row

    def _fits(self, row: dict[str, Any]) -> None:
        """Raises `UsageError` for a value that its column cannot hold."""
        for column, kind in self._kinds.items():
            try:
                pa.array([row[column]], type=kind)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:  # UnicodeError is a ValueError
                raise UsageError(f"column {column} cannot hold {_short(row[column])} ({error})") from error

    @cached_property
    def _kinds(self) -> dict[str, pa.DataType]:
        schema = self.FEATURES.arrow_schema
        return {column: schema.field(column).type for column in self.FEATURES if column not in self.PICTURES}

    def complete(self, row: dict[str, Any]) -> dict[str, Any]:
        """`row` with the defaults of optional columns filled in."""
        return row


def parquet_rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of a Parquet file, with the words that say where it stood."""
    number = 0
    try:
        for batch in pq.ParquetFile(file).iter_batches(batch_size=16):
            for row in batch.to_pylist():
                number += 1
                yield f"{file}, row {number}", row
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{file}: not a readable Parquet file ({error})") from error


def jsonl_rows(file: Path, refuse: Refuse = stop) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in iter_jsonl(file, refuse):
        yield f"{file}, line {number}", row


def read_identifier(value: Any) -> str:
    """The id of a row as text; numbers will do."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise UsageError(f"an id is a text or a number, not {_short(value)}")
    return str(value)


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def kept(info: DatasetInfo, kind: str) -> list[str]:
    """The lines of a `kind` that were kept with the data (see `PairBuilder.keep`)."""
    return [line.removeprefix(kind) for line in info.description.splitlines() if line.startswith(kind)]


def refused_rows(info: DatasetInfo) -> list[str]:
    """The rows and files that were left out when the data was read, each with file, row and reason."""
    return kept(info, REFUSED)


def commit_read(info: DatasetInfo) -> str | None:
    """The commit of the authors' repository that the rows come from; None for every other source."""
    return next(iter(kept(info, COMMIT)), None)


def sample_folder(benchmark: str) -> Path:
    """Folder of the sample that ships with the package."""
    import diffspot_hf

    return Path(diffspot_hf.__file__).parent / "data" / benchmark


def find_manifests(folder: str | Path) -> list[Path]:
    """The manifest files of a data folder, sorted. Raises `UsageError` when the folder or its rows are missing."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise UsageError(f"{root}: no such data folder")
    for pattern in MANIFESTS:
        if found := sorted(path for path in root.glob(pattern) if path.is_file()):
            return found
    raise UsageError(f"{root}: holds no rows; looked for {', '.join(MANIFESTS)}")


def folder_state(folder: str | Path) -> str:
    """A digest of names, sizes and times of all files below `folder`: changes when a picture is replaced in place."""
    digest = hashlib.sha256()
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            stat = os.stat(path, follow_symlinks=False)
            digest.update(f"{os.path.relpath(path, folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def write_parquet(builder: type[PairBuilder], data_dir: str | Path | None, out: Path, readme: str) -> int:
    """Writes the rows as Parquet shards plus README.md into `out`; returns the number of rows.

    The result is read by plain ``load_dataset(str(out))`` without this package: pictures lie in the shards and the
    features in their schema. `out` must be empty or new; it appears only when complete.
    """
    import tempfile

    can_be_made(out)
    with new_folder(out) as folder, tempfile.TemporaryDirectory(dir=folder.parent) as cache:
        built = builder(cache_dir=cache, data_dir=str(data_dir) if data_dir else None)
        built.download_and_prepare()
        rows = built.as_dataset(split="test")
        (folder / "data").mkdir()
        shards = max(1, -(-rows.data.nbytes // 500_000_000))
        for index in range(shards):
            part = rows.shard(shards, index, contiguous=True)
            part.to_parquet(str(folder / "data" / f"test-{index:05d}-of-{shards:05d}.parquet"))
        (folder / "README.md").write_text(readme.format(rows=len(rows)), encoding="utf-8")
        return len(rows)


def convert(builder: type[PairBuilder], readme: str, argv: Sequence[str] | None = None) -> int:
    """The command line of a builder module: ``--data-dir DIR --out DIR``. Returns the exit code."""
    import argparse
    import sys

    parser = argparse.ArgumentParser(description=f"Write {builder.BENCHMARK} rows as Parquet with a README.")
    parser.add_argument("--data-dir", help="folder with the rows (default: the sample)")
    parser.add_argument("--out", required=True, type=Path, help="new folder to write")
    args = parser.parse_args(argv)
    try:
        count = write_parquet(builder, args.data_dir, args.out, readme)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{count} rows written to {args.out}; read them with load_dataset({str(args.out)!r}, split='test')")
    return 0
