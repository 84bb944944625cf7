"""Match the arguments of a call with parameters, and check the arguments of primitives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction

from bayesnas_graph.diagnostics import Diagnostic, Label, did_you_mean
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Argument, Op
from bayesnas_graph.language.elaborate.values import MotifNode, Value, kind, show
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
    names = tuple(cls.arguments())
    required = frozenset(f.name for f in fields(cls) if f.default is MISSING)
    return Signature(cls.name, names, required)


def arrange(
    signature: Signature, arguments: Sequence[ast.Expr], keywords: Sequence[ast.Keyword], span: Span
) -> dict[str, ast.Expr] | Diagnostic:
    """The expression for each parameter that is passed, or a diagnostic about the call."""

    def wrong(message: str, at: Span, text: str, help: str | None = None) -> Diagnostic:
        defined = (Label(signature.span, "defined here"),) if signature.span else ()
        return Diagnostic("NAS202", message, Label(at, text), defined, help or f"usage: `{signature}`")

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
            help = did_you_mean(name, signature.parameters)
            return wrong(f"`{signature.name}` has no parameter `{name}`", keyword.name.span, "not a parameter", help)
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
        values[name] = Fraction(value) if argument.kind == "rational" and isinstance(value, int) else value
    return cls(**values)


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
    if not is_number:
        text, hint = f"this is {kind(value)}", None
        if isinstance(value, str) and value.strip().isdecimal():
            hint = f"write it without quotes: `{name} = {value.strip()}`"
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
