"""The text of a genotype: read with Python's parser, since it is Python, and never executed."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import NoReturn

from bayesnas_graph.diagnostics import did_you_mean
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.notations.problems import shown, string_source, unreadable

Fields = tuple[tuple[tuple[str, int], ...], tuple[int, ...], tuple[tuple[str, int], ...], tuple[int, ...]]

FIELDS = ("normal", "normal_concat", "reduce", "reduce_concat")  # in the order of DARTS, for positional arguments
LARGEST = 999  # allowed number in a genotype
DEEPEST = 10  # nested brackets; a genotype needs three
FORM = (
    "a genotype looks like `Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=range(2, 6), "
    "reduce=..., reduce_concat=...)`"
)

# Python's parser sees only characters that occur in genotypes. So it has nothing to warn about, and its columns, which
# count bytes, are also character positions.
_STRANGE = re.compile(r"[^\w \t\n()\[\],='\"]|(?<!\w)\d+[A-Za-z_]", re.ASCII)
_BEFORE = re.compile(r"\s*(?:[A-Za-z_]\w*\s*=)?\s*", re.ASCII)  # `DARTS_V2 = `
_CLOSING = {"(": ")", "[": "]"}


def read_fields(text: str) -> Fields:
    """The four fields of a genotype. Raises NasError with the position of the error."""
    source = string_source(text)
    if strange := _STRANGE.search(source.text):
        _fail(Span(source, *strange.span()), "not part of a genotype")
    _check_brackets(source)
    before = _BEFORE.match(source.text)
    reader = _Reader(source, before.end() if before else 0)
    return reader.fields(reader.tree())


def _fail(span: Span, label: str, help: str = FORM) -> NoReturn:
    unreadable(span, "not a genotype", label, help)


def _check_brackets(source: Source) -> None:
    """Check brackets before parsing, for a clear message about truncated text, the most common mistake."""
    opened: list[Span] = []
    for bracket in re.finditer(r"[()\[\]]", source.text):
        span = Span(source, *bracket.span())
        if bracket[0] in _CLOSING:
            opened.append(span)
            if len(opened) > DEEPEST:
                _fail(span, f"more than {DEEPEST} open brackets")
        elif not opened or _CLOSING[opened.pop().text] != bracket[0]:
            _fail(span, "no matching opening bracket")
    if opened:
        _fail(opened[-1], "never closed")


@dataclass(frozen=True)
class _Reader:
    """Walks the tree of an expression that begins at `start` and tracks positions."""

    source: Source
    start: int

    def tree(self) -> ast.expr:
        try:
            return ast.parse(self.source.text[self.start :].rstrip(), mode="eval").body
        except SyntaxError as error:
            start = min(self._offset(error.lineno or 1, (error.offset or 1) - 1), len(self.source.text))
            end = self._offset(error.end_lineno or 1, (error.end_offset or 1) - 1)
            _fail(Span(self.source, start, max(start, end)), "not valid here")
        except (RecursionError, MemoryError):  # chained calls nest too: `f()()()()`
            _fail(Span(self.source, self.start, len(self.source.text)), "nested too deeply")

    def _offset(self, line: int, column: int) -> int:
        """The offset of a character of the expression; lines start at 1, columns at 0."""
        lines = self.source.text[self.start :].split("\n")
        return self.start + sum(len(passed) + 1 for passed in lines[: line - 1]) + max(column, 0)

    def _fail(self, node: ast.expr | ast.keyword, label: str, help: str = FORM) -> NoReturn:
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        _fail(Span(self.source, start, end), label, help)

    def fields(self, tree: ast.expr) -> Fields:
        if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "Genotype"):
            self._fail(tree, "expected `Genotype(...)`")
        if len(tree.args) > len(FIELDS):
            self._fail(tree.args[len(FIELDS)], f"expected at most {len(FIELDS)} arguments")
        by_name = dict(zip(FIELDS, tree.args, strict=False))
        for keyword in tree.keywords:
            name = keyword.arg or ""
            if name not in FIELDS:
                self._fail(keyword, f"unknown argument {shown(name)}", did_you_mean(name, FIELDS) or FORM)
            if name in by_name:
                self._fail(keyword, f"`{name}` is given twice")
            by_name[name] = keyword.value
        for name in FIELDS:
            if name not in by_name:
                self._fail(tree, f"`{name}` is missing")
        normal, normal_concat, reduce, reduce_concat = (by_name[name] for name in FIELDS)
        return self._pairs(normal), self._numbers(normal_concat), self._pairs(reduce), self._numbers(reduce_concat)

    def _items(self, node: ast.expr) -> list[ast.expr]:
        if not isinstance(node, ast.List | ast.Tuple):
            self._fail(node, "expected a list")
        return node.elts

    def _pairs(self, node: ast.expr) -> tuple[tuple[str, int], ...]:
        return tuple(self._pair(item) for item in self._items(node))

    def _pair(self, node: ast.expr) -> tuple[str, int]:
        if not (isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 2):
            self._fail(node, "expected a pair such as `('sep_conv_3x3', 0)`")
        name, number = node.elts
        return self._name(name), self._number(number)

    def _name(self, node: ast.expr) -> str:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()):
            self._fail(node, "expected the name of an operation in quotes")
        return node.value

    def _numbers(self, node: ast.expr) -> tuple[int, ...]:
        """The numbers in a list, or in a range with one or two bounds."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
            return tuple(self._number(item) for item in self._items(node))
        if node.keywords or len(node.args) not in (1, 2):
            self._fail(node, "expected a range such as `range(2, 6)`")
        return tuple(range(*(self._number(end, LARGEST + 1) for end in node.args)))

    def _number(self, node: ast.expr, largest: int = LARGEST) -> int:
        if not (isinstance(node, ast.Constant) and type(node.value) is int):  # `True` is an instance of int
            self._fail(node, "expected a number")
        if node.value > largest:
            self._fail(node, f"should be at most {largest}")
        return node.value
