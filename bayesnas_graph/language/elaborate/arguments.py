"""Match the arguments of a call with parameters, and check the arguments of primitives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from weakref import WeakKeyDictionary

from bayesnas_graph.diagnostics import Diagnostic, Fix, Label, nearest, suggestion
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import Argument, Op
from bayesnas_graph.language.elaborate.values import MotifNode, Range, Value, kind, show
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of something callable."""

    name: str
    parameters: tuple[str, ...]
    required: frozenset[str]
    span: Span | None = None  # where it is defined; None for primitives

    def __str__(self) -> str:
        shown = ", ".join(name if name in self.required else f"{name} = ..." for name in self.parameters)
        return f"{self.name}({shown})" if shown else self.name


def signature_of(definition: ast.Motif | ast.SetDefinition | ast.PythonOperation | ast.Let) -> Signature:
    """The signature of a definition in the language."""
    parameters = definition.parameters or ()
    names = tuple(p.name.name for p in parameters)
    required = frozenset(p.name.name for p in parameters if p.default is None)
    return Signature(definition.name.name, names, required, definition.name.span)


def primitive_signature(cls: type[Op]) -> Signature:
    """The signature of a primitive."""
    known = _SIGNATURES.get(cls)
    if known is None:
        required = frozenset(f.name for f in fields(cls) if f.default is MISSING)
        known = _SIGNATURES[cls] = Signature(cls.name, tuple(cls.arguments()), required)
    return known


_SIGNATURES: WeakKeyDictionary[type[Op], Signature] = WeakKeyDictionary()


def arrange(
    signature: Signature, arguments: Sequence[ast.Expr], keywords: Sequence[ast.Keyword], span: Span
) -> dict[str, ast.Expr] | Diagnostic:
    """The expression for each parameter that is passed, or a diagnostic about the call."""

    def wrong(message: str, at: Span, text: str, near: str | None = None) -> Diagnostic:
        defined = (Label(signature.span, "defined here"),) if signature.span else ()
        help, fix = suggestion(near) or f"usage: `{signature}`", Fix(at, near) if near else None
        return Diagnostic("NAS202", message, Label(at, text), defined, help, fix=fix)

    if len(arguments) > len(signature.parameters):
        extra = arguments[len(signature.parameters)]
        takes = {0: "no arguments", 1: "one argument"}.get(
            len(signature.parameters), f"{len(signature.parameters)} arguments"
        )
        return wrong(f"`{signature.name}` takes {takes}, got {len(arguments)}", extra.span, "one too many")
    by_name = dict(zip(signature.parameters, arguments, strict=False))
    for keyword in keywords:
        name = keyword.name.name
        if name not in signature.parameters:
            near = nearest(name, signature.parameters)
            return wrong(f"`{signature.name}` has no parameter `{name}`", keyword.name.span, "not a parameter", near)
        if name in by_name:
            return wrong(f"argument `{name}` is given twice", keyword.span, "duplicate")
        by_name[name] = keyword.value
    missing = [name for name in signature.parameters if name in signature.required and name not in by_name]
    if missing:
        listed = " and ".join(f"`{name}`" for name in missing)
        return wrong(f"`{signature.name}` needs {listed}", span, f"missing {listed}")
    return by_name


def accept(cls: type[Op], arguments: Mapping[str, Value], spans: Mapping[str, Span]) -> Op | Diagnostic:
    """The primitive with these arguments, or a diagnostic about an invalid one."""
    declared = cls.arguments()
    values: dict[str, Value] = {}
    for name, value in arguments.items():
        argument = declared[name]
        problem = _problem(cls.name, name, argument, value, spans[name])
        if problem is not None:
            return problem
        values[name] = _canonical(argument, value)
    return cls(**values).simplified()


def _canonical(argument: Argument, value: Value) -> Value:
    """A value as an operation has it: `[3, 3]` is 3."""
    if isinstance(value, tuple):
        return value[0] if value[0] == value[1] else value
    return Fraction(value) if argument.kind == "rational" and isinstance(value, int) else value


def _problem(op: str, name: str, argument: Argument, value: Value, span: Span) -> Diagnostic | None:
    if isinstance(value, MotifNode):
        help = f"pass arguments first, then nodes: `{op}(...)({value.name})`"
        return Diagnostic("NAS203", f"`{name}` of `{op}` cannot be a node", Label(span, "this is a node"), help=help)
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if argument.kind == "boolean":
        if isinstance(value, bool):
            return None
        return Diagnostic(
            "NAS203",
            f"`{name}` of `{op}` must be true or false",
            Label(span, f"this is {kind(value)}"),
            help="write `true` or `false`",
        )
    if isinstance(value, str) and value in argument.words:
        return None
    if isinstance(value, tuple) and argument.is_pair:
        return _problem_in_pair(op, name, argument, value, span)
    if argument.kind == "word" or (not is_number and argument.words):
        words = " or ".join(f'"{word}"' for word in argument.words)
        close = nearest(value, argument.words) if isinstance(value, str) else None
        hint = suggestion(f'"{close}"') if close else None
        fix = Fix(span, f'"{close}"') if close and span.text == f'"{value}"' else None
        text = f"this is {show(value)}" if isinstance(value, str) else f"this is {kind(value)}"
        wanted = words if argument.kind == "word" else f"a number, {words}"
        message = f"`{name}` of `{op}` must be {wanted}"
        return Diagnostic("NAS203", message, Label(span, text), help=hint, fix=fix)
    if not is_number:
        text, hint = f"this is {kind(value)}", None
        if isinstance(value, str) and value.strip().isdecimal():
            hint = f"write it without quotes: `{name} = {value.strip()}`"
        elif isinstance(value, Range) and argument.is_pair and len(value) == 2:
            hint = f"for the height and the width, write an array: `{name} = [{value.start}, {value.stop}]`"
        elif kind(value) == "a set":
            hint = f"to choose one of the numbers, write `{name} = choose {{ ... }}`"
        return Diagnostic("NAS203", f"`{name}` of `{op}` must be a number", Label(span, text), help=hint)
    assert isinstance(value, int | Fraction)
    if argument.kind == "integer" and isinstance(value, Fraction):
        return Diagnostic(
            "NAS204",
            f"`{name}` of `{op}` must be a whole number",
            Label(span, f"this is {show(value)}"),
            help="use `floor(...)`, `ceil(...)` or `round(...)`",
        )
    if argument.minimum is not None and value < argument.minimum:
        bound = f"at least {argument.minimum}"
    elif argument.maximum is not None and value > argument.maximum:
        bound = f"at most {argument.maximum}"
    else:
        return None
    return Diagnostic("NAS205", f"`{name}` of `{op}` must be {bound}", Label(span, f"this is {show(value)}"))


def _problem_in_pair(op: str, name: str, argument: Argument, pair: tuple[Value, ...], span: Span) -> Diagnostic | None:
    """A problem in a value that is an array: its length, or one of its elements."""
    if len(pair) != 2:
        label = Label(span, f"this has {counted(len(pair), 'element')}")
        help = f"write a number, or one for the height and one for the width: `{name} = [3, 5]`"
        return Diagnostic("NAS218", f"`{name}` of `{op}` must be a number or an array of two", label, help=help)
    element = replace(argument, words=(), is_pair=False)
    problems = (_problem(op, f"{name}[{i}]", element, value, span) for i, value in enumerate(pair))
    return next((problem for problem in problems if problem is not None), None)
