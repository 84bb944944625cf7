"""Checkpoint files of any content: each is either complete or absent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import torch

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write, write_error
from bayesnas_graph.diagnostics.memory import is_out_of_memory
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.runs.device import Device

VERSION = 1

T = TypeVar("T")
Content = dict[str, Any]  # tensors, dictionaries, lists, strings and numbers, which can be loaded without running code


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run, named by the number of steps."""

    folder: Path
    keep: int = 3
    fingerprint: str = ""  # of their space

    def paths(self) -> list[Path]:
        """Return the existing files, the oldest first."""
        return sorted(self.folder.glob("step-*.pt"))

    def write(self, step: int, content: Content) -> Path:
        """Write a checkpoint and remove old ones. Raises NasError if the disk is full; the others stay intact."""
        path = self.folder / f"step-{step:09}.pt"
        written = BytesIO()  # torch's errors about a full disk are hard to recognise
        torch.save({"version": VERSION, **content, "fingerprint": self.fingerprint}, written)
        try:
            self.folder.mkdir(exist_ok=True)  # in a run folder that has to be there
        except OSError as error:
            raise write_error(path, error) from None
        with atomic_write(path, FREE_SPACE) as file:
            file.write(written.getbuffer())
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def read(self, device: Device, restore: Callable[[Content], T]) -> T | None:
        """Restore the newest checkpoint; None if there is none.

        Raises NasError if it cannot be read or restored, or belongs to another space.
        """
        paths = self.paths()
        if not paths:
            return None
        content = _read(paths[-1], device)
        if content["fingerprint"] != self.fingerprint:
            help = "a run can be resumed only with the space it was started with"
            raise NasError([Diagnostic("NAS604", f"`{paths[-1]}` belongs to another space", help=help)])
        try:
            return restore(content)
        except (LookupError, TypeError, ValueError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise
            raise _unreadable(paths[-1], "it does not belong to this run") from None


def _read(path: Path, device: Device) -> Content:
    """Read the common part of a checkpoint. No code in it is run."""
    try:
        saved = BytesIO(read_file(path))
    except OSError as error:
        raise _unreadable(path, (error.strerror or str(error)).lower()) from None
    try:
        content: Content = torch.load(saved, map_location=device.torch_device, weights_only=True)
        version, _ = content["version"], content["fingerprint"]
    except Exception:  # torch has no error of its own for invalid files
        raise _unreadable(path, "it is damaged") from None
    if version != VERSION:
        raise _unreadable(path, f"it has version {version}, but this program reads {VERSION}")
    return content


def _unreadable(path: Path, reason: str) -> NasError:
    older = [other.name for other in sorted(path.parent.glob("step-*.pt")) if other < path]
    help = f"remove it to resume from `{older[-1]}`" if older else "it is the only checkpoint: start another run"
    return NasError([Diagnostic("NAS603", f"cannot read `{path}`: {reason}", help=help)])
