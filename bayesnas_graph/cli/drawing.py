"""What `draw` draws: the network of a file, or what a run has come to. Torch is not needed for either."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph.cli.target import load_network, load_with_files
from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate.load import number

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate import Network
    from bayesnas_graph.report.pictures import Diagram, Panel


@dataclass(frozen=True, eq=False)
class Drawing:
    """A diagram, and what a file with it is called."""

    name: str
    diagram: Diagram

    @staticmethod
    def of(network: Network) -> Drawing:
        """A network as it is written."""
        from bayesnas_graph.report.pictures import diagram_of

        return Drawing(network.name, diagram_of(network))

    def only(self, names: Sequence[str]) -> Drawing:
        """The panels of motifs with these names; all of them if there are none. Raises NasError for unknown names."""
        if not names:
            return self
        known = list(dict.fromkeys(name for panel in self.diagram.panels for name in motifs(panel)))
        for name in names:
            if name not in known:
                match = nearest(name, known)
                there = f"there are panels for {', '.join(f'`{other}`' for other in known)}"
                help = f"did you mean `{match}`? {there}" if match else there
                raise NasError([Diagnostic("NAS101", f"no panel shows a motif `{name}`", help=help)])
        numbers = [i for i, panel in enumerate(self.diagram.panels) if set(names) & set(motifs(panel))]
        return Drawing(self.name, self.diagram.only(numbers))


def motifs(panel: Panel) -> list[str]:
    """The names of the motifs that a panel shows, without the numbers of their forms."""
    return list(dict.fromkeys([*(name.partition(" ")[0] for name in panel.named), *filter(None, [panel.alias])]))


def drawing_of(
    path: Path, name: str | None, parameters: list[str] | None, *, whole: bool = False, allow_python: bool = False
) -> Drawing:
    """What a path leads to: a file, a shipped space, or the folder of a run or of a derivation. Raises NasError.

    Of a run, `whole` asks for the network that it began with.
    """
    is_derivation = (path / "derived.json").is_file() and not (path / "run.json").exists()
    is_run = is_derivation or (path / "run.json").exists() or (path.is_dir() and shipped_space(str(path)) is None)
    if not is_run:
        if whole:
            message = f"`{path}` is not a run folder, and is drawn as a whole anyway"
            raise NasError([Diagnostic("NAS602", message, help="omit `--space`")])
        return Drawing.of(load_network(path, name, parameters, allow_python=allow_python))
    if name is not None or parameters:
        message = f"`{path}` is a run, which has its own network"
        raise NasError([Diagnostic("NAS601", message, help="omit `--network` and `-p`")])
    if is_derivation:
        return _of_derivation(path, whole=whole, allow_python=allow_python)
    return _of_run(path, whole=whole, allow_python=allow_python)


def _of_run(path: Path, *, whole: bool, allow_python: bool) -> Drawing:
    from bayesnas_graph.runs.folder import RunFolder
    from bayesnas_graph.runs.opening import Run
    from bayesnas_graph.runs.reading.run import read_traces

    folder = RunFolder(path)
    run = Run(folder, read_traces(folder).manifest, allow_python)
    kind = run.kind
    if kind == "compress" and not whole:
        if not (path / "network.nas").is_file():
            help = f"let it come to an end: `bayesnas-graph compress --resume {shlex.quote(str(path))}`"
            raise NasError([Diagnostic("NAS602", f"`{path}` has not ended", help=help)])
        return Drawing.of(load_network(path / "network.nas", None, None, allow_python=allow_python))
    space = Drawing.of(run.space.network)
    if kind != "search" or whole:
        return space
    again = f"`bayesnas-graph search --resume {shlex.quote(str(path))}`"
    return _settled(space, _Decided.read(path / "decision.json", again))


def _of_derivation(path: Path, *, whole: bool, allow_python: bool) -> Drawing:
    """What was derived, on the space that it was derived from; if that is no longer there, as it was written."""
    decided = _Decided.read(path / "decision.json", "`bayesnas-graph derive`")
    space = _derived_from(path, allow_python=allow_python)
    if space is not None and whole:
        return space
    if space is not None and decided.is_about(space.diagram):
        return _settled(space, decided)
    if whole:
        help = "name the space itself"
        raise NasError([Diagnostic("NAS602", f"the space that `{path}` comes from is no longer there", help=help)])
    return Drawing.of(load_network(path / "network.nas", None, None, allow_python=allow_python))


def _derived_from(path: Path, *, allow_python: bool) -> Drawing | None:
    from bayesnas_graph.runs.paths import RunPaths
    from bayesnas_graph.runs.reading.run import read_traces

    try:
        about: dict[str, Any] = json.loads((path / "derived.json").read_bytes())
        given = {name: number(value) for name, value in about["parameters"].items()}
        file, called = Path(about["space"]), None
        if about["run"] is not None and (Path(about["run"]) / "run.json").is_file():
            manifest = read_traces(RunPaths(Path(about["run"]))).manifest
            if manifest["space"] == about["space"]:
                file, called = RunPaths(Path(about["run"])).space / manifest["file"], manifest.get("called")
        loaded = load_with_files(file, about["network"], given, called=called, allow_python=allow_python)
        return Drawing.of(loaded.network)
    except (NasError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _settled(space: Drawing, decided: _Decided) -> Drawing:
    from bayesnas_graph.report.pictures import settled_diagram

    if not decided.is_about(space.diagram):
        message = f"`{decided.path}` is not about the switches of network `{space.name}`"
        raise NasError([Diagnostic("NAS602", message, help="draw the space with `--space`")])
    diagram = settled_diagram(space.diagram, decided.kept)
    if not diagram.panels:
        message = "nothing reaches the output: the switches that stay lead to none"
        raise NasError([Diagnostic("NAS612", message, help="draw the space with `--space`")])
    return Drawing(space.name, diagram)


@dataclass(frozen=True)
class _Decided:
    """What a search has decided, as its file tells it."""

    path: Path
    kept: frozenset[str]  # gates
    gates: frozenset[str]

    @staticmethod
    def read(path: Path, command: str) -> _Decided:
        """The decision in a file, which a command writes. Raises NasError if there is none that can be read."""
        try:
            verdicts = [
                (frozenset(map(_text, verdict["gates"])), verdict["keep"] is True)
                for verdict in json.loads(path.read_bytes())["verdicts"]
            ]
        except FileNotFoundError:
            help = f"let it come to an end: {command}; or draw the space with `--space`"
            raise NasError([Diagnostic("NAS602", f"`{path.parent}` has come to no decision yet", help=help)]) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NasError([Diagnostic("NAS602", f"cannot read `{path}`: {reason}")]) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            help = f"have it written again: {command}; or draw the space with `--space`"
            raise NasError([Diagnostic("NAS602", f"cannot read `{path}`: it is damaged", help=help)]) from None
        kept = frozenset[str]().union(*(gates for gates, keep in verdicts if keep))
        return _Decided(path, kept, frozenset[str]().union(*(gates for gates, _ in verdicts)))

    def is_about(self, diagram: Diagram) -> bool:
        """Whether it decides about every switch that is drawn."""
        return diagram.gates <= self.gates


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise TypeError("a gate has a name")
    return found
