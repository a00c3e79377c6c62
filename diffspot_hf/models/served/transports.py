"""The two ways to a server: a URL that speaks the OpenAI protocol, and the Hub's inference providers.

Both take the JSON of a chat completion request and give the JSON of its reply; everything that goes wrong is a
`Failure`. Keys come from the environment only, and a key goes only to the host that it is for.
"""

from __future__ import annotations

import email.utils
import io
import itertools
import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from ...errors import UsageError
from .failures import Failure
from .messages import error_text

KEY = "DIFFSPOT_API_KEY"
_KEYS_BY_HOST = {
    "openai.com": "OPENAI_API_KEY",
    "huggingface.co": "HF_TOKEN",
    "huggingface.cloud": "HF_TOKEN",
    "hf.space": "HF_TOKEN",
}
_LARGE = 1 << 20  # bytes, as aiohttp has it
_CONNECTIONS_A_CLIENT = 20
"""Idle connections that one hub client keeps open; with more requests at once it would reconnect all the time."""


class Transport(Protocol):
    """A way to a server, entered before and left after its requests."""

    where: str

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *_: Any) -> None: ...

    def encode(self, payload: dict[str, Any]) -> Any:
        """What `chat` takes for `payload`; called in another thread, so that large pictures do not hold up replies."""
        ...

    async def chat(self, encoded: Any) -> Any:
        """The decoded JSON of the reply. Raises `Failure`."""
        ...


class UrlTransport:
    """POST to ``<endpoint>/chat/completions``. Without a path, ``/v1`` is assumed.

    >>> UrlTransport("http://localhost:8000").url, UrlTransport("https://x.org/api/v2/").url
    ('http://localhost:8000/v1/chat/completions', 'https://x.org/api/v2/chat/completions')
    """

    def __init__(self, endpoint: str) -> None:
        parts = _split(endpoint)
        if parts.username or parts.password:
            raise UsageError(f"--endpoint: no passwords in the URL; put the key into {KEY}")
        path = parts.path.rstrip("/")
        if not path.endswith("/chat/completions"):
            path = (path or "/v1") + "/chat/completions"
        self.url = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
        self.where = urlunsplit((parts.scheme, parts.netloc, path.removesuffix("/chat/completions"), "", ""))
        # Looked up once: aiohttp's own look-up costs a change of threads for every request.
        self._proxy = None if proxy_bypass(parts.hostname) else getproxies().get(parts.scheme)
        self._headers = {"Content-Type": "application/json"}
        if key := api_key(parts.hostname, parts.scheme):
            self._headers["Authorization"] = f"Bearer {key}"

    async def __aenter__(self) -> UrlTransport:
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # how many at once is decided elsewhere
            timeout=aiohttp.ClientTimeout(total=None),  # and so is how long to wait
        )
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._session.close()

    def encode(self, payload: dict[str, Any]) -> bytes:
        return json.dumps(payload).encode()

    async def chat(self, encoded: bytes) -> Any:
        import aiohttp

        # In one piece a large body would hold up the others, so aiohttp warns of it.
        data = encoded if len(encoded) < _LARGE else io.BytesIO(encoded)
        try:
            # A redirect would turn the POST into a GET, or carry pictures and key elsewhere.
            async with self._session.post(
                self.url, data=data, headers=self._headers, allow_redirects=False, proxy=self._proxy
            ) as response:
                body = await response.read()
        except aiohttp.ClientConnectorError as error:
            raise Failure("unreachable", f"cannot be reached ({error.os_error or error})") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Failure("cut", f"the connection broke off ({type(error).__name__}: {error})") from error
        try:
            decoded = json.loads(body)
        except ValueError as error:
            if response.status == 200:
                raise Failure("garbled", f"the reply is not valid JSON ({error})") from error
            decoded = body.decode("utf-8", "replace")
        if response.status != 200:
            raise Failure(
                "status",
                f"HTTP {response.status}: {error_text(decoded) or response.reason}",
                status=response.status,
                retry_after=retry_after(response.headers),
            )
        return decoded


def _split(endpoint: str) -> SplitResult:
    """The parts of a URL with a scheme, host and port that there can be. Raises `UsageError` without its password."""
    try:
        parts = urlsplit(endpoint)
        host, _ = (parts.hostname or "").encode("idna"), parts.port  # either raises ValueError where it is none
        if parts.scheme in ("http", "https") and re.fullmatch(rb"[\w.:%-]+", host) and parts.port != 0:
            return parts
        problem = ""
    except ValueError as error:
        problem = f"{error}; "
    shown = re.sub(r"//[^/]*@", "//", endpoint)
    raise UsageError(f"--endpoint {shown}: {problem}give a URL such as http://localhost:8000/v1")


