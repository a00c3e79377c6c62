"""Ways of answering. `load_model` turns what stands after ``--model`` into one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..errors import UsageError
from ..options import ModelOptions
from ..types import Benchmark, Model, Row
from .controls import ALIASES, CONTROLS, Control

BUILT_IN: tuple[str, ...] = ("pixel-diff", "tiny-vlm", *CONTROLS, *ALIASES)
_PLACE = ("endpoint", "provider")
_LIMITS = ("max_requests", "max_tokens_total")
_PRECISION = ("dtype", "attention")
_WEIGHTS = (
    *("revision", "device_map", "max_pixels", "require_native", "trust_remote_code", "chat_template_kwargs"),
    *("reasoning_effort", "constrain_json", *_PRECISION),
)


def load_model(name: str, benchmark: Benchmark, row_of: Callable[[str], Row], options: ModelOptions) -> Model:
    """The model called `name`: a built-in, a served model (`options.endpoint` or `options.provider`), a folder or a
    Hub id.

    Weights are not loaded here but when the first row is asked. `row_of` gives the controls the row of an id. Raises
    `UsageError` for a name that can be none of these, and for options that the model would have to ignore.
    """
    name = ALIASES.get(name, name)
    _refuse_unheard(name, options)
    if name in CONTROLS:
        if name.removeprefix("always-") in tuple("ABCDE") and benchmark.name != "dicobench":
            raise UsageError(f"{name} answers multiple choice questions; {benchmark.name} has none")
        return Control(name, benchmark, row_of, options.seed)
    if name == "pixel-diff":
        from .pixel_diff import PixelDiff

        return PixelDiff(benchmark.name)
    if options.endpoint is not None or options.provider is not None:
        from .endpoint import EndpointModel

        return EndpointModel.from_options(name, options, schema=benchmark.schema)
    from .transformers import TransformersModel

    if name == "tiny-vlm":
        from .tiny import tiny_vlm_folder

        return TransformersModel.from_options(str(tiny_vlm_folder()), options, name=name, schema=benchmark.schema)
    if "/" not in name and not Path(name).expanduser().is_dir():
        raise UsageError(
            f"unknown model {name!r}: neither built in ({', '.join(BUILT_IN)}) nor a folder nor a Hub id like org/name"
        )
    return TransformersModel.from_options(name, options, schema=benchmark.schema)


def _refuse_unheard(name: str, options: ModelOptions) -> None:
    """Raises `UsageError` naming the options given that do nothing for `name`. Seeds, lengths, sizes of batches and
    paces are left: a script may pass them to all models alike."""
    if name in CONTROLS:
        unheard: tuple[str, ...] = (*_PLACE, *_LIMITS, *_WEIGHTS)
    elif name == "pixel-diff":  # it sees every picture at its own size
        unheard = tuple(option for option in (*_PLACE, *_LIMITS, *_WEIGHTS) if option != "require_native")
    else:
        unheard = _PRECISION if options.endpoint or options.provider else _LIMITS
    defaults = ModelOptions()
    given = [option for option in unheard if getattr(options, option) != getattr(defaults, option)]
    if given:
        flags = ", ".join(f"--{option.replace('_', '-')}" for option in given)
        kind = name if name in BUILT_IN else f"{name}, {'a served model' if unheard is _PRECISION else 'run here'},"
        raise UsageError(f"{flags}: {kind} would ignore this; leave it out")
