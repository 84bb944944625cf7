"""Opening a run folder: its description, the network it started with, and the network and weights it produced.

Torch is loaded only for weights and decisions, so that runs can be drawn and reported without it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Loaded, Network, load_network
from bayesnas_graph.runs.consent import check_consent
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.manifest import AnyConfig, AnyManifest, Kind, kind_in, kind_of, read_manifest
from bayesnas_graph.runs.reading.listed import check_unchanged
from bayesnas_graph.runs.subject import Subject, parameter_values

if TYPE_CHECKING:
    from bayesnas_graph.codegen.emit.weights import ByNode


@dataclass(frozen=True, eq=False)
class Run:
    """An opened run folder."""

    folder: RunFolder
    about: Mapping[str, Any]  # `run.json`, not validated
    allow_python: bool = False

    @property
    def kind(self) -> Kind:
        """The verb that started the run."""
        return kind_in(self.about)

    @cached_property
    def manifest(self) -> AnyManifest:
        """The validated content of `run.json`. Raises NasError."""
        return read_manifest(self.folder, self.kind)

    @property
    def config(self) -> AnyConfig:
        """The settings of the run, to use them again. Raises NasError if they name code that is not allowed."""
        config = self.manifest.config
        check_consent(dict(config), self.folder.manifest_file, allow_python=self.allow_python)
        return config

    def settings(self, keys: Set[str]) -> dict[str, Any]:
        """Return some settings of the run, without those that are not set. Raises NasError like `config`."""
        found = self.manifest.config.model_dump(include=set(keys), exclude_none=True)
        check_consent(found, self.folder.manifest_file, allow_python=self.allow_python)
        return found

    @cached_property
    def space(self) -> Loaded:
        """The network that the run started with, from its own copy. Raises NasError."""
        if self.about.get("python_ops") and not self.allow_python:
            help = "add `--allow-python` if you trust it"
            raise NasError([Diagnostic("NAS105", f"`{self.folder.path}` uses Python operations", help=help)])
        try:
            parameters = parameter_values(self.about["config"].get("parameters", {}))
            file, network = self.folder.space_file(self.about["file"]), self.about["network"]
            self.folder.check_space(self.about.get("files", {}), self.folder.manifest_file)
        except (KeyError, TypeError, ValueError, AttributeError):
            message = f"cannot read `{self.folder.manifest_file}`: it does not name the network"
            raise NasError([Diagnostic("NAS602", message)]) from None
        called = self.about.get("called")
        return load_network(file, network, parameters, called=called, allow_python=self.allow_python)

    @cached_property
    def subject(self) -> Subject:
        """The network that the run started with. Raises NasError if the copy has been changed since."""
        subject = Subject.of(self.space, self.manifest.space, allow_python=self.allow_python)
        self.check_same_space(subject)
        return subject

    def check_same_space(self, subject: Subject) -> None:
        """Raise NasError if the run was started with another network."""
        if subject.fingerprint != self.manifest.fingerprint:
            message = f"`{self.folder.path}` was started with another space than `{subject.name}`"
            help = "omit the space to resume with the run's own copy, or start another run"
            raise NasError([Diagnostic("NAS604", message, help=help)])

    def switched(self, network: Network | None = None) -> Graph:
        """Return the network of the run, or another one, with zero switches where the settings put them."""
        config = self.about["config"]
        options = passes.Options(zero=config.get("zero", "after"), mode=config.get("mode", "written"))
        return passes.run((network or self.space.network).graph(), passes.SWITCHES, options)

    @cached_property
    def result(self) -> tuple[Subject, ByNode]:
        """The network that the run produced, with the weights of its nodes. Raises NasError if it has not finished."""
        path = self.folder.path
        if self.kind == "search":
            from bayesnas_graph.runs.searched import architecture_of

            text, tensors = architecture_of(self).with_weights()
            return Subject.derived(str(path), text, allow_python=self.allow_python), tensors
        from bayesnas_graph.codegen.export.weights import weights_by_node

        _ = self.manifest  # a damaged run is reported as such
        if not self.folder.weights.is_file():
            self.folder.check_there()
            help = f"finish it with `bayesnas-graph {self.kind} --resume {shlex.quote(str(path))}`"
            raise NasError([Diagnostic("NAS602", f"`{path}` has no weights: it has not finished", help=help)])
        subject = self.subject if self.kind == "train" else self._compressed
        return subject, weights_by_node(subject.network, self.folder.weights)

    @property
    def _compressed(self) -> Subject:
        check_unchanged(self.folder, self.folder.network)
        loaded = load_network(self.folder.network, allow_python=self.allow_python)
        return Subject.of(loaded, str(self.folder.path), allow_python=self.allow_python)


def open_run(path: Path, expected: Kind | None = None, *, allow_python: bool = False) -> Run:
    """Open a run folder. Raises NasError if it is not one, or not of the expected kind."""
    folder = RunFolder(path)
    if expected is not None or kind_of(path) is None:
        read_manifest(folder, expected)
    try:
        about = read_json(folder.manifest_file)
    except (OSError, ValueError):
        about = {}
    return Run(folder, about if isinstance(about, dict) else {}, allow_python)
