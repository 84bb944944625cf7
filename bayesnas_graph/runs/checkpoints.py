"""Files of checkpoints, whatever is in them: each is either complete or not there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import torch

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write
from bayesnas_graph.runs.device import Device

VERSION = 1

T = TypeVar("T")
Content = dict[str, Any]  # tensors, dictionaries, lists, strings and numbers: what can be loaded without running code


@dataclass(frozen=True)
class Saved:
    """The checkpoints of a run, named by the number of steps."""

    folder: Path
    keep: int = 3
    fingerprint: str = ""  # of the space that they belong to

    def paths(self) -> list[Path]:
        """Those that are there, the oldest first."""
        return sorted(self.folder.glob("step-*.pt"))

    def write(self, step: int, content: Content) -> Path:
        """Write one, and remove those that are too many. Raises NasError if there is no room; all others stay."""
        path = self.folder / f"step-{step:09}.pt"
        written = BytesIO()  # torch would tell of a full disk in riddles
        torch.save({"version": VERSION, **content, "fingerprint": self.fingerprint}, written)
        with atomic_write(path, FREE_SPACE) as file:
            file.write(written.getbuffer())
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def read(self, device: Device, restore: Callable[[Content], T]) -> T | None:
        """What is made of the newest, or None if there is none.

        Raises NasError if it cannot be read, is of another space, or if nothing can be made of it.
        """
        paths = self.paths()
        if not paths:
            return None
        content = _read(paths[-1], device)
        if content["fingerprint"] != self.fingerprint:
            help = "a run goes on with the space it began with"
            raise NasError([Diagnostic("NAS604", f"`{paths[-1]}` belongs to another space", help=help)])
        try:
            return restore(content)
        except torch.OutOfMemoryError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError):
            raise _unreadable(paths[-1], "it does not belong to this run") from None


def _read(path: Path, device: Device) -> Content:
    """What a file holds, as far as every checkpoint holds it. No code in it is run."""
    try:
        saved = BytesIO(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, (error.strerror or str(error)).lower()) from None
    try:
        content: Content = torch.load(saved, map_location=device.torch_device, weights_only=True)
        version, _ = content["version"], content["fingerprint"]
    except Exception:  # torch has no error of its own for what is no checkpoint
        raise _unreadable(path, "it is damaged") from None
    if version != VERSION:
        raise _unreadable(path, f"it has version {version}, and this program reads {VERSION}")
    return content


def _unreadable(path: Path, reason: str) -> NasError:
    older = [other.name for other in sorted(path.parent.glob("step-*.pt")) if other < path]
    help = f"remove it to go on from `{older[-1]}`" if older else "begin another run: it is the only one"
    return NasError([Diagnostic("NAS603", f"cannot read `{path}`: {reason}", help=help)])
