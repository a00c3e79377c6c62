"""Open-weight vision-language models, run here in batches through transformers' Auto classes.

Batched generation is where numbers silently go wrong, so each row's pictures stay that row's, padding is on the left
and proved to be, nothing is truncated unsaid, and every reply tells at what size its pictures were seen.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, need
from ..types import Request, Response
from .decoding import forget_pixels, size_in_header
from .hf import loading
from .hf.batching import LARGEST_AUTO, LARGEST_AUTO_ELSEWHERE, BatchSize
from .hf.engine import Engine, GenerateTokens, greedy, model_generate, stop_ids
from .hf.geometry import cap_pixels
from .hf.inputs import Preparer
from .hf.source import Source, check_remote_code, find
from .structured import LogitsProcessors, json_processors, schema_digest

if TYPE_CHECKING:
    from ..options import ModelOptions

TINY = "tiny-vlm"
"""Name of the built-in model of random weights."""


class TransformersModel:
    """The model at `path_or_id`: a Hub id, a model folder, or ``tiny-vlm``.

    Nothing is loaded before it is needed: `describe` reads a folder's files or asks for a commit, `load` does the rest
    and is called by `generate` at its first row. Replies are greedy. `name` stands in cards and tables instead of a
    path. `generate_tokens(model, inputs, **options)` replaces ``model.generate`` (for tests and decoders of your own);
    `logits_processor_factory` makes the logits processors of one batch.
    """

    def __init__(
        self,
        path_or_id: str,
        *,
        name: str | None = None,
        revision: str | None = None,
        dtype: str = "auto",
        attention: str = "sdpa",
        batch_size: int | str = 1,
        max_new_tokens: int = 1024,
        max_pixels: int | None = None,
        require_native: bool = False,
        device_map: str | None = None,
        trust_remote_code: bool = False,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        reasoning_effort: str | None = None,
        seed: int = 0,
        constrain_json: Mapping[str, Any] | None = None,
        logits_processor_factory: LogitsProcessors | None = None,
        generate_tokens: GenerateTokens = model_generate,
    ) -> None:
        if max_new_tokens < 1:
            raise UsageError(f"--max-new-tokens {max_new_tokens}: must be positive")
        check_remote_code(path_or_id, revision, trust_remote_code)
        BatchSize(batch_size)  # refuses a wrong one at once
        self.path_or_id, self.id = path_or_id, name or path_or_id
        self.revision, self.trust_remote_code = revision, trust_remote_code
        self.dtype, self.attention, self.device_map = dtype, attention, device_map
        self.batch_size, self.max_new_tokens, self.seed = batch_size, max_new_tokens, seed
        self.max_pixels, self.require_native = max_pixels, require_native
        self.template_kwargs = dict(chat_template_kwargs or {})
        if reasoning_effort is not None:
            self.template_kwargs["reasoning_effort"] = reasoning_effort
        self.constrain_json = constrain_json
        self.logits_processor_factory = logits_processor_factory
        self.generate_tokens = generate_tokens
        self._engine: Engine | None = None

    @classmethod
    def from_options(
        cls,
        path_or_id: str,
        options: ModelOptions,
        *,
        name: str | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> TransformersModel:
        """The model as the command line asks for it; `schema` is what ``--constrain-json`` holds replies to."""
        if options.constrain_json and schema is None:
            raise UsageError("--constrain-json: this benchmark asks for no JSON; leave it out")
        return cls(
            path_or_id,
            name=name,
            revision=options.revision,
            dtype=options.dtype,
            attention=options.attention,
            batch_size=options.batch_size,
            max_new_tokens=options.max_new_tokens,
            max_pixels=options.max_pixels,
            require_native=options.require_native,
            device_map=options.device_map,
            trust_remote_code=options.trust_remote_code,
            chat_template_kwargs=options.chat_template_kwargs,
            reasoning_effort=options.reasoning_effort,
            seed=options.seed,
            constrain_json=schema if options.constrain_json else None,
        )

    # What it is

    @cached_property
    def source(self) -> Source:
        """Where the files are and at which commit."""
        if self.path_or_id == TINY:
            from .tiny import tiny_vlm_folder

            return find(str(tiny_vlm_folder(seed=self.seed)))
        return find(self.path_or_id, self.revision, self.trust_remote_code)

    def describe(self) -> Mapping[str, Any]:
        """The settings that a reply depends on; after `load` also what was loaded, and on which device it runs."""
        card: dict[str, Any] = {
            "id": self.id,
            "backend": "transformers",
            "revision": self.source.revision,
            "dtype": self.dtype,
            "attention": self.attention,
            "max_new_tokens": self.max_new_tokens,
            "max_pixels": self.max_pixels,
            "require_native": self.require_native,
            "chat_template_kwargs": self.template_kwargs,
            "trust_remote_code": self.trust_remote_code,
            "constrain_json": schema_digest(self.constrain_json) if self.constrain_json else None,
        }
        return card if self._engine is None else card | {"loaded": self._loaded(), "route": self._route()}

    def _loaded(self) -> dict[str, Any]:
        model, processor = self.engine.model, self.processor
        size = getattr(processor.image_processor, "size", None) or {}
        generation = self.engine.generation.to_diff_dict()
        return {
            "architecture": type(model).__name__,
            "dtype": str(model.dtype).removeprefix("torch."),
            "attention": getattr(model.config, "_attn_implementation", None),
            "processor": type(processor).__name__,
            "image_processor": type(processor.image_processor).__name__,
            "image_size_option": {key: value for key, value in dict(size).items() if value is not None},
            "tokenizer": type(processor.tokenizer).__name__,
            "chat_template_sha256": hashlib.sha256(loading.chat_template(processor).encode()).hexdigest(),
            "context": self.preparer.context,
            "generation": {k: v for k, v in generation.items() if k[0] != "_" and k != "transformers_version"},
        }

    def _route(self) -> dict[str, Any]:
        place = self.engine.model.device
        named = need("torch", "vlm").cuda.get_device_name(place) if place.type == "cuda" else str(place)
        batch = self.engine.batch
        return {"device": named, "device_map": self.device_map, "batch_size": batch.now, "batch_size_auto": batch.auto}

    # Loading

    @cached_property
    def config(self) -> Any:
        return loading.load_config(self.source)

    @cached_property
    def processor(self) -> Any:
        """The processor, its pixels capped. Template options that its template does not read are refused."""
        _ = self.config  # says in its own words what is no vision-language model
        processor = loading.load_processor(self.source)
        template = loading.chat_template(processor)
        if unread := [option for option in self.template_kwargs if option not in template]:
            raise UsageError(f"{self.id}: its chat template does not read {', '.join(unread)}; leave it out")
        if self.max_pixels is not None:
            cap_pixels(processor.image_processor, self.max_pixels, self.id)
        return processor

    @cached_property
    def preparer(self) -> Preparer:
        """Makes tensors of requests; needs the processor, not the weights."""
        # The configuration knows best: a processor may give the token that only begins a picture.
        named = (
            (self.config, "image_token_id"),
            (self.config, "image_token_index"),
            (self.processor, "image_token_id"),
        )
        tokens = [getattr(owner, attribute, None) for owner, attribute in named]
        return Preparer(
            self.processor,
            self.id,
            self.max_new_tokens,
            context=getattr(self.config.get_text_config(), "max_position_embeddings", None),
            image_token=next((token for token in tokens if token is not None), None),
            template_kwargs=self.template_kwargs,
            require_native=self.require_native,
        )

    @property
    def engine(self) -> Engine:
        """The loaded model."""
        self.load()
        assert self._engine is not None
        return self._engine

    def load(self) -> None:
        """Loads processor and weights once. Raises `UsageError` in one line for a model that cannot be used."""
        if self._engine is not None:
            return
        preparer, place = self.preparer, loading.device()
        model = loading.load_weights(
            self.source,
            dtype=loading.dtype_for(self.dtype, place),
            attention=self.attention,
            place=place,
            device_map=self.device_map,
        )
        preparer.dtype = model.dtype
        tokenizer = copy.deepcopy(self.processor.tokenizer)
        generation = greedy(model.generation_config, self.max_new_tokens, tokenizer)
        processors = self.logits_processor_factory
        if self.constrain_json is not None:
            size = self.config.get_text_config().vocab_size
            processors = json_processors(tokenizer, size, self.constrain_json, stop_ids(generation))
        largest = LARGEST_AUTO.get(model.device.type, LARGEST_AUTO_ELSEWHERE)
        batch = BatchSize(self.batch_size, largest)
        self._engine = Engine(self.id, model, preparer, tokenizer, generation, batch, self.generate_tokens, processors)

    def start_at(self, batch_size: int) -> None:
        """``--batch-size auto`` begins with what an earlier session of the run found."""
        self.engine.batch.start(batch_size)

    # Answering

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]:
        """One response a request, a batch at a time, in the order asked except for rows that cannot be prepared.

        `requests` is consumed in another thread, a step ahead. Rows that cannot be answered come back as errors; a
        device that no longer works is a `RunFailure`. Without any request nothing is loaded.
        """
        rows = iter(requests)
        for first in rows:
            yield from self.engine.answer(_chained(first, rows))

    def preflight(self, sample: Sequence[Request] = ()) -> Mapping[str, Any]:
        """What `diffspot_hf.models.preflight.prove_processor` found; needs no weights."""
        from .preflight import prove_processor

        return prove_processor(self.preparer, sample)

    def check_pictures(self, requests: Iterable[Request]) -> None:
        """Raises `UsageError` naming row and picture if one of `requests` would be shrunk although that is excluded.

        Without ``--require-native`` nothing is looked at; with it, one row of each size is put through the processor.
        """
        if not self.require_native:
            return
        known: set[tuple[int, int] | None] = set()
        for request in requests:
            sizes = {size_in_header(picture) for picture in request.pictures}
            if None in sizes or not sizes <= known:
                self.preparer([request])
                forget_pixels(request)
                known |= sizes


def _chained(first: Request, rest: Iterator[Request]) -> Iterator[Request]:
    yield first
    yield from rest