class HubTransport:
    """The Hub's inference providers, through `huggingface_hub.AsyncInferenceClient`.

    `make_client` makes one of the clients that requests are dealt to; by default for `provider`, with HF_TOKEN.
    """

    def __init__(self, provider: str | None, concurrency: int, timeout: float, make_client: Any = None) -> None:
        self.where = f"hub:{provider or 'auto'}"
        self._provider, self._timeout = provider, timeout
        self._make = make_client or self._client
        self._count = -(-concurrency // _CONNECTIONS_A_CLIENT)

    def _client(self) -> Any:
        from huggingface_hub import AsyncInferenceClient

        return AsyncInferenceClient(provider=self._provider or "auto", timeout=self._timeout, token=_hub_token())

    async def __aenter__(self) -> HubTransport:
        self._stack = AsyncExitStack()
        clients = [await self._stack.enter_async_context(self._make()) for _ in range(self._count)]
        self._turns = itertools.cycle(clients)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._stack.aclose()

    def encode(self, payload: dict[str, Any]) -> dict[str, Any]:
        named = ("model", "messages", "max_tokens", "temperature", "seed", "response_format")
        extra = {name: value for name, value in payload.items() if name not in named}
        call = {name: value for name, value in payload.items() if name in named}
        return call | ({"extra_body": extra} if extra else {})

    async def chat(self, encoded: dict[str, Any]) -> Any:
        from huggingface_hub.errors import HfHubHTTPError, InferenceTimeoutError, OfflineModeIsEnabled

        try:
            return _plain(await next(self._turns).chat_completion(**encoded))
        except OfflineModeIsEnabled as error:
            raise UsageError("HF_HUB_OFFLINE is set, so the Hub's providers cannot be asked; unset it") from error
        except InferenceTimeoutError as error:
            raise Failure("timeout", str(error)) from error
        except HfHubHTTPError as error:
            response = error.response
            raise Failure(
                "status",
                f"HTTP {response.status_code}: {error_text(_json(response.text) or str(error))}",
                status=response.status_code,
                retry_after=retry_after(response.headers),
            ) from error
        except ValueError as error:
            if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) or str(error).startswith("Invalid "):
                raise Failure("garbled", f"the reply is not valid JSON ({error})") from error
            raise UsageError(f"{self.where}: {error_text(str(error))}") from error
        except (TypeError, KeyError, AttributeError) as error:
            raise Failure("garbled", f"the reply is no chat completion ({error})") from error
        except Exception as error:
            # The client's HTTP library has changed its name between releases, so its errors are told by theirs.
            names = {kind.__name__ for kind in type(error).__mro__}
            if "TransportError" not in names and "HTTPError" not in names:
                raise
            unreachable = names & {"ConnectError", "ConnectTimeout"}
            raise Failure("unreachable" if unreachable else "cut", f"{type(error).__name__}: {error}") from error


def _plain(reply: Any) -> Any:
    """The JSON behind the client's typed objects; fields it does not know, such as reasoning, are attributes only."""
    if isinstance(reply, list):
        return [_plain(item) for item in reply]
    return {name: _plain(value) for name, value in vars(reply).items()} if hasattr(reply, "__dict__") else reply


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _hub_token() -> str:
    from huggingface_hub import get_token

    token = get_token()
    if not token:
        raise UsageError("the Hub's inference providers need a token: set HF_TOKEN, or give --endpoint for a server")
    return token


def api_key(host: str, scheme: str) -> str | None:
    """The key for `host`: DIFFSPOT_API_KEY, else HF_TOKEN or OPENAI_API_KEY for the hosts these are meant for.

    The latter two are never sent in the clear or to anybody else's server.
    """
    if key := os.environ.get(KEY):
        return key
    if scheme != "https":
        return None
    named = (name for domain, name in _KEYS_BY_HOST.items() if host == domain or host.endswith(f".{domain}"))
    return next((os.environ[name] for name in named if os.environ.get(name)), None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the header Retry-After asks to wait, given in seconds or as a date; None without it.

    >>> retry_after({"Retry-After": "2.5"}), retry_after({"Retry-After": "soon"}), retry_after({})
    (2.5, None, None)
    """
    value = headers.get("Retry-After")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
