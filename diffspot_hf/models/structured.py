"""Replies held to a JSON schema while they are generated, with xgrammar. Off unless asked for: it changes scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UsageError, need

LogitsProcessors = Callable[[], list[Any]]
"""Makes new logits processors; they keep the state of one batch, so each call of `generate` needs its own."""


def json_processors(
    tokenizer: Any, vocab_size: int, schema: Mapping[str, Any], stop_ids: list[int]
) -> LogitsProcessors:
    """A factory of logits processors that admit only compact JSON of `schema`.

    `vocab_size` is the model's number of logits, which may exceed the tokenizer's. Give every list a ``maxItems`` and
    every number a range, or a weak model never closes what it opened.
    """
    xgrammar = need("xgrammar", "json")
    need("xgrammar.contrib.hf", "json")
    try:
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stop_ids)
        grammar = xgrammar.GrammarCompiler(info).compile_json_schema(json.dumps(schema), any_whitespace=False)
    except (RuntimeError, ValueError, TypeError) as error:
        raise UsageError(f"--constrain-json: xgrammar cannot use this schema or tokenizer ({error})") from error
    return lambda: [xgrammar.contrib.hf.LogitsProcessor(grammar)]


def schema_digest(schema: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a schema, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()
