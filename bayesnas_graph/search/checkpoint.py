"""The whole state of a search in a file that is either complete or not there."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.bayes import State
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.emit import transfer
from bayesnas_graph.passes import prune
from bayesnas_graph.search.files import ROOM, written_whole
from bayesnas_graph.search.learner import Learner, begin, program_for, share, take_weights
from bayesnas_graph.search.place import Place
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import Progress

VERSION = 1


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run, named by the number of steps."""

    folder: Path
    keep: int = 3
    fingerprint: str = ""  # of the space that they belong to

    def paths(self) -> list[Path]:
        """Those that are there, the oldest first."""
        return sorted(self.folder.glob("step-*.pt"))

    def save(self, learner: Learner, progress: Progress) -> Path:
        """Write one, and remove those that are too many. Raises NasError if there is no room; all others stay."""
        path = self.folder / f"step-{progress.step:09}.pt"
        written = BytesIO()  # torch would tell of a full disk in riddles
        torch.save(to_plain(learner, progress) | {"fingerprint": self.fingerprint}, written)
        with written_whole(path, ROOM) as file:
            file.write(written.getbuffer())
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def last(self, problem: Problem, place: Place) -> tuple[Learner, Progress] | None:
        """The newest, or None if there is none. Raises NasError if it cannot be read or is of another space."""
        paths = self.paths()
        if not paths:
            return None
        content = _read(paths[-1], place)
        if content["fingerprint"] != self.fingerprint:
            help = "a run goes on with the space it began with"
            raise NasError([Diagnostic("NAS604", f"`{paths[-1]}` belongs to another space", help=help)])
        try:
            return from_plain(content, problem, place)
        except torch.OutOfMemoryError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError):
            raise _unreadable(paths[-1], "it does not belong to this run") from None


def to_plain(learner: Learner, progress: Progress) -> dict[str, Any]:
    """Tensors, dictionaries, lists, strings and numbers: what can be loaded without running code.

    Random numbers are a function of the seed and the step, so no state of a generator is among them.
    """
    prior = learner.prior
    return {
        "version": VERSION,
        "progress": progress.to_plain(),
        "fused_for": learner.place.fused_for,
        "samples": share(learner.config, learner.place),
        "weights": learner.supernet.module.state_dict(),
        "memory": learner.memory(),
        "scaler": learner.scaler.state_dict(),
        "prior": {"gamma": prior.gamma, "omega": prior.omega, "s": prior.s},
        "units": learner.units,
    }


def from_plain(content: dict[str, Any], problem: Problem, place: Place) -> tuple[Learner, Progress]:
    """The learner and the progress that `to_plain` was given."""
    progress = Progress.from_plain(content["progress"])
    graph = prune(problem.graph, {verdict.name for verdict in progress.closed})
    learner = begin(graph, problem.config, place)
    weights, memory = content["weights"], content["memory"]
    compiled_for = content["fused_for"], content["samples"]
    if compiled_for == (place.fused_for, share(problem.config, place)):
        take_weights(learner, weights)
    else:  # on another kind of device, or by another number of processes
        program = program_for(graph, problem.config, *compiled_for)
        memory = {kind: transfer(values, program, learner.supernet.program) for kind, values in memory.items()}
        take_weights(learner, weights, program)
    learner.remember(memory)
    learner.scaler.load_state_dict(content["scaler"])
    none = torch.zeros(0, dtype=torch.long, device=place.device)
    prior = State(**content["prior"], negative=none, infinite=none, undetermined=none)
    return learner.with_prior(prior, content["units"]), progress


def _read(path: Path, place: Place) -> dict[str, Any]:
    """What a file holds, as far as every checkpoint holds it. No code in it is run."""
    try:
        saved = BytesIO(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, (error.strerror or str(error)).lower()) from None
    try:
        content: dict[str, Any] = torch.load(saved, map_location=place.device, weights_only=True)
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
