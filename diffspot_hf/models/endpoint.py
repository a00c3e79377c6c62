"""Models that a server runs: OpenAI-compatible (vLLM, SGLang, TGI, llama.cpp, …), or the Hub's inference providers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..types import Request, Response
from .decoding import decode, forget_pixels
from .served.crew import Crew
from .served.messages import images, messages
from .served.retrying import Asker, Budget, Standing
from .served.transports import HubTransport, Transport, UrlTransport
from .structured import schema_digest

if TYPE_CHECKING:
    from ..options import ModelOptions


class EndpointModel:
    """The model that a server knows as `model_id`, asked with `concurrency` requests at once at temperature 0.

    `endpoint` is the server's URL; without it the Hub's inference `provider` is used (default: the Hub chooses).
    `timeout` is seconds for one try, `max_retries` the tries after the first. `max_requests` and `max_tokens_total`
    limit what all calls of `generate` spend together: when one is reached, the rows left are not asked (requests in
    flight still end, so tokens may exceed by what these cost) and `stopped_because` says so. `transport` replaces both
    ways to a server.
    """

    def __init__(
        self,
        model_id: str,
        *,
        endpoint: str | None = None,
        provider: str | None = None,
        concurrency: int = 16,
        timeout: float = 600.0,
        max_retries: int = 5,
        max_requests: int | None = None,
        max_tokens_total: int | None = None,
        max_new_tokens: int = 1024,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        reasoning_effort: str | None = None,
        constrain_json: Mapping[str, Any] | None = None,
        seed: int = 0,
        backoff: float = 0.5,
        transport: Transport | None = None,
    ) -> None:
        for name, value, least in (
            ("--concurrency", concurrency, 1),
            ("max_retries", max_retries, 0),
            ("--max-requests", max_requests, 1),
            ("--max-tokens-total", max_tokens_total, 1),
            ("--max-new-tokens", max_new_tokens, 1),
        ):
            if value is not None and value < least:
                raise UsageError(f"{name} {value}: must be at least {least}")
        if timeout <= 0:
            raise UsageError(f"--timeout {timeout}: must be positive")
        if endpoint is not None and provider:
            raise UsageError("--endpoint and --provider: give one of the two")
        self.id = model_id
        self.concurrency, self.timeout, self.max_retries = concurrency, timeout, max_retries
        self.backoff = backoff
        self.stopped_because: str | None = None
        self.served_as: set[str] = set()
        self._budget, self._standing = Budget(max_requests, max_tokens_total), Standing()
        self._transport: Transport = transport or (
            UrlTransport(endpoint) if endpoint is not None else HubTransport(provider, concurrency, timeout)
        )
        self._settings: dict[str, Any] = {"max_tokens": max_new_tokens, "temperature": 0, "seed": seed}
        if chat_template_kwargs:
            self._settings["chat_template_kwargs"] = dict(chat_template_kwargs)
        if reasoning_effort is not None:
            self._settings["reasoning_effort"] = reasoning_effort
        self._schema = constrain_json
        if constrain_json is not None:
            held_to = {"name": "reply", "schema": dict(constrain_json), "strict": True}
            self._settings["response_format"] = {"type": "json_schema", "json_schema": held_to}

    @classmethod
    def from_options(
        cls, model_id: str, options: ModelOptions, *, schema: Mapping[str, Any] | None = None
    ) -> EndpointModel:
        """The model as the command line asks for it; `schema` is what ``--constrain-json`` holds replies to."""
        for flag in ("revision", "device_map", "max_pixels", "require_native", "trust_remote_code"):
            if getattr(options, flag):
                raise UsageError(f"--{flag.replace('_', '-')}: the server decides that, not the request; leave it out")
        if options.constrain_json and schema is None:
            raise UsageError("--constrain-json: this benchmark asks for no JSON; leave it out")
        return cls(
            model_id,
            endpoint=options.endpoint,
            provider=options.provider,
            concurrency=options.concurrency,
            timeout=options.timeout,
            max_retries=options.max_retries,
            max_requests=options.max_requests,
            max_tokens_total=options.max_tokens_total,
            max_new_tokens=options.max_new_tokens,
            chat_template_kwargs=options.chat_template_kwargs,
            reasoning_effort=options.reasoning_effort,
            constrain_json=schema if options.constrain_json else None,
            seed=options.seed,
        )

    def describe(self) -> Mapping[str, Any]:
        """The settings that a reply depends on, and under `route` where and how the server is asked."""
        return {
            "id": self.id,
            "backend": "endpoint",
            **self._free_settings,
            "constrain_json": schema_digest(self._schema) if self._schema else None,
            "route": {
                "endpoint": self._transport.where,
                "served_as": sorted(self.served_as),
                "concurrency": self.concurrency,
                "timeout": self.timeout,
                "max_retries": self.max_retries,
                "requests": self._budget.requests,
                "tokens": self._budget.tokens,
            },
        }

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Responses as they come, one for each request that was asked. Closing the iterator cancels what is in flight.

        `requests` is consumed in other threads, a little ahead. Raises `UsageError` if at the start the server cannot
        be reached, does not accept the key, or does not know the model. Later such a denial is that row's error, unless
        the server then denies a harmless question too: that stops the rest, which stays to be asked.
        """
        self.stopped_because = None
        asker = Asker(
            self._transport.chat,
            self._transport.where,
            self._budget,
            self._standing,
            self._probe(),
            self.timeout,
            self.max_retries,
            self.backoff,
            served_as=self.served_as,
        )

        async def ask(prepared: tuple[Any, Response]) -> Response | None:
            encoded, blank = prepared
            return blank if encoded is None else await asker.ask(encoded, blank)

        def wanted() -> bool:
            return not (asker.stopped_because or self._budget.spent)

        rows = _Remembering(requests)
        try:
            yield from Crew(self.concurrency, self._transport, self._prepared, ask, wanted).run(rows)
        finally:
            # A budget that ends with the last row has stopped nothing.
            self.stopped_because = asker.stopped_because or (None if rows.ended else self._budget.spent)

    def _prepared(self, request: Request) -> tuple[Any, Response]:
        """What is sent for `request`, and the response but for the reply; None and an error for a broken picture."""
        if broken := decode(request):
            return None, Response(request.id, "", "error", error=broken)
        payload = {"model": self.id, "messages": messages(request), **self._settings}
        prepared = self._transport.encode(payload), Response(request.id, "", images=images(request))
        forget_pixels(request)
        return prepared

    def _probe(self) -> Any:
        """The shortest question, without pictures."""
        asked = messages(Request("probe", ("Say yes.",)))
        return self._transport.encode({"model": self.id, "messages": asked, **self._free_settings, "max_tokens": 1})

    @property
    def _free_settings(self) -> dict[str, Any]:
        """The settings but for the schema that replies are held to."""
        return {name: value for name, value in self._settings.items() if name != "response_format"}

    def preflight(self, sample: Sequence[Request] = ()) -> Mapping[str, Any]:
        """What the model answers about the colours of two pictures, which decides whether it sees both in order.

        A schema is for replies to rows; held to it, a model could not name colours.
        """
        from .preflight import ask_colours

        free = copy.copy(self)  # with the same way to the server, and the same budget
        free._settings = self._free_settings
        return ask_colours(free)


class _Remembering(Iterator[Request]):
    """Iterates over requests and remembers whether they came to their end."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests, self.ended = iter(requests), False

    def __next__(self) -> Request:
        try:
            return next(self._requests)
        except StopIteration:
            self.ended = True
            raise
