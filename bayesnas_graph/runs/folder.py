"""A run folder: created once, never overwritten, and used by one process at a time."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from bayesnas_graph import __version__
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write, write_error
from bayesnas_graph.diagnostics.checksums import digest, with_checksum
from bayesnas_graph.diagnostics.json_text import finite, json_text
from bayesnas_graph.diagnostics.outputs import check_name
from bayesnas_graph.runs.manifest import Manifest
from bayesnas_graph.runs.paths import RunPaths


class RunFolder(RunPaths):
    """A run folder, for writing."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder. Raises NasError if another process holds it."""
        lock = FileLock(self.lock)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            help = "wait until it ends, or stop it"
            raise NasError([Diagnostic("NAS602", f"another process is using `{self.path}`", help=help)]) from None
        except OSError as error:
            raise write_error(self.lock, error) from None
        try:
            yield
        finally:
            lock.release()

    def write(self, path: Path, text: str) -> None:
        """Write a file of the folder, completely or not at all."""
        self.make(path.parent)
        with atomic_write(path) as file:
            file.write(text.encode())

    def make(self, folder: Path) -> None:
        """Create a folder inside the run folder, which is not created again if it is gone. Raises NasError."""
        self.check_there()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from None

    def write_manifest(self, manifest: Manifest) -> None:
        """Write `run.json`."""
        self.write_json(self.manifest_file, manifest.model_dump(by_alias=True, exclude_none=True))

    def write_json(self, path: Path, content: Mapping[str, Any]) -> None:
        """Write a JSON document with its checksum."""
        self.write(path, json_text(with_checksum(finite(content)), ascii=False) + "\n")

    def write_checksums(self) -> None:
        """Write the checksums of the files without one of their own, once the run has finished."""
        found = {path.name: digest(path.read_bytes()) for path in self.plain_files if path.is_file()}
        self.write_json(self.checksums, {"files": found})


def new_folder(wanted: Path | None, name: str) -> RunFolder:
    """Create a folder: the given one, or the next of `runs/NAME-1`, `runs/NAME-2`, ..."""
    if wanted is not None:
        check_name(wanted)
        if not _created(wanted) and not _is_empty(wanted):
            if not wanted.is_dir():
                raise NasError([Diagnostic("NAS602", f"`{wanted}` is not a folder", help="choose another name")])
            help = "choose another folder, or resume the run in it with `--resume`"
            raise NasError([Diagnostic("NAS602", f"`{wanted}` already exists", help=help)])
        return RunFolder(wanted)
    numbered = (Path("runs") / f"{name}-{number}" for number in count(1))
    return RunFolder(next(path for path in numbered if _created(path)))


def _created(path: Path) -> bool:
    """Create a folder; False if the path exists. Raises NasError if it cannot be created."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise write_error(path, error) from None
    return True


def _is_empty(path: Path) -> bool:
    try:
        return not any(path.iterdir())
    except OSError:
        return False


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    import networkx
    import numpy
    import torch

    return {
        "bayesnas-graph": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "networkx": networkx.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def now() -> str:
    """Return the current time, as run folders record it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
