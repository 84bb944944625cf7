"""The functions of the language: on numbers, arrays, inputs and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, TypeGuard

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import KINDS, TokenShape, named_shape
from bayesnas_graph.language.elaborate.arithmetic import ROUNDINGS
from bayesnas_graph.language.elaborate.values import MotifNode, Number, OptionSet, Range, Value, ValueType, kind

BUILTINS: dict[str, tuple[str, str]] = {
    "min": ("min(a, b, ...)", "The smallest of several numbers or of an array."),
    "max": ("max(a, b, ...)", "The largest of several numbers or of an array."),
    "floor": ("floor(x)", "Round down to a whole number."),
    "ceil": ("ceil(x)", "Round up to a whole number."),
    "round": ("round(x)", "Round to the nearest whole number; halves round up."),
    "len": ("len(array)", "The number of elements of an array, range or set."),
    "channels": ("channels(x)", "The number of channels of a motif input, or the length of a vector."),
    "height": ("height(x)", "The height of a motif input."),
    "width": ("width(x)", "The width of a motif input."),
    "length": ("length(x)", "The length of a motif input that is a sequence or a vector."),
    "image": ("image(channels, height, width)", "The type of an image; the width can be omitted."),
    "sequence": ("sequence(channels, length)", "The type of a sequence, such as a signal: channels at every position."),
    "tokens": ("tokens(length)", "The type of tokens: whole numbers, such as the words of a text, for `embedding`."),
    "vector": ("vector(length)", "The type of a vector."),
    "classes": ("classes(count)", "The type of a vector with one score per class."),
    "labels": ("labels(count)", "The type of a vector with a score per label, of which a sample may have several."),
    "map": ("map(count, height, width)", "The type of a class for every pixel; the width can be omitted."),
    "values": ("values(count)", "The type of a vector of numbers that are predicted: a regression."),
}

_VECTORS: dict[str, Literal["vector", "classes", "values", "labels"]] = {
    "vector": "vector",
    "classes": "classes",
    "values": "values",
    "labels": "labels",
}
# All others take one argument.
_ARITY = {"min": (1, None), "max": (1, None), "image": (2, 3), "map": (2, 3), "sequence": (2, 2)}


def call_builtin(name: str, values: Sequence[Value], spans: Sequence[Span], span: Span) -> Value | Diagnostic:
    """The result of a function, or a diagnostic about its arguments."""
    least, most = _ARITY.get(name, (1, 1))
    if len(values) < least or (most is not None and len(values) > most):
        label = Label(span, f"{len(values)} given")
        return Diagnostic(
            "NAS202", f"wrong number of arguments for `{name}`", label, help=f"usage: `{BUILTINS[name][0]}`"
        )
    return _RULES[name](name, values, spans)


def _extreme(name: str, values: Sequence[Value], spans: Sequence[Span]) -> Value | Diagnostic:
    numbers: list[Number] = []
    for value, span in zip(values, spans, strict=True):
        for item in value if isinstance(value, tuple) else (value,):
            if not _is_number(item):
                return _expected("a number", item, span)
            numbers.append(item)
    if not numbers:
        return Diagnostic("NAS208", f"`{name}` of an empty array", Label(spans[0], "this array is empty"))
    return min(numbers) if name == "min" else max(numbers)


def _round(name: str, values: Sequence[Value], spans: Sequence[Span]) -> Value | Diagnostic:
    return ROUNDINGS[name](values[0]) if _is_number(values[0]) else _expected("a number", values[0], spans[0])


def _len(_: str, values: Sequence[Value], spans: Sequence[Span]) -> Value | Diagnostic:
    value = values[0]
    if isinstance(value, tuple | Range):
        return len(value)
    return len(value.items) if isinstance(value, OptionSet) else _expected("an array", value, spans[0])


def _measure(name: str, values: Sequence[Value], spans: Sequence[Span]) -> Value | Diagnostic:
    node = values[0]
    if not isinstance(node, MotifNode):
        return _expected("an input", node, spans[0])
    if node.shape is None:
        return Diagnostic(
            "NAS203",
            f"`{name}` can be used only on inputs",
            Label(spans[0], "a node inside the motif"),
            help="use an input of the motif, or move what follows into its own motif",
        )
    axes = {"channels": {1: 0, 2: 0, 3: 0}, "height": {3: 1}, "width": {3: 2}, "length": {1: 0, 2: 1}}[name]
    rank = len(node.shape)
    if rank not in axes:
        return Diagnostic("NAS211", f"{KINDS[rank]} has no {name}", Label(spans[0], named_shape(node.shape)))
    return node.shape[axes[rank]]


def _type(name: str, values: Sequence[Value], spans: Sequence[Span]) -> Value | Diagnostic:
    sizes: list[int] = []
    for value, span in zip(values, spans, strict=True):
        if not _is_number(value):
            return _expected("a number", value, span)
        if isinstance(value, Fraction):
            return Diagnostic("NAS204", f"sizes of `{name}` must be whole numbers", Label(span, f"this is {value}"))
        if value < 1:
            return Diagnostic("NAS205", f"sizes of `{name}` must be at least 1", Label(span, f"this is {value}"))
        sizes.append(value)
    if name in ("image", "map"):
        return ValueType("image" if name == "image" else "map", (sizes[0], sizes[1], sizes[-1]))
    if name == "sequence":
        return ValueType("sequence", (sizes[0], sizes[1]))
    if name == "tokens":
        return ValueType("tokens", TokenShape(sizes))
    return ValueType(_VECTORS[name], (sizes[0],))


_RULES: dict[str, Callable[[str, Sequence[Value], Sequence[Span]], Value | Diagnostic]] = {
    "min": _extreme,
    "max": _extreme,
    "floor": _round,
    "ceil": _round,
    "round": _round,
    "len": _len,
    "channels": _measure,
    "height": _measure,
    "width": _measure,
    "length": _measure,
    "image": _type,
    "sequence": _type,
    "tokens": _type,
    "vector": _type,
    "classes": _type,
    "labels": _type,
    "map": _type,
    "values": _type,
}


def _is_number(value: Value) -> TypeGuard[Number]:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _expected(wanted: str, value: Value, span: Span) -> Diagnostic:
    return Diagnostic("NAS203", f"expected {wanted}", Label(span, f"this is {kind(value)}"))
