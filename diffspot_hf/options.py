"""Options that a run can set, in one place: the command line fills them, `load_model` and the run card read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ModelOptions:
    """How a model is to be loaded and asked. Sizes are in pixels, times in seconds."""

    revision: str | None = None
    batch_size: int | str = 8
    max_new_tokens: int = 1024
    max_pixels: int | None = None
    require_native: bool = False
    dtype: str = "auto"
    attention: str = "sdpa"
    device_map: str | None = None
    trust_remote_code: bool = False
    chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    constrain_json: bool = False
    shuffle_options: int | None = None
    swap_images: bool = False
    view: str = "full"
    view_margin: float | None = None
    view_filter: str | None = None
    view_cues: str | None = None
    box_frame: str | None = None
    seed: int = 0
    endpoint: str | None = None
    provider: str | None = None
    concurrency: int = 16
    timeout: float = 600.0
    max_retries: int = 5
    max_requests: int | None = None
    max_tokens_total: int | None = None
