"""Batches of prepared requests through a loaded model, and replies out of its tokens."""

from __future__ import annotations

import copy
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import RunFailure, need
from ...types import Attempt, ImageSeen, Request, Response
from ..decoding import forget_pixels
from .batching import Ahead, BatchSize, halves
from .inputs import Chunk, Preparer
from .source import first_line

DECODERS = 4
"""Threads that decode pictures (our choice); Pillow lets them run side by side."""
GIVE_UP_AFTER = 10
"""Rows that may fail, each alone, before any succeeded; then the model is at fault, not the rows (our choice)."""
ROUTE = "transformers"
_NO_MEMORY = "out of memory"
_THINKING = re.compile(r"think|thought|reason|channel", re.IGNORECASE)

log = logging.getLogger(__name__)
GenerateTokens = Callable[..., Any]


def model_generate(model: Any, inputs: Any, **options: Any) -> Any:
    """Token ids of prompts and replies, one row each: what a model makes of `inputs`."""
    return model.generate(**inputs, **options)


@dataclass
class Engine:
    """A loaded `model` that answers requests. `generation` is greedy and holds the tokens that end a reply.

    `tokenizer` decodes replies and must be another object than the preparer's, which works in another thread.
    """

    name: str
    model: Any
    preparer: Preparer
    tokenizer: Any
    generation: Any
    batch: BatchSize
    generate_tokens: GenerateTokens = model_generate
    logits_processors: Callable[[], list[Any]] | None = None
    _worked: bool = False
    _failures: int = 0
    _stop: frozenset[int] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        self._stop = frozenset(stop_ids(self.generation))

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """One response a request, a batch at a time; `requests` is consumed in another thread, a step ahead."""
        with (
            ThreadPoolExecutor(min(DECODERS, os.cpu_count() or 1), thread_name_prefix="diffspot-decode") as decoders,
            Ahead(requests, replace(self.preparer, decoders=decoders), lambda: self.batch.now) as chunks,
        ):
            for chunk in chunks:
                yield from self._answer(chunk)

    def _answer(self, chunk: Chunk) -> Iterator[Response]:
        """Responses to a chunk in its order; when memory is short it is halved, and only it."""
        yield from chunk.failures
        waiting: list[Chunk | Sequence[Request]] = [chunk]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, Chunk):
                part = self.preparer(part)
                yield from part.failures
            if not part.requests:
                continue
            responses, problem = self._try(part)
            self._count(problem, len(part.requests))
            if problem and len(part.requests) > 1:
                first, second = halves(part.requests)
                log.warning(
                    "%s: batch of %d from row %s, tried again as %d and %d",
                    *(problem, len(part.requests), part.requests[0].id, len(first), len(second)),
                )
                waiting += [second, first]
                continue
            for response, request in zip(responses, part.requests, strict=True):
                forget_pixels(request)
                yield response

    def _count(self, problem: str | None, rows: int) -> None:
        """Raises `RunFailure` when it looks as if nothing will ever work, so that not every row is spent on it."""
        if problem is None:
            self._worked = True
        elif not self._worked and rows == 1 and not problem.startswith(_NO_MEMORY):
            self._failures += 1
            if self._failures >= GIVE_UP_AFTER:
                raise RunFailure(f"{self.name}: cannot generate: {problem}")

    def _try(self, chunk: Chunk) -> tuple[list[Response], str | None]:
        """The responses to `chunk`, or for each row an error and what went wrong with the whole.

        Apart from `_answer` so that no traceback keeps the failed batch's tensors alive while the halves are tried.
        """
        memory = need("accelerate.utils.memory", "vlm")
        count, began = len(chunk.requests), time.perf_counter()
        try:
            responses = self._run(chunk)
        except Exception as error:
            log.debug("batch of %d from row %s failed", count, chunk.requests[0].id, exc_info=True)
            if memory.should_reduce_batch_size(error) or _NO_MEMORY in str(error).lower():
                problem = _NO_MEMORY + ("" if count > 1 else "; lower --max-pixels or --max-new-tokens")
                self.batch.failed(count)
            elif "CUDA error" in str(error) or "device-side assert" in str(error):
                raise RunFailure(
                    f"{self.name}: the device failed ({first_line(error)}); the same command continues"
                ) from error
            else:
                problem = f"{type(error).__name__}: {first_line(error)}"
        else:
            self.batch.worked(count)
            return responses, None
        if self.model.device.type != "cpu":
            memory.clear_device_cache(garbage_collection=True)
        seconds = time.perf_counter() - began
        attempt = (Attempt(ROUTE, "error", seconds, problem),)
        return [
            Response(r.id, "", "error", error=problem, images=images, attempts=attempt, seconds=seconds)
            for r, images in zip(chunk.requests, chunk.images, strict=True)
        ], problem

    def _run(self, chunk: Chunk) -> list[Response]:
        torch = need("torch", "vlm")
        began = time.perf_counter()
        inputs = copy.copy(chunk.inputs).to(self.model.device)  # a copy: the chunk must not hold device memory
        options: dict[str, Any] = {"generation_config": self.generation}
        if self.logits_processors is not None:
            options["logits_processor"] = self.logits_processors()
        with torch.inference_mode():
            tokens = self.generate_tokens(self.model, inputs, **options)
        new = tokens[:, inputs["input_ids"].shape[1] :].tolist()
        seconds = (time.perf_counter() - began) / len(chunk.requests)
        rows = zip(chunk.requests, new, chunk.prompt_tokens, chunk.images, strict=True)
        return [self._response(*row, seconds=seconds) for row in rows]

    def _response(
        self, request: Request, tokens: list[int], prompt: int, images: tuple[ImageSeen, ...], *, seconds: float
    ) -> Response:
        """`seconds` is the row's even share of its batch's time on the device."""
        end = next((place for place, token in enumerate(tokens) if token in self._stop), None)
        reply = tokens if end is None else tokens[: end + 1]
        return Response(
            id=request.id,
            text=reply_text(self.tokenizer, reply),
            finish_reason="length" if end is None else "stop",
            usage={"input_tokens": prompt, "output_tokens": len(reply)},
            images=images,
            attempts=(Attempt(ROUTE, "ok", seconds),),
            seconds=seconds,
        )


def greedy(config: Any, max_new_tokens: int, tokenizer: Any) -> Any:
    """The checkpoint's own generation settings without sampling, so that a run can be repeated."""
    config = copy.deepcopy(config)
    config.do_sample, config.num_beams, config.max_new_tokens = False, 1, max_new_tokens
    config.max_length = config.temperature = config.top_p = config.top_k = config.min_p = config.typical_p = None
    if config.eos_token_id is None:
        config.eos_token_id = tokenizer.eos_token_id
    config.pad_token_id = tokenizer.pad_token_id
    return config


def stop_ids(generation: Any) -> list[int]:
    """The tokens that end a reply."""
    stop = generation.eos_token_id
    return [stop] if isinstance(stop, int) else list(stop or [])


def reply_text(tokenizer: Any, tokens: Sequence[int]) -> str:
    """The reply without control tokens, except those that mark thinking: without them it would pass for the answer."""
    marks = {
        token: added.content
        for token, added in tokenizer.added_tokens_decoder.items()
        if added.special and _THINKING.search(added.content)
    }
    pieces: list[list[int]] = [[]]
    for token in tokens:
        if token in marks:
            pieces += [[token], []]
        else:
            pieces[-1].append(token)
    return "".join(
        marks[piece[0]]
        if len(piece) == 1 and piece[0] in marks
        else tokenizer.decode(piece, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        for piece in pieces
    )
