"""The `diffspot-hf` command: parses, calls one function, prints.

Exit codes: 0 every row has an answer, parsed or not; 1 rows in state ``error`` remain or ``--max-failed`` is exceeded;
2 the call or its input is wrong; 130 stopped by Ctrl-C (the same command continues).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from . import __version__
from .commands import build, evaluation, run, study, tools
from .errors import DiffspotError


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog="diffspot-hf",
        description="Which vision-language model can be trusted to see what changed between two images?",
    )
    root.add_argument("--version", action="version", version=f"diffspot-hf {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for room in (run, evaluation, build, study, tools):
        room.add_to(commands)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    args = parser().parse_args(argv)
    action: Callable[[argparse.Namespace], int] = args.action
    try:
        return action(args)
    except DiffspotError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; the same command continues where this one ended", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
