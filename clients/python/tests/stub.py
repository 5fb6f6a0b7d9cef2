"""A stub server that plays scripted responses, including faults, and records the requests.

A script is the `responses` of a case in clients/conformance/cases.json; the README there describes the actions. One
action is only for this client's tests: `trickle_head` sends the head one byte at a time.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qsl

TRICKLE_SECONDS = 0.05
SLOW_PARTS, SLOW_SECONDS = 8, 0.2
# Takes far longer than any timeout in the tests, but a client without a deadline still fails within a minute.
TRICKLED_BYTES = 400
_MARK = re.compile(r"\{\{(http_date|request_id|authorization)([+-]\d+)?\}\}")


@dataclass
class Seen:
    """A request that reached the stub."""

    method: str
    path: str
    query: list[list[str]]
    headers: dict[str, str]


@dataclass
class Script:
    """Responses to play in order, and the requests that got them."""

    responses: list[dict[str, Any]]
    requests: list[Seen] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class Stub:
    """A server on a free loopback port. Each script is played under its own prefix."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._server = _Server(("127.0.0.1", 0), _handler(self._scripts))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def play(self, responses: list[dict[str, Any]]) -> tuple[str, Script]:
        """Return the base URL under which the responses are played, and the script."""
        script = Script(responses)
        room = str(len(self._scripts))
        self._scripts[room] = script
        return f"http://127.0.0.1:{self._server.server_address[1]}/s/{room}", script

    def close(self) -> None:
        """Release all hanging requests and stop the server."""
        for script in self._scripts.values():
            script.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing, because many cases are about clients that disconnect."""


def _handler(scripts: dict[str, Script]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            # A request to a proxy has the full URL. Here, the stub is the proxy.
            path, _, search = re.sub("^http://[^/]*", "", self.path).partition("?")
            _, _, room, rest = path.split("/", 3)
            script = scripts[room]
            position = len(script.requests)
            query = sorted(
                ([name, value] for name, value in parse_qsl(search, keep_blank_values=True)), key=lambda p: p[0]
            )
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.requests.append(Seen(self.command, f"/{rest}", query, headers))
            self.close_connection = True
            if position < len(script.responses):
                self._answer(script, script.responses[position])
            else:
                self._answer(script, {"status": 599, "json": {"code": "script_exhausted"}})

        def _answer(self, script: Script, answer: dict[str, Any]) -> None:
            text = answer.get("text", "")
            if "json" in answer:
                text = json.dumps(answer["json"], ensure_ascii=False)
            body = self._filled(text).encode()
            half = body[: len(body) // 2]
            action = answer.get("action")
            if action == "cut":
                self.connection.shutdown(socket.SHUT_RDWR)
            elif action == "hang":
                script.over.wait()
            elif action == "trickle_head":
                self._trickle(script, b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * TRICKLED_BYTES)
            elif action == "slow_body":
                self._head(answer, len(body))
                size = -(-len(body) // SLOW_PARTS)
                for start in range(0, len(body), size):
                    if script.over.wait(SLOW_SECONDS):
                        return
                    self.wfile.write(body[start : start + size])
                    self.wfile.flush()
            elif action == "trickle_body":
                self._head(answer, None)
                self._trickle(script, b" " * TRICKLED_BYTES)
            else:
                self._head(answer, len(body))
                self.wfile.write(half if action in {"cut_body", "hang_body"} else body)
                self.wfile.flush()
                if action == "cut_body":
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif action == "hang_body":
                    script.over.wait()

        def _head(self, answer: dict[str, Any], length: int | None) -> None:
            self.send_response_only(answer["status"])
            for name, value in answer.get("headers", {}).items():
                self.send_header(name, self._filled(value))
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.send_header("Connection", "close")
            self.end_headers()

        def _trickle(self, script: Script, content: bytes) -> None:
            for byte in content:
                if script.over.wait(TRICKLE_SECONDS):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def _filled(self, text: str) -> str:
            def value(match: re.Match[str]) -> str:
                name, seconds = match.groups(default="0")
                if name == "http_date":
                    return formatdate(time() + int(seconds), usegmt=True)
                return str(self.headers.get("X-Request-Id" if name == "request_id" else "Authorization", ""))

            return _MARK.sub(value, text)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    return Handler
