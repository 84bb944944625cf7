"""Build the syntax tree, with one method per grammar rule.

The parser keeps every token, so the span of a rule goes from its first child to its last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, TypeVar

from lark import Token, Transformer

from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.syntax import ast

Child = Any  # a token, or the result of a method below
Children = Sequence[Child]
T = TypeVar("T")

_SUFFIXES = {"K": 10**3, "M": 10**6, "G": 10**9}
LONGEST_NUMBER = 60  # characters of a literal that is converted
TOO_LARGE: int = 10**60


def number(text: str) -> int | Fraction:
    """The value of a literal; a very long one is larger than any allowed number.

    >>> number("3.5M"), number("0.25"), number("1_000"), number("2.5e-3")
    (3500000, Fraction(1, 4), 1000, Fraction(1, 400))
    """
    if len(text) > LONGEST_NUMBER:
        return TOO_LARGE
    if text.isdecimal():
        return int(text)
    digits, _, exponent = text.replace("_", "").lower().partition("e")
    if exponent and abs(int(exponent)) > LONGEST_NUMBER:
        return TOO_LARGE if int(exponent) > 0 else Fraction(1, TOO_LARGE)
    scale = Fraction(10) ** int(exponent) if exponent else _SUFFIXES.get(digits[-1].upper(), 1)
    value = Fraction(digits.rstrip("kmg")) * scale
    return value.numerator if value.denominator == 1 else value


class TreeBuilder(Transformer[Token, Any]):
    """Builds the tree during parsing. All threads share one builder; each has its own current source."""

    def __init__(self) -> None:
        super().__init__()
        self._source: ContextVar[Source] = ContextVar("source")

    @contextmanager
    def reading(self, source: Source) -> Iterator[None]:
        """Make spans within this block refer to `source`."""
        token = self._source.set(source)
        try:
            yield
        finally:
            self._source.reset(token)

    # ---- helpers

    def _span(self, children: Children) -> Span:
        first, last = children[0], children[-1]
        start: int = first.start_pos if isinstance(first, Token) else first.span.start  # type: ignore[assignment]
        end: int = last.end_pos if isinstance(last, Token) else last.span.end  # type: ignore[assignment]
        return Span(self._source.get(), start, end)

    def _identifier(self, token: Token) -> ast.Identifier:
        return ast.Identifier(self._span([token]), str(token))

    def _string(self, token: Token) -> tuple[str, Span]:
        return str(token)[1:-1], self._span([token])

    # ---- definitions

    def item(self, c: Children) -> ast.Item:
        item: ast.Item = c[0]
        return item

    def import_(self, c: Children) -> ast.Import:
        path, span = self._string(c[1])
        return ast.Import(self._span(c), path, span, self._identifier(c[3]) if len(c) == 4 else None)

    def set(self, c: Children) -> ast.SetDefinition:
        return ast.SetDefinition(self._span(c), self._identifier(c[1]), _parameters(c), c[-1])

    def op(self, c: Children) -> ast.PythonOperation:
        target, span = self._string(c[-1])
        return ast.PythonOperation(self._span(c), self._identifier(c[1]), _parameters(c), target, span)

    def motif(self, c: Children) -> ast.Motif:
        return ast.Motif(self._span(c), str(c[0]), self._identifier(c[1]), _parameters(c), c[-1])

    cell = motif

    def network(self, c: Children) -> ast.Motif:
        inputs, _, outputs, body = c[-4:]
        name = self._identifier(c[1])
        return ast.Motif(self._span(c), "network", name, _parameters(c), body, tuple(inputs), tuple(outputs))

    def params(self, c: Children) -> _Parameters:
        return _Parameters(self._span(c), _of_type(ast.Parameter, c))

    def param(self, c: Children) -> ast.Parameter:
        return ast.Parameter(self._span(c), self._identifier(c[0]), c[2] if len(c) == 3 else None)

    # ---- statements

    def block(self, c: Children) -> ast.StatementBlock:
        return ast.StatementBlock(self._span(c), tuple(c[1:-1]))

    def input(self, c: Children) -> ast.In:
        return ast.In(self._span(c), _of_type(ast.DeclarationSlot, c))

    def node(self, c: Children) -> ast.NodeDeclaration:
        slots = _of_type(ast.DeclarationSlot, c)
        rest = c[2 * len(slots) :]  # after `node` and the slots with their commas
        if not rest:
            return ast.NodeDeclaration(self._span(c), slots)
        if rest[0] == ":":
            return ast.NodeDeclaration(self._span(c), slots, label=rest[1])
        following = tuple(rest[3]) if len(rest) > 3 and rest[2] == "then" else ()
        label = rest[-1] if isinstance(rest[-2], Token) and rest[-2] == ":" else None
        return ast.NodeDeclaration(self._span(c), slots, tuple(rest[1]), label, following)

    def slot(self, c: Children) -> ast.DeclarationSlot:
        name = self._identifier(c[0])
        if len(c) == 6:
            return ast.DeclarationSlot(self._span(c), name, c[4], self._identifier(c[2]))
        return ast.DeclarationSlot(self._span(c), name, c[2] if len(c) == 4 else None)

    def edge(self, c: Children) -> ast.EdgeStatement:
        return ast.EdgeStatement(self._span(c), tuple(c[0]), tuple(c[2]), c[4] if len(c) == 5 else None)

    def exprs(self, c: Children) -> _Separated:
        return _Separated(self._span(c), tuple(c[::2]))

    sources = targets = exprs

    def out(self, c: Children) -> ast.OutTarget:
        return ast.OutTarget(self._span(c))

    def output(self, c: Children) -> ast.Out | ast.OutJoin:
        if len(c) == 3:
            return ast.OutJoin(self._span(c), c[2])
        return ast.Out(self._span(c), tuple(c[1]))

    def let(self, c: Children) -> ast.Let:
        parameters = tuple(c[2]) if isinstance(c[2], _Parameters) else None
        return ast.Let(self._span(c), self._identifier(c[1]), c[-1], parameters)

    def share(self, c: Children) -> ast.Share:
        return ast.Share(self._span(c), self._identifier(c[1]), c[3])

    def for_(self, c: Children) -> ast.For:
        return ast.For(self._span(c), self._identifier(c[1]), c[3], c[4])

    def if_(self, c: Children) -> ast.If:
        return ast.If(self._span(c), c[1], c[2], c[4] if len(c) == 5 else None)

    def assert_(self, c: Children) -> ast.Assert:
        return ast.Assert(self._span(c), c[1], self._string(c[3])[0] if len(c) == 4 else None)

    def require(self, c: Children) -> ast.Require | ast.RequireEdges:
        if len(c) == 4:
            return ast.RequireEdges(self._span(c), c[1], c[3])
        match c[1]:
            case ast.Chain(operands=(ast.Reference() as name, bound), operators=(comparison,)) if name.name != "edges":
                return ast.Require(self._span(c), ast.Identifier(name.span, name.name), comparison, bound)
            case _:
                return ast.RequireEdges(self._span(c), c[1])

    # ---- expressions

    def conditional(self, c: Children) -> ast.Conditional:
        return ast.Conditional(self._span(c), c[1], c[3], c[5])

    def either(self, c: Children) -> ast.Logical:
        return ast.Logical(self._span(c), str(c[1]), tuple(c[::2]))

    both = either

    def prefix(self, c: Children) -> ast.Prefix:
        return ast.Prefix(self._span(c), str(c[0]), c[1])

    def chain(self, c: Children) -> ast.Chain:
        return ast.Chain(self._span(c), tuple(c[::2]), tuple(map(str, c[1::2])))

    def choose(self, c: Children) -> ast.Choose:
        """`choose`, perhaps `exactly`, perhaps a number and `of`, and the candidates."""
        exact = isinstance(c[1], Token) and c[1].type == "EXACTLY"
        count = c[1 + exact : -1]
        limit = (self.number(count) if isinstance(count[0], Token) else count[0]) if count else None
        return ast.Choose(self._span(c), limit, c[-1], exact)

    def optional(self, c: Children) -> ast.Optional:
        return ast.Optional(self._span(c), c[1])

    def range(self, c: Children) -> ast.RangeOf:
        return ast.RangeOf(self._span(c), c[0], c[2])

    def sum(self, c: Children) -> ast.Arithmetic:
        return ast.Arithmetic(self._span(c), tuple(c[::2]), tuple(map(str, c[1::2])))

    union = product = power = sum

    def name(self, c: Children) -> ast.Reference:
        return ast.Reference(self._span(c), str(c[0]))

    def member(self, c: Children) -> ast.Member:
        return ast.Member(self._span(c), c[0], self._identifier(c[2]))

    def call(self, c: Children) -> ast.Call:
        arguments = [child for child in c[2:-1] if not isinstance(child, Token)]
        positional = tuple(child for child in arguments if not isinstance(child, ast.Keyword))
        return ast.Call(self._span(c), c[0], positional, _of_type(ast.Keyword, arguments))

    def keyword(self, c: Children) -> ast.Keyword:
        return ast.Keyword(self._span(c), self._identifier(c[0]), c[2])

    def index(self, c: Children) -> ast.Index:
        return ast.Index(self._span(c), c[0], c[2])

    def number(self, c: Children) -> ast.Number:
        return ast.Number(self._span(c), number(str(c[0])))

    def boolean(self, c: Children) -> ast.Boolean:
        return ast.Boolean(self._span(c), c[0] == "true")

    def string(self, c: Children) -> ast.String:
        text, span = self._string(c[0])
        return ast.String(span, text)

    def group(self, c: Children) -> ast.Expr:
        inside: ast.Expr = c[1]
        return inside

    def array(self, c: Children) -> ast.Array:
        return ast.Array(self._span(c), *_items(c))

    def options(self, c: Children) -> ast.SetLiteral:
        items, comprehension = _items(c)
        values = tuple(item.value if isinstance(item, ast.Keyword) else item for item in items)
        names = tuple(item.name if isinstance(item, ast.Keyword) else None for item in items)
        return ast.SetLiteral(self._span(c), values, comprehension, names)

    def comprehension(self, c: Children) -> ast.Comprehension:
        count = len(c) // 4  # each clause is `for`, a name, `in` and an expression
        clauses = tuple((self._identifier(c[4 * i + 1]), c[4 * i + 3]) for i in range(count))
        return ast.Comprehension(self._span(c), clauses, c[-1] if len(c) > 4 * count else None)


# Rules whose names are Python keywords.
for _rule in ("import", "for", "if", "assert"):
    setattr(TreeBuilder, _rule, getattr(TreeBuilder, f"{_rule}_"))


class _Separated(tuple[Any, ...]):
    """Expressions separated by commas, with their common span."""

    span: Span

    def __new__(cls, span: Span, items: Sequence[Any]) -> _Separated:
        self = super().__new__(cls, items)
        self.span = span
        return self


class _Parameters(_Separated):
    """The parameter list of a definition."""


def _of_type(type_: type[T], children: Children) -> tuple[T, ...]:
    return tuple(child for child in children if isinstance(child, type_))


def _parameters(children: Children) -> tuple[ast.Parameter, ...]:
    lists = _of_type(_Parameters, children)
    return tuple(lists[0]) if lists else ()


def _items(children: Children) -> tuple[tuple[Any, ...], ast.Comprehension | None]:
    inside = [child for child in children[1:-1] if not isinstance(child, Token)]
    if inside and isinstance(inside[-1], ast.Comprehension):
        return tuple(inside[:-1]), inside[-1]
    return tuple(inside), None
