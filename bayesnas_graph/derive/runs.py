"""What a search has left in its folder: the space, the decision and the weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.codegen.emit import by_gate, by_node, rescaled
from bayesnas_graph.codegen.emit.weights import ByNode, narrowed
from bayesnas_graph.derive.derived import Derived
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network, load_network
from bayesnas_graph.language.elaborate.load import Number, number
from bayesnas_graph.passes.analysis import cuts
from bayesnas_graph.runs.config import Config
from bayesnas_graph.runs.device import Place, find_device
from bayesnas_graph.runs.folder import Manifest, RunFolder
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.search.checkpoint import Checkpoints
from bayesnas_graph.search.learner import program_for
from bayesnas_graph.search.progress import Progress

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Searched:
    """A search that has come to a decision, and the network that it is applied to."""

    folder: RunFolder
    manifest: Manifest
    network: Network  # that which was searched, or another one with the same switches
    decision: Decision
    is_own: bool  # whether it is that which was searched

    @property
    def graph(self) -> Graph:
        """The network with its switches, as the search saw them."""
        return switched(self.network, self.manifest.config)


def switched(network: Network, config: Config) -> Graph:
    """A network with zero switches and groups, as the settings say."""
    return passes.run(network.graph(), passes.passes(zero=config.zero, mode=config.mode, fuse=False))


def read_run(
    path: Path,
    *,
    space: Path | None = None,
    network: str | None = None,
    parameters: Mapping[str, Number] | None = None,
    allow_python: bool = False,
) -> Searched:
    """A search and its decision. Raises NasError if there is none yet.

    `network`, of the same space or of another, and `parameters` say what the decision is applied to.
    """
    folder = RunFolder(path)
    manifest = folder.manifest()
    if manifest.python_ops and not allow_python:
        help = "say `--allow-python-ops` again"
        raise NasError([Diagnostic("NAS105", "the run uses operations written in Python", help=help)])
    config = manifest.config
    is_own = space is None and network is None and not parameters
    searched = {name: number(str(value).lower()) for name, value in config.parameters.items()}
    if space is not None:
        loaded = load_network(space, network, parameters, allow_python=allow_python)
    else:
        same = network is None or network == manifest.network
        given = {**(searched if same else {}), **(parameters or {})}
        loaded = load_network(
            folder.space / manifest.file,
            network or manifest.network,
            given,
            called=manifest.called,
            allow_python=allow_python,
        )
    return Searched(folder, manifest, loaded.network, _decision(folder), is_own)


def _decision(folder: RunFolder) -> Decision:
    try:
        return Decision.from_plain(json.loads(folder.decision.read_bytes()))
    except FileNotFoundError:
        help = f"let it come to an end: `bayesnas-graph search --resume {folder.path}`"
        raise NasError([Diagnostic("NAS602", f"`{folder.path}` has come to no decision yet", help=help)]) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise NasError([Diagnostic("NAS602", f"cannot read `{folder.decision}`: {reason}")]) from None
    except (ValueError, ValidationError):
        message = f"cannot read `{folder.decision}`: it is damaged"
        help = f"have it written again: `bayesnas-graph search --resume {folder.path}`"
        raise NasError([Diagnostic("NAS602", message, help=help)]) from None


def fixed_weights(searched: Searched, derived: Derived, fixed: passes.Rescaled) -> dict[str, dict[str, Tensor]]:
    """The weights of the search for every node of the fixed network. Raises NasError if some are gone."""
    if not searched.is_own:
        message = "weights cannot be taken into another network than that which was searched"
        help = "leave `--network`, `--space` and `-p` away, or train the network anew"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    config = searched.manifest.config
    place = Place.of(config, find_device("cpu"), Processes())
    saved = Checkpoints(searched.folder.checkpoints, fingerprint=searched.manifest.fingerprint)
    found = saved.read(place, lambda content: _weights(content, searched.graph, config))
    if found is None:
        raise NasError([Diagnostic("NAS603", f"there is no checkpoint in `{searched.folder.checkpoints}`")])
    left, tensors, gates = found
    known = {gate.group for gate in left.gates}
    lost = sorted({gate.group for gate in derived.graph.gates} - known)
    if lost:
        message = f"the weights behind `{derived.graph.switches[lost[0]].text}` are gone: the search has closed it"
        help = "derive without opening what was closed, or train the network anew"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    return rescaled(narrowed(tensors, cuts(left, derived.graph)), gates, fixed)


def _weights(content: dict[str, Any], graph: Graph, config: Config) -> tuple[Graph, ByNode, Mapping[str, Tensor]]:
    progress = Progress.from_plain(content["progress"])
    left = passes.prune(graph, {verdict.name for verdict in progress.closed})
    program = program_for(left, config, content["fused_for"], content["samples"])
    state: Mapping[str, Tensor] = content["weights"]
    return left, by_node(state, program), by_gate(state, program)
