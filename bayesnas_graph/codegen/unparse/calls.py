"""Operations with their arguments as text: only what differs from the defaults, by position where that is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bayesnas_graph.ir import Op, Value
from bayesnas_graph.language.elaborate.arithmetic import out_of_bounds
from bayesnas_graph.language.elaborate.decimals import decimal
from bayesnas_graph.language.elaborate.values import is_string

# Arguments that people give by position: sizes and windows. All others are clearer with their names.
POSITIONAL = ("width", "k", "stride", "n", "p")


@dataclass(frozen=True, slots=True)
class CallArgument:
    """An argument of a call: its name, its text, and its default, which need not be written."""

    name: str
    text: str | None  # None if it is omitted
    default: str | None = None
    positional: bool = False


def call_text(name: str, arguments: Sequence[CallArgument]) -> str:
    """A call as text.

    >>> width = CallArgument("width", "16", positional=True)
    >>> k = CallArgument("k", "3", "3", positional=True)
    >>> stride = CallArgument("stride", "2", "1", positional=True)
    >>> call_text("conv", [width, k]), call_text("conv", [width, k, stride])
    ('conv(16)', 'conv(16, 3, 2)')
    >>> call_text("conv", [CallArgument("width", None), stride])
    'conv(stride = 2)'
    """
    needed = [i for i, argument in enumerate(arguments) if argument.text not in (None, argument.default)]
    count = 0  # of positional arguments
    for i, argument in enumerate(arguments):
        is_plain = argument.positional or (argument.text == argument.name and i == count)  # as in `bn(affine)`
        if argument.text is None or not is_plain:
            break
        count = i + 1 if i in needed else count
    texts = [argument.text or "" for argument in arguments[:count]]
    texts += [f"{arguments[i].name} = {arguments[i].text}" for i in needed if i >= count]
    return f"{name}({', '.join(texts)})" if texts else name


def call_arguments(op: Op, texts: Sequence[str]) -> list[CallArgument]:
    """The arguments of a primitive, with `texts` for those that are not omitted."""
    next_texts = iter(texts)
    arguments: list[CallArgument] = []
    for name, value in op.settings().items():
        text = None if value is None else next(next_texts)
        default = op.default(name)
        is_first_number = not arguments and not isinstance(value, bool)
        shown = None if default is None else literal(default)
        arguments.append(CallArgument(name, text, shown, name in POSITIONAL or (is_first_number and shown is None)))
    return arguments


def literal(value: Value) -> str:
    """A value as text. Raises ValueError for a number or string that the language cannot express.

    >>> literal(Fraction(1, 100_000)), literal(Fraction(1, 3)), literal(True), literal(-0.5), literal((3, "same"))
    ('0.00001', '1 / 3', 'true', '-0.5', '[3, "same"]')
    """
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, str):
        if not is_string(value):
            raise ValueError("a string with a quote or a line break cannot be written")
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value or 0)
    if out_of_bounds(exact) or (isinstance(value, float) and exact.denominator == 1):
        raise ValueError(f"`{value}` cannot be written as a number")
    return decimal(exact) or f"{exact.numerator} / {exact.denominator}"
