"""A tiny server for both APIs that answers as it is told, to prove the real clients against real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Fake:
    """What the server is to do: `respond(request body, number) -> (status, body)`; None: answer `text`."""

    def __init__(self, respond: Callable[[dict, int], tuple[int, Any]] | None = None, text: str = "", delay: float = 0):
        self.respond, self.text, self.delay = respond, text, delay
        self.requests: list[dict] = []
        self.calls: list[tuple[str, dict]] = []  # path and headers of each request
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def handle(self, body: dict) -> tuple[int, Any]:
        with self._lock:
            self.requests.append(body)
            number = len(self.requests) - 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            time.sleep(self.delay)
            return self.respond(body, number) if self.respond else (200, completion(self.text))
        finally:
            with self._lock:
                self._now -= 1


def completion(text: str, finish: str = "stop", usage: bool = True) -> dict:
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
    }
    return body | ({"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}} if usage else {})


def message(*blocks: dict, stop: str = "end_turn", usage: dict | None = None) -> dict:
    """An answer of Anthropic's API."""
    counts = {"input_tokens": 80, "output_tokens": 10} if usage is None else usage
    return {"id": "m", "type": "message", "role": "assistant", "content": list(blocks), "stop_reason": stop} | (
        {"usage": counts} if counts else {}
    )


def error(message: str, code: str = "x") -> dict:
    return {"error": {"message": message, "type": "error", "code": code}}


class _Quiet(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request, client_address):  # a client that gave up is no news
        pass


@contextmanager
def serving(fake: Fake):
    """The server's base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.calls.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            status, answer = fake.handle(body)
            data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(answer, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            pass

    server = _Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
