"""From requests to tensors: decoding, the chat template, the processor, and a record of what the model will see."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...errors import UsageError
from ...types import ImageSeen, Picture, Request, Response
from ..decoding import decode
from .geometry import is_shrunk, look
from .loading import chat_template
from .source import first_line


@dataclass(frozen=True)
class Chunk:
    """Requests that go through the model together: `inputs` has one row for each of `requests`.

    `failures` are answers to requests that could not be prepared; they are in no other field.
    """

    requests: tuple[Request, ...]
    inputs: Any = None
    images: tuple[tuple[ImageSeen, ...], ...] = ()
    prompt_tokens: tuple[int, ...] = ()
    failures: tuple[Response, ...] = ()


@dataclass
class Preparer:
    """Turns requests into a `Chunk`; threads may share it and take turns, for a fast tokenizer admits one user only.

    `context` is the model's window in tokens (None: not known), `image_token` the id that stands for visual tokens,
    `dtype` what the pictures' tensors are cast to.
    """

    processor: Any
    name: str
    max_new_tokens: int
    context: int | None = None
    image_token: int | None = None
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    require_native: bool = False
    dtype: Any = None
    decoders: ThreadPoolExecutor | None = None
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, requests: Sequence[Request]) -> Chunk:
        """The chunk of `requests`; one that cannot be prepared becomes a failure and does not hold up the others.

        Raises `UsageError` where `require_native` is set and the processor would shrink a picture.
        """
        with self.lock:
            return self._prepare(requests)

    def _prepare(self, requests: Sequence[Request]) -> Chunk:
        all_of = self.decoders.map if self.decoders else map
        decoded = list(zip(requests, all_of(decode, requests), strict=True))
        failures = [_failure(request, broken) for request, broken in decoded if broken]
        sound = [request for request, broken in decoded if not broken]
        if not sound:
            return Chunk((), failures=tuple(failures))
        try:
            inputs = self.tokenize(sound)
            seen, lengths = self._look(sound, inputs)
        except Exception as error:  # one odd row (say, 1 x 5000 pixels) must not take its batch along
            if len(sound) == 1:
                text = str(error) if isinstance(error, UsageError) else f"the processor refused it: {first_line(error)}"
                failures.append(_failure(sound[0], text))
                return Chunk((), failures=tuple(failures))
            return self._one_by_one(sound, failures)
        self._check_native(sound, seen)
        if too_long := [r for r, n in zip(sound, lengths, strict=True) if not self.fits(n)]:
            tokens = {r.id: n for r, n in zip(sound, lengths, strict=True)}
            failures += [_failure(r, self.too_long(tokens[r.id])) for r in too_long]
            rest = self._prepare([r for r in sound if self.fits(tokens[r.id])])
            return Chunk(rest.requests, rest.inputs, rest.images, rest.prompt_tokens, (*failures, *rest.failures))
        if self.dtype is not None:
            inputs = inputs.to(dtype=self.dtype)
        images = tuple(_images(r, row) for r, row in zip(sound, seen, strict=True))
        return Chunk(tuple(sound), inputs, images, tuple(lengths), tuple(failures))

    def _one_by_one(self, requests: Sequence[Request], failures: list[Response]) -> Chunk:
        singles = [self._prepare([request]) for request in requests]
        failures = [*failures, *(failure for single in singles for failure in single.failures)]
        good = [request for single in singles for request in single.requests]
        if len(good) == len(requests):  # each alone is fine, so it is not a row's fault: let the error be seen
            self.tokenize(requests)
            raise RuntimeError(f"{self.name}: its processor takes each row but not all of them in one batch")
        rest = self._prepare(good)
        return Chunk(rest.requests, rest.inputs, rest.images, rest.prompt_tokens, (*failures, *rest.failures))

    def tokenize(self, requests: Sequence[Request]) -> Any:
        """The processor's tensors: one user turn a request, its texts and pictures in their order, padded left.

        Control tokens in a request's own text, such as an image placeholder, are encoded as plain text.
        """
        texts = {part for request in requests for part in request.parts if isinstance(part, str)}
        control = [token for token in self._control_tokens if any(token in text for text in texts)]
        try:
            return self.processor.apply_chat_template(
                [conversation(request) for request in requests],
                tokenize=True,
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
                **({"sanitize_control_tokens": True} if control else {}),
                **self.template_kwargs,
            )
        except (ValueError, TypeError) as error:
            if not control:
                raise
            raise UsageError(
                f"a text holds {control[0]!r}, a control token of {self.name}, which its processor cannot defuse"
            ) from error

    @cached_property
    def _control_tokens(self) -> list[str]:
        tokenizer = self.processor.tokenizer
        template = chat_template(self.processor)
        added = tokenizer.added_tokens_decoder.values()
        return [t.content for t in added if t.special or (t.content in template and not t.content.isspace())]

    def _look(self, requests: Sequence[Request], inputs: Any) -> tuple[list[list[Any]], list[int]]:
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        lengths = [int(n) for n in mask.sum(1)]
        sizes = [[picture.rgb.size for picture in request.pictures] for request in requests]
        visual = [0] * len(sizes) if self.image_token is None else (ids == self.image_token).sum(1).tolist()
        return look(self.processor, inputs, sizes, visual), lengths

    def _check_native(self, requests: Sequence[Request], seen: Sequence[Sequence[Any]]) -> None:
        if not self.require_native:
            return
        for request, row in zip(requests, seen, strict=True):
            for picture, one in zip(request.pictures, row, strict=True):
                before = picture.rgb.size
                if one.size is None:
                    raise UsageError(
                        f"--require-native: what {self.name} makes of a picture's size is not known; leave it out"
                    )
                if is_shrunk(before, one):
                    raise UsageError(
                        f"--require-native: {self.name} would process {picture.name} at {one.size[0]}x{one.size[1]} "
                        f"instead of {before[0]}x{before[1]} pixels (row {request.id})"
                    )

    def fits(self, prompt_tokens: int) -> bool:
        return self.context is None or prompt_tokens + self.max_new_tokens <= self.context

    def too_long(self, prompt_tokens: int) -> str:
        return (
            f"prompt of {prompt_tokens} tokens and --max-new-tokens {self.max_new_tokens} exceed the context of "
            f"{self.context} tokens of {self.name}; lower --max-new-tokens or --max-pixels"
        )


def conversation(request: Request) -> list[dict[str, Any]]:
    """One user turn that holds the parts of `request` in their order."""
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "image": part.rgb}
        for part in request.parts
    ]
    return [{"role": "user", "content": content}]


def _failure(request: Request, error: str) -> Response:
    return Response(id=request.id, text="", finish_reason="error", error=error)


def _images(request: Request, row: Sequence[Any]) -> tuple[ImageSeen, ...]:
    return tuple(_image(picture, seen) for picture, seen in zip(request.pictures, row, strict=True))


def _image(picture: Picture, seen: Any) -> ImageSeen:
    width, height = picture.rgb.size
    processed = seen.size or (None, None)
    return ImageSeen(width, height, picture.sha256, processed[0], processed[1], seen.tokens)
