"""Configuration, processor and weights of a `Source`; everything that cannot be used is one `UsageError`."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from typing import Any

from ...errors import UsageError, need
from .source import Source, first_line

_DTYPES = ("auto", "bfloat16", "float16", "float32")


def load_config(source: Source) -> Any:
    """The model's configuration. Raises `UsageError` for an architecture without image input, or one not known here."""
    transformers = need("transformers", "vlm")
    try:
        config = transformers.AutoConfig.from_pretrained(source.place, **source.options)
    except (OSError, ValueError, ImportError) as error:
        raise _explained(source, error) from error
    takes_images = config.model_type in _image_text_architectures()
    if not takes_images and "AutoModelForImageTextToText" not in (getattr(config, "auto_map", None) or {}):
        raise UsageError(
            f"{source.place}: architecture {config.model_type!r} takes no images (or not together with text)"
        )
    return config


def _image_text_architectures() -> Any:
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    return MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES


def load_processor(source: Source) -> Any:
    """The processor, with a chat template and a tokenizer that pads left."""
    transformers = need("transformers", "vlm")
    try:
        with quiet():
            processor = transformers.AutoProcessor.from_pretrained(source.place, padding_side="left", **source.options)
    except (OSError, ValueError, ImportError, AttributeError, KeyError) as error:
        raise _explained(source, error) from error
    if not hasattr(processor, "tokenizer") or not hasattr(processor, "image_processor"):
        raise UsageError(f"{source.place}: {type(processor).__name__} is no processor of texts and images")
    if not chat_template(processor):
        raise UsageError(f"{source.place}: has no chat template; an instruction-tuned model is needed")
    pad_left(processor.tokenizer, source.place)
    # A prompt that is too long is an error of ours, in one line; transformers would warn of it beside that.
    processor.tokenizer.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return processor


def chat_template(processor: Any) -> str:
    """The text of the chat template that `processor` uses, or "" if it has none."""
    template = getattr(processor, "chat_template", None) or getattr(processor.tokenizer, "chat_template", None)
    return template["default"] if isinstance(template, dict) else template or ""


def pad_left(tokenizer: Any, name: str) -> None:
    """Makes `tokenizer` pad on the left and proves it; raises `UsageError` if it cannot.

    Generation continues at the right end of a row, so padding there would come between prompt and reply.
    """
    if tokenizer.pad_token_id is None and tokenizer.eos_token is not None:
        tokenizer.pad_token = tokenizer.eos_token  # masked, so which token it is does not matter
    tokenizer.padding_side = "left"
    try:
        masks = tokenizer(["a", "a a a a"], padding=True)["attention_mask"]
    except (ValueError, TypeError, NotImplementedError) as error:
        raise UsageError(f"{name}: its tokenizer cannot pad a batch ({first_line(error)})") from error
    if not (masks[0][0] == 0 and masks[0][-1] == 1 and all(masks[1])):
        raise UsageError(f"{name}: its tokenizer cannot pad on the left, which batched generation needs")


def device() -> Any:
    """The device of this process: under accelerate or torchrun each process has its own."""
    torch, accelerate = need("torch", "vlm"), need("accelerate", "vlm")
    has_accelerator = torch.accelerator.is_available()
    return accelerate.PartialState(**({} if has_accelerator else {"cpu": True})).device


def dtype_for(name: str, place: Any) -> Any:
    """The torch dtype `name` means on the device `place`: ``auto`` is bfloat16 on an accelerator, float32 on a CPU."""
    torch = need("torch", "vlm")
    if name not in _DTYPES:
        raise UsageError(f"--dtype {name}: choose one of {', '.join(_DTYPES)}")
    if name != "auto":
        return getattr(torch, name)
    if place.type == "cpu":
        return torch.float32
    return torch.float16 if place.type == "cuda" and not torch.cuda.is_bf16_supported() else torch.bfloat16


def load_weights(source: Source, *, dtype: Any, attention: str, place: Any, device_map: str | None) -> Any:
    """The model in evaluation mode on its device, every tensor of it from the checkpoint."""
    transformers = need("transformers", "vlm")
    if device_map is not None and need("accelerate", "vlm").PartialState().num_processes > 1:
        raise UsageError("--device-map spreads one model over all devices: start a single process")
    try:
        with quiet(bars=sys.stderr.isatty()):
            model, info = transformers.AutoModelForImageTextToText.from_pretrained(
                source.place,
                dtype=dtype,
                attn_implementation=attention,
                device_map=device_map,
                output_loading_info=True,
                **source.options,
            )
    except (OSError, ValueError, ImportError, AttributeError, KeyError) as error:
        raise _explained(source, error) from error
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        raise UsageError(f"{source.place}: its weights cannot be read ({first_line(error)})") from error
    # A tensor that is not in the checkpoint is filled with random numbers, and only a log line would say so.
    if missing := sorted(info.get("missing_keys") or ()) + sorted(map(str, info.get("mismatched_keys") or ())):
        raise UsageError(
            f"{source.place}: {len(missing)} tensors are missing in its weights, first {missing[0]}; "
            "the checkpoint is incomplete or of another architecture"
        )
    return (model if device_map else model.to(place)).eval()


def _explained(source: Source, error: BaseException) -> UsageError:
    text = str(error)
    if "trust_remote_code" in text:
        return UsageError(
            f"{source.place}: needs code from its own repository; read it, then give --trust-remote-code"
            + ("" if source.is_folder else f" --revision {source.revision}")
        )
    if importlib.util.find_spec("torchvision") is None and re.search("torchvision|VIDEO_PROCESSOR", text, re.I):
        return UsageError(f"{source.place}: its processor needs torchvision: {_torchvision_line()}")
    if "nms does not exist" in text:
        return UsageError(f"{source.place}: the torchvision here is not of this torch: {_torchvision_line()}")
    return UsageError(f"{source.place}: cannot be loaded ({first_line(error)})")


def _torchvision_line() -> str:
    """The install line of the torchvision that belongs to this torch (0.15 came with 2.0, and so on in step)."""
    major, minor = need("torch", "vlm").__version__.split(".")[:2]
    wanted = f'"torchvision==0.{int(minor) + 15}.*"' if major == "2" else "torchvision"
    return f"pip install {wanted}, from the same index as torch"


@contextlib.contextmanager
def quiet(bars: bool = False) -> Iterator[None]:
    """Silences transformers' advice meanwhile, and its progress bars unless `bars`."""
    from transformers.utils import logging

    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if not bars:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()
