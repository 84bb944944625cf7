"""Writes widths in terms of a parameter of the network, as one constant that a reader can change.

Numbers alone cannot tell what they follow from: 64 may be eight times a width of 8, or just 64. So the network is
elaborated with other values of the parameter too. What the sources have in common is written once, and a number that
is different in them must be the same simple expression of the parameter in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bayesnas_graph.codegen.align import aligned
from bayesnas_graph.codegen.columns import Term
from bayesnas_graph.codegen.emit.classes import Classes
from bayesnas_graph.codegen.names import identifier
from bayesnas_graph.codegen.units import OpUse, units
from bayesnas_graph.ir import Graph, Plain

MIN_SIZES = 2  # numbers of channels that depend on a parameter, for a constant to be worth it
_SIZES = ("channels", "inner", "width", "norm")


@dataclass(frozen=True)
class Scaling:
    """A parameter of a network, and the graphs of the network for some other values of it."""

    parameter: str
    value: int
    graphs: Mapping[int, Graph]


@dataclass(frozen=True)
class _Place:
    """A number that is printed as it is."""

    terms: list[Term | None]
    index: int
    role: str
    value: Plain


def name_widths(classes: Classes, scalings: Iterable[Scaling]) -> str:
    """Write widths in terms of the first parameter for which that is possible. Return the definition of the constant.

    A parameter that is only a factor, such as a width multiplier of 1, would make the widths harder to read.
    With another value of the constant, the source is that of the network with another value of the parameter.
    """
    for scaling in scalings:
        found = _expressions(classes, scaling)
        is_width = any(template.startswith("{}") for _, template in found)
        if is_width and sum(place.role in _SIZES for place, _ in found) >= MIN_SIZES:
            name = classes.constant = identifier(scaling.parameter.upper(), classes.names)
            for place, template in found:
                place.terms[place.index] = Term(name, template, is_global=True)
            return f"\n{name} = {scaling.value}\n"
    return ""


def _expressions(classes: Classes, scaling: Scaling) -> list[tuple[_Place, str]]:
    """The numbers that depend on a parameter, with their expressions; empty if one of them has none."""
    others = [Classes(aligned(units(graph))) for graph in scaling.graphs.values()]
    form = _form(classes)
    if any(_form(other) != form for other in others):
        return []
    values = scaling.value, *scaling.graphs
    found = []
    for same in zip(*(_places(each) for each in (classes, *others)), strict=True):
        numbers = [place.value for place in same]
        if all(number == numbers[0] for number in numbers):
            continue
        template = _template(values, numbers)
        if template is None:
            return []
        found.append((same[0], template))
    return found


def _form(classes: Classes) -> list[object]:
    """The source without its numbers."""
    form: list[object] = []
    for cls in classes:
        form.append((cls.unit.scope.kind, [parameter.declaration for parameter in cls.parameters]))
        for item in cls.unit.items:
            call = item.call.skeleton if isinstance(item, OpUse) else None
            form.append((item.name, item.inputs, call, cls.terms[item.name]))
    return form


def _places(classes: Classes) -> Iterator[_Place]:
    for cls in classes:
        for item in cls.unit.items:
            terms = cls.terms[item.name]
            for i, number in enumerate(classes.numbers(item)):
                if terms[i] is None:
                    yield _Place(terms, i, number.role, number.value)


def _template(values: Iterable[int], numbers: Iterable[Plain]) -> str | None:
    """An expression for numbers in terms of the values of a parameter; None if there is no simple one.

    >>> _template([8, 16, 24], [32, 64, 96]), _template([8, 16, 24], [4, 8, 12]), _template([8, 16, 24], [9, 17, 25])
    ('4 * {}', '{} // 2', '{} + 1')
    >>> _template([8, 16, 24], [64, 256, 576])
    """
    pairs = [(value, number) for value, number in zip(values, numbers, strict=True) if type(number) is int]
    (x0, y0), (x1, y1), *_ = pairs
    slope = Fraction(y1 - y0, x1 - x0)
    shift = y0 - slope * x0
    if any(y != slope * x + shift for x, y in pairs) or slope <= 0 or shift < 0 or (shift and slope.denominator > 1):
        return None
    text = "{}" if slope.numerator == 1 else f"{slope.numerator} * {{}}"
    return text + (f" // {slope.denominator}" if slope.denominator > 1 else f" + {shift}" if shift else "")
