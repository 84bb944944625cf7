"""The folder of a run: made once, never overwritten, and used by one process at a time."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesnas_graph import __version__
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write, write_error
from bayesnas_graph.runs.config import Config
from bayesnas_graph.runs.paths import RunPaths


class Origin(BaseModel):
    """What is known about a run of any kind before it begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    space: str  # as it was named on the command line
    called: str  # what its file is called in messages
    file: str  # its copy in the folder
    network: str
    fingerprint: str
    python_ops: bool  # whether it was allowed to import Python code
    data_dir: str
    begun: str
    versions: dict[str, str]
    threads: int = Field(ge=1)


class Manifest(Origin):
    """What a search is, as `run.json` has it."""

    kind: Literal["search"] = "search"
    config: Config


Kind = TypeVar("Kind", bound=Origin)


class RunFolder(RunPaths):
    """Where everything about a run is."""

    def manifest(self) -> Manifest:
        """What the search is. Raises NasError if this is no run of one."""
        return self.manifest_of(Manifest, "search")

    def manifest_of(self, kind: type[Kind], verb: str) -> Kind:
        """What the run is, which a verb has begun. Raises NasError if this is no such run."""
        try:
            return kind.model_validate_json(self.manifest_file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            help = f"name the folder that `{verb}` wrote: it has a `run.json`"
            raise NasError([Diagnostic("NAS602", f"`{self.path}` is no run", help=help)]) from None
        except OSError as error:
            self._unreadable((error.strerror or str(error)).lower())
        except ValidationError as error:
            faults = error.errors(include_url=False)
            if any(fault["loc"] == ("kind",) for fault in faults):
                help = f"`bayesnas-graph status {self.path}` tells what it is"
                message = f"`{self.path}` was not begun by `{verb}`"
                raise NasError([Diagnostic("NAS602", message, help=help)]) from None
            first = faults[0]
            where = ".".join(map(str, first["loc"]))
            self._unreadable(f"{where}: {first['msg'].lower()}" if where else "it is damaged")

    def _unreadable(self, reason: str) -> NoReturn:
        help = "without it a run cannot go on: put back what was there, or begin another"
        raise NasError([Diagnostic("NAS602", f"cannot read `{self.manifest_file}`: {reason}", help=help)]) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out, for as long as this one lives. Raises NasError if one is in."""
        lock = FileLock(self.lock)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            help = "wait for it, or stop it"
            raise NasError([Diagnostic("NAS602", f"another process works in `{self.path}`", help=help)]) from None
        except OSError as error:
            raise write_error(self.lock, error) from None
        try:
            yield
        finally:
            lock.release()

    def write(self, path: Path, text: str) -> None:
        """Write a file of the folder as a whole or not at all."""
        with atomic_write(path) as file:
            file.write(text.encode())

    def write_manifest(self, manifest: Origin) -> None:
        """Write what the run is."""
        self.write_json(self.manifest_file, manifest.model_dump(by_alias=True, exclude_none=True))

    def write_json(self, path: Path, content: object) -> None:
        """Write a file of JSON."""
        self.write(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def new_folder(wanted: Path | None, name: str) -> RunFolder:
    """A folder that was not there: the one that is named, or the next of `runs/NAME-1`, `runs/NAME-2`, ..."""
    if wanted is not None:
        if not _made(wanted) and not _is_empty(wanted):
            help = "name another folder, or go on with what is there by `--resume`"
            raise NasError([Diagnostic("NAS602", f"`{wanted}` is already there", help=help)])
        return RunFolder(wanted)
    numbered = (Path("runs") / f"{name}-{number}" for number in count(1))
    return RunFolder(next(path for path in numbered if _made(path)))


def _made(path: Path) -> bool:
    """Make a folder; False if something is there. Raises NasError if it cannot be made."""
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
    """What a result may depend on."""
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
    """The time, as it is written into a run."""
    return datetime.now(UTC).isoformat(timespec="seconds")
