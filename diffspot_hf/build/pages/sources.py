"""The table of page packages: what may be fetched, at which version, under which licence, and what it needs."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from ...errors import UsageError

TEMPLATES = "templates"
"""The name that stands for every package of the table."""


@dataclass(frozen=True)
class Source:
    """One pinned npm package: `role` ``pages`` holds pages, ``parts`` holds fonts or programs that pages call for."""

    name: str
    version: str
    sha256: str  # of the packed .tgz
    licence: str
    copyright: str
    licence_file: str
    role: Literal["pages", "parts"]
    root: str = "."  # the folder that the pages call "/", inside the package
    pages: tuple[str, ...] = ()  # globs inside `root`
    skip: tuple[str, ...] = ()  # globs inside `root`: not pages, or pages that show nothing of their own
    head: str = ""  # markup that the pages lack, put in front of everything else in their <head>
    uses: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name as one path part.

        >>> Source("@scope/kit", "1.0.0", "", "MIT", "", "", "pages").slug
        'scope-kit'
        """
        return self.name.removeprefix("@").replace("/", "-")

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True)
class Alias:
    """A remote address that pages of the table call for, and the pinned package that holds the same file."""

    url: str  # a prefix, without the scheme
    package: str
    path: str  # a file, or a folder when it ends in "/"; inside the package


@functools.cache
def _table() -> dict[str, object]:
    return tomllib.loads(resources.files(__package__).joinpath("sources.toml").read_text(encoding="utf-8"))


@functools.cache
def known_sources() -> dict[str, Source]:
    """Every `Source` of the table by its name."""
    rows: list[dict[str, object]] = _table()["source"]  # type: ignore[assignment]
    made = [Source(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for row in rows]  # type: ignore[arg-type]
    return {source.name: source for source in made}


@functools.cache
def known_aliases() -> tuple[Alias, ...]:
    """Every `Alias` of the table, in its order."""
    rows: list[dict[str, str]] = _table().get("alias", [])  # type: ignore[assignment]
    return tuple(Alias(**row) for row in rows)


def select(names: Iterable[str] = ()) -> list[Source]:
    """The sources of `names` and what they use, each once; none or ``templates`` means all.

    Raises `UsageError` for a name that is not in the table.
    """
    known = known_sources()
    by_slug = {source.slug: source.name for source in known.values()}
    wanted = [by_slug.get(name, name) for name in names] or [TEMPLATES]
    if TEMPLATES in wanted:
        wanted = list(known)
    chosen: dict[str, Source] = {}
    while wanted:
        name = wanted.pop(0)
        if name not in known:
            pages = ", ".join(source.name for source in known.values() if source.role == "pages")
            raise UsageError(f"no page package named {name!r}; known are: {pages}; or say {TEMPLATES} for all")
        if name not in chosen:
            chosen[name] = known[name]
            wanted.extend(known[name].uses)
    return list(chosen.values())
