"""Checkpoint files of any content: each is either complete or absent, and carries its checksum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write, reason, write_error
from bayesnas_graph.diagnostics.checksums import Changed, trailer, without_trailer
from bayesnas_graph.diagnostics.memory import is_out_of_memory
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runtime.precision import gate_dtype, moved

VERSION = 1
LEAST = 2  # checkpoints that are kept, so that there is one to return to if the newest is damaged

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

    def _path(self, step: int) -> Path:
        return self.folder / f"step-{step:09}.pt"

    def write(self, step: int, content: Content) -> Path:
        """Write a checkpoint and remove old ones. Raises NasError if the disk is full; the others stay intact."""
        path = self._path(step)
        written = BytesIO()  # torch's errors about a full disk are hard to recognise
        torch.save({"version": VERSION, **content, "fingerprint": self.fingerprint}, written)
        try:
            self.folder.mkdir(exist_ok=True)  # in a run folder that has to be there
        except OSError as error:
            raise write_error(path, error) from None
        with atomic_write(path, FREE_SPACE) as file:
            file.write(written.getbuffer())
            file.write(trailer(written.getbuffer()))
        for old in self.paths()[: -max(self.keep, LEAST)]:
            old.unlink(missing_ok=True)
        return path

    def newest(self, device: Device, restore: Callable[[Content], T], help: str | None = None) -> T | None:
        """Restore the newest checkpoint; None if there is none.

        Raises NasError if it cannot be read or restored, or belongs to another space.
        """
        paths = self.paths()
        if not paths:
            return None
        restored = self._restored(paths[-1], device, restore)
        if isinstance(restored, _Bad):
            raise NasError([Diagnostic("NAS603", restored.message, help=help)])
        return restored

    def last_good(
        self, device: Device, restore: Callable[[Content], T], tell: Callable[[str], None] = lambda _: None
    ) -> T | None:
        """Restore the newest checkpoint that can be restored; None if there are no checkpoints at all.

        Newer ones are moved aside, and `tell` is given a line on each. Raises NasError if none can be restored, or if
        they belong to another space.
        """
        processes, damaged = device.processes, list[_Bad]()
        for path in reversed(processes.broadcast(self.paths())):
            restored = self._restored(path, device, restore)
            if not isinstance(restored, _Bad):
                for bad in damaged:
                    step = path.stem.removeprefix("step-").lstrip("0") or "0"
                    tell(f"{bad.message}; it is now `{bad.aside.name}`, and the run continues from step {step}")
                    if processes.first:
                        bad.move_aside()
                return restored
            damaged.append(restored)
        if not damaged:
            return None
        help = "no checkpoint is left to resume from: restore one, or start another run"
        raise NasError([Diagnostic("NAS603", bad.message, help=help) for bad in damaged[:1]])

    def _restored(self, path: Path, device: Device, restore: Callable[[Content], T]) -> T | _Bad:
        """Restore a checkpoint. All processes agree on whether that is possible.

        They agree twice, because restoring a network needs all of them.
        """
        content, problem = _read(path, device)
        problem = _first(device.processes.gather(problem))
        if problem:
            return _Bad(path, problem)
        if content["version"] != VERSION:
            message = f"it has version {content['version']}, but this program reads {VERSION}"
            help = "resume the run with the version of the program that wrote it"
            raise NasError([Diagnostic("NAS603", f"cannot read `{path}`: {message}", help=help)])
        if content["fingerprint"] != self.fingerprint:
            help = "a run can be resumed only with the space it was started with"
            raise NasError([Diagnostic("NAS604", f"`{path}` belongs to another space", help=help)])
        restored: T | None = None
        try:
            if path != self._path(content["progress"]["step"]):
                raise ValueError("the state after another step")
            restored = restore(content)
        except Exception as error:  # a checkpoint may hold anything
            if is_out_of_memory(error):
                raise
            problem = "it does not belong to this run"
        problem = _first(device.processes.gather(problem))
        return _Bad(path, problem) if problem else restored  # type: ignore[return-value]


@dataclass(frozen=True)
class _Bad:
    """A checkpoint that cannot be restored."""

    path: Path
    problem: str

    @property
    def message(self) -> str:
        return f"cannot read `{self.path}`: {self.problem}"

    @property
    def aside(self) -> Path:
        """Its new name, so that it is no longer taken for a checkpoint but not lost either."""
        return self.path.with_name(f"{self.path.name}.damaged")

    def move_aside(self) -> None:
        with suppress(OSError):
            self.path.rename(self.aside)


def _read(path: Path, device: Device) -> tuple[Content, str]:
    """Read the common part of a checkpoint, or return why it cannot be read. No code in it is run."""
    try:
        saved = without_trailer(read_file(path))
    except OSError as error:
        return {}, reason(error)
    except Changed as error:
        return {}, str(error)
    try:
        content: Content = _loaded(BytesIO(saved), device.torch_device)
        valid = isinstance(content["version"], int) and isinstance(content["fingerprint"], str)
    except Exception:  # torch has no error of its own for invalid files
        return {}, "it is damaged"
    return content if valid else {}, "" if valid else "it is damaged"


def _loaded(saved: BytesIO, device: torch.device) -> Any:
    """Load tensors onto a device. Doubles are rounded on the way to a device that has none."""
    if gate_dtype(device) == torch.float64:
        return torch.load(saved, map_location=device, weights_only=True)
    return _rounded(torch.load(saved, map_location="cpu", weights_only=True), device)


def _rounded(content: Any, device: torch.device) -> Any:
    if isinstance(content, Tensor):
        return moved(content, device) if content.dtype == torch.float64 else content.to(device)
    if isinstance(content, dict):
        return {key: _rounded(value, device) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return type(content)(_rounded(value, device) for value in content)
    return content


def check_like(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Raise ValueError unless there are tensors of the same names, shapes and types."""
    if _layout(found) != _layout(expected):
        raise ValueError("tensors of another network")


def _layout(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (value.shape, value.dtype) for name, value in tensors.items()}


def _first(reasons: list[str]) -> str:
    return next(filter(None, reasons), "")
