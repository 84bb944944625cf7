"""Download of a single file, into a `.part` file until it is complete and its checksum matches."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO, NoReturn
from urllib.error import HTTPError, URLError

from bayesnas_graph.data.catalogue import Archive
from bayesnas_graph.data.stream import TIMEOUT, Answer, TooSlow, receive
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.reading import open_file

Watch = Callable[[str, int, int], None]  # (file name, bytes received, total bytes)

RETRY = "run the command again to continue the download"
OTHER_SERVER = "try again, or use another server with `--mirror URL`"


def transfer(address: str, path: Path, archive: Archive, watch: Watch) -> None:
    """Download an archive, continuing with the `.part` of an earlier attempt. Raises NasError."""
    if size_of(path) == archive.size and _md5(path) == archive.md5:
        return
    part = path.with_name(f"{path.name}.part")
    continued = True
    while continued:  # start over once if the `.part` was of another file
        continued = _receive(address, part, archive, watch)
        with _writing(path):
            if _md5(part) == archive.md5:
                part.replace(path)
                return
            part.unlink(missing_ok=True)
    _failed(address, "wrong checksum", OTHER_SERVER)


def size_of(path: Path) -> int | None:
    """The size of a regular file; None if there is none."""
    return path.stat().st_size if path.is_file() else None


def _receive(address: str, part: Path, archive: Archive, watch: Watch) -> bool:
    """Fill the `.part`; return whether earlier content was kept."""
    have = 0 if part.is_symlink() else size_of(part) or 0
    if have >= archive.size:  # complete, or of another file
        return True
    headers = {"User-Agent": "bayesnas-graph"} | ({"Range": f"bytes={have}-"} if have else {})
    with closing(_content(address, headers)) as content:
        answer = next(content)
        assert isinstance(answer, Answer), "it comes first"
        continued = answer.status == 206 and answer.range.startswith(f"bytes {have}-")
        if answer.status == 206 and not continued:
            part.unlink(missing_ok=True)
            _failed(address, "the server sent another part of the file", RETRY)
        have = have if continued else 0
        if answer.length is not None and have + answer.length != archive.size:
            offered = f"the file on the server has {have + answer.length:,} bytes instead of {archive.size:,}"
            _failed(address, offered, OTHER_SERVER)
        watch(archive.name, have, archive.size)
        with _filling(part), open_part(part, append=bool(have)) as file:
            for chunk in content:
                assert isinstance(chunk, bytes), "there is one answer"
                have += len(chunk)
                if have > archive.size:
                    part.unlink()
                    _failed(address, f"the server sends more than the {archive.size:,} bytes of the file", OTHER_SERVER)
                file.write(chunk)
                watch(archive.name, have, archive.size)
    if have < archive.size:
        _failed(address, f"the connection ended after {have:,} of {archive.size:,} bytes", RETRY)
    return continued


def _content(address: str, headers: dict[str, str]) -> Generator[Answer | bytes, None, None]:
    """Yield what the server sends. Raises NasError."""
    begun = False
    try:
        for item in receive(address, headers):
            yield item
            begun = True
    except HTTPError as error:
        _failed(address, _refusal(error))
    except (OSError, HTTPException, ValueError) as error:
        lost = "" if isinstance(error, TooSlow) else "the connection was lost: "
        _failed(address, f"{lost if begun else ''}{_reason(error)}", RETRY if begun else "")


def open_part(part: Path, *, append: bool = False) -> BinaryIO:
    """Open a file to write to. Raises OSError if there is something else of this name: a link, a pipe, a device."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(part, flags | (os.O_APPEND if append else 0), 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(part))
    if not append:
        os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "wb")


@contextmanager
def _filling(part: Path) -> Iterator[None]:
    """Turn the errors of writing a `.part` into NasError; on a full disk it is deleted."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        cannot_write(part, error)


def _md5(path: Path) -> str:
    with _writing(path), open_file(path) as file:
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
        return f"no answer for {TIMEOUT:.0f} seconds"
    if isinstance(error, TooSlow):
        return f"the server is too slow: {error}"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _failed(address: str, problem: str, help: str = "") -> NoReturn:
    help = help or "check the connection, or use another server with `--mirror URL`"
    raise NasError([Diagnostic("NAS506", f"cannot download `{address}`: {problem}", help=help)])


def cannot_write(path: Path, error: OSError) -> NoReturn:
    """Raise NasError for a file that the system cannot write."""
    help = "free some disk space" if error.errno == errno.ENOSPC else "choose another folder with `--data-dir DIR`"
    raise NasError([Diagnostic("NAS506", f"cannot write `{path}`: {reason(error)}", help=help)])
