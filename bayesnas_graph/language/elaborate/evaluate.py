"""Evaluate expressions. Calls are in `calls.py`, arrays and sets in `arrays.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, Report, suggestion
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.ir.ops.plugins import plugin_op
from bayesnas_graph.language.elaborate.arithmetic import COMPARISONS, out_of_bounds
from bayesnas_graph.language.elaborate.arrays import element, items, option_set
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.calls import call, call_operation, call_set
from bayesnas_graph.language.elaborate.choosing import choose_number, compared, named, over_options
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.limits import Meter
from bayesnas_graph.language.elaborate.number_choices import Chosen, NumberOwner
from bayesnas_graph.language.elaborate.operators import arithmetic
from bayesnas_graph.language.elaborate.other_names import other_name
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    POISON,
    Builtin,
    LetFunction,
    MotifFunction,
    MotifNode,
    Namespace,
    Number,
    Operation,
    OptionSet,
    Perhaps,
    Poison,
    PrimitiveFunction,
    PythonFunction,
    Range,
    Selection,
    Sequence,
    SetFunction,
    Value,
    kind,
    nodes_in,
    parts_of,
    show,
    size_of,
)
from bayesnas_graph.language.syntax import ast


@dataclass
class Evaluator:
    """Evaluates expressions. Holds the state shared by a whole run: counters and caches."""

    report: Report
    meter: Meter
    allow_python: bool = False
    sets: dict[object, OptionSet] = field(default_factory=dict)  # sets evaluated so far, by their arguments
    file_numbers: NumberOwner = field(default_factory=lambda: NumberOwner(is_file=True))

    def __post_init__(self) -> None:
        self._constants: dict[tuple[Module, str], Value] = {}
        self._rules: dict[type[ast.Syntax], Callable[[Any, NameScope], Value]] = {
            ast.Reference: self._name,
            ast.Number: self._number,
            ast.Boolean: lambda e, _: e.value,
            ast.String: lambda e, _: e.value,
            ast.Member: self._member,
            ast.Call: lambda e, scope: call(self, e, scope),
            ast.Index: lambda e, scope: element(self, e, scope),
            ast.Prefix: self._prefix,
            ast.Arithmetic: lambda e, scope: arithmetic(self, e, scope),
            ast.Logical: self._logical,
            ast.Chain: self._chain,
            ast.RangeOf: self._range,
            ast.Conditional: self._conditional,
            ast.Choose: self._choose,
            ast.Optional: lambda e, scope: Perhaps(self.operation(e.operation, scope), e.span),
            ast.Array: lambda e, scope: tuple(value for value, _ in items(self, e, scope)),
            ast.SetLiteral: lambda e, scope: option_set(self, e, scope),
        }

    def value(self, expr: ast.Expr, scope: NameScope) -> Value:
        """The value of an expression. Raises NasError, already reported, if evaluation fails."""
        self.meter.step(expr.span)
        value = self._rules[type(expr)](expr, scope)
        if not isinstance(expr, ast.Reference | ast.Member) and parts_of(value):
            self.count(value, expr.span)
        return value

    def count(self, value: Value, span: Span) -> None:
        """Count the work on a value that was built or is compared: a step for each of its parts, written out."""
        self.meter.step(span, size_of(value, self.meter.left))

    # ---- values of a certain kind

    def as_number(self, expr: ast.Expr, value: Value) -> Number:
        """A value as a number that is known."""
        if isinstance(value, Chosen):
            help = "only arguments of operations can be chosen; repeat an operation with `block * n`"
            self.fail("NAS215", "this number cannot be chosen", expr.span, f"one of {show(value.values)[1:-1]}", help)
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            self.wrong_kind(expr, value, "a number")
        return value

    def integer(self, expr: ast.Expr, scope: NameScope, what: str, minimum: int | None = None) -> int:
        return self.as_integer(expr, self.value(expr, scope), what, minimum)

    def as_integer(self, expr: ast.Expr, value: Value, what: str, minimum: int | None = None) -> int:
        """A value as an integer that is not too small."""
        value = self.as_number(expr, value)
        if isinstance(value, Fraction):
            self.fail(
                "NAS204",
                f"{what} must be a whole number",
                expr.span,
                f"this is {value}",
                "use `floor(...)` or `ceil(...)`",
            )
        if minimum is not None and value < minimum:
            self.fail("NAS205", f"{what} must be at least {minimum}", expr.span, f"this is {value}")
        return value

    def truth(self, expr: ast.Expr, scope: NameScope) -> bool:
        value = self.value(expr, scope)
        if not isinstance(value, bool):
            self.wrong_kind(expr, value, "true or false")
        return value

    def operation(self, expr: ast.Expr, scope: NameScope) -> Operation:
        return self.as_operation(expr, self.value(expr, scope), scope)

    def options(self, expr: ast.Expr, scope: NameScope) -> OptionSet:
        value = self.value(expr, scope)
        if isinstance(value, SetFunction):
            value = call_set(self, value, ast.Call(expr.span, expr, (), ()), scope)
        if not isinstance(value, OptionSet):
            self.wrong_kind(expr, value, "a set to choose from", "write the candidates in braces: `choose { 16, 32 }`")
        return value

    def nodes(self, expr: ast.Expr, scope: NameScope) -> tuple[MotifNode, ...]:
        """A node, or the nodes of an array."""
        value = self.value(expr, scope)
        nodes = nodes_in(value)
        if nodes is None:
            if value == 0 and isinstance(expr, ast.Call) and isinstance(expr.function, ast.Reference):
                join = expr.function.name  # the sum of no nodes is that of no numbers
                self.fail("NAS210", f"`{join}` has nothing to join", expr.span, "no nodes", "this array is empty")
            help = None
            if not isinstance(value, int | Fraction | bool | str | tuple | Range | OptionSet):
                help = "apply an operation to nodes: `relu(x)`, `conv(16)(x)`"
            self.wrong_kind(expr, value, "a node", help)
        return nodes

    def iterate(self, expr: ast.Expr, scope: NameScope) -> Iterable[Value]:
        """The values that a `for` iterates over."""
        value = self.value(expr, scope)
        if isinstance(value, SetFunction):
            value = call_set(self, value, ast.Call(expr.span, expr, (), ()), scope)
        if isinstance(value, Range):
            self.meter.ahead(len(value), expr.span)
            return range(value.start, value.stop)
        if isinstance(value, OptionSet):
            return value.items
        if isinstance(value, tuple):
            return value
        self.wrong_kind(expr, value, "a range or an array", "write a range as `0..4` or an array as `[3, 5]`")

    # ---- names

    def _name(self, expr: ast.Reference, scope: NameScope) -> Value:
        value = scope.find(expr.name)
        if value is None:
            value = self._top(expr.name, scope.module)
        if value is None:
            value = self._plugin(expr)
        if value is None:
            if scope.module.may_define(expr.name):
                raise NasError([])
            other = other_name(expr.name, scope.module.knows)
            help = other.help if other else suggestion(self.report.nearest_name(expr.name, scope.visible))
            scope.root().names.setdefault(expr.name, POISON)  # one message is enough
            self.fail("NAS101", f"unknown name `{expr.name}`", expr.span, "not defined", help)
        if isinstance(value, Poison):
            raise NasError([])
        return value

    def _top(self, name: str, module: Module) -> Value | None:
        """The value of a name at the top of a file."""
        if name in module.lost:
            return POISON
        if name in module.aliases:
            return Namespace(module.aliases[name][0])
        definition = module.find(name)
        if definition is not None:
            return self._defined(*definition)
        if name in PRIMITIVES:
            return PrimitiveFunction(PRIMITIVES[name])
        return Builtin(name) if name in BUILTINS else None

    def _plugin(self, expr: ast.Reference) -> Value | None:
        """The operation of a plug-in; its errors are shown where it is used."""
        try:
            found = plugin_op(expr.name)
        except NasError as error:
            problem = error.diagnostics[0]
            self.fail(problem.code, problem.message, expr.span, "used here", problem.help)
        return None if found is None else PrimitiveFunction(found)

    def _defined(self, module: Module, definition: ast.Definition) -> Value:
        if isinstance(definition, ast.Motif):
            return MotifFunction(module, definition)
        if isinstance(definition, ast.SetDefinition):
            return SetFunction(module, definition)
        if isinstance(definition, ast.PythonOperation):
            return PythonFunction(module, definition)
        if definition.parameters is not None:
            return LetFunction(module, definition)
        key = module, definition.name.name
        if key not in self._constants:
            self._constants[key] = POISON  # seen by a constant that depends on itself or has failed before
            with self.meter.deeper(definition.name.name, definition.span):
                self._constants[key] = named(self.value(definition.value, NameScope(module)), key[1])
        elif isinstance(self._constants[key], Poison) and key[1] in self.meter.inside:
            self.report.fail(_needs_itself(definition, self.meter.inside))
        return self._constants[key]

    def _member(self, expr: ast.Member, scope: NameScope) -> Value:
        owner = self.value(expr.owner, scope)
        if not isinstance(owner, Namespace):
            is_count = expr.name.name == "inputs"
            hint = "write `inputs(...)`" if is_count else "only files imported with `as` have members"
            self.wrong_kind(expr.owner, owner, "an imported file", hint)
        name = expr.name.name
        if name not in owner.module.own:
            if owner.module.may_define(name):
                raise NasError([])
            file = owner.module.file.source.name
            help = suggestion(self.report.nearest_name(name, lambda: owner.module.own))
            self.fail("NAS101", f"`{file}` does not define `{name}`", expr.name.span, "not defined there", help)
        return self._defined(owner.module, owner.module.own[name])

    # ---- numbers and truth

    def _number(self, expr: ast.Number, _: NameScope) -> Value:
        if out_of_bounds(expr.value):
            self.meter.number_too_large(expr.span)
        return expr.value

    def _prefix(self, expr: ast.Prefix, scope: NameScope) -> Value:
        if expr.operator == "not":
            return not self.truth(expr.operand, scope)
        value = self.value(expr.operand, scope)
        self._check_number(expr.operand, value)
        return over_options(self, [value], _negated, expr.span) if expr.operator == "-" else value

    def _check_number(self, expr: ast.Expr, value: Value) -> None:
        if isinstance(value, bool) or not isinstance(value, int | Fraction | Chosen):
            self.wrong_kind(expr, value, "a number")

    def _logical(self, expr: ast.Logical, scope: NameScope) -> Value:
        decisive = expr.operator == "or"
        return next((decisive for operand in expr.operands if self.truth(operand, scope) is decisive), not decisive)

    def _chain(self, expr: ast.Chain, scope: NameScope) -> Value:
        values = [self.value(operand, scope) for operand in expr.operands]
        if all(operator == ">" for operator in expr.operators) and not isinstance(values[0], int | Fraction | Chosen):
            steps: list[Operation] = []
            for operand, value in zip(expr.operands, values, strict=True):
                step = self.as_operation(operand, value, scope)
                steps += step.steps if isinstance(step, Sequence) and step.repeated else (step,)
            return Sequence(tuple(steps), expr.span)
        if len(values) > 2:
            self.fail(
                "NAS203",
                "comparisons cannot be chained",
                expr.span,
                "compares more than two values",
                "join them with `and`",
            )
        left, right, operator = values[0], values[1], expr.operators[0]
        if operator in ("==", "!="):
            self.count(left, expr.span)
            equal = compared(self, left, right, lambda a, b: kind(a) == kind(b) and a == b, expr.span)
            return equal if operator == "==" else not equal
        for operand, value in zip(expr.operands, values, strict=True):
            self._check_number(operand, value)
        return compared(self, left, right, COMPARISONS[operator], expr.span)

    def _range(self, expr: ast.RangeOf, scope: NameScope) -> Value:
        start = self.integer(expr.start, scope, "the start of a range")
        return Range(start, self.integer(expr.stop, scope, "the end of a range"))

    def _conditional(self, expr: ast.Conditional, scope: NameScope) -> Value:
        return self.value(expr.yes if self.truth(expr.condition, scope) else expr.no, scope)

    # ---- operations

    def _choose(self, expr: ast.Choose, scope: NameScope) -> Value:
        limit = None if expr.limit is None else self.integer(expr.limit, scope, "the number to choose", 1)
        options = self.options(expr.options, scope)
        if options.numbers and (limit or 1) == 1:
            return choose_number(self, expr, options.numbers, scope)
        if options.numbers:
            self.fail(
                "NAS215", "exactly one of several numbers can be chosen", expr.span, help="write `choose { ... }`"
            )
        if not options.items:
            self.fail(
                "NAS304",
                "choice has no candidates",
                expr.span,
                "nothing to choose from",
                "add at least one operation",
            )
        count = len(options.items)
        if expr.exact and expr.limit is not None and limit is not None and limit > count:
            self.fail(
                "NAS205",
                f"the number to choose must be at most {count}",
                expr.limit.span,
                f"this is {limit}",
                f"there are only {count} candidates" if count > 1 else "there is one candidate",
            )
        least = limit if expr.exact and limit else 0
        return Selection(options.operations, limit, expr.span, options.names, least)

    def as_operation(self, expr: ast.Expr, value: Value, scope: NameScope) -> Operation:
        """A value as an operation: a bare name is a call without arguments."""
        if isinstance(value, Operation):
            return value
        if isinstance(value, PrimitiveFunction | MotifFunction | PythonFunction):
            return call_operation(self, value, ast.Call(expr.span, expr, (), ()), scope)
        help = None
        if isinstance(value, OptionSet | SetFunction):
            help = "to choose from it, write `choose { ... }`"
        elif kind(value) == "a choice of numbers":
            help = "a number is an argument of an operation: `conv(k = choose { 3, 5 })`"
        elif isinstance(value, LetFunction | Builtin):
            help = f"call it: `{show(value)}(...)`"
        elif isinstance(value, MotifNode):
            help = "apply an operation to a node with `:`: `node y = x : relu`"
        self.wrong_kind(expr, value, "an operation", help)

    # ---- problems

    def fail(self, code: str, message: str, span: Span, text: str = "", help: str | None = None) -> NoReturn:
        """Report a problem and abandon the expression."""
        self.report.fail(Diagnostic(code, message, Label(span, text), help=help))

    def wrong_kind(self, expr: ast.Expr, value: Value, wanted: str, help: str | None = None) -> NoReturn:
        """Report that a value is not of the expected kind."""
        if isinstance(value, Poison):
            raise NasError([])
        if isinstance(value, str) and value.isidentifier() and not wanted.startswith("true"):
            help = f"write a name without quotes: `{value}`"
        self.fail("NAS203", f"expected {wanted}", expr.span, f"this is {kind(value)}", help)


def _negated(values: Iterable[Value]) -> Value:
    """The negative of a single number."""
    (number,) = values
    assert isinstance(number, int | Fraction), "checked before"
    return -number


def _needs_itself(definition: ast.Let, inside: list[str]) -> Diagnostic:
    name = definition.name.name
    route = " -> ".join([*inside[inside.index(name) :], name])
    label = Label(definition.span, "defined here")
    return Diagnostic("NAS402", f"`{name}` depends on itself: {route}", label, help="remove one of these uses")
