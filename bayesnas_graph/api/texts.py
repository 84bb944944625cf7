"""Loading and checking the texts of spaces."""

from __future__ import annotations

from bayesnas_graph.api.arguments import AnySpace, File, Value, as_path, path_or_text
from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Checker, Network, Text, load_network
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


def check(file: AnySpace) -> tuple[Diagnostic, ...]:
    """Return all errors and warnings of a file or a text."""
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
