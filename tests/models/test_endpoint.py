"""Served models, against a real local HTTP server that misbehaves on a schedule."""

from __future__ import annotations

import base64
import io
import itertools
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from diffspot_hf.errors import UsageError
from diffspot_hf.images import encode_png
from diffspot_hf.models.endpoint import EndpointModel
from diffspot_hf.models.preflight import check
from diffspot_hf.models.served.failures import Failure
from diffspot_hf.models.served.messages import data_uri, reply_fields
from diffspot_hf.models.served.retrying import DENIALS
from diffspot_hf.models.served.transports import HubTransport, UrlTransport, api_key
from diffspot_hf.types import Model, Picture, Request, Response


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DIFFSPOT_API_KEY", "OPENAI_API_KEY", "HF_TOKEN", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def model_at(server: Any, **options: Any) -> EndpointModel:
    return EndpointModel("some/model", endpoint=server.url, **{"concurrency": 4, "backoff": 0.01} | options)


def by_id(responses: list[Response]) -> dict[str, Response]:
    found = {response.id: response for response in responses}
    assert len(found) == len(responses), "a row was answered twice"
    return found


# What is sent


def test_every_row_is_answered_once_with_its_own_pictures_in_order(start_server, make_request) -> None:
    def own(seen: Any) -> str:
        return f"{seen.text}|{seen.colours}"

    requests = [make_request(n) for n in range(30)]
    responses = by_id(list(model_at(start_server(reply=own), concurrency=8).generate(requests)))
    assert set(responses) == {request.id for request in requests}
    for request in requests:
        expected = [picture.rgb.getpixel((0, 0)) for picture in request.pictures]
        assert responses[request.id].text == f"{request.text}|{expected}"


def test_a_server_that_mixes_rows_up_is_noticed(start_server, make_request) -> None:
    first: list[Any] = []

    def others(seen: Any) -> str:
        first.append(seen)
        return f"{first[0].text}|{first[0].colours}"

    responses = by_id(list(model_at(start_server(reply=others)).generate([make_request(n) for n in range(3)])))
    own = [f"{r.text}|{[p.rgb.getpixel((0, 0)) for p in r.pictures]}" for r in (make_request(n) for n in range(3))]
    assert [response.text for response in responses.values()] != own


def test_parts_are_sent_in_the_order_of_the_request(start_server, make_request) -> None:
    first, second = make_request(0).pictures
    server = start_server()
    list(model_at(server).generate([Request("r", ("alpha", first, "beta", second, "gamma"))]))
    (seen,) = server.requests
    assert [part["type"] for part in seen.parts] == ["text", "image_url", "text", "image_url", "text"]
    assert [part["text"] for part in seen.parts[::2]] == ["alpha", "beta", "gamma"]


def test_the_settings_are_sent(start_server, make_request) -> None:
    server = start_server()
    schema = {"type": "object", "properties": {"issues": {"type": "array"}}}
    model = model_at(
        server,
        max_new_tokens=77,
        seed=5,
        chat_template_kwargs={"enable_thinking": False},
        reasoning_effort="low",
        constrain_json=schema,
    )
    list(model.generate([make_request(0)]))
    body = server.requests[0].body
    assert body["model"] == "some/model"
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (77, 0, 5)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["reasoning_effort"] == "low"
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == schema


def _jpeg_turned(image: Image.Image) -> bytes:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6
    image.save(out, "PNG", exif=exif)
    return out.getvalue()


def _with_alpha(image: Image.Image) -> bytes:
    image = image.convert("RGBA")
    image.putalpha(128)
    return encode_png(image)


def _grey(image: Image.Image) -> bytes:
    return encode_png(image.convert("L"))


