"""A local server that can be told to misbehave."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

Manner = Literal[
    "good", "no ranges", "cut", "spoilt", "no length", "loop", "broken", "other range", "waits", "endless",
    "endless header", "endless redirect", "endless trailer", "slow", "slow header", "wanders", "leaves the web",
    "says less", "says more", "says nonsense",
]  # fmt: skip


@dataclass
class Server:
    """Its files, its behaviour, and the requests it received: paths with the first byte requested."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    manner: Manner = "good"
    asked: list[tuple[str, int]] = field(default_factory=list)
    halfway: threading.Event = field(default_factory=threading.Event)  # set when it waits
    go_on: threading.Event = field(default_factory=threading.Event)
    poured: int = 0  # bytes sent without end


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, server)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(f"http://127.0.0.1:{httpd.server_port}/files")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.go_on.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def answer(request: BaseHTTPRequestHandler, server: Server) -> None:
    name = request.path.rpartition("/")[2]
    wanted = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
    start = int(wanted[1]) if wanted else 0
    server.asked.append((name, start))
    content = server.files.get(name)
    if content is None:
        return request.send_error(404)
    if server.manner == "broken":
        return request.send_error(503)
    if server.manner in ENDLESS:
        return pour(request, server, *ENDLESS[server.manner])
    if server.manner in ("wanders", "leaves the web"):
        request.send_response(302)
        request.send_header("Location", "file:///etc/passwd" if server.manner == "leaves the web" else f"x/{name}")
        return request.end_headers()
    if server.manner == "loop":
        request.send_response(302)
        request.send_header("Location", request.path)
        return request.end_headers()
    if server.manner in ("no ranges", "no length"):
        start = 0
    if start and start >= len(content):
        return request.send_error(416)
    if server.manner == "spoilt":
        content = bytes([content[0] ^ 255]) + content[1:]
    request.send_response(206 if start else 200)
    if start:
        first = start + 1 if server.manner == "other range" else start
        request.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
    if server.manner != "no length":
        request.send_header("Content-Length", LENGTHS.get(server.manner, str(len(content) - start)))
    request.end_headers()
    rest = content[start:]
    if server.manner in ("cut", "waits"):
        rest = rest[: len(rest) // 2]
    request.wfile.write(rest)
    if server.manner == "waits":
        request.wfile.flush()
        server.halfway.set()
        server.go_on.wait()
    return None


LENGTHS: dict[str, str] = {"says less": "10", "says more": "1000000000000", "says nonsense": "9" * 5_000}
OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS: dict[str, tuple[bytes, bytes, float]] = {  # what is sent first, what is repeated, and how often
    "endless": (OK + b"\r\n", bytes(2**16), 0),
    "endless header": (OK, b"x" * 2**10, 0),
    "endless redirect": (b"HTTP/1.1 302 Found\r\nLocation: numbers.gz\r\n\r\n", bytes(2**16), 0),
    "endless trailer": (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"x: y\r\n" * 100, 0),
    "slow": (OK + b"\r\n", b"x", 0.01),
    "slow header": (OK, b"x", 0.01),
}


def pour(request: BaseHTTPRequestHandler, server: Server, first: bytes, again: bytes, pause: float) -> None:
    """Send something again and again, until the other side has had enough."""
    with suppress(OSError):
        request.wfile.write(first)
        while not server.go_on.wait(pause):
            request.wfile.write(again)
            server.poured += len(again)
