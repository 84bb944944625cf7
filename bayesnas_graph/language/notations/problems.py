"""Errors in architecture strings, and for architectures that cannot be written as one."""

from __future__ import annotations

from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Source, Span

LONGEST_TEXT = 10_000  # characters of an architecture string; DARTS_V2 has 429
LONGEST_NAME = 60  # characters of a name that a message repeats


def string_source(text: str, longest: int | None = LONGEST_TEXT) -> Source:
    r"""The text of an architecture with normalised line ends. Raises NasError if it is too long.

    >>> string_source("a\r\nb").text
    'a\nb'
    """
    source = Source("architecture", text.replace("\r\n", "\n").replace("\r", "\n"))
    if longest is not None and len(source.text) > longest:
        label = f"the first {longest:,} characters end here"
        help = "give the architecture alone, without the text around it"
        unreadable(Span(source, longest, longest + 1), "the architecture is too long", label, help)
    return source


def unreadable(span: Span, message: str, label: str, help: str) -> NoReturn:
    """Raise NasError for a text that is not an architecture."""
    raise NasError([Diagnostic("NAS701", message, Label(span, label), help=help)])


def unfitting(message: str, help: str) -> NoReturn:
    """Raise NasError for an architecture that the space or the notation cannot express."""
    raise NasError([unfit(message, help)])


def unfit(message: str, help: str) -> Diagnostic:
    """The diagnostic for an architecture that the space or the notation cannot express."""
    return Diagnostic("NAS702", message, help=help)


def shown(name: object) -> str:
    """A name for a message: short, in backticks, without control characters.

    >>> shown("skip_connect")
    '`skip_connect`'
    """
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))
    return f"`{text}`" if len(text) <= LONGEST_NAME else f"`{text[: LONGEST_NAME - 3]}...`"
