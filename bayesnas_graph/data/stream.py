"""What a web server sends. It may be slow, redirect in circles, or never stop, so it is never waited for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import HTTPRedirectHandler, Request, build_opener

CHUNK = 2**16  # bytes
TIMEOUT = 60.0  # seconds without anything new
SLOWEST = 1024  # bytes per second, on average over TIMEOUT
MOST_REDIRECTS = 10

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """The beginning of an answer."""

    status: int
    range: str  # the header `Content-Range`
    length: int | None  # bytes that follow, as far as the server says


class TooSlow(OSError):
    """A server sends something now and then, but too little."""


class _KeepRedirects(HTTPRedirectHandler):
    """Makes an error of a redirect. To follow it, urllib would first read all of its body, however long."""

    def redirect_request(self, *_: Any) -> None:
        return None


def receive(address: str, headers: Headers) -> Iterator[Answer | bytes]:
    """Yield the answer of a server, then its content in pieces. Raises OSError, HTTPException or ValueError.

    The connection is handled by another thread: a timeout of a socket starts again with every byte, so a server could
    make it wait forever anywhere, even inside a header. That thread ends once nobody waits for it.
    """
    arrived: Queue[Answer | bytes | Exception | None] = Queue(maxsize=16)
    unwanted = Event()
    Thread(target=_serve, args=(address, headers, arrived, unwanted), daemon=True).start()
    since, received = time.monotonic(), 0
    try:
        while (item := arrived.get(timeout=TIMEOUT)) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
            received += len(item) if isinstance(item, bytes) else 0
            passed = time.monotonic() - since
            if passed > TIMEOUT:
                if received < SLOWEST * passed:
                    raise TooSlow(f"only {received:,} bytes in {passed:.0f} seconds")
                since, received = time.monotonic(), 0
    except Empty:
        raise TimeoutError from None
    finally:
        unwanted.set()


def _serve(address: str, headers: Headers, arrived: Queue[Answer | bytes | Exception | None], unwanted: Event) -> None:
    """Pass on what a server sends; at the end None, or what went wrong."""

    def give(item: Answer | bytes | Exception | None) -> None:
        while not unwanted.is_set():
            try:
                return arrived.put(item, timeout=1)
            except Full:
                pass

    try:
        with _opened(address, headers) as response:
            give(Answer(response.status, response.headers.get("Content-Range", ""), response.length))
            while not unwanted.is_set() and (chunk := response.read1(CHUNK)):
                give(chunk)
    except (OSError, HTTPException, ValueError) as error:
        give(error)
    else:
        give(None)


def _opened(address: str, headers: Headers) -> Any:
    """Return the response of a server, after a few redirects at most."""
    for _ in range(MOST_REDIRECTS):
        try:
            return open_url(Request(address, headers=dict(headers)))
        except HTTPError as error:
            error.close()
            target = error.headers.get("Location")
            if error.code not in (301, 302, 303, 307, 308) or target is None:
                raise
            address = urljoin(address, target)
            if not address.startswith(("http://", "https://")):
                raise ValueError(f"redirected to `{address[:100]}`") from None
            last = error
    raise last


def open_url(request: Request) -> Any:
    """Return the response to a request. Raises HTTPError for a redirect."""
    return build_opener(_KeepRedirects).open(request, timeout=TIMEOUT)
