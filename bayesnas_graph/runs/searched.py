"""The results in a search folder: the decision, as an architecture, and the weights."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.codegen.emit import build_for_weights, by_gate, by_node, rescaled
from bayesnas_graph.codegen.emit.weights import ByNode, narrowed
from bayesnas_graph.derive import Architecture, Derived, Origin, Rule, derive
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.checksums import help_for, problem_of
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network, Text, load_network
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.passes.analysis import cuts
from bayesnas_graph.runs.checkpoints import Checkpoints, check_like
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device, compiled_from_plain, find_device, program_for
from bayesnas_graph.runs.manifest import SearchManifest, read_manifest
from bayesnas_graph.runs.opening import Run
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.strategies import strategy_info
from bayesnas_graph.runs.subject import parameter_values

if TYPE_CHECKING:
    from torch import Tensor


def search_manifest(run: Run) -> SearchManifest:
    """Return the manifest of a search. Raises NasError if the run is not a search."""
    manifest = read_manifest(run.folder, "search")
    assert isinstance(manifest, SearchManifest), "other kinds were refused"
    return manifest


def architecture_of(
    run: Run,
    rule: Rule | None = None,
    *,
    space: Path | Text | None = None,
    network: str | None = None,
    parameters: Mapping[str, Argument] | None = None,
) -> Architecture:
    """Return the architecture found by a search, in its own network or in another one. Raises NasError."""
    rule, manifest = rule or Rule(), search_manifest(run)
    is_own = space is None and network is None and not parameters
    target = _target(run, manifest, space, network, parameters or {})
    graph = run.switched(target)
    derived = derive(graph, read_decision(run.folder), rule)
    info, config, versions = strategy_info(manifest.config.strategy), manifest.config, manifest.versions
    origin = Origin(
        run=run.folder.path,
        provenance=f"Searched on {config.data or ''} with seed {config.seed}, "
        f"{info.describe(config.lambda_w)}, by "
        f"bayesnas-graph {versions.get('bayesnas-graph', '?')} and torch {versions.get('torch', '?')}.",
        measure=info.measure,
        load_weights=partial(_fixed_weights, run, graph) if is_own else _no_weights,
    )
    decided = info.measure == "gamma" or rule.decides
    rule_text = str(rule) if decided else f"as strategy {info.name} decided"
    name = manifest.space if space is None else str(space)
    return Architecture(name, target, graph, derived, rule_text, origin, run.allow_python)


def _target(
    run: Run,
    manifest: SearchManifest,
    space: Path | Text | None,
    network: str | None,
    parameters: Mapping[str, Argument],
) -> Network:
    """Return the network that the decision is applied to."""
    if space is not None:
        return load_network(space, network, parameters, allow_python=run.allow_python).network
    if not parameters and network in (None, manifest.network):
        return run.space.network
    same_network = network in (None, manifest.network)
    values = {**(parameter_values(manifest.config.parameters) if same_network else {}), **parameters}
    return load_network(
        run.folder.space_file(manifest.file),
        network or manifest.network,
        values,
        called=manifest.called,
        allow_python=run.allow_python,
    ).network


def read_decision(paths: RunPaths) -> Decision:
    """Read the final decision of a search. Raises NasError if there is none yet."""
    resume = f"`bayesnas-graph search --resume {shlex.quote(str(paths.path))}`"
    try:
        return Decision.from_plain(read_json(paths.decision))
    except FileNotFoundError:
        paths.check_there()
        message = f"the search in `{paths.path}` has not finished"
        raise NasError([Diagnostic("NAS602", message, help=f"finish it with {resume}")]) from None
    except OSError as error:
        raise NasError([Diagnostic("NAS602", f"cannot read `{paths.decision}`: {reason(error)}")]) from None
    except ValueError as error:
        message = f"cannot read `{paths.decision}`: {problem_of(error)}"
        help = help_for(error, f"write it again with {resume}")
        raise NasError([Diagnostic("NAS602", message, help=help)]) from None


def _no_weights(_derived: Derived, _fixed: passes.Rescaled) -> ByNode:
    message = "weights are available only for the network that was searched"
    help = "omit `--network`, `--space` and `-p`, or train the other network from scratch"
    raise NasError([Diagnostic("NAS616", message, help=help)])


def _fixed_weights(run: Run, graph: Graph, derived: Derived, fixed: passes.Rescaled) -> ByNode:
    """Return the weights of the search for every node of the fixed network. Raises NasError if some are missing."""
    manifest = search_manifest(run)
    device = Device.of(manifest.config, find_device("cpu"), Processes())
    saved = Checkpoints(run.folder.checkpoints, fingerprint=manifest.fingerprint)
    again = f"write it again with `bayesnas-graph search --resume {shlex.quote(str(run.folder.path))}`"
    checkpoint = saved.newest(device, lambda content: _weights(content, graph, manifest.config), again)
    if checkpoint is None:
        raise NasError([Diagnostic("NAS603", f"no checkpoint in `{run.folder.checkpoints}`", help=again)])
    searched, tensors, gates, is_final = checkpoint
    if not is_final:
        message = f"the last checkpoint in `{run.folder.checkpoints}` is missing"
        raise NasError([Diagnostic("NAS603", message, help=again)])
    lost = sorted({gate.group for gate in derived.graph.gates} - {gate.group for gate in searched.gates})
    if lost:
        message = f"no weights available for `{derived.graph.switches[lost[0]].text}`: the search has closed it"
        help = "derive without reopening closed switches, or train the network from scratch"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    return rescaled(narrowed(tensors, cuts(searched, derived.graph)), gates, fixed)


def _weights(
    content: dict[str, Any], graph: Graph, config: SearchConfig
) -> tuple[Graph, ByNode, Mapping[str, Tensor], bool]:
    """Return the remaining graph of a checkpoint, its weights and gates, and whether it is from the end."""
    progress = content["progress"]
    searched = passes.prune(graph, {verdict["name"] for verdict in progress["closed"]})
    program = program_for(searched, config, compiled_from_plain(content))
    state: Mapping[str, Tensor] = content["weights"]
    check_like(state, build_for_weights(program).state_dict())
    is_final = bool(progress["ended"]) and progress["step"] >= progress.get("last_step", 0)
    return searched, by_node(state, program), by_gate(state, program), is_final
