"""The table of page packages: what may be fetched, at which version, under which licence, and what it needs."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

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
    language: str = "en"  # of pages that do not say theirs
    root: str = "."  # the folder that the pages call "/", inside the package
    pages: tuple[str, ...] = ()  # globs inside `root`
    skip: tuple[str, ...] = ()  # globs inside `root`: not pages, or pages that show nothing of their own
    photos: tuple[str, ...] = ()  # globs inside `root`: pictures to be replaced as photos are
    head: str = ""  # markup that the pages lack, put in front of everything else in their <head>
    leave_out: tuple[str, ...] = ()  # files inside `root` that the pages do without
    mounts: tuple[tuple[str, str, str], ...] = ()  # (path below the root, spec of a package, folder in that package)
    uses: tuple[str, ...] = ()  # further specs

    @property
    def slug(self) -> str:
        """The name and version as one path part.

        >>> Source("@scope/kit", "1.0.0", "", "MIT", "", "", "pages").slug
        'scope-kit-1.0.0'
        """
        return f"{self.short}-{self.version}"

    @property
    def short(self) -> str:
        """The name as one path part."""
        return self.name.removeprefix("@").replace("/", "-")

    @property
    def needs(self) -> tuple[str, ...]:
        """The specs of the packages its pages call for, each once."""
        return tuple(dict.fromkeys([*(mount[1] for mount in self.mounts), *self.uses]))

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Source:
        """The source that `fields` (of a table row, or of a record on disk) describe."""
        plain = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
        plain["mounts"] = tuple(tuple(mount) for mount in plain.get("mounts", ()))
        return cls(**plain)

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
def _table() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(resources.files(__package__).joinpath("sources.toml").read_text(encoding="utf-8"))


@functools.cache
def known_sources() -> dict[str, Source]:
    """Every `Source` of the table by its spec, ``name@version``."""
    return {source.spec: source for source in map(Source.read, _table()["source"])}


@functools.cache
def known_aliases() -> tuple[Alias, ...]:
    """Every `Alias` of the table, in its order."""
    return tuple(Alias(**row) for row in _table()["alias"])


def select(names: Iterable[str] = ()) -> list[Source]:
    """The sources of `names` and what they need, each once; none or ``templates`` means all.

    A name may carry its version (``name@version``) or not. Raises `UsageError` for one that is not in the table.

    >>> [source.spec for source in select(["startbootstrap-sb-admin-2"])]
    ['startbootstrap-sb-admin-2@4.1.4']
    """
    known = known_sources()
    asked = list(names) or [TEMPLATES]
    wanted: list[str] = []
    for name in asked:
        found = [spec for spec, source in known.items() if name in (TEMPLATES, spec, source.name, source.short)]
        if not found:
            pages = ", ".join(source.name for source in known.values() if source.role == "pages")
            raise UsageError(f"no page package named {name!r}; known are: {pages}; or say {TEMPLATES} for all")
        wanted.extend(found)
    chosen: dict[str, Source] = {}
    while wanted:
        source = known[wanted.pop(0)]
        if source.spec not in chosen:
            chosen[source.spec] = source
            wanted.extend(source.needs)
    return list(chosen.values())
