"""The verbs that read texts: load, check, format and describe spaces, and look up operations and errors."""

from __future__ import annotations

from pathlib import Path

from bayesnas_graph.api.arguments import AnyNetwork, AnySpace, File, Value, as_path, path_or_text
from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.pages import error_page
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Checker, Network, Text, load_network, read
from bayesnas_graph.language.elaborate.vocabulary import VocabularyEntry, entries_named, vocabulary
from bayesnas_graph.language.syntax import format_source
from bayesnas_graph.report.space_description import (
    ShippedSpace,
    SpaceDescription,
    describe_space,
    find_space,
    list_spaces,
)
from bayesnas_graph.runs.subject import parameter_values


def load(
    file: AnySpace | None = None,
    network: str | None = None,
    *,
    text: str | None = None,
    name: str = "text.nas",
    folder: File | None = None,
    allow_python: bool = False,
    **parameters: Value,
) -> Network:
    """Load a network with values for its parameters. Raises NasError.

    It is from a file, a shipped space, a text, or a space written in Python (`bayesnas_graph.builder`). `name` is the
    name of the text in messages, and `folder` is where its imports are looked up, by default the current folder.
    `Text(text, name, folder)` is the same for the other functions.
    """
    if (file is None) == (text is None):
        raise TypeError("load takes a file or a text")
    space = Text(text, name, as_path(folder)) if text is not None else path_or_text(file or "")
    return load_network(space, network, parameter_values(parameters), allow_python=allow_python).network


def loaded(space: AnyNetwork, network: str | None = None, *, allow_python: bool = False) -> Network:
    """Return a network that may have to be loaded first. Raises NasError."""
    return space if isinstance(space, Network) else load(space, network, allow_python=allow_python)


def check(file: AnySpace) -> tuple[Diagnostic, ...]:
    """Return all errors and warnings of a file, a shipped space or a text; none if it is correct."""
    report = Report()
    space = path_or_text(file)
    if isinstance(space, Text):
        try:
            Checker(report).text(space.source(), space.path())
        except NasError as error:  # it cannot be a text
            return error.diagnostics
        return report.diagnostics
    shipped = None if space.is_file() else shipped_space(str(file))
    Checker(report).path(shipped or space, str(file))
    return report.diagnostics


def fmt(file: AnySpace) -> str:
    """Return the formatted text of a file, a shipped space or a text; the file stays as it is.

    Comments and meaning are preserved. Raises NasError for a text with syntax errors.
    """
    report, space = Report(), path_or_text(file)
    shipped = shipped_space(str(file)) if isinstance(space, Path) and not space.is_file() else None
    source = space.source() if isinstance(space, Text) else read(shipped or space, str(file), report)
    formatted = format_source(source, report) if source else None
    if formatted is None:
        raise NasError(report.diagnostics)
    return formatted


def spaces() -> tuple[ShippedSpace, ...]:
    """Return the shipped spaces, sorted by name, each with its path and what it says about itself."""
    return list_spaces()


def describe(file: File) -> SpaceDescription:
    """Return what is in a file, or in a shipped space: definitions, networks, settings files.

    Raises NasError for a file with errors, and for a name that is neither a file nor a shipped space.
    """
    return describe_space(find_space(str(file)))


def ops(name: str | None = None) -> tuple[VocabularyEntry, ...]:
    """Return all operations and functions of the language, or those of a name, with signatures and documentation.

    Raises NasError for an unknown name.
    """
    return tuple(vocabulary() if name is None else entries_named(name))


def explain(code: str) -> str:
    """Return the page about an error code, as Markdown. `bayesnas_graph.diagnostics.CODES` has all codes.

    A code is given as in `Diagnostic.code`, or by its number. Raises NasError if there is no such code.
    """
    return error_page(code)
