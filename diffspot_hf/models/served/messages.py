"""From a request to the JSON of an OpenAI-compatible chat server, and from its reply to a response."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from ...images import encode_png
from ...types import FinishReason, ImageSeen, Picture, Request
from .failures import Failure

_FINISH: dict[str, FinishReason] = {
    # A call of a tool that nobody offered ends a reply too: what text there is, is all of it.
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "stop_token", "complete"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_length", "max_output_tokens", "max_new_tokens"), "length"),
    **dict.fromkeys(("model_length", "context_length", "context_length_exceeded", "token_limit"), "length"),
    **dict.fromkeys(("content_filter", "content_filtered", "refusal", "safety", "image_safety"), "refusal"),
    **dict.fromkeys(("recitation", "blocklist", "prohibited_content", "spii", "guardrail_intervened"), "refusal"),
    **dict.fromkeys(("error", "abort", "aborted", "cancelled", "canceled", "timeout"), "error"),
}
"""What servers call the end of a reply (OpenAI, vLLM, SGLang, TGI, Mistral, Anthropic, Google), in small letters."""
_PLAIN_RGB = b"\x08\x02"  # bit depth 8, colour type RGB, at byte 24 of a PNG
_ALTERS_PIXELS = (b"tRNS", b"gAMA", b"iCCP", b"cHRM", b"eXIf", b"acTL")


def messages(request: Request) -> list[dict[str, Any]]:
    """One user turn with the parts of `request` in their order, pictures as PNG data URIs.

    Raises `UsageError` on a broken picture.
    """
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": data_uri(part)}}
        for part in request.parts
    ]
    return [{"role": "user", "content": content}]


def data_uri(picture: Picture) -> str:
    """`picture`, upright and RGB, as a lossless data URI; a file that is that already goes as it is."""
    rgb = picture.rgb
    data = picture.data if _is_plain_png(picture.data) else encode_png(rgb)
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def _is_plain_png(data: bytes) -> bool:
    """Whether any reader decodes `data` to the pixels that `Picture.rgb` has, told without decoding it again."""
    is_rgb = data.startswith(b"\x89PNG\r\n\x1a\n") and data[24:26] == _PLAIN_RGB
    return is_rgb and not any(chunk in data for chunk in _ALTERS_PIXELS)


def images(request: Request) -> tuple[ImageSeen, ...]:
    """The pictures as sent; what a server makes of their size it does not tell."""
    return tuple(ImageSeen(*picture.rgb.size, picture.sha256) for picture in request.pictures)


def reply_fields(reply: Any) -> dict[str, Any]:
    """Text, finish reason, reasoning and token counts of a chat completion, as fields of a `Response`.

    Raises `Failure` for anything that is no chat completion.
    """
    if isinstance(reply, Mapping) and not reply.get("choices") and reply.get("error"):
        raise Failure("garbled", f"the server reports {error_text(reply)}")
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content, reason = message.get("content"), choice.get("finish_reason")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        refusal = message.get("refusal")
        usage = _usage(reply.get("usage") or {})
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Failure("garbled", f"the reply is no chat completion ({type(error).__name__}: {error})") from error
    text, finish = _text(content), finish_reason(reason)
    if text is None:
        raise Failure("garbled", f"the reply's content is no text but {type(content).__name__}")
    if refusal and not text:
        text, finish = str(refusal), "refusal"
    if finish == "error":
        raise Failure("garbled", f"the server broke the reply off (finish reason {reason!r})")
    thoughts = _text(reasoning)
    return {
        "text": text,
        "finish_reason": finish,
        "reasoning": (json.dumps(reasoning) if thoughts is None else thoughts) or None,
        "usage": usage,
    }


def finish_reason(given: Any) -> FinishReason:
    """How a reply ended. Without a reason it counts as whole; for an unknown one as cut, which claims less.

    >>> [finish_reason(given) for given in ("MAX_TOKENS", "eos_token", None, "abort", "something-new")]
    ['length', 'stop', 'stop', 'error', 'length']
    """
    return _FINISH.get(str(given).lower().replace("-", "_"), "length") if given else "stop"


def finish_detail(reply: Any) -> str:
    """The finish reason in the server's own word, where it has another than we."""
    given = reply["choices"][0].get("finish_reason")
    return f"finish reason {given!r}" if given and given != finish_reason(given) else ""


def _text(content: Any) -> str | None:
    """A text, or the texts among a list of parts put together; None where it is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    return "".join(part or "" for part in parts) if all(isinstance(part, str | None) for part in parts) else None


def _usage(usage: Mapping[str, Any]) -> dict[str, int]:
    details = usage.get("completion_tokens_details") or {}
    named = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "reasoning_tokens": details.get("reasoning_tokens"),
    }
    return {name: value for name, value in named.items() if isinstance(value, int)}


def error_text(body: Any) -> str:
    """What an error body says, in one line of at most 300 letters."""
    text = body
    if isinstance(body, Mapping):
        text = body.get("error") or body.get("message") or body.get("detail") or body
        if isinstance(text, Mapping):
            code = text.get("code") or text.get("type")
            text = f"{text.get('message') or text}" + (f" [{code}]" if code else "")
    return " ".join(str(text).split())[:300]
