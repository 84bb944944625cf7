"""The network that is trained or measured: one without choices, and the files that it came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bayesnas_graph.cli.running import subject_of
from bayesnas_graph.language.elaborate.load import number

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture, Written
    from bayesnas_graph.runs.config import Samples
    from bayesnas_graph.runs.subject import Subject

    Told = TypeVar("Told", bound=Samples)


def network_of(path: Path, config: Told, *, allow_python: bool) -> tuple[Subject, Told]:
    """The network that a path leads to, of the name and with the parameters that settings tell. Raises NasError.

    The path is that of a file, the name of a shipped space, or the folder of a search, whose architecture is taken. Its
    text has no parameters any more, and the settings that are left tell of none.
    """
    from bayesnas_graph.train.course import check_fixed

    if (path / "run.json").is_file():
        found = architecture_of(path, config, allow_python=allow_python)
        return as_subject(path, found.written, allow_python=allow_python), without_parameters(config)
    subject = subject_of(path, str(path), config, allow_python=allow_python)
    check_fixed(subject.network)
    return subject, config


def architecture_of(run: Path, config: Samples, *, allow_python: bool) -> Architecture:
    """The architecture that a search has found, in the network that settings tell."""
    from bayesnas_graph.derive import of_run

    parameters = {key: number(str(value).lower()) for key, value in config.parameters.items()}
    return of_run(run, network=config.network, parameters=parameters, allow_python=allow_python)


def as_subject(run: Path, text: Written, *, allow_python: bool) -> Subject:
    """A text that was derived, as if it had been read from a file of the run."""
    from bayesnas_graph.runs.subject import Subject

    return Subject(str(run), "network.nas", text.network, ((Path("network.nas"), text.text),), allow_python)


def without_parameters(config: Told) -> Told:
    """Settings that tell of no network and no parameters."""
    return config.model_copy(update={"network": None, "parameters": {}})
