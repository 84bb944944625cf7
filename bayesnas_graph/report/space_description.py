"""The shipped spaces, and what is in the file of a space."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_space, shipped_spaces, unknown_space
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker, Network
from bayesnas_graph.language.elaborate.vocabulary import definition_signature
from bayesnas_graph.language.syntax import ast, parse
from bayesnas_graph.runs.recipes import settings_files


@dataclass(frozen=True)
class ShippedSpace:
    """A space that comes with the program."""

    name: str
    path: Path
    doc: str  # the first paragraph of its documentation


@dataclass(frozen=True)
class DefinitionText:
    """A definition in a file, as text."""

    kind: str  # the keyword, such as `cell`
    signature: str
    doc: str


@dataclass(frozen=True)
class SettingsFile:
    """A settings file beside a space."""

    path: Path
    doc: str  # its first line, if that is a comment


@dataclass(frozen=True)
class SpaceDescription:
    """What is in the file of a space."""

    path: Path
    doc: str
    definitions: tuple[DefinitionText, ...]
    networks: tuple[Network, ...]
    settings: tuple[SettingsFile, ...]  # recipes, and settings of other verbs
    warnings: tuple[Diagnostic, ...] = ()


def list_spaces() -> tuple[ShippedSpace, ...]:
    """Return the shipped spaces, sorted by name."""
    return tuple(ShippedSpace(path.stem, path, _first_paragraph(path)) for path in shipped_spaces())


def find_space(name: str) -> Path:
    """Return a file, or that of a shipped space. Raises NasError if there is neither."""
    file = Path(name) if Path(name).is_file() else shipped_space(name)
    if file is None:
        raise unknown_space(name)
    return file


def describe_space(file: Path) -> SpaceDescription:
    """Return what is in the file of a space. Raises NasError for a file with errors."""
    report = Report()
    space = Checker(report).path(file, str(file))
    if space is None or report.has_errors:
        raise NasError(report.diagnostics)
    return SpaceDescription(
        path=file,
        doc=space.doc,
        definitions=tuple(map(_definition, space.module.own.values())),
        networks=space.networks,
        settings=tuple(SettingsFile(path, _first_comment(path)) for path in settings_files(file)),
        warnings=report.diagnostics,
    )


def _first_paragraph(path: Path) -> str:
    doc = parse(Source(path.name, path.read_text(encoding="utf-8")), Report()).doc
    return doc.split("\n\n")[0].replace("\n", " ")


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline().strip()
    return first.lstrip("# ") if first.startswith("#") else ""


def _definition(definition: ast.Definition) -> DefinitionText:
    signature, doc = definition_signature(definition), definition.doc.replace("\n", " ")
    match definition:
        case ast.Let():
            return DefinitionText("let", f"{signature} = {definition.value.span.text}", doc)
        case ast.Motif(role=role):
            return DefinitionText(role, signature, doc)
        case ast.SetDefinition():
            return DefinitionText("set", signature, doc)
        case ast.PythonOperation():
            return DefinitionText("op", signature, doc)
