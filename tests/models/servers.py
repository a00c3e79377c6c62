"""A real local chat server that behaves, or misbehaves, on a schedule, and remembers what it was sent."""

from __future__ import annotations

import base64
import io
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image


@dataclass(frozen=True)
class Status:
    """Answers with an HTTP error."""

    code: int
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Answers 200 with this body."""

    body: bytes


OK, HANG, CUT, DROP = "ok", "hang", "cut", "drop"
MALFORMED = Raw(b'{"choices": [{"message": {"content": "half a rep')
NOT_A_COMPLETION = Raw(b'{"hello": "world"}')
NO_CHOICES = Raw(b'{"choices": []}')
A_LIST = Raw(b"[1, 2]")
ERROR_IN_200 = Raw(b'{"error": {"message": "upstream died", "code": 502}}')
ONE_IMAGE_ONLY = Status(400, "At most 1 image(s) may be provided in one request.")

Step = str | Status | Raw


@dataclass
class Seen:
    """One request as the server got it: texts and pictures in the order of the message."""

    body: dict[str, Any]
    headers: dict[str, str]
    at: float
    path: str

    @property
    def parts(self) -> list[dict[str, Any]]:
        (message,) = self.body["messages"]
        assert message["role"] == "user"
        return list(message["content"])

    @property
    def text(self) -> str:
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def uris(self) -> list[str]:
        return [part["image_url"]["url"] for part in self.parts if part["type"] == "image_url"]

    @property
    def pictures(self) -> list[Image.Image]:
        prefix = "data:image/png;base64,"
        assert all(uri.startswith(prefix) for uri in self.uris)
        return [Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(prefix)))) for uri in self.uris]

    @property
    def colours(self) -> list[tuple[int, ...]]:
        return [picture.convert("RGB").getpixel((0, 0)) for picture in self.pictures]


def names_colours(seen: Seen) -> str:
    """Names every picture red or blue by what dominates."""
    return ", ".join("red" if colour[0] > colour[2] else "blue" for colour in seen.colours)


def completion(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The JSON of a chat completion; `message` adds fields to the message."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }


class ChatServer:
    """Works through `schedule`, one step a request, then does as `decide` says, by default answers with `reply` (a
    text, or the whole JSON)."""

    def __init__(
        self,
        *schedule: Step,
        reply: Callable[[Seen], str | dict[str, Any]] = names_colours,
        decide: Callable[[Seen], Step] = lambda seen: OK,
        latency: float = 0.0,
        path: str = "/v1/chat/completions",
    ) -> None:
        self.schedule, self.reply, self.decide = list(schedule), reply, decide
        self.latency, self.path = latency, path
        self.requests: list[Seen] = []
        self.given_up = 0  # clients that left while they were kept waiting
        self.busiest = self._busy = 0
        self.lock, self.stopping = threading.Lock(), threading.Event()
        handler = type("Handler", (_Handler,), {"chat": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def enter(self, seen: Seen) -> Step:
        with self.lock:
            self.requests.append(seen)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
            return self.schedule.pop(0) if self.schedule else self.decide(seen)

    def leave(self) -> None:
        with self.lock:
            self._busy -= 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chat: ChatServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = Seen(body, dict(self.headers), time.monotonic(), self.path)
        if self.path != self.chat.path:
            return self._send(404, b'{"error": {"message": "no such route"}}')
        step = self.chat.enter(seen)
        try:
            self._do(step, seen)
        finally:
            self.chat.leave()

    def _do(self, step: Step, seen: Seen) -> None:
        if step == HANG:
            return self._hang()
        if step == DROP:
            return self._drop()
        if isinstance(step, Status):
            text = json.dumps({"error": {"message": step.message, "code": step.code}}).encode()
            return self._send(step.code, text, step.headers)
        if self.chat.latency:
            time.sleep(self.chat.latency)
        reply = self.chat.reply(seen) if not isinstance(step, Raw) else ""
        sent = completion(reply) if isinstance(reply, str) else reply
        data = step.body if isinstance(step, Raw) else json.dumps(sent).encode()
        if step == CUT:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            return self._drop()
        return self._send(200, data)

    def _send(self, code: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _drop(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def _hang(self) -> None:
        """Keeps the client waiting until it leaves or the server stops."""
        self.close_connection = True
        while not self.chat.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                with self.chat.lock:
                    self.chat.given_up += 1
                return
