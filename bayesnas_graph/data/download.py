"""Download, check and unpack the files of a data set; files already present and complete are kept."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from bayesnas_graph.data.catalogue import Archive, DownloadSource
from bayesnas_graph.data.stream import CHUNK
from bayesnas_graph.data.transfer import Watch, cannot_write, open_part, size_of, transfer
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import open_file


def download(
    origin: DownloadSource, folder: Path, watch: Watch, mirror: str | None = None
) -> Iterator[tuple[Path, bool]]:
    """Yield each file of a data set when it is in the data folder, and whether it was downloaded. Raises NasError.

    A mirror is another base URL with archives of the same names.
    """
    target = folder / origin.folder
    address = origin.address if mirror is None else f"{mirror.rstrip('/')}/"
    if not address.startswith(("http://", "https://")):
        help = "use a URL that begins with `http://` or `https://`"
        raise NasError([Diagnostic("NAS506", f"cannot download from `{mirror}`", help=help)])
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cannot_write(target, error)
    for archive in origin.archives:
        present = _present(archive, target)
        if present:
            yield from ((path, False) for path in present)
            continue
        path = target / archive.name
        transfer(f"{address}{archive.name}", path, archive, watch)
        fetched = _unpack(archive, path, origin.folder) if archive.unpacked else [path]
        yield from ((file, True) for file in fetched)


def _present(archive: Archive, target: Path) -> list[Path] | None:
    """The files that the archive provides, or None unless all are present and complete.

    Plain files are checked by size. A `.gz` is checked by its own checksum, not by ours: another tool may have
    compressed the same file differently.
    """
    plain = [target / name for name, _ in archive.contents]
    if all(size_of(path) == size for path, (_, size) in zip(plain, archive.contents, strict=True)):
        return plain
    path = target / archive.name
    ((_, size), *others) = archive.contents
    if not archive.unpacked and not others and _holds(path, size):
        return [path]
    return None


def _holds(path: Path, size: int) -> bool:
    """Whether a `.gz` is intact and holds this many bytes."""
    total = 0
    try:
        with open_file(path) as raw, gzip.GzipFile(fileobj=raw) as file:
            while total <= size and (chunk := file.read(CHUNK)):
                total += len(chunk)
    except (OSError, EOFError, zlib.error):
        return False
    return total == size


def _unpack(archive: Archive, path: Path, folder: str) -> list[Path]:
    """Extract the expected files of a tar archive, and no others; then delete the archive."""
    members = {f"{folder}/{name}": (path.parent / name, size) for name, size in archive.contents}
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                target, size = members.get(member.name.removeprefix("./"), (None, 0))
                if target is not None and member.isreg() and member.size == size:
                    _extract(tar, member, target)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        _reject(path, f"cannot be unpacked: {error}")
    except OSError as error:
        cannot_write(path.parent, error)
    for target, size in members.values():
        if size_of(target) != size:
            _reject(path, f"does not contain `{target.name}` with {size:,} bytes")
    path.unlink()
    return [target for target, _ in members.values()]


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    content = tar.extractfile(member)
    if content is None:
        return
    try:
        with content, open_part(part) as file:
            shutil.copyfileobj(content, file)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _reject(path: Path, problem: str) -> NoReturn:
    path.unlink(missing_ok=True)
    help = "try again, or use another server with `--mirror URL`"
    raise NasError([Diagnostic("NAS506", f"`{path.name}` {problem}", help=help)])
