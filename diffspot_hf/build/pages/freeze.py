"""A set of pages frozen into a folder: in parallel, resumable, with every page that was dropped counted by its reason.

The folder then holds ``pages.jsonl`` (one row a kept page: page_id, file, source, version, path, licence, language,
domain, title, sha256, tailwind), ``<page_id>.html``, and ``freeze_report.json``. While it works, and to continue after
an interruption, every finished page is a line of ``freeze_log.jsonl``. Freezing further sources into the same folder
adds to it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ...errors import RunFailure, UsageError
from ..browser import Browser, PageError
from .domains import without_pages
from .freeze_page import Limits, freeze_page
from .inputs import LABELS, Job, list_jobs
from .inspect_page import are_twins, inspect_page
from .site import LoopbackSite, Refused, Site
from .tailwind import BUILT, PLAY, Tailwind

LISTING, LOG, REPORT = "pages.jsonl", "freeze_log.jsonl", "freeze_report.json"
TWIN = "twin"
RETRIED = ("time limit", "crashed")
"""Reasons that can be the machine's fault; the next call tries these pages again."""
MAX_LISTED = 20
"""Addresses listed a page and kind in the report; their number is always given."""


def freeze(
    sources: str | Path | Sequence[str | Path],
    out: Path | str,
    *,
    names: Iterable[str] = (),
    workers: int = 1,
    photos: bool | None = None,
    limits: Limits = Limits(),  # noqa: B008  it is frozen
    browser: Browser | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, line: None,
) -> dict[str, Any]:
    """The report on the pages of `sources` frozen into `out` (see the module's text; it is written there too).

    `workers` is the number of browsers at work; `names` takes some of a set of fetched packages; `photos` says whether
    photos are replaced by pictures of our own (default: those of packages are); `browser` is used instead of a new one
    where one is enough. Raises `UsageError` when a source or
    `out` cannot be used, `RunFailure` when the machine gave out (the same call then continues).
    """
    jobs = list_jobs([sources] if isinstance(sources, str | Path) else sources, names=names, photos=photos)
    out = Path(out)
    try:
        (out / "work").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror}; give another --out") from error
    log = _read_log(out / LOG)
    fetched = [str(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    setting = json.dumps([asdict(limits)], sort_keys=True)
    keys = {job.page_id: hashlib.sha256((job.key + setting).encode()).hexdigest() for job in jobs}
    todo = [job for job in jobs if not _is_done(out, log, job.page_id, keys)]
    finished = len(jobs) - len(todo)
    try:
        with (out / LOG).open("a", encoding="utf-8") as lines:
            for record in _work(todo, out, limits, fetched, workers, browser):
                record["key"] = keys[record["page_id"]]
                log[record["page_id"]] = record
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")
                lines.flush()
                finished += 1
                progress(finished, len(jobs), f"{record['page_id']}: {record.get('reason') or 'kept'}")
        return _conclude(out, log, {job.page_id: job for job in jobs})
    except OSError as error:
        raise RunFailure(
            f"{out}: {error.strerror or error}; what is there is whole, and the same call continues"
        ) from error


def _work(
    jobs: list[Job], out: Path, limits: Limits, fetched: list[str], workers: int, browser: Browser | None
) -> Iterator[dict[str, Any]]:
    if workers <= 1 or len(jobs) < 2:
        with contextlib.nullcontext(browser) if browser or not jobs else Browser() as one:
            for job in jobs:
                yield _freeze_job(one, job, out, limits, fetched)
        return
    # Fresh processes: a browser driver cannot be inherited.
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(_freeze_in_worker, job, out, limits, fetched) for job in jobs]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BrokenProcessPool as error:
            raise RunFailure("a worker was ended from outside (out of memory?); the same call continues") from error
        finally:
            pool.shutdown(cancel_futures=True)


_own_browser: Browser | None = None


def _freeze_in_worker(job: Job, out: Path, limits: Limits, fetched: list[str]) -> dict[str, Any]:
    """As `_freeze_job`, with the one browser of this process."""
    global _own_browser
    if _own_browser is None:
        _own_browser = Browser()
        atexit.register(_own_browser.close)
    return _freeze_job(_own_browser, job, out, limits, fetched)


def _freeze_job(browser: Browser, job: Job, out: Path, limits: Limits, fetched: list[str]) -> dict[str, Any]:
    """The record of one page: kept, with its row, or dropped, with the reason. The file is in place when it is kept."""
    record: dict[str, Any] = {"page_id": job.page_id, "source": job.source, "path": job.path}
    try:
        return record | _kept(browser, job, out, limits, fetched)
    except PageError as error:
        return record | {"reason": error.reason, "detail": _printable(error.detail)}
    finally:
        (out / "work" / f"{job.page_id}.html").unlink(missing_ok=True)


def _kept(browser: Browser, job: Job, out: Path, limits: Limits, fetched: list[str]) -> dict[str, Any]:
    site = job.site()
    head, restyle, styled = job.head, None, {}
    markup = _markup(job)
    if job.tailwind or PLAY.search(markup):
        compiler = Tailwind.find(Path(folder) for folder in fetched)
        styled = {"tailwind": True, "tailwind_version": compiler.version}
        head += compiler.whole(markup, ()).replace("<style>", '<style data-compiled="">', 1)

        def restyle(text: str, classes: list[str]) -> str:
            return compiler.whole(markup, classes)

    else:

        def restyle(text: str, classes: list[str]) -> str:
            built = BUILT.search(text)
            if not built:
                return ""
            styled.update({"tailwind": True, "tailwind_version": built[1]})
            return Tailwind.find(Path(folder) for folder in fetched).added(classes, built[1], text)

    frozen = freeze_page(browser, site, _where_it_is(site, job.url), limits=limits, head=head, restyle=restyle)
    scratch = out / "work" / f"{job.page_id}.html"
    scratch.write_text(frozen.html, encoding="utf-8")
    look = inspect_page(browser, scratch, scratch.parent, frozen, seconds=limits.seconds)
    body = scratch.read_bytes()
    os.replace(scratch, out / f"{job.page_id}.html")
    row = {
        "page_id": job.page_id,
        "file": f"{job.page_id}.html",
        "source": job.source,
        "version": job.version,
        "path": job.path,
        "licence": job.licence,
        "language": frozen.language or job.default_language,
        "domain": job.domain,
        "title": frozen.title,
        "sha256": hashlib.sha256(body).hexdigest(),
        "tailwind": False,
        "tailwind_version": "",
    } | styled
    inside: dict[str, Any] = {"bytes": len(body), "styled": look.styled, "different": look.different}
    for name, urls in (("remote", frozen.remote), ("missing", frozen.missing), ("replaced", frozen.replaced)):
        if urls:
            inside[name] = {"count": len(urls), "first": [_printable(url) for url in urls[:MAX_LISTED]]}
    if frozen.dropped:
        inside["dropped"] = frozen.dropped
    return {"row": row, "inside": inside, "look": {"thumb": look.thumb, "shape": look.shape}}


def _where_it_is(site: Site, url: str) -> str:
    """`url`, or where the server sends who asks for it, so that the page's own addresses count from the right place."""
    if not isinstance(site, LoopbackSite):
        return url
    try:
        return site.follow(url)[0]
    except Refused as why:
        raise PageError("redirects" if str(why) == "redirects" else "unreadable", f"{url}: {why}") from why


def _markup(job: Job) -> str:
    """The source text of the page, as far as it is at hand."""
    try:
        return job.site().read(job.url)[0].decode("utf-8", errors="replace")
    except Refused:  # the loading itself will say so
        return ""


def _is_done(out: Path, log: Mapping[str, Mapping[str, Any]], page_id: str, keys: Mapping[str, str]) -> bool:
    record = log.get(page_id)
    if record is None or record.get("key") != keys[page_id]:
        return False
    if record.get("reason") in RETRIED:
        return False
    if record.get("reason") == TWIN:  # holds as long as its twin does
        return _is_done(out, log, record["twin_of"], keys) if record["twin_of"] in keys else False
    return "row" not in record or (out / record["row"]["file"]).is_file()


def _read_log(file: Path) -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = {}
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
                records[record["page_id"]] = record
            except (ValueError, KeyError, TypeError):
                continue  # the last line of an interrupted freeze
    return records


def _conclude(out: Path, log: dict[str, dict[str, Any]], jobs: Mapping[str, Job]) -> dict[str, Any]:
    # A page whose source was frozen now, and which is no longer there, is gone.
    sources = {job.source for job in jobs.values()}
    records = [r for r in log.values() if r["page_id"] in jobs or r["source"] not in sources]
    records.sort(key=lambda record: record["page_id"])
    for record in records:
        if "row" in record and (job := jobs.get(record["page_id"])):  # labels may be newer than the page
            record["row"].update(
                {name: value for name in record["row"] if name in LABELS and (value := getattr(job, name))}
            )
    _mark_twins(records)
    kept = [record for record in records if "row" in record and "reason" not in record]
    dropped = [
        {key: record[key] for key in ("page_id", "source", "path", "reason", "detail")}
        for record in records
        if "reason" in record
    ]
    rows = [record["row"] for record in kept]
    for page_id in log.keys() - {row["page_id"] for row in rows}:
        (out / f"{page_id}.html").unlink(missing_ok=True)  # gone, a twin, or no longer usable
    report = {
        "pages": len(records),
        "kept": len(kept),
        "dropped": dict(sorted(Counter(d["reason"] for d in dropped).items())),
        "kept_by_source": dict(sorted(Counter(row["source"] for row in rows).items())),
        "kept_by_domain": dict(sorted(Counter(row["domain"] for row in rows).items())),
        "domains_without_pages": without_pages(row["domain"] for row in rows),
        "kept_by_language": dict(sorted(Counter(row["language"] for row in rows).items())),
        "tailwind_pages": sum(bool(row["tailwind"]) for row in rows),
        "dropped_pages": dropped,
        "inside": {record["page_id"]: record["inside"] for record in kept},
    }
    _write(out / LOG, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    _write(out / LISTING, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    _write(out / REPORT, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if not any((out / "work").iterdir()):
        (out / "work").rmdir()
    return report


def _mark_twins(records: list[dict[str, Any]]) -> None:
    """Nothing: of pages of one source that look the same, all but the first get the reason ``twin``."""
    seen: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if "row" not in record:
            continue
        if record.get("reason") == TWIN:
            continue  # known from an earlier freeze; its file is gone
        others = seen.setdefault(record["source"], [])
        twin = next((other for other in others if are_twins(other["look"], record["look"])), None)
        if twin is None:
            others.append(record)
        else:
            record.update(reason=TWIN, detail=f"looks like {twin['page_id']}", twin_of=twin["page_id"])


def _write(file: Path, text: str) -> None:
    scratch = file.with_name(f".{file.name}.part")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, file)


def _printable(text: str) -> str:
    return re.sub(r"[^\x20-\x7e\u00a0-\uffff]", "?", text)[:300]
