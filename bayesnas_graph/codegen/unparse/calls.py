"""Operations with their arguments as text: what differs from the defaults, by position where that is customary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction

from bayesnas_graph.ir import Op, Value
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate.arithmetic import out_of_bounds

# What people give by position: sizes and windows. All else is clearer with its name.
POSITIONAL = ("width", "k", "stride", "n", "p")


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a call: its parameter, its text, and the text that need not be written."""

    name: str
    text: str | None  # none where it is left out
    default: str | None = None
    positional: bool = False


def called(name: str, given: Sequence[Given]) -> str:
    """A call as text.

    >>> width, k = Given("width", "16", positional=True), Given("k", "3", "3", positional=True)
    >>> stride = Given("stride", "2", "1", positional=True)
    >>> called("conv", [width, k]), called("conv", [width, k, stride])
    ('conv(16)', 'conv(16, 3, 2)')
    >>> called("conv", [Given("width", None), stride])
    'conv(stride = 2)'
    """
    needed = [i for i, argument in enumerate(given) if argument.text not in (None, argument.default)]
    count = 0  # of arguments by position
    for i, argument in enumerate(given):
        is_plain = argument.positional or (argument.text == argument.name and i == count)  # as in `bn(affine)`
        if argument.text is None or not is_plain:
            break
        count = i + 1 if i in needed else count
    told = [argument.text or "" for argument in given[:count]]
    told += [f"{given[i].name} = {given[i].text}" for i in needed if i >= count]
    return f"{name}({', '.join(told)})" if told else name


def arguments(op: Op, texts: Sequence[str]) -> list[Given]:
    """The arguments of a primitive, of which `texts` are those that are not left out."""
    left = iter(texts)
    found: list[Given] = []
    for name, value in op.settings().items():
        told = None if value is None else next(left)
        default = default_of(op, name)
        is_first_number = not found and not isinstance(value, bool)
        shown = None if default is None else literal(default)
        found.append(Given(name, told, shown, name in POSITIONAL or (is_first_number and shown is None)))
    return found


def default_of(op: Op, name: str) -> Value:
    """What an argument is if it is left out; None where it must be given or has no fixed value."""
    if isinstance(op, PythonOp):
        return None
    (default,) = (field.default for field in fields(op) if field.name == name)
    return None if default is MISSING else default


def literal(value: Value) -> str:
    """A number or truth value as text. Raises ValueError for a number that the language does not have.

    >>> literal(Fraction(1, 100_000)), literal(Fraction(1, 3)), literal(True), literal(-0.5)
    ('0.00001', '1 / 3', 'true', '-0.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value or 0)
    if out_of_bounds(exact) or (isinstance(value, float) and exact.denominator == 1):
        raise ValueError(f"`{value}` is no number that a text can have")
    if exact.denominator == 1:
        return str(exact)
    digits = next((n for n in range(1, 19) if 10**n % exact.denominator == 0), None)
    if digits is None:
        return f"{exact.numerator} / {exact.denominator}"
    whole = f"{abs(exact.numerator) * 10**digits // exact.denominator:0{digits + 1}d}"
    return f"{'-' if exact < 0 else ''}{whole[:-digits]}.{whole[-digits:]}"
