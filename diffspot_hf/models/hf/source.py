"""Where a model's files are: a folder, or a repository on the Hub pinned to one commit."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UsageError

COMMIT = re.compile(r"[0-9a-f]{40}")
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin", "pytorch_model.bin.index.json")
_WHOLE = 8 << 20  # bytes; files up to this size are read whole for a fingerprint (our choice)
_PIECE = 1 << 20  # bytes read at the head, middle and tail of larger ones


@dataclass(frozen=True)
class Source:
    """`place` is a folder or a Hub id; `revision` is a commit, or the fingerprint of a folder."""

    place: str
    is_folder: bool
    revision: str
    trust_remote_code: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """What every `from_pretrained` call of this source is given, so that all files are of one commit."""
        options: dict[str, Any] = {"trust_remote_code": self.trust_remote_code}
        return options if self.is_folder else options | {"revision": self.revision}


def looks_like_folder(place: str) -> bool:
    """Whether `place` means a path: it exists, or it cannot be a Hub id.

    >>> [looks_like_folder(place) for place in ("./qwen", "/models/qwen", "Qwen/Qwen3-VL-4B-Instruct")]
    [True, True, False]
    """
    return Path(place).is_dir() or place.startswith((".", "/", "~")) or place.count("/") > 1 or "\\" in place


def check_remote_code(place: str, revision: str | None, trust_remote_code: bool) -> None:
    """Raises `UsageError` if code of a Hub repository would run that is not pinned to one commit."""
    if trust_remote_code and not looks_like_folder(place) and not (revision and COMMIT.fullmatch(revision)):
        raise UsageError(
            f"--trust-remote-code runs code of {place}: pin it with --revision and the 40 letters of one commit"
        )


def find(place: str, revision: str | None = None, trust_remote_code: bool = False) -> Source:
    """The source behind `place`, a folder or a Hub id. Fetches no more than the configuration."""
    check_remote_code(place, revision, trust_remote_code)
    if looks_like_folder(place):
        folder = Path(place).expanduser()
        if not folder.is_dir():
            raise UsageError(f"{place}: no such folder; give a model folder or a Hub id such as ORG/NAME")
        if revision is not None:
            raise UsageError(f"--revision {revision}: {place} is a folder, it has no revisions")
        if not (folder / "config.json").is_file():
            raise UsageError(f"{place}: holds no config.json, so it is not a model folder")
        if not any(next(folder.glob(pattern), None) for pattern in _WEIGHTS):
            raise UsageError(f"{place}: holds no weights (*.safetensors); copy the whole model folder")
        return Source(str(folder), True, fingerprint(folder), trust_remote_code)
    return Source(place, False, _commit(place, revision), trust_remote_code)


def _commit(place: str, revision: str | None) -> str:
    """The commit that `revision` (default: the main branch) of a Hub id stands for today, or in the offline cache."""
    from huggingface_hub import errors, hf_hub_download

    at = f" at {revision}" if revision else ""
    try:
        return Path(hf_hub_download(place, "config.json", revision=revision)).parent.name
    except errors.GatedRepoError as error:
        raise UsageError(f"{place}: gated; accept its terms on the Hub and set HF_TOKEN") from error
    except errors.RepositoryNotFoundError as error:
        raise UsageError(f"{place}: not found on the Hub (or private: set HF_TOKEN)") from error
    except errors.RevisionNotFoundError as error:
        raise UsageError(f"{place}: has no revision {revision}") from error
    except errors.LocalEntryNotFoundError as error:
        raise UsageError(f"{place}{at}: not in the local cache, and the Hub cannot be reached") from error
    except errors.EntryNotFoundError as error:
        raise UsageError(f"{place}{at}: holds no config.json, so it is not a transformers model") from error
    except (errors.HfHubHTTPError, errors.HFValidationError, OSError) as error:
        raise UsageError(f"{place}{at}: cannot be fetched ({first_line(error)})") from error


def fingerprint(folder: Path) -> str:
    """Digest of a model folder: names, sizes and contents of its files; of large ones three pieces only.

    It tells one checkpoint from another without reading all the weights.
    """
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        relative = file.relative_to(folder)
        if not file.is_file() or any(part.startswith(".") for part in relative.parts):
            continue
        size = file.stat().st_size
        digest.update(f"{relative.as_posix()}\0{size}\0".encode())
        with file.open("rb") as opened:
            if size <= _WHOLE:
                digest.update(opened.read())
                continue
            for at in (0, size // 2, size - _PIECE):
                opened.seek(at)
                digest.update(opened.read(_PIECE))
    return f"folder-{digest.hexdigest()[:32]}"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its type where it has none; at most 200 letters."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
