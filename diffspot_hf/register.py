"""Makes the bare names findable: ``load_dataset("diffspot")`` and ``evaluate.load("known_issue_recall")``.

Neither library has a plug-in hook. All touch points of their insides are in this module:

- `datasets`: the module function ``datasets.load.dataset_module_factory`` (imported by name into ``datasets.inspect``)
  is wrapped; for our names it answers itself, for all others it passes the call on unchanged. If `datasets` is not
  imported yet, the wrapping waits in a post-import hook, so that importing this package stays light.
- `evaluate`: its loader falls back to modules in its cache folder; a one-line module for each metric is put there.
  Nothing is patched and `evaluate` is not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import wrapt

DATASETS = {
    "diffspot": "diffspot_hf.dataset_scripts.diffspot",
    "scry_design_diff": "diffspot_hf.dataset_scripts.scry_design_diff",
    "dicobench": "diffspot_hf.dataset_scripts.dicobench",
}
METRICS = {
    "diffspot_recall": "DiffspotRecall",
    "no_diff_specificity": "NoDiffSpecificity",
    "known_issue_recall": "KnownIssueRecall",
    "tag_box_iou": "TagBoxIou",
    "dicobench_accuracy": "DicobenchAccuracy",
}
_MARK = "_diffspot_hf"


def install() -> None:
    """Registers data sets and metrics; called once by ``import diffspot_hf``."""
    seed_metrics()
    if "datasets.load" in sys.modules and hasattr(sys.modules["datasets.load"], "load_dataset"):
        _wrap(sys.modules["datasets.load"])
    else:
        wrapt.register_post_import_hook(_wrap, "datasets.load")
    if "datasets.inspect" in sys.modules:
        _wrap(sys.modules["datasets.inspect"])
    else:
        wrapt.register_post_import_hook(_wrap, "datasets.inspect")


def _wrap(module: ModuleType) -> None:
    original = getattr(module, "dataset_module_factory", None)
    if original is None:
        import warnings

        warnings.warn(
            f"{module.__name__} has no dataset_module_factory any more, so load_dataset does not know our bare names; "
            "use diffspot_hf.load_dataset(...) instead",
            RuntimeWarning,
            stacklevel=2,
        )
    elif not getattr(original, _MARK, False):
        wrapped = _answering(original)
        setattr(wrapped, _MARK, True)
        module.dataset_module_factory = wrapped  # type: ignore[attr-defined]


def _answering(original: Any) -> Any:
    def dataset_module_factory(path: str, revision: Any = None, **options: Any) -> Any:
        if path not in DATASETS:
            return original(path, revision, **options)
        return _module(path, revision, options.get("data_dir"), options.get("data_files"))

    dataset_module_factory.__doc__ = original.__doc__
    return dataset_module_factory


def _module(name: str, revision: Any, data_dir: str | None, data_files: Any) -> Any:
    from datasets.load import DatasetModule

    from .errors import UsageError

    if revision is not None:
        raise UsageError(
            f"{name}: revision={revision!r} would be ignored, the rows come from this package or from your folder; "
            'drop it ("official" reads one commit and names it; of dicobench another one is chosen with commit=)'
        )
    module = DATASETS[name]
    options: dict[str, Any] = {"dataset_name": name}
    state = ""
    if data_dir or data_files:
        files, state = _local_files(name, data_dir, data_files)
        options |= {"data_files": files, "data_dir": str(data_dir) if data_dir else None}
    return DatasetModule(module, module_hash(name, state), options)


def _local_files(name: str, data_dir: str | None, data_files: Any) -> tuple[Any, str]:
    """The manifests as `datasets` wants them, and a digest of all files beside them (pictures are not in its hash)."""
    from datasets.data_files import DataFilesDict, sanitize_patterns

    from diffspot_hf.dataset_scripts.common import find_manifests, folder_state

    from .errors import UsageError

    if data_files is None:
        patterns: Any = {"test": [str(path.resolve()) for path in find_manifests(str(data_dir))]}
        state = folder_state(str(data_dir))
    else:
        given = sanitize_patterns(data_files)
        if isinstance(data_files, dict) and set(given) != {"test"}:
            raise UsageError(f'{name}: the only split is "test"; data_files names {", ".join(map(str, given))}')
        patterns = {"test": [pattern for listed in given.values() for pattern in listed]}
        state = ""
    base = str(Path(data_dir or "").expanduser().resolve())
    try:
        files = DataFilesDict.from_patterns(patterns, base_path=base)
    except FileNotFoundError as error:
        raise UsageError(f"{name}: {error}") from error
    if data_files is not None:
        folders = {str(Path(f).parent) for f in files["test"] if "://" not in str(f)}
        state = "".join(folder_state(folder) for folder in sorted(folders))
    return files, state


def module_hash(name: str, state: str = "") -> str:
    """Names the cache folder of a data set: digest of the builders' source, of the sample and of `state`."""
    from diffspot_hf.dataset_scripts import common

    digest = hashlib.sha256(state.encode() + Path(common.__file__).read_bytes())
    spec = importlib.util.find_spec(DATASETS[name])
    if spec is not None and spec.origin:
        digest.update(Path(spec.origin).read_bytes())
    manifest = common.sample_folder(name) / "test.jsonl"
    if not state and manifest.is_file():
        digest.update(manifest.read_bytes())
    return digest.hexdigest()


def seed_metrics() -> list[Path]:
    """Writes the one-line modules that ``evaluate.load("<our metric>")`` falls back to; returns their paths.

    A read-only cache is no error: the metrics are then loaded by path or imported as classes.
    """
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    modules = Path(os.environ.get("HF_MODULES_CACHE") or os.path.join(home, "modules")).expanduser()
    written = []
    for name, cls in METRICS.items():
        text = f"from diffspot_hf.metrics.{name}.{name} import {cls}\n"
        digest = hashlib.sha256(text.encode()).hexdigest()
        folder = modules / "evaluate_modules" / "metrics" / f"evaluate-metric--{name}" / digest
        script = folder / f"{name}.py"
        try:
            if not script.is_file():
                _write(folder, script, text)
            written.append(script)
        except OSError:
            continue
    return written


def _write(folder: Path, script: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for package in (folder, *folder.parents[:3]):
        (package / "__init__.py").touch()
    part = folder / f".{script.name}.{os.getpid()}"
    part.write_text(text, encoding="utf-8")
    part.replace(script)  # atomic: many processes may import at once
