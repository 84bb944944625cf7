"""The network of a run, and the files it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.checksums import digest
from bayesnas_graph.language.elaborate import Loaded, Network, Text, load_network
from bayesnas_graph.language.elaborate.load import argument, as_text
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.config.groups import DataSettings
from bayesnas_graph.runs.folder import RunFolder

if TYPE_CHECKING:
    from bayesnas_graph.derive import Written


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and the user's files it was read from; the file that defines it comes first."""

    name: str  # of the space, as the user named it
    called: str  # the name of its file in messages
    network: Network
    files: tuple[tuple[Path, str], ...]  # with their texts
    python_ops: bool = False
    warnings: tuple[Diagnostic, ...] = ()

    @staticmethod
    def of(loaded: Loaded, name: str, *, allow_python: bool = False) -> Subject:
        """Return a loaded network under the requested name."""
        called = loaded.modules[0].file.source.name
        python_ops = allow_python and any(node.op.is_python for node in loaded.network.graph())
        return Subject(name, called, loaded.network, loaded.own_files, python_ops, loaded.warnings)

    @staticmethod
    def derived(name: str, text: Written, *, allow_python: bool = False) -> Subject:
        """Return a derived network as if it had been read from a file."""
        return Subject(name, "network.nas", text.network, ((Path("network.nas"), text.text),), allow_python)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the graph; texts of the same network share it."""
        return fingerprint(self.network.graph())

    def copy_files(self, folder: RunFolder) -> dict[str, str]:
        """Copy the files into a run folder; return their relative paths, with checksums."""
        root = Path(commonpath([path.parent for path, _ in self.files]))
        for path, text in self.files:
            folder.write(folder.space / path.relative_to(root), text)
        return {str(path.relative_to(root)): digest(text.encode()) for path, text in self.files}


def load_subject(file: Path | Text, config: DataSettings, *, allow_python: bool = False) -> Subject:
    """Load the network that the settings name from a file, a shipped space or a text. Raises NasError."""
    loaded = load_network(file, config.network, parameter_values(config.parameters), allow_python=allow_python)
    return Subject.of(loaded, str(file), allow_python=allow_python)


def parameter_values(values: Mapping[str, Any]) -> dict[str, Argument]:
    """Return values of parameters with exact numbers. Raises NasError if one is not a number or an array of numbers."""
    try:
        return {name: argument(as_text(value)) for name, value in values.items()}
    except ValueError as error:
        message = f"`{error}` is not a number, `true` or `false`"
        help = "set parameters of a network to numbers, or to arrays of numbers"
        raise NasError([Diagnostic("NAS601", message, help=help)]) from None
