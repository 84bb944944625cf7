"""Networks in files and results of runs as drawings, without torch."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.checksums import help_for, problem_of
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Loaded, Network, load_network
from bayesnas_graph.language.elaborate.load import argument
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.language.notations import read_architecture
from bayesnas_graph.report.pictures import Diagram, Panel, diagram_of, merge_alike, prune_diagram
from bayesnas_graph.report.pictures.files import Format, figure_content, page_content
from bayesnas_graph.report.pictures.style import Theme
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.opening import Run
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.listed import check_unchanged
from bayesnas_graph.runs.reading.run import read_run_record


@dataclass(frozen=True, eq=False)
class Drawing:
    """The panels of a network: itself, and its motifs and cells. A notebook shows them on one page."""

    name: str  # of the network
    diagram: Diagram
    warnings: tuple[Diagnostic, ...] = ()  # about its file

    @staticmethod
    def of(network: Network) -> Drawing:
        """Return the drawing of a network as written."""
        return Drawing(network.name, diagram_of(network))

    @staticmethod
    def of_loaded(loaded: Loaded) -> Drawing:
        """Return the drawing of a network from a file."""
        return replace(Drawing.of(loaded.network), warnings=loaded.warnings)

    @property
    def svg(self) -> str:
        """All panels on one page, as SVG that follows the theme of a browser."""
        return self.page().decode()

    def _repr_svg_(self) -> str:
        return self.svg

    def page(self, format: Format = "svg", theme: Theme = "auto") -> bytes:
        """Return all panels on one page, as the content of a file. Raises NasError if it cannot be converted."""
        return page_content(self.diagram, format, theme)

    def figures(self, format: Format = "svg", theme: Theme = "auto", *, mono: bool = False) -> dict[str, bytes]:
        """Return every panel as a figure for a paper: the content of a file, under a name of its own.

        Raises NasError if it cannot be converted.
        """
        found: dict[str, bytes] = {}
        for panel in self.diagram.panels:
            motif, number = motifs(panel)[0], 2
            name = motif
            while name in found:
                name, number = f"{motif}-{number}", number + 1
            found[name] = figure_content(panel, self.diagram, format, theme, mono=mono)
        return found

    def only(self, names: Sequence[str]) -> Drawing:
        """Return the panels of these motifs; all panels if `names` is empty. Raises NasError for unknown names.

        Cells that look the same are one panel.
        """
        diagram = merge_alike(self.diagram)
        if not names:
            return replace(self, diagram=diagram)
        known = list(dict.fromkeys(name for panel in diagram.panels for name in motifs(panel)))
        for name in names:
            if name not in known:
                match = nearest(name, known)
                listing = f"panels show {', '.join(f'`{other}`' for other in known)}"
                help = f"did you mean `{match}`? {listing}" if match else listing
                raise NasError([Diagnostic("NAS101", f"no panel shows a motif `{name}`", help=help)])
        numbers = [i for i, panel in enumerate(diagram.panels) if set(names) & set(motifs(panel))]
        return replace(self, diagram=diagram.only(numbers))


def motifs(panel: Panel) -> list[str]:
    """Return the names of the motifs in a panel."""
    return list(dict.fromkeys([*panel.named, *filter(None, [panel.alias])]))


def drawing_of(
    path: Path,
    name: str | None,
    parameters: Mapping[str, Argument],
    *,
    whole: bool = False,
    allow_python: bool = False,
) -> Drawing:
    """Return the drawing of a file, a shipped space, or the folder of a run or of `derive`. Raises NasError.

    For a run, `whole` asks for the space it searched.
    """
    is_derivation = (path / "derived.json").is_file() and not (path / "run.json").exists()
    is_run = is_derivation or (path / "run.json").exists() or (path.is_dir() and shipped_space(str(path)) is None)
    if not is_run:
        if whole:
            message = f"`{path}` is not a run folder, and is always drawn as a whole"
            raise NasError([Diagnostic("NAS602", message, help="omit `--space`")])
        return Drawing.of_loaded(load_network(path, name, parameters, allow_python=allow_python))
    if name is not None or parameters:
        message = f"`{path}` is a run folder, and has its own network"
        raise NasError([Diagnostic("NAS601", message, help="omit `--network` and `-p`")])
    if is_derivation:
        return _of_derivation(path, whole=whole, allow_python=allow_python)
    return _of_run(path, whole=whole, allow_python=allow_python)


def given_drawing(
    path: Path,
    name: str | None,
    parameters: Mapping[str, Argument],
    architecture: str | Sequence[str],
    *,
    allow_python: bool = False,
) -> Drawing:
    """Return the drawing of an architecture of a space, given as a text or as names of switches. Raises NasError."""
    if path.is_dir() and shipped_space(str(path)) is None:
        message = f"`{path}` is a folder, and an architecture is given for a space"
        raise NasError([Diagnostic("NAS602", message, help="pass the file of the space")])
    loaded = load_network(path, name, parameters, allow_python=allow_python)
    return replace(kept_drawing(loaded.network, architecture), warnings=loaded.warnings)


def kept_drawing(network: Network, architecture: str | Sequence[str]) -> Drawing:
    """Return the drawing of an architecture of a network. Raises NasError if it is none."""
    graph = passes.run(network.graph(), passes.SWITCHES)
    kept = read_architecture(architecture, graph)
    diagram = prune_diagram(diagram_of(network), {gate.name for gate in graph.gates if gate.group in kept})
    if not diagram.panels:
        message = "nothing reaches the output through the kept switches"
        raise NasError([Diagnostic("NAS612", message, help="keep more switches")])
    return Drawing(network.name, diagram)


def _of_run(path: Path, *, whole: bool, allow_python: bool) -> Drawing:
    folder = RunFolder(path)
    run = Run(folder, read_run_record(folder).manifest, allow_python)
    kind = run.kind
    if kind == "compress" and not whole:
        if not (path / "network.nas").is_file():
            folder.check_there()
            help = f"finish it with `bayesnas-graph compress --resume {shlex.quote(str(path))}`"
            raise NasError([Diagnostic("NAS602", f"`{path}` has not finished", help=help)])
        check_unchanged(folder, folder.network)
        return Drawing.of_loaded(load_network(folder.network, allow_python=allow_python))
    space = Drawing.of(run.space.network)
    if kind != "search" or whole:
        return space
    again = f"`bayesnas-graph search --resume {shlex.quote(str(path))}`"
    return _settled(space, _Decided.read(path / "decision.json", again))


def _of_derivation(path: Path, *, whole: bool, allow_python: bool) -> Drawing:
    """Return what was derived, drawn in its space, or as written if the space no longer exists."""
    decided = _Decided.read(path / "decision.json", "`bayesnas-graph derive`")
    space = _derived_from(path, allow_python=allow_python)
    if space is not None and whole:
        return space
    if space is not None and decided.is_about(space.diagram):
        return _settled(space, decided)
    if whole:
        help = "draw the space itself"
        raise NasError([Diagnostic("NAS602", f"the space of `{path}` no longer exists", help=help)])
    return Drawing.of_loaded(load_network(path / "network.nas", allow_python=allow_python))


def _derived_from(path: Path, *, allow_python: bool) -> Drawing | None:
    try:
        about: dict[str, Any] = read_json(path / "derived.json")
        values = {name: argument(value) for name, value in about["parameters"].items()}
        file, called = Path(about["space"]), None
        if about["run"] is not None and (Path(about["run"]) / "run.json").is_file():
            manifest = read_run_record(RunPaths(Path(about["run"]))).manifest
            if manifest["space"] == about["space"]:
                file, called = RunPaths(Path(about["run"])).space_file(manifest["file"]), manifest.get("called")
        return Drawing.of_loaded(load_network(file, about["network"], values, called=called, allow_python=allow_python))
    except (NasError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _settled(space: Drawing, decided: _Decided) -> Drawing:
    if not decided.is_about(space.diagram):
        message = f"`{decided.path}` is not about the switches of network `{space.name}`"
        raise NasError([Diagnostic("NAS602", message, help="draw the space with `--space`")])
    diagram = prune_diagram(space.diagram, decided.kept)
    if not diagram.panels:
        message = "nothing reaches the output through the kept switches"
        raise NasError([Diagnostic("NAS612", message, help="draw the space with `--space`")])
    return replace(space, diagram=diagram)


@dataclass(frozen=True)
class _Decided:
    """The decision of a search, read from its file."""

    path: Path
    kept: frozenset[str]  # gates
    gates: frozenset[str]

    @staticmethod
    def read(path: Path, command: str) -> _Decided:
        """Return the decision in a file, which `command` writes. Raises NasError if it cannot be read."""
        try:
            verdicts = [
                (frozenset(map(_text, verdict["gates"])), verdict["keep"] is True)
                for verdict in read_json(path)["verdicts"]
            ]
        except FileNotFoundError:
            RunPaths(path.parent).check_there()
            help = f"finish the search with {command}, or draw the space with `--space`"
            raise NasError([Diagnostic("NAS602", f"`{path.parent}` has not finished", help=help)]) from None
        except OSError as error:
            raise NasError([Diagnostic("NAS602", f"cannot read `{path}`: {reason(error)}")]) from None
        except (ValueError, KeyError, TypeError) as error:
            message = f"cannot read `{path}`: {problem_of(error)}"
            again = f"write it again with {command}, or draw the space with `--space`"
            raise NasError([Diagnostic("NAS602", message, help=help_for(error, again))]) from None
        kept = frozenset[str]().union(*(gates for gates, keep in verdicts if keep))
        return _Decided(path, kept, frozenset[str]().union(*(gates for gates, _ in verdicts)))

    def is_about(self, diagram: Diagram) -> bool:
        """Return whether it decides every switch in a diagram."""
        return diagram.gates <= self.gates


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not the name of a gate")
    return value
