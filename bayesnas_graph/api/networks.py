"""What is done with a network that has choices: architectures of it, and a torch module of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bayesnas_graph.api.arguments import AnyNetwork, AnyResult, AnySpace, File, Value, as_path, path_or_text, run_at
from bayesnas_graph.api.texts import load, loaded
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.elaborate import Network, Text
from bayesnas_graph.report.results import SearchResult
from bayesnas_graph.report.space_diff import SpaceDiff, compare_spaces, is_graph_file
from bayesnas_graph.report.space_stats import SpaceStats, space_stats
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.subject import parameter_values

if TYPE_CHECKING:
    from bayesnas_graph.bayes import Ranking
    from bayesnas_graph.codegen.export import Model
    from bayesnas_graph.codegen.supernet import Supernet
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.derive.sample import Sample
    from bayesnas_graph.passes import DeviceKind, Mode


def stats(network: AnyNetwork, *, allow_python: bool = False) -> SpaceStats:
    """Count the architectures of a network, and the costs of the smallest, the largest, and all candidates together.

    The network is loaded, or the first one of a file, a shipped space or a text. Raises NasError for one with errors,
    and if no architecture meets what the network requires.
    """
    return space_stats(loaded(network, allow_python=allow_python))


def diff(before: AnyNetwork, after: AnyNetwork, network: str | None = None, *, allow_python: bool = False) -> SpaceDiff:
    """Compare two spaces: operations, switches, wiring and budgets.

    `before` and `after` are loaded networks, files, shipped spaces, texts, or graphs in `.json` files. `network` is the
    one to load from files and texts, by default the first. Raises NasError for what cannot be loaded.
    """

    def part(space: AnyNetwork) -> Network | Path:
        if isinstance(space, File) and is_graph_file(Path(space)):
            return Path(space)
        return loaded(space, network, allow_python=allow_python)

    return compare_spaces(part(before), part(after))


def sample(
    network: AnyNetwork,
    count: int = 1,
    *,
    seed: int = 0,
    with_replacement: bool = False,
    allow_python: bool = False,
) -> Sample:
    """Draw architectures of a network at random: connected, distinct, and meeting what the network requires.

    The network is loaded, or the first one of a file, a shipped space or a text. Each architecture is as likely as any
    other (see `Sample.is_uniform`), and the same `seed` draws the same ones; `with_replacement` may draw one again.
    `derive` takes the switches of one as `keep`. There are `count` of them, or fewer if the space has no more. Raises
    NasError if none is found.
    """
    from bayesnas_graph.derive.sample import sample

    return sample(loaded(network, allow_python=allow_python), count, seed, with_replacement=with_replacement)


def compile(
    network: AnyNetwork,
    *,
    zero: Literal["before", "after"] = "after",
    mode: Mode = "written",
    fuse: bool = True,
    device: DeviceKind = "cpu",
    batch: int = 64,
    allow_python: bool = False,
) -> Supernet:
    """Return one torch module with all candidates of a network, each behind its gate.

    The network is loaded, or the first one of a file, a shipped space or a text. `zero` is where a choice is closed as
    a whole, before or after its candidates; `mode` says which uses of a motif share their switches. Operations are
    fused for speed on a `device` with `batch` samples per step, unless `fuse` is false. Raises NasError for a network
    with errors.
    """
    from bayesnas_graph import passes
    from bayesnas_graph.codegen.supernet import Supernet

    written = loaded(network, allow_python=allow_python).graph()
    graph = passes.run(written, passes.SWITCHES, passes.Options(zero, mode))
    return Supernet.of(graph, device, batch, fuse=fuse)


def derive(
    source: SearchResult | AnyNetwork,
    *,
    keep_per_edge: int | None = None,
    keep_per_node: int | None = None,
    params: int | None = None,
    flops: int | None = None,
    rank: Ranking = "relevance",
    architecture: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    space: AnySpace | None = None,
    network: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    allow_python: bool = False,
    **more_parameters: Value,
) -> Architecture:
    """Return the architecture found by a search, or one of a space that is given. Raises NasError.

    The `source` of what was found is a search or its folder. A rule changes it: the best candidates of every edge
    (`keep_per_edge`) or node (`keep_per_node`), or of the whole network within so many `params` or `flops`; `rank` is
    what is best. The source of a given one is a file, a shipped space, a text or a loaded network: `architecture` is a
    text in one of the notations of `--architecture`, and `keep` the names of switches.

    `network`, `space` and `parameters` put the cells into another network. Parameters may also be given by name.
    """
    from bayesnas_graph.derive import Rule, given_architecture
    from bayesnas_graph.runs.searched import architecture_of

    path = source.path if isinstance(source, SearchResult) else path_or_text(source)
    values = parameter_values({**(parameters or {}), **more_parameters})
    if architecture is not None and keep is not None:
        raise TypeError("derive takes an architecture or the switches to keep, not both")
    given = architecture if architecture is not None else keep
    if isinstance(source, Network) and network in (None, source.name):
        network, values = source.name, {**dict(source.given), **values}
    if given is not None:
        return given_architecture(path, given, network=network, parameters=values, allow_python=allow_python)
    if isinstance(path, Text) or isinstance(source, Network):
        help = "give a run folder, or an architecture with `architecture` or `keep`"
        kind = "network" if isinstance(source, Network) else "text"
        raise NasError([Diagnostic("NAS602", f"`{path}` is a {kind}, not a run folder", help=help)])
    rule = Rule(keep_per_edge, keep_per_node, params, flops, rank)
    run = open_run(path, "search", allow_python=allow_python)
    target = None if space is None else path_or_text(space)
    return architecture_of(run, rule, space=target, network=network, parameters=values)


def export(
    source: Architecture | AnyResult | AnyNetwork,
    path: File | None = None,
    *,
    weights: File | None = None,
    force: bool = False,
    allow_python: bool = False,
) -> Model:
    """Return a network without choices as source that needs only torch, and as weights. Raises NasError.

    The network is that of an architecture, a run, a file, a shipped space or a text, or a loaded one. A file is written
    for each given path; an existing one that would change is replaced only with `force`. `build` builds the network,
    and `program.text` is its source.
    """
    from bayesnas_graph.codegen.export import model_of
    from bayesnas_graph.derive import Architecture

    if isinstance(source, AnyResult):
        source, allow_python = source.path, True
    if isinstance(source, Architecture):
        model = source.model(weights=weights is not None)
    elif isinstance(source, Network):
        model = model_of(source, source.name)
    elif (run := run_at(source, allow_python=allow_python)) is not None:
        subject, tensors = run.result
        model = model_of(subject.network, subject.name, tensors)
    else:
        model = model_of(load(source, allow_python=allow_python), str(path_or_text(source)))
    if weights is not None and model.weights is None:
        message = f"network `{model.graph.name}` comes from a `.nas` file and has no weights"
        help = "use a search run, or train it: `bayesnas-graph train` writes weights for the exported source"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    model.write(as_path(path), as_path(weights), force=force)
    return model
