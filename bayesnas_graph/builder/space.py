"""A space: networks and all definitions that they use, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Concatenate, ParamSpec

from bayesnas_graph.builder.body import Body, Line
from bayesnas_graph.builder.definitions import Definition, DefinitionText, braced, comment, recorded, signature_of
from bayesnas_graph.builder.library import FileImport
from bayesnas_graph.builder.pieces import Named
from bayesnas_graph.diagnostics import NasError, Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Text
from bayesnas_graph.language.syntax import ast, format_source, parse

P = ParamSpec("P")


class NetworkDefinition(Definition):
    """A network, made from a function that records its body."""

    def __init__(self, function: Callable[..., None], name: str | None) -> None:
        super().__init__(function, name, signature_of(function, skip=1))

    @cached_property
    def written(self) -> DefinitionText:
        body, parameters = recorded(self)
        inputs, outputs = body.types
        if not inputs or not outputs:
            raise TypeError(f"network `{self.name}` needs `g.input(name, type)` and `g.returns(type)`")
        types = " -> ".join(", ".join(one.text for one in some) for some in (inputs, outputs))
        return braced(self, f"network {self.name}{parameters.text} : {types}", body, parameters)


class Space:
    """Networks that are written in Python. Its text is a `.nas` file, and it can be used wherever a file can.

    `Space(a, b, doc="...")` is one file with the networks of both.
    """

    def __init__(self, *spaces: Space, doc: str = "") -> None:
        self.networks: tuple[NetworkDefinition, ...] = tuple(one for space in spaces for one in space.networks)
        self.doc = doc

    @cached_property
    def _formatted(self) -> tuple[str, tuple[str | None, ...]]:
        """The text, and the origins of its definitions and statements, in order."""
        imports, definitions = _collected(self.networks)
        lines = [*comment("//!", self.doc), *(Line(one.text, "") for one in imports)]
        for definition in definitions:
            lines += definition.written.lines
        report = Report()
        text = format_source(Source(self.name, "\n".join(line.text for line in lines)), report)
        if text is None:
            raise NasError(report.diagnostics)
        return text, tuple(line.origin for line in lines if line.origin is not None)

    @property
    def name(self) -> str:
        """The name of its text in messages."""
        return f"{self.networks[0].name if self.networks else 'empty'}.nas"

    def __str__(self) -> str:
        """The text, formatted."""
        return self._formatted[0]

    def as_text(self) -> Text:
        """The text; messages about it name the lines in Python."""
        text, origins = self._formatted
        source = Source(self.name, text)
        starts = list(_starts(parse(source, Report()).items))
        assert len(starts) == len(origins), "each line that has an origin is one statement"
        lines = [source.position(start)[0] for start in starts]
        return Text(text, self.name, origins={line: one for line, one in zip(lines, origins, strict=True) if one})

    def __repr__(self) -> str:
        return f"<space {', '.join(network.name for network in self.networks)}>"


def network(function: Callable[Concatenate[Body, P], None], *, name: str | None = None) -> Space:
    """Make a space of one network from a function that records its body."""
    space = Space()
    space.networks = (NetworkDefinition(function, name),)
    return space


def _collected(networks: Iterable[NetworkDefinition]) -> tuple[list[FileImport], list[Definition]]:
    """All imports and definitions; each definition comes after those it uses, except in a recursion.

    Raises ValueError if two have the same name.
    """
    found: dict[str, Named] = {}
    imports: list[FileImport] = []
    done: list[Definition] = []
    waiting: list[tuple[Named, bool]] = [(network, False) for network in reversed(list(networks))]
    while waiting:
        one, uses_are_done = waiting.pop()
        if uses_are_done:
            assert isinstance(one, Definition), "imports use nothing"
            done.append(one)
            continue
        if one.name in found:
            if found[one.name] != one:
                raise ValueError(f"two definitions are called `{one.name}`: give one another `name`")
            continue
        found[one.name] = one
        if isinstance(one, FileImport):
            imports.append(one)
        elif isinstance(one, Definition):
            waiting.append((one, True))
            waiting += [(other, False) for other in reversed(one.written.needs)]
    return imports, done


def _starts(parts: Iterable[ast.Item | ast.Statement]) -> Iterator[int]:
    """Where definitions and statements start, in the order of the text."""
    for part in parts:
        yield part.span.start
        match part:
            case ast.Motif(body=body) | ast.For(body=body):
                yield from _starts(body.statements)
            case ast.If(yes=yes, no=no):
                yield from _starts(yes.statements)
                if isinstance(no, ast.StatementBlock):
                    yield from _starts(no.statements)
