"""diffspot_hf: which vision-language model can be trusted to see what changed between two images.

Importing it makes ``datasets.load_dataset("diffspot")`` and ``evaluate.load("diffspot_recall")`` find this package,
and imports nothing heavy.
"""

from __future__ import annotations

from typing import Any

from .errors import DiffspotError, MissingExtra, RunFailure, UsageError
from .register import install as _install
from .types import STATES, Benchmark, Judge, Model, Picture, Prediction, Request, Response

__version__ = "0.1.0"

__all__ = [
    "STATES",
    "Benchmark",
    "DiffspotError",
    "Judge",
    "MissingExtra",
    "Model",
    "Picture",
    "Prediction",
    "Request",
    "Response",
    "RunFailure",
    "UsageError",
    "load_dataset",
]


def load_dataset(name: str, config: str | None = None, *, streaming: bool = False, **options: Any) -> Any:
    """The split ``test`` of one of our data sets, through the builder class alone (public API of `datasets` only).

    `options` are the builder's: ``data_dir=``, ``data_files=``, ``cache_dir=``. The rows are those of
    ``datasets.load_dataset(name, config, split="test")``. Raises `UsageError` for an unknown name.
    """
    from .loading import load

    return load(name, config, streaming=streaming, **options)


_install()
