"""A local server that can be told to misbehave."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

Manner = Literal["good", "no ranges", "cut", "spoilt", "no length", "loop", "broken", "other range", "waits"]


@dataclass
class Server:
    """Its files, its behaviour, and the requests it received: paths with the first byte requested."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    manner: Manner = "good"
    asked: list[tuple[str, int]] = field(default_factory=list)
    halfway: threading.Event = field(default_factory=threading.Event)  # set when it waits
    go_on: threading.Event = field(default_factory=threading.Event)


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
        request.send_header("Content-Length", str(len(content) - start))
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
