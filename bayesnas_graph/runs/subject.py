"""The network that a run is about, and the files it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.elaborate import Loaded, Network, load_network
from bayesnas_graph.language.elaborate.load import number
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.config import Samples
from bayesnas_graph.runs.folder import Origin, RunFolder, now, versions


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and the files of the user's that it was read from, the one that defines it first."""

    name: str  # of the space, as it was given
    called: str  # what its file is called in messages
    network: Network
    files: tuple[tuple[Path, str], ...]  # with their texts
    python_ops: bool = False

    @staticmethod
    def of(loaded: Loaded, name: str, *, allow_python: bool = False) -> Subject:
        """What was loaded, under the name that it was asked for by."""
        called = loaded.modules[0].file.source.name
        return Subject(name, called, loaded.network, loaded.own_files, allow_python)

    @property
    def fingerprint(self) -> str:
        """The same for all texts of the same network."""
        return fingerprint(self.network.graph())


def copy_of(folder: RunFolder, manifest: Origin, config: Samples, *, allow_python: bool) -> Subject:
    """The network of a run, from its own copy of the space. Raises NasError if that is no longer what it was."""
    if manifest.python_ops and not allow_python:
        help = "say `--allow-python-ops` again"
        raise NasError([Diagnostic("NAS105", "the run uses operations written in Python", help=help)])
    given = {key: number(str(value).lower()) for key, value in config.parameters.items()}
    copy = folder.space / manifest.file
    loaded = load_network(copy, config.network, given, called=manifest.called, allow_python=allow_python)
    subject = Subject.of(loaded, manifest.space, allow_python=allow_python)
    check_same_space(subject, manifest, folder)
    return subject


def origin_of(subject: Subject, folder: RunFolder, data_dir: Path) -> dict[str, Any]:
    """What is known about a run of any kind before it begins. Its space is copied into its folder."""
    return {
        "space": subject.name,
        "called": subject.called,
        "file": copied(subject, folder),
        "network": subject.network.name,
        "fingerprint": subject.fingerprint,
        "python_ops": subject.python_ops,
        "data_dir": str(data_dir.absolute()),  # for a run may be gone on with from elsewhere
        "begun": now(),
        "versions": versions(),
        "threads": torch.get_num_threads(),
    }


def copied(subject: Subject, folder: RunFolder) -> str:
    """Copy the files of a space into the folder of a run; where there the one is that defines the network."""
    paths = [path for path, _ in subject.files]
    root = Path(commonpath([path.parent for path in paths]))
    for path, text in subject.files:
        folder.write(folder.space / path.relative_to(root), text)
    return str(paths[0].relative_to(root))


def check_same_space(subject: Subject, manifest: Origin, folder: RunFolder) -> None:
    """Raises NasError if a run was begun with another space than this one."""
    if subject.fingerprint != manifest.fingerprint:
        message = f"`{folder.path}` was begun with another space than `{subject.name}`"
        help = "leave the space away to go on with the run's own copy, or begin another run"
        raise NasError([Diagnostic("NAS604", message, help=help)])
