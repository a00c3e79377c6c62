"""The package's exceptions. Each message says what is wrong and what to do next.

DiffspotError
├── UsageError          the call or its input is wrong                     exit code 2
│   └── MissingExtra    an optional dependency or program is not installed  exit code 2
└── RunFailure          rows remain without an answer                      exit code 1
"""

from __future__ import annotations

import importlib
from types import ModuleType


class DiffspotError(Exception):
    """Base of everything this package raises on purpose."""

    exit_code = 1


class UsageError(DiffspotError):
    """You meet it when a name, path, option or file given by you cannot be used."""

    exit_code = 2


class MissingExtra(UsageError):
    """You meet it when a feature needs an optional package or program that is not there."""


class RunFailure(DiffspotError):
    """You meet it when a run ended but rows are still in state ``error``."""


def need(module: str, extra: str) -> ModuleType:
    """The imported `module`, or a `MissingExtra` that names the install line of `extra`.

    >>> need("json", "vlm").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f'{module} is needed for this and could not be imported ({error}): pip install "diffspot-hf[{extra}]"'
        ) from error
