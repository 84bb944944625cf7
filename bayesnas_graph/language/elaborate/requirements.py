"""Evaluate `require` statements about edges.

In these statements, `edges`, `inputs` and `edge` are not ordinary names. The edges themselves are looked up once the
whole body has run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NoReturn

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate.evaluate import Evaluator
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import MotifNode
from bayesnas_graph.language.elaborate.wiring import (
    ClauseRequirement,
    CountRequirement,
    EdgeBetween,
    Requirement,
)
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.ast import EDGE_FUNCTIONS, is_about_edges

COUNTED = ("==", "<", "<=", ">", ">=")
FORMS = "write `inputs(h) == 2`, `edges <= 9`, or `edge(a, b)` with `and`, `or`, `not` and `implies`"

Literal = tuple[EdgeBetween, bool]
Clauses = list[tuple[Literal, ...]]  # all hold, and each holds if one of its literals does


def requirements(evaluator: Evaluator, statement: ast.RequireEdges, scope: NameScope) -> Iterator[Requirement]:
    """The requirements that a statement adds. Raises NasError, already reported, if it is not valid."""
    rules = _Rules(evaluator, scope)
    condition = statement.condition
    name = condition.name if isinstance(condition, ast.Reference) and statement.implied is None else None
    if name is not None and scope.find(name) is None and not scope.module.knows(name):
        raise NasError([])  # incomplete: already reported by the check of names
    if statement.implied is None and rules.is_count(condition):
        assert isinstance(condition, ast.Chain), "a count is a comparison"
        yield rules.count(condition, statement)
        return
    clauses = rules.clauses(condition, statement.implied is None)
    if statement.implied is not None:
        clauses = rules.either([clauses, rules.clauses(statement.implied, True)], statement)
    for clause in clauses:
        if not clause:
            evaluator.fail("NAS308", "this can never hold", statement.span, "no edge can change it")
        if not any((edge, not kept) in clause for edge, kept in clause):
            yield ClauseRequirement(tuple(dict.fromkeys(clause)), statement.span)


class _Rules:
    def __init__(self, evaluator: Evaluator, scope: NameScope) -> None:
        self.evaluator = evaluator
        self.scope = scope

    def is_count(self, expr: ast.Expr) -> bool:
        return isinstance(expr, ast.Chain) and any(map(is_about_edges, expr.operands))

    def count(self, expr: ast.Chain, statement: ast.RequireEdges) -> CountRequirement:
        counted = expr.operands[0]
        if len(expr.operands) != 2 or not is_about_edges(counted) or is_about_edges(expr.operands[1]):
            self._invalid(expr, "the count comes first, and is compared with a number")
        nodes = self._nodes(counted) if isinstance(counted, ast.Call) else [None]
        if len(nodes) > 1:
            self._invalid(counted, "an edge is not a number")
        node = nodes[0]
        comparison = expr.operators[0]
        if comparison not in COUNTED:
            self._invalid(expr, f"a count cannot use `{comparison}`")
        bound = self.evaluator.integer(expr.operands[1], self.scope, "a number of edges", 0)
        return CountRequirement(node, comparison, bound, statement.span)

    def clauses(self, expr: ast.Expr, holds: bool) -> Clauses:
        """The clauses that say whether an expression holds."""
        self.evaluator.meter.step(expr.span)
        match expr:
            case ast.Prefix(operator="not", operand=operand):
                return self.clauses(operand, not holds)
            case ast.Logical(operator=operator, operands=operands):
                parts = [self.clauses(operand, holds) for operand in operands]
                if (operator == "and") is holds:
                    return [clause for part in parts for clause in part]
                return self.either(parts, expr)
            case ast.Call() if is_about_edges(expr):
                if isinstance(expr.function, ast.Reference) and expr.function.name != "edge":
                    self._invalid(expr, "a number, compare it")
                source, target = self._nodes(expr)
                return [((EdgeBetween(source, target, expr.span), holds),)]
            case _ if self.is_count(expr):
                self._invalid(expr, "a count cannot be part of another condition")
            case _ if is_about_edges(expr):
                self._invalid(expr, "a number, compare it")
        return [] if self.evaluator.truth(expr, self.scope) is holds else [()]

    def either(self, parts: list[Clauses], at: ast.Syntax) -> Clauses:
        """The clauses that say that all clauses of one of the parts hold."""
        self.evaluator.meter.step(at.span, prod(max(1, len(part)) for part in parts))
        return [tuple(literal for clause in clauses for literal in clause) for clauses in product(*parts)]

    def _nodes(self, call: ast.Call) -> list[MotifNode]:
        assert isinstance(call.function, ast.Reference), "`is_about_edges` was asked"
        name = call.function.name
        if call.keywords or len(call.arguments) != EDGE_FUNCTIONS[name]:
            wanted = "one node: `inputs(h)`" if name == "inputs" else "two nodes: `edge(a, b)`"
            self._invalid(call, f"takes {wanted}")
        nodes = []
        for argument in call.arguments:
            found = self.evaluator.nodes(argument, self.scope)
            if len(found) != 1:
                self._invalid(argument, f"{len(found)} nodes, expected one")
            nodes.append(found[0])
        return nodes

    def _invalid(self, expr: ast.Syntax, label: str) -> NoReturn:
        self.evaluator.fail("NAS214", "not a condition on edges", expr.span, label, FORMS)
