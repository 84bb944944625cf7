"""One file from a server: in a `.part` beside it until it is complete and the right one."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bayesnas_graph.diagnostics import Diagnostic, NasError

Watch = Callable[[str, int, int | None], None]  # told the name of a file, the bytes that are here, and how many it has

PIECE = 2**16  # bytes at a time
PATIENCE = 60  # seconds that a server may be silent


def transfer(address: str, path: Path, md5: str, watch: Watch) -> None:
    """Bring a file here. What an earlier attempt left in the `.part` is gone on from. Raises NasError."""
    if path.is_file() and _md5(path) == md5:
        return
    part = path.with_name(f"{path.name}.part")
    went_on = True
    while went_on:  # a second time if the beginning was of another file
        went_on = _receive(address, part, path.name, watch)
        if _md5(part) == md5:
            _rename(part, path)
            return
        _remove(part)
    _failed(address, "what came has the wrong checksum", "try again, or another place with `--mirror URL`")


def _receive(address: str, part: Path, name: str, watch: Watch) -> bool:
    """Fill the `.part`. Whether it had a beginning that was kept."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "bayesnas-graph"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        response: HTTPResponse = urlopen(Request(address, headers=headers), timeout=PATIENCE)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # nothing is left to send: all is here, or too much
            return True
        _failed(address, _refusal(error))
    except (OSError, HTTPException, ValueError) as error:
        _failed(address, _reason(error))
    with response:
        goes_on = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if goes_on else 0
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        watch(name, have, total)
        _write(response, part, have, lambda so_far: watch(name, so_far, total), address)
    received = part.stat().st_size if part.is_file() else 0
    if total is not None and received < total:
        help = "run it again: it goes on where it stopped"
        _failed(address, f"the connection ended after {received:,} of {total:,} bytes", help)
    return goes_on


def _write(response: HTTPResponse, part: Path, have: int, progress: Callable[[int], None], address: str) -> None:
    try:
        with part.open("ab" if have else "wb") as file:
            while piece := _next(response, address):
                file.write(piece)
                have += len(piece)
                progress(have)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _remove(part)
        cannot_write(part, error)


def _next(response: HTTPResponse, address: str) -> bytes:
    try:
        return response.read(PIECE)
    except (OSError, HTTPException) as error:
        _failed(address, f"the connection broke: {_reason(error)}", "run it again: it goes on where it stopped")


def _md5(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        cannot_write(path, error)


def _rename(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        cannot_write(path, error)


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except OSError as error:
        cannot_write(part, error)


def _refusal(error: HTTPError) -> str:
    if error.code == 404:
        return "the server has no such file (404)"
    if 300 <= error.code < 400:
        return f"the server sends us from address to address ({error.code})"
    return f"the server answers {error.code} {error.reason}".rstrip()


def _reason(error: Exception) -> str:
    if isinstance(error, URLError) and isinstance(error.reason, OSError):
        error = error.reason
    if isinstance(error, TimeoutError):
        return f"the server has been silent for {PATIENCE} seconds"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _failed(address: str, problem: str, help: str = "") -> NoReturn:
    help = help or "check the connection, or name another place that has the file with `--mirror URL`"
    raise NasError([Diagnostic("NAS506", f"cannot download `{address}`: {problem}", help=help)])


def cannot_write(path: Path, error: OSError) -> NoReturn:
    """Say that the system does not let us keep what came."""
    reason = (error.strerror or str(error)).lower()
    help = "make room" if error.errno == errno.ENOSPC else "name another folder with `--data-dir DIR`"
    raise NasError([Diagnostic("NAS506", f"cannot write `{path}`: {reason}", help=help)])
