"""What is to be frozen, as a list of jobs: pages of fetched packages, of a folder, or of a server on this machine."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ...errors import UsageError
from .domains import domain_of
from .fetch import Fetched, fetched_in
from .site import FolderSite, LoopbackSite, Site, check_loopback
from .sources import known_aliases
from .stacks import stack_pages

FORMAT = 1
"""Raised when frozen pages change for the same input; a freeze then starts anew."""
MAX_FILES = 20_000
LABELS = ("default_language", "version", "licence", "language", "domain", "title")
"""What a job says of its page without changing it."""


@dataclass(frozen=True)
class Job:
    """One page to freeze, plain data so that it can be given to another process."""

    page_id: str
    source: str
    path: str
    url: str
    version: str = ""
    licence: str = ""
    language: str = ""  # that the page's notes give; stronger than what the page says
    default_language: str = "und"
    domain: str = "other"
    title: str = ""
    root: str = ""  # empty: the page is on a loopback server
    aliases: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[str, ...] = ()
    markup: str = ""  # of a page that is in no file
    head: str = ""
    photos: bool = False  # replace them
    more_photos: tuple[str, ...] = ()  # globs of pictures to be replaced with them
    tailwind: bool = False  # compile the page as a whole
    stamp: str = ""  # tells whether the source is the one that was frozen before

    def site(self) -> Site:
        """Where the page may read."""
        if not self.root:
            return LoopbackSite(check_loopback(self.url))
        virtual = {self.path: self.markup.encode()} if self.markup else {}
        aliases = tuple((prefix, Path(file)) for prefix, file in self.aliases)
        return FolderSite(
            Path(self.root),
            aliases,
            virtual,
            self.leave_out,
            replace_photos=self.photos,
            more_photos=self.more_photos,
            seed=f"{self.source}/",
        )

    @property
    def key(self) -> str:
        """Digest of everything a frozen page follows from, except this program and its browser; labels do not count."""
        fields = {name: value for name, value in asdict(self).items() if name not in LABELS}
        return hashlib.sha256(json.dumps([FORMAT, fields], sort_keys=True).encode()).hexdigest()


@dataclass
class Listing:
    """The notes a folder's `pages.toml` gives about its pages (all optional)."""

    licence: str = ""
    rows: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def list_jobs(sources: Sequence[str | Path], *, names: Iterable[str] = (), photos: bool | None = None) -> list[Job]:
    """The pages of `sources`, in order, each with its own page id.

    A source is a folder of fetched packages (of which `names` are taken, default all), one fetched package, any other
    folder of HTML files, one HTML file, or a loopback URL. `photos` says whether photos are replaced (default: those of
    packages are). Raises `UsageError` for a source that is none of these or holds no page.
    """
    jobs: list[Job] = []
    names = list(names)
    for source in sources:
        if re.match(r"[a-z][a-z0-9+.-]*://", str(source), re.I):
            jobs.append(_loopback_job(str(source)))
            continue
        folder = Path(source)
        if not folder.exists():
            raise UsageError(f"{folder}: no such folder or page; fetch packages first, or give a folder of HTML files")
        packages = fetched_in(folder) or ([one] if (one := _one_package(folder)) else [])
        if packages:
            by_spec = {package.source.spec: package for package in packages}
            for name in set(names) - {"templates"}:
                if not any(_is_named(package, [name]) for package in packages):
                    raise UsageError(f"{folder}: holds no package named {name!r}; fetch it first")
            chosen = [p for p in packages if p.source.role == "pages" and _is_named(p, names)]
            found = [job for package in chosen for job in _package_jobs(package, by_spec, photos is not False)]
        else:
            found = _folder_jobs(folder, bool(photos))
        if not found:
            raise UsageError(f"{folder}: holds no pages; give a folder with *.html files, or fetched packages")
        jobs.extend(found)
    return _with_own_ids(jobs)


def _is_named(package: Fetched, names: Iterable[str]) -> bool:
    names = set(names)
    return not names or bool(names & {package.source.name, package.source.short, package.source.spec, "templates"})


def _one_package(folder: Path) -> Fetched | None:
    return next((package for package in fetched_in(folder.parent) if package.folder.name == folder.name), None)


def _package_jobs(package: Fetched, others: Mapping[str, Fetched], photos: bool) -> list[Job]:
    source = package.source
    root = package.package / source.root
    aliases: list[tuple[str, str]] = []
    for below, spec, inside in source.mounts:
        if spec in others:
            aliases.append((f"/{below}", str(others[spec].package / inside)))
    for alias in known_aliases():
        if alias.package in source.needs and alias.package in others:
            aliases.append((alias.url, str(others[alias.package].package / alias.path)))
    skip = {file for glob in source.skip for file in root.glob(glob)}
    files = sorted({file for glob in source.pages for file in root.glob(glob) if file.is_file()} - skip)
    base = Job(
        page_id="",
        source=source.short,
        path="",
        url="",
        version=source.version,
        licence=source.licence,
        default_language=source.language,
        root=str(root.resolve()),
        aliases=tuple(aliases),
        leave_out=source.leave_out,
        head=source.head,
        photos=photos,
        more_photos=source.photos,
        stamp=source.sha256,
    )
    site = FolderSite(root)
    jobs = [_page_job(base, path := file.relative_to(root).as_posix(), site.url_of(path)) for file in files]
    if source.short == "tailgrids":
        for path, markup in stack_pages(root).items():
            jobs.append(replace(_page_job(base, path, site.url_of(path)), markup=markup))
    return jobs


