"""How much of a server's throughput the endpoint model reaches, against a local server of fixed latency.

    python benches/endpoint.py [--seconds 10] [--rounds 5] [--concurrency 64] [--latency 0.05] [--clients hub]

The server is a process of its own that does nothing but wait. Two ideals stand beside the measured figure, because on a
busy machine nobody reaches the first: `concurrency / latency`, and what a bare client (prepared bytes over raw sockets,
nothing read but the end of the reply) reaches in the same minute. Rounds are interleaved. With `--clients hub` the
Hub's own client is measured as well.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import select
import socket
import statistics
import time
from collections import deque
from collections.abc import Iterator

from PIL import Image

from diffspot_hf.images import encode_png
from diffspot_hf.models.endpoint import EndpointModel
from diffspot_hf.models.served.messages import messages
from diffspot_hf.models.served.transports import HubTransport
from diffspot_hf.types import Picture, Request

REPLY = json.dumps(
    {
        "object": "chat.completion",
        "model": "waits",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "No differences."}}
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 4, "total_tokens": 904},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(REPLY), REPLY)


def serve(listener: socket.socket, latency: float) -> None:
    """Answers every request `latency` seconds after its last byte.

    A loop over `select`, because its clock is finer than a millisecond: what an event loop adds to each answer would
    otherwise be counted against the client.
    """
    listener.setblocking(False)
    waiting: deque[tuple[float, socket.socket]] = deque()  # one latency for all, so they fall due in this order
    missing: dict[socket.socket, int] = {}  # bytes of the body still to come, 0 between requests
    while True:
        while waiting and waiting[0][0] <= time.perf_counter():
            client = waiting.popleft()[1]
            if client in missing:
                client.sendall(ANSWER)
        left = max(0.0, waiting[0][0] - time.perf_counter()) if waiting else None
        for ready in select.select([listener, *missing], [], [], left)[0]:
            if ready is listener:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                missing[client] = 0
                continue
            data = ready.recv(1 << 16)
            if not data:
                del missing[ready]
                ready.close()
                continue
            if not missing[ready]:
                head, end, body = data.partition(b"\r\n\r\n")
                assert end, "clients send their head at once"
                missing[ready] = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                data = body
            missing[ready] -= len(data)
            if not missing[ready]:
                waiting.append((time.perf_counter() + latency, ready))


def requests(count: int) -> Iterator[Request]:
    """Rows of two small pictures each: this measures the client, not the decoder."""
    pictures = [encode_png(Image.new("RGB", (64, 64), colour)) for colour in ("red", "blue")]
    for number in range(count):
        yield Request(f"row-{number}", ("What differs?", *(Picture(data) for data in pictures)))


def model_rate(url: str, concurrency: int, count: int, hub: bool) -> float:
    """Rows a second of `EndpointModel`, from the first row to the last."""
    transport = None
    if hub:
        from huggingface_hub import AsyncInferenceClient

        transport = HubTransport("bench", concurrency, 60.0, lambda: AsyncInferenceClient(base_url=url, api_key="none"))
    model = EndpointModel(
        "waits", endpoint=None if hub else url, concurrency=concurrency, timeout=60, transport=transport
    )
    began = time.perf_counter()
    answered = sum(response.error is None for response in model.generate(requests(count)))
    seconds = time.perf_counter() - began
    assert answered == count, f"{count - answered} rows failed"
    return count / seconds


def bare_rate(port: int, concurrency: int, count: int) -> float:
    """Requests a second of a client that does as little as a client can."""
    (row,) = requests(1)
    body = json.dumps({"model": "waits", "messages": messages(row)}).encode()
    sent = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    async def run() -> None:
        left = itertools.repeat(None, count)

        async def work() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in left:
                writer.write(sent)
                await reader.readexactly(len(ANSWER))
            writer.close()

        await asyncio.gather(*(work() for _ in range(concurrency)))

    began = time.perf_counter()
    asyncio.run(run())
    return count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="about how long one round of one client takes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds")
    parser.add_argument(
        "--clients", choices=("own", "hub"), default="own", help="hub: measure the Hub's client as well"
    )
    options = parser.parse_args()

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listener.getsockname()[1]
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener, options.latency), daemon=True)
    server.start()
    ideal = options.concurrency / options.latency
    count = int(ideal * options.seconds)
    url = f"http://127.0.0.1:{port}/v1"
    rates: dict[str, list[float]] = {"bare": [], "model": [], **({"hub": []} if options.clients == "hub" else {})}
    model_rate(url, options.concurrency, options.concurrency * 4, hub=False)  # imports and first connections
    for _ in range(options.rounds):
        for name, found in rates.items():
            rate = bare_rate(port, options.concurrency, count) if name == "bare" else None
            found.append(rate or model_rate(url, options.concurrency, count, name == "hub"))
    server.terminate()
    server.join()

    print(f"concurrency {options.concurrency}, latency {options.latency * 1000:g} ms, {count} rows a round")
    print(f"ideal {ideal:.0f} rows/s")
    for name, found in rates.items():
        middle = statistics.median(found)
        spread = f"{min(found):.0f} to {max(found):.0f}"
        print(f"{name:6} {middle:7.0f} rows/s ({spread})  {middle / ideal:6.1%} of the ideal")
    for name in rates.keys() - {"bare"}:
        ratios = [rate / bare for rate, bare in zip(rates[name], rates["bare"], strict=True)]
        print(f"{name} / bare client: median {statistics.median(ratios):.1%} ({min(ratios):.1%} to {max(ratios):.1%})")


if __name__ == "__main__":
    main()