def _webp(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", lossless=True)
    return out.getvalue()


@pytest.mark.parametrize("encode", [encode_png, _jpeg_turned, _with_alpha, _grey, _webp])
def test_a_server_gets_exactly_the_pixels_of_the_one_loader(encode: Callable[[Image.Image], bytes]) -> None:
    image = Image.new("RGB", (40, 20), (200, 30, 60))
    image.paste((10, 220, 90), (0, 0, 10, 10))
    picture = Picture(encode(image))
    sent = base64.b64decode(data_uri(picture).split(",")[1])
    got = Image.open(io.BytesIO(sent))
    assert got.mode == "RGB"
    assert got.size == picture.rgb.size
    assert got.tobytes() == picture.rgb.tobytes()
    assert (sent == picture.data) is (encode is encode_png), "a plain file goes as it is, any other is made plain"


def test_pictures_of_megabytes_are_sent_whole_also_at_the_second_try(servers, start_server) -> None:
    noise = Image.effect_noise((1200, 1000), 90).convert("RGB")
    pictures = [Picture(encode_png(image)) for image in (noise, noise.transpose(Image.Transpose.ROTATE_180))]
    server = start_server(servers.Status(500), reply=lambda seen: "fine")
    (response,) = model_at(server).generate([Request("r", ("x", *pictures))])
    assert response.text == "fine", response.error  # aiohttp's warning would be an error here
    assert sum(map(len, server.requests[1].uris)) > 2 << 20
    assert [picture.tobytes() for picture in server.requests[1].pictures] == [p.rgb.tobytes() for p in pictures]


def test_a_broken_picture_is_an_error_without_a_request(start_server, make_request) -> None:
    server, good = start_server(), make_request(0)
    bad = Request("bad", ("x", Picture(b"no picture", name="before.png"), good.pictures[1]))
    responses = by_id(list(model_at(server).generate([bad, good])))
    assert "before.png" in responses["bad"].error
    assert responses[good.id].error is None
    assert len(server.requests) == 1


# What comes back


def test_a_model_is_a_model(start_server) -> None:
    assert isinstance(model_at(start_server()), Model)


def test_tokens_sizes_and_attempts_are_told(start_server, make_request) -> None:
    (response,) = model_at(start_server()).generate([make_request(0, size=(90, 50))])
    assert response.usage == {"input_tokens": 100, "output_tokens": 7}
    assert [(seen.width, seen.height) for seen in response.images] == [(90, 50)] * 2
    assert response.images[0].processed_width is None, "a server does not tell"
    assert [attempt.state for attempt in response.attempts] == ["ok"]
    assert response.attempts[0].route.startswith("http://127.0.0.1")


REPLIES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("stop", {"text": "hi"}, {"text": "hi", "finish_reason": "stop"}),
    ("cut at the limit", {"text": "hi", "finish": "length"}, {"text": "hi", "finish_reason": "length"}),
    ("filtered", {"text": "", "finish": "content_filter"}, {"finish_reason": "refusal"}),
    (
        "refusal in its own field",
        {"text": None, "refusal": "I cannot"},
        {"text": "I cannot", "finish_reason": "refusal"},
    ),
    ("reasoning apart (older name)", {"text": "B", "reasoning_content": "hm"}, {"text": "B", "reasoning": "hm"}),
    ("reasoning apart (newer name)", {"text": "B", "reasoning": "hm"}, {"text": "B", "reasoning": "hm"}),
    (
        "budget spent on thinking",
        {"text": None, "finish": "length", "reasoning": "hm"},
        {"text": "", "finish_reason": "length", "reasoning": "hm"},
    ),
    ("opening tag missing", {"text": "so B</think>B"}, {"text": "so B</think>B", "finish_reason": "stop"}),
    ("content in parts", {"text": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, {"text": "ab"}),
    ("empty", {"text": ""}, {"text": "", "finish_reason": "stop"}),
    ("content in plain strings", {"text": ["a", "b", None, {"type": "image"}]}, {"text": "ab"}),
    ("reasoning in parts", {"text": "B", "reasoning": [{"text": "h"}, "m"]}, {"text": "B", "reasoning": "hm"}),
    (
        "reasoning of no known form",
        {"text": "B", "reasoning": {"steps": 2}},
        {"text": "B", "reasoning": '{"steps": 2}'},
    ),
    ("reasoning that is a number", {"text": "B", "reasoning_content": 7}, {"text": "B", "reasoning": "7"}),
    (
        "cut, and a refusal beside a text",
        {"text": "a", "finish": "length", "refusal": "no"},
        {"finish_reason": "length"},
    ),
    *[
        (f"finish reason {given}", {"text": "half", "finish": given}, {"text": "half", "finish_reason": meant})
        for meant, words in {
            "stop": ("stop", "STOP", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call", "", None),
            "length": ("length", "Length", "MAX_TOKENS", "max-tokens", "model_length", "something new", 7, {"odd": 1}),
            "refusal": ("content_filter", "SAFETY", "refusal", "RECITATION"),
        }.items()
        for given in words
    ],
]


@pytest.mark.parametrize(("reply", "expected"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_a_reply_is_read_as_it_came(servers, start_server, make_request, reply, expected) -> None:
    server = start_server(
        reply=lambda seen: servers.completion(reply["text"], **{k: v for k, v in reply.items() if k != "text"})
    )
    (response,) = model_at(server).generate([make_request(0)])
    assert {name: getattr(response, name) for name in expected} == expected
    assert response.error is None


@pytest.mark.parametrize("given", ["abort", "error", "ABORTED", "cancelled"])
def test_a_reply_that_the_server_broke_off_is_asked_for_again(servers, start_server, make_request, given: str) -> None:
    replies = iter([servers.completion("half a sen", given)] * 2)
    server = start_server(reply=lambda seen: next(replies, "whole"))
    (response,) = model_at(server).generate([make_request(0)])
    assert (response.text, response.finish_reason) == ("whole", "stop")
    assert [attempt.state for attempt in response.attempts] == ["error", "error", "ok"]
    assert given in response.attempts[0].detail


def test_a_reply_that_is_always_broken_off_is_no_answer(servers, start_server, make_request) -> None:
    server = start_server(reply=lambda seen: servers.completion("half a sen", "abort"))
    (response,) = model_at(server, max_retries=2).generate([make_request(0)])
    assert (response.text, response.finish_reason, len(response.attempts)) == ("", "error", 3)
    assert "'abort'" in response.error


@pytest.mark.parametrize(
    ("given", "detail"),
    [("stop", ""), ("length", ""), (None, ""), ("MAX_TOKENS", "'MAX_TOKENS'"), ("odd end", "'odd end'")],
)
def test_the_servers_own_word_for_the_end_is_kept(servers, start_server, make_request, given, detail: str) -> None:
    server = start_server(reply=lambda seen: servers.completion("half", given))
    (response,) = model_at(server).generate([make_request(0)])
    assert response.attempts[-1].detail == (f"finish reason {detail}" if detail else "")


@pytest.mark.parametrize("content", [7, {"text": "B"}, [["B"]], [{"text": {"value": "B"}}]], ids=str)
def test_content_that_is_no_text_is_said_to_be_none(servers, start_server, make_request, content: Any) -> None:
    server = start_server(reply=lambda seen: servers.completion(content))
    (response,) = model_at(server, max_retries=0).generate([make_request(0)])
    assert response.error == f"the reply's content is no text but {type(content).__name__}"


def test_reasoning_tokens_are_counted_apart(servers) -> None:
    reply = servers.completion("B")
    reply["usage"]["completion_tokens_details"] = {"reasoning_tokens": 5}
    assert reply_fields(reply)["usage"] == {"input_tokens": 100, "output_tokens": 7, "reasoning_tokens": 5}


@pytest.mark.parametrize(
    "reply",
    [{}, [], None, "text", {"choices": None}, {"choices": [{}]}, {"choices": [{"message": None}]}, {"choices": [[1]]}],
    ids=str,
)
def test_what_is_no_completion_is_a_failure(reply: Any) -> None:
    with pytest.raises(Failure, match="no chat completion"):
        reply_fields(reply)


# Trouble


TROUBLE = [
    "HANG",
    "CUT",
    "DROP",
    "MALFORMED",
    "NOT_A_COMPLETION",
    "NO_CHOICES",
    "A_LIST",
    "ERROR_IN_200",
    429,
    500,
    503,
]


@pytest.mark.parametrize("kind", TROUBLE, ids=str)
def test_passing_trouble_is_tried_again_and_recorded(servers, start_server, make_request, kind: Any) -> None:
    step = servers.Status(kind) if isinstance(kind, int) else getattr(servers, kind)
    server = start_server(servers.OK, step, step)
    model = model_at(server, concurrency=1, timeout=0.3)
    responses = by_id(list(model.generate(make_request(n) for n in range(3))))
    assert [response.error for response in responses.values()] == [None] * 3
    assert [attempt.state for attempt in responses["row-1"].attempts] == ["error", "error", "ok"]
    assert all(attempt.detail for attempt in responses["row-1"].attempts[:2])
    assert len(server.requests) == 5
    assert model.describe()["route"]["requests"] == 5


@pytest.mark.parametrize("kind", TROUBLE, ids=str)
def test_lasting_trouble_is_an_error_of_that_row_only(servers, start_server, make_request, kind: Any) -> None:
    step = servers.Status(kind) if isinstance(kind, int) else getattr(servers, kind)
    server = start_server(servers.OK, *[step] * 3)
    responses = by_id(
        list(model_at(server, concurrency=1, timeout=0.3, max_retries=2).generate(make_request(n) for n in range(3)))
    )
    assert [i for i, response in responses.items() if response.finish_reason == "error"] == ["row-1"]
    assert len(responses["row-1"].attempts) == 3
    assert responses["row-1"].text == ""


@pytest.mark.parametrize("code", [400, 413, 422])
def test_what_the_server_refuses_is_not_asked_again(servers, start_server, make_request, code: int) -> None:
    server = start_server(servers.OK, servers.Status(code, "prompt too long"))
    responses = by_id(list(model_at(server, concurrency=1).generate(make_request(n) for n in range(3))))
    assert "prompt too long" in responses["row-1"].error
    assert str(code) in responses["row-1"].error
    assert len(server.requests) == 3


def test_a_server_that_takes_one_image_only_is_quoted(servers, start_server, make_request) -> None:
    server = start_server(*[servers.ONE_IMAGE_ONLY] * 2)
    with pytest.raises(UsageError, match="At most 1 image"):
        check(model_at(server, concurrency=1), [make_request(0)])


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_by_all_workers(servers, start_server, make_request, form: str) -> None:
    from email.utils import formatdate

    wait = 1.0
    value = f"{wait}" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    server = start_server(servers.Status(429, "slow down", {"Retry-After": value}), latency=0.02)
    list(model_at(server, concurrency=2).generate(make_request(n) for n in range(6)))
    times = sorted(seen.at for seen in server.requests)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert len(times) == 7
    assert max(gaps) >= wait - 0.1, "somebody asked while the server wanted a rest"
    assert sum(1 for at in times if at - times[0] < wait - 0.1) <= 2, "more than was in flight"


def test_a_client_that_ignores_retry_after_is_noticed(servers, start_server, make_request) -> None:
    server = start_server(servers.Status(429, "slow down"), latency=0.02)  # nothing to honour: the backoff alone
    list(model_at(server, concurrency=2).generate(make_request(n) for n in range(6)))
    times = sorted(seen.at for seen in server.requests)
    assert max(after - before for before, after in itertools.pairwise(times)) < 0.9


def test_waits_double_and_are_spread() -> None:
    from diffspot_hf.models.served.retrying import LONGEST_BACKOFF, Asker, Budget, Standing

    asker = Asker(None, "r", Budget(), Standing(), None, 1, 9, backoff=1.0)  # type: ignore[arg-type]
    for tries, longest in ((1, 1), (2, 2), (3, 4), (6, 30), (20, LONGEST_BACKOFF)):
        waits = [asker._wait(Failure("cut", "x"), tries) for _ in range(50)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert len(set(waits)) > 40


def test_a_wait_of_hours_ends_the_session_instead(servers, start_server, make_request) -> None:
    server = start_server(servers.OK, servers.Status(429, "daily limit", {"Retry-After": "36000"}))
    model = model_at(server, concurrency=1)
    assert [response.id for response in model.generate(make_request(n) for n in range(9))] == ["row-0"]
    assert "36000 s" in model.stopped_because


@pytest.mark.parametrize(("code", "message"), [(402, "pay"), (429, "insufficient_quota")])
def test_an_empty_account_ends_the_session(servers, start_server, make_request, code: int, message: str) -> None:
    server = start_server(servers.OK, *[servers.Status(code, message)] * 50)
    model = model_at(server, concurrency=1)
    assert len(list(model.generate(make_request(n) for n in range(9)))) == 1
    assert len(server.requests) == 2
    assert message in model.stopped_because


# The start, the budgets, the end


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_not_there_is_said_at_once(make_request) -> None:
    model = EndpointModel("m", endpoint=f"http://127.0.0.1:{_free_port()}/v1", concurrency=8)
    began = time.monotonic()
    with pytest.raises(UsageError, match="is the server running") as caught:
        list(model.generate(make_request(n) for n in range(20)))
    assert time.monotonic() - began < 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("step", "message"),
    [(401, "DIFFSPOT_API_KEY"), (403, "DIFFSPOT_API_KEY"), (404, "the model's name")],
)
def test_a_wrong_key_or_name_is_said_before_any_row_is_spent(
    servers, start_server, make_request, step, message
) -> None:
    server = start_server(*[servers.Status(step)] * 20)
    with pytest.raises(UsageError, match=message):
        list(model_at(server, concurrency=2).generate(make_request(n) for n in range(20)))
    assert len(server.requests) <= 4


def _no_pictures(seen: Any) -> bool:
    return not seen.uris


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_row_that_the_server_denies_is_that_rows_error(
    start_server, servers, make_request, code, concurrency
) -> None:
    def unless_red(seen: Any) -> Any:
        return servers.Status(code, "content policy") if seen.text.endswith("?!!!") else servers.OK

    server = start_server(decide=unless_red)
    rows = [make_request(3), *(make_request(n) for n in range(30) if n != 3)]
    responses = by_id(list(model_at(server, concurrency=concurrency).generate(rows)))
    assert [i for i, response in responses.items() if response.error] == ["row-3"]
    assert "content policy" in responses["row-3"].error
    assert len(responses) == 30


def test_many_denied_rows_do_not_stop_the_others(start_server, servers, make_request) -> None:
    def unless_short(seen: Any) -> Any:
        return servers.Status(403, "content policy") if seen.uris and len(seen.text) < 60 else servers.OK

    server = start_server(decide=unless_short)
    model = model_at(server)
    responses = by_id(list(model.generate(make_request(n) for n in range(60))))
    assert len(responses) == 60
    assert sum(response.error is None for response in responses.values()) == 60 - sum(
        len(make_request(n).text) < 60 for n in range(60)
    )
    assert model.stopped_because is None
    assert 1 <= sum(map(_no_pictures, server.requests)) <= 60 / DENIALS + 1


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_key_that_expires_stops_the_rest_and_keeps_the_answers(
    start_server, servers, make_request, concurrency
) -> None:
    left = itertools.count(20, -1)
    server = start_server(decide=lambda seen: servers.OK if next(left) > 0 else servers.Status(401, "expired"))
    model = model_at(server, concurrency=concurrency)
    responses = by_id(list(model.generate(make_request(n) for n in range(200))))
    assert sum(response.error is None for response in responses.values()) == 20
    assert len(responses) <= 20 + DENIALS
    assert len(server.requests) <= 20 + DENIALS + concurrency + 1
    assert "expired" in model.stopped_because
    assert "DIFFSPOT_API_KEY" in model.stopped_because


def test_a_server_that_dies_leaves_the_rest_to_be_asked(start_server, make_request) -> None:
    server = start_server()
    model = model_at(server, concurrency=2, max_retries=2)
    got = []
    for response in model.generate(make_request(n) for n in range(200)):
        got.append(response)
        if len(got) == 5:
            server._server.shutdown()
            server._server.socket.close()
            server.stopping.set()
            server.schedule += ["drop"] * 50
    assert model.stopped_because is not None
    assert "cannot be reached" in model.stopped_because
    assert 5 <= len(got) < 30


@pytest.mark.parametrize("limit", [1, 5])
def test_max_requests_leaves_the_rest_unasked(start_server, make_request, limit: int) -> None:
    server = start_server()
    model = model_at(server, max_requests=limit)
    responses = by_id(list(model.generate(make_request(n) for n in range(20))))
    assert len(responses) == len(server.requests) == limit
    assert model.stopped_because == f"--max-requests {limit} is used up"
    assert list(model.generate([make_request(0)])) == [], "the budget is for all calls together"


def test_tries_count_as_requests(servers, start_server, make_request) -> None:
    server = start_server(*[servers.Status(500)] * 9)
    model = model_at(server, max_requests=2, concurrency=1)
    (response,) = model.generate([make_request(0), make_request(1)])
    assert response.finish_reason == "error"
    assert len(server.requests) == 2


def test_max_tokens_total_stops_within_what_is_in_flight(start_server, make_request) -> None:
    model = model_at(start_server(), max_tokens_total=1000, concurrency=2)
    responses = list(model.generate(make_request(n) for n in range(50)))
    assert 1000 <= sum(sum(response.usage.values()) for response in responses) < 1000 + 2 * 107
    assert "--max-tokens-total 1000" in model.stopped_because


def test_a_budget_that_just_suffices_has_stopped_nothing(start_server, make_request) -> None:
    model = model_at(start_server(), max_requests=3, concurrency=1)
    assert len(list(model.generate(make_request(n) for n in range(3)))) == 3
    assert model.stopped_because is None


def test_a_server_without_token_counts_cannot_keep_a_token_budget(servers, start_server, make_request) -> None:
    server = start_server(reply=lambda seen: servers.completion("hi") | {"usage": None})
    with pytest.raises(UsageError, match="--max-tokens-total"):
        list(model_at(server, max_tokens_total=100).generate([make_request(0)]))


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("diffspot")]


def test_closing_cancels_what_is_in_flight(servers, start_server, make_request) -> None:
    server = start_server(servers.OK, *[servers.HANG] * 50)
    stream = model_at(server, concurrency=4, timeout=60).generate(make_request(n) for n in range(100))
    assert next(stream).error is None
    while len(server.requests) < 5:
        time.sleep(0.01)
    began = time.monotonic()
    stream.close()
    assert time.monotonic() - began < 2
    assert not _threads()
    deadline = time.monotonic() + 3
    while server.given_up < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.given_up == 4, "a request was left running on the server"
    assert len(server.requests) == 5


def test_an_error_of_the_consumer_ends_the_requests(servers, start_server, make_request) -> None:
    server = start_server(servers.OK, *[servers.HANG] * 9)

    def consume() -> None:
        for _ in model_at(server, timeout=60).generate(make_request(n) for n in range(9)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert not _threads()


def test_an_error_in_the_rows_reaches_the_caller(start_server, make_request) -> None:
    def rows() -> Any:
        yield make_request(0)
        raise UsageError("row 1 cannot be read")

    stream = model_at(start_server(latency=0.2)).generate(rows())
    assert next(stream).error is None, "what was asked before must be answered"
    with pytest.raises(UsageError, match="row 1"):
        next(stream)
    assert not _threads()


def test_no_request_asks_nobody() -> None:
    model = EndpointModel("m", endpoint=f"http://127.0.0.1:{_free_port()}")
    assert list(model.generate(iter(()))) == []


def test_concurrency_is_used_and_kept(start_server, make_request) -> None:
    server = start_server(latency=0.1)
    began = time.monotonic()
    list(model_at(server, concurrency=6).generate(make_request(n) for n in range(18)))
    assert server.busiest == 6
    assert time.monotonic() - began < 18 * 0.1 / 2


def test_rows_are_taken_only_a_little_ahead(servers, start_server, make_request) -> None:
    taken: list[int] = []

    def rows() -> Any:
        for n in range(500):
            taken.append(n)
            yield make_request(n)

    stream = model_at(start_server(servers.OK, *[servers.HANG] * 9), concurrency=2, timeout=60).generate(rows())
    next(stream)
    time.sleep(0.2)
    stream.close()
    assert len(taken) < 40, "all pictures would be in memory at once"


def test_one_model_can_be_asked_again(start_server, make_request) -> None:
    server = start_server()
    model = model_at(server)
    assert [next(iter(model.generate([make_request(n)]))).id for n in range(3)] == ["row-0", "row-1", "row-2"]


# The card, keys, wrong calls


def test_the_card_tells_settings_and_route_apart(start_server, make_request) -> None:
    server = start_server()
    one, other = model_at(server, max_new_tokens=9), EndpointModel("some/model", endpoint="http://x", max_new_tokens=9)
    settings = [{k: v for k, v in model.describe().items() if k != "route"} for model in (one, other)]
    assert settings[0] == settings[1], "another address of the same model must not look like another model"
    assert settings[0] == {
        "id": "some/model",
        "backend": "endpoint",
        "max_tokens": 9,
        "temperature": 0,
        "seed": 0,
        "constrain_json": None,
    }
    list(one.generate([make_request(0)]))
    assert one.describe()["route"]["served_as"] == ["served-model"]
    assert one.describe()["route"]["endpoint"] == server.url


@pytest.mark.parametrize(
    ("host", "scheme", "environment", "key"),
    [
        ("gpu.example.org", "https", {"DIFFSPOT_API_KEY": "a", "HF_TOKEN": "hf", "OPENAI_API_KEY": "o"}, "a"),
        ("gpu.example.org", "https", {"HF_TOKEN": "hf", "OPENAI_API_KEY": "o"}, None),
        ("localhost", "http", {"HF_TOKEN": "hf", "OPENAI_API_KEY": "o"}, None),
        ("localhost", "http", {"DIFFSPOT_API_KEY": "a"}, "a"),
        ("api.openai.com", "https", {"HF_TOKEN": "hf", "OPENAI_API_KEY": "o"}, "o"),
        ("abc.endpoints.huggingface.cloud", "https", {"HF_TOKEN": "hf", "OPENAI_API_KEY": "o"}, "hf"),
        ("router.huggingface.co", "https", {"HF_TOKEN": "hf"}, "hf"),
        ("router.huggingface.co", "http", {"HF_TOKEN": "hf"}, None),
        ("nothuggingface.co", "https", {"HF_TOKEN": "hf"}, None),
        ("api.openai.com", "https", {}, None),
    ],
)
def test_a_key_goes_only_to_the_host_it_is_for(monkeypatch, host, scheme, environment, key) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert api_key(host, scheme) == key


def test_the_key_is_sent_and_shown_nowhere(monkeypatch, start_server, make_request, servers) -> None:
    monkeypatch.setenv("DIFFSPOT_API_KEY", "sesame-123")
    server = start_server(servers.OK, servers.Status(500))
    model = model_at(server)
    responses = list(model.generate([make_request(n) for n in range(2)]))
    assert server.requests[0].headers["Authorization"] == "Bearer sesame-123"
    assert "sesame" not in repr((responses, model.describe()))


def test_no_token_of_the_hub_is_sent_to_a_server_of_ones_own(monkeypatch, start_server, make_request) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    server = start_server()
    list(model_at(server).generate([make_request(0)]))
    assert "Authorization" not in server.requests[0].headers


def test_a_local_server_can_be_asked_while_the_hub_is_offline(monkeypatch, start_server, make_request) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (response,) = model_at(start_server()).generate([make_request(0)])
    assert response.error is None


@pytest.mark.parametrize(("bypass", "used"), [("", True), ("127.0.0.1", False)])
def test_a_proxy_of_the_environment_is_used(monkeypatch, start_server, make_request, bypass: str, used: bool) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{_free_port()}")
    monkeypatch.setenv("no_proxy", bypass)
    model = model_at(start_server())
    if used:
        with pytest.raises(UsageError, match="cannot be reached"):
            list(model.generate([make_request(0)]))
    else:
        assert next(iter(model.generate([make_request(0)]))).error is None


def test_a_redirect_is_not_followed(servers, start_server, make_request) -> None:
    server = start_server(servers.OK, servers.Status(307, "elsewhere", {"Location": "http://127.0.0.1:9/"}))
    responses = by_id(list(model_at(server, concurrency=1).generate(make_request(n) for n in range(2))))
    assert "307" in responses["row-1"].error


NO_URLS = [
    *("", "http://", "http:///v1", "http://a..b/v1", "http://exa mple/v1", "http://[::1/v1"),
    *("http://127.0.0.1:99999/v1", "http://127.0.0.1:abc/v1", "http://127.0.0.1:0", "http://x:-1"),
    "http://user:secret@x:abc/v1",
]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"endpoint": "localhost:8000"}, "give a URL such as"),
        ({"endpoint": "ftp://x/v1"}, "give a URL such as"),
        *[({"endpoint": url}, "give a URL such as") for url in NO_URLS],
        ({"endpoint": "http://user:secret@x/v1"}, "no passwords in the URL"),
        ({"endpoint": "http://x", "provider": "novita"}, "give one of the two"),
        ({"endpoint": "http://x", "concurrency": 0}, "--concurrency 0"),
        ({"endpoint": "http://x", "timeout": 0}, "--timeout 0"),
        ({"endpoint": "http://x", "max_retries": -1}, "^max_retries -1"),
        ({"endpoint": "http://x", "max_requests": 0}, "--max-requests 0"),
    ],
)
def test_a_call_that_cannot_work(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        EndpointModel("m", **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions"),
        ("https://x.org/openai/v1beta/", "https://x.org/openai/v1beta/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
        ("http://vllm_server:8000/v1", "http://vllm_server:8000/v1/chat/completions"),
        ("https://x.org/v1/chat/completions", "https://x.org/v1/chat/completions"),
        ("https://x.org/v1?api-version=2", "https://x.org/v1/chat/completions?api-version=2"),
    ],
)
def test_where_a_request_goes(endpoint: str, url: str) -> None:
    assert UrlTransport(endpoint).url == url


# Preflight


def test_a_server_that_sees_both_pictures_passes(start_server, make_request) -> None:
    server = start_server()
    said = check(model_at(server), [make_request(0)])["replies"]
    assert said == {"red then blue": "red, blue", "blue then red": "blue, red"}
    assert len(server.requests) == 2, "no row of the run is spent"


def _first_only(seen: Any) -> str:
    return "red" if seen.colours[0][0] > seen.colours[0][2] else "blue"


def _turned(seen: Any) -> str:
    return ", ".join(reversed(["red" if colour[0] > colour[2] else "blue" for colour in seen.colours]))


def test_the_preflight_is_not_held_to_the_schema_of_the_rows(servers, start_server, make_request) -> None:
    def obeys(seen: Any) -> str:
        return '{"issues": []}' if "response_format" in seen.body else servers.names_colours(seen)

    server = start_server(reply=obeys)
    model = model_at(server, constrain_json={"type": "object"})
    assert check(model)["replies"]["red then blue"] == "red, blue"
    assert next(iter(model.generate([make_request(0)]))).text == '{"issues": []}'


@pytest.mark.parametrize("reply", [_first_only, _turned, lambda seen: "red, blue"], ids=["one", "turned", "blind"])
def test_a_server_that_loses_the_order_is_refused(start_server, reply) -> None:
    with pytest.raises(UsageError, match="does not see two pictures in order"):
        check(model_at(start_server(reply=reply)))


# The Hub's client


def _hub_model(server: Any, **options: Any) -> EndpointModel:
    from huggingface_hub import AsyncInferenceClient

    transport = HubTransport(
        "local", 4, 5.0, make_client=lambda: AsyncInferenceClient(base_url=server.url, api_key="none", timeout=5.0)
    )
    return EndpointModel(
        "some/model", transport=transport, **{"concurrency": 4, "backoff": 0.01, "timeout": 5} | options
    )


@pytest.fixture
def hub_online(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "is_offline_mode", lambda: False)


@pytest.mark.usefixtures("hub_online")
def test_the_hubs_client_asks_alike(start_server, make_request) -> None:
    server = start_server()
    model = _hub_model(server, chat_template_kwargs={"enable_thinking": False}, seed=3)
    responses = by_id(list(model.generate(make_request(n) for n in range(6))))
    assert len(responses) == 6
    assert all(response.usage["output_tokens"] == 7 for response in responses.values())
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["seed"]) == ("some/model", 0, 3)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.usefixtures("hub_online")
@pytest.mark.parametrize("kind", ["CUT", "DROP", "MALFORMED", "NOT_A_COMPLETION", "A_LIST", 429, 500], ids=str)
def test_the_hubs_client_meets_trouble_alike(servers, start_server, make_request, kind: Any) -> None:
    step = servers.Status(kind) if isinstance(kind, int) else getattr(servers, kind)
    server = start_server(servers.OK, step)
    responses = by_id(list(_hub_model(server, concurrency=1).generate(make_request(n) for n in range(3))))
    assert [response.error for response in responses.values()] == [None] * 3
    assert [attempt.state for attempt in responses["row-1"].attempts] == ["error", "ok"]


@pytest.mark.usefixtures("hub_online")
def test_the_hubs_client_tells_reasoning(servers, start_server, make_request) -> None:
    server = start_server(reply=lambda seen: servers.completion("B", reasoning_content="hm"))
    (response,) = _hub_model(server).generate([make_request(0)])
    assert (response.text, response.reasoning) == ("B", "hm")


@pytest.mark.usefixtures("hub_online")
def test_the_hubs_client_finds_nobody(make_request) -> None:
    class Nowhere:
        url = f"http://127.0.0.1:{_free_port()}/v1"

    with pytest.raises(UsageError, match="is the server running"):
        list(_hub_model(Nowhere).generate([make_request(0)]))


def test_providers_need_a_token(monkeypatch, make_request, tmp_path) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(UsageError, match="set HF_TOKEN"):
        list(EndpointModel("org/model").generate([make_request(0)]))


def test_providers_cannot_be_asked_offline(monkeypatch, make_request) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_x")
    monkeypatch.setattr(constants, "is_offline_mode", lambda: True)
    with pytest.raises(UsageError, match="HF_HUB_OFFLINE"):
        list(EndpointModel("org/model").generate([make_request(0)]))