def _page_job(base: Job, path: str, url: str) -> Job:
    page_id = f"{_slug(base.source)}--{_slug(path.rsplit('.', 1)[0])}"
    return replace(base, page_id=page_id, path=path, url=url, domain=domain_of(base.source, path))


def _folder_jobs(folder: Path, photos: bool) -> list[Job]:
    root = folder if folder.is_dir() else folder.parent
    name = root.resolve().name or "pages"
    listing = read_listing(root)
    if folder.is_dir():
        files = [file for file in _files(root) if file.suffix.lower() in (".html", ".htm", ".xhtml")]
    else:
        files = [folder]
    base = Job("", name, "", "", licence=listing.licence, root=str(root.resolve()), photos=photos, stamp=_stamp(root))
    site = FolderSite(root)
    jobs = []
    for file in files:
        path = file.relative_to(root).as_posix()
        row = listing.rows.get(path, {})
        job = _page_job(base, path, site.url_of(path))
        given = {k: str(row[k]) for k in ("page_id", "language", "domain", "title", "licence", "version") if row.get(k)}
        jobs.append(replace(job, **given, tailwind=bool(row.get("tailwind"))))
    return jobs


def read_listing(root: Path) -> Listing:
    """The notes in `root/pages.toml`: ``licence``, and ``[[page]]`` tables with ``file`` and any of ``page_id``,
    ``title``, ``language``, ``domain``, ``licence``, ``tailwind``. An empty `Listing` when there is none."""
    file = root / "pages.toml"
    if not file.is_file():
        return Listing()
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        rows = {str(row["file"]): row for row in table.get("page", [])}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file}: not a page listing ({error}); it holds [[page]] tables with file = …") from error
    missing = [name for name in rows if not (root / name).is_file()]
    if missing:
        raise UsageError(f"{file}: names {missing[0]!r}, which is not in the folder")
    for name, row in rows.items():
        if not re.fullmatch(r"[\w.-]{1,120}", str(row.get("page_id", "x"))):
            raise UsageError(f"{file}: page_id of {name!r} may hold letters, digits, '.', '_' and '-' only")
    return Listing(str(table.get("licence", "")), rows)


def _loopback_job(url: str) -> Job:
    origin = check_loopback(url)
    parts = urlsplit(url)
    path = unquote(parts.path).strip("/") or "index"
    source = f"localhost-{parts.port or 80}"
    query = f"?{parts.query}" if parts.query else ""
    target = f"{origin}{parts.path or '/'}{query}"
    page_id = f"{source}--{_slug(re.sub(r'[.]x?html?$', '', path))}"
    return Job(page_id, source, path + query, target, domain=domain_of(source, path))


def _files(root: Path) -> list[Path]:
    """The plain files under `root`, links that leave it and hidden folders left out, sorted."""
    inside = root.resolve()
    found = []
    for file in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") or part == "node_modules" for part in file.relative_to(root).parts)
        if not hidden and file.is_file() and file.resolve().is_relative_to(inside):
            found.append(file)
        if len(found) > MAX_FILES:
            raise UsageError(f"{root}: more than {MAX_FILES} files; give the folder that holds the pages")
    return found


def _stamp(root: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(root):
        state = file.stat()
        digest.update(f"{file.relative_to(root)}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _slug(text: str) -> str:
    """`text` as part of a file name.

    >>> _slug("pages/otp -01")
    'pages-otp-01'
    """
    return re.sub(r"-{2,}", "-", re.sub(r"[^\w.]+", "-", text)).strip("-.")[:100] or "page"


def _with_own_ids(jobs: list[Job]) -> list[Job]:
    counts: dict[str, int] = {}
    for job in jobs:
        counts[job.page_id] = counts.get(job.page_id, 0) + 1
    done: dict[str, Job] = {}
    for job in jobs:
        if counts[job.page_id] > 1:
            # Different paths can shorten to one id; a digest of source and path then tells them apart.
            job = replace(
                job, page_id=f"{job.page_id}-{hashlib.sha256(job.url.encode() + job.root.encode()).hexdigest()[:6]}"
            )
        if job.page_id in done:
            raise UsageError(f"{job.path}: given twice (page id {job.page_id})")
        done[job.page_id] = job
    return list(done.values())
