"""Download of a single file, into a `.part` file until it is complete and its checksum matches."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bayesnas_graph.diagnostics import Diagnostic, NasError

Watch = Callable[[str, int, int | None], None]  # (file name, bytes received, total bytes if known)

CHUNK = 2**16  # bytes
TIMEOUT = 60  # seconds
RETRY = "run the command again to continue the download"


def transfer(address: str, path: Path, md5: str, watch: Watch) -> None:
    """Download a file, continuing with the `.part` of an earlier attempt. Raises NasError."""
    if path.is_file() and _md5(path) == md5:
        return
    part = path.with_name(f"{path.name}.part")
    continued = True
    while continued:  # start over once if the `.part` was of another file
        continued = _receive(address, part, path.name, watch)
        with _writing(path):
            if _md5(part) == md5:
                part.replace(path)
                return
            part.unlink(missing_ok=True)
    _failed(address, "wrong checksum", "try again, or use another server with `--mirror URL`")


def _receive(address: str, part: Path, name: str, watch: Watch) -> bool:
    """Fill the `.part`; return whether earlier content was kept."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "bayesnas-graph"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        response: HTTPResponse = urlopen(Request(address, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # nothing left to send: the file is complete, or too long
            return True
        _failed(address, _refusal(error))
    except (OSError, HTTPException, ValueError) as error:
        _failed(address, _reason(error))
    with response:
        continued = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if continued else 0
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        watch(name, have, total)
        _write(response, part, have, lambda count: watch(name, count, total), address)
    received = part.stat().st_size if part.is_file() else 0
    if total is not None and received < total:
        _failed(address, f"the connection ended after {received:,} of {total:,} bytes", RETRY)
    return continued


def _write(response: HTTPResponse, part: Path, have: int, progress: Callable[[int], None], address: str) -> None:
    try:
        with part.open("ab" if have else "wb") as file:
            while chunk := _next(response, address):
                file.write(chunk)
                have += len(chunk)
                progress(have)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        cannot_write(part, error)


def _next(response: HTTPResponse, address: str) -> bytes:
    try:
        return response.read(CHUNK)
    except (OSError, HTTPException) as error:
        _failed(address, f"the connection was lost: {_reason(error)}", RETRY)


def _md5(path: Path) -> str:
    with _writing(path), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        cannot_write(path, error)


def _refusal(error: HTTPError) -> str:
    if error.code == 404:
        return "the server has no such file (404)"
    if 300 <= error.code < 400:
        return f"too many redirects ({error.code})"
    return f"the server answered {error.code} {error.reason}".rstrip()


def _reason(error: Exception) -> str:
    if isinstance(error, URLError) and isinstance(error.reason, OSError):
        error = error.reason
    if isinstance(error, TimeoutError):
        return f"no answer for {TIMEOUT} seconds"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _failed(address: str, problem: str, help: str = "") -> NoReturn:
    help = help or "check the connection, or use another server with `--mirror URL`"
    raise NasError([Diagnostic("NAS506", f"cannot download `{address}`: {problem}", help=help)])


def cannot_write(path: Path, error: OSError) -> NoReturn:
    """Raise NasError for a file that the system cannot write."""
    reason = (error.strerror or str(error)).lower()
    help = "free some disk space" if error.errno == errno.ENOSPC else "choose another folder with `--data-dir DIR`"
    raise NasError([Diagnostic("NAS506", f"cannot write `{path}`: {reason}", help=help)])
