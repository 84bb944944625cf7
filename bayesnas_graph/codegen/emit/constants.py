"""Writes the widths of a network as multiples of one constant, so that a reader can change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayesnas_graph.codegen.columns import Term
from bayesnas_graph.codegen.emit.classes import Class, Classes
from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, results
from bayesnas_graph.ir import ModuleCall, NumberArgument

_SIZES = ("channels", "inner", "width", "norm")


@dataclass(frozen=True)
class _Size:
    """A number of channels that is printed somewhere."""

    terms: list[Term | None]
    index: int
    value: int


def name_widths(classes: Classes, root: Unit) -> str:
    """Write all widths in terms of a constant `WIDTH`, if they are multiples of the smallest. Return its definition.

    The sizes of the inputs and outputs of the network do not count. All other widths must be multiples: if one of them
    did not depend on the constant, changing the constant would break the network.
    """
    sizes = [size for cls in classes for size in _sizes(classes, cls, root if cls is classes.of(root) else None)]
    smallest = min((size.value for size in sizes), default=1)
    if smallest == 1 or len(sizes) < 2 or any(size.value % smallest for size in sizes):
        return ""
    for size in sizes:
        times = size.value // smallest
        size.terms[size.index] = Term("WIDTH", "{}" if times == 1 else f"{times} * {{}}")
    return f"\nWIDTH = {smallest}\n"


def _sizes(classes: Classes, cls: Class, root: Unit | None) -> Iterator[_Size]:
    for item in cls.unit.items:
        terms = cls.terms[item.name]
        numbers = classes.numbers(item)
        for i, number in enumerate(numbers):
            is_size = number.role in _SIZES or _is_depthwise(item, number)
            outside = root is not None and _is_outside(item, number.role, root)
            if terms[i] is None and is_size and type(number.value) is int and not outside and _is_module(item):
                yield _Size(terms, i, number.value)


def _is_module(item: Item) -> bool:
    return isinstance(item, UnitUse) or (isinstance(item, OpUse) and isinstance(item.call, ModuleCall))


def _is_depthwise(item: Item, number: NumberArgument) -> bool:
    """Return whether a number is the groups of a convolution with a group for every channel."""
    if not isinstance(item, OpUse) or number.role != "groups" or number.value == 1:
        return False
    return NumberArgument("channels", number.value) in item.call.numbers


def _is_outside(item: Item, role: str, root: Unit) -> bool:
    """Return whether a number is the size of an input or output of the network."""
    if role == "channels" and any(name in root.inputs for name in item.inputs):
        return True
    return role == "width" and any(name in root.outputs for name in results(item))
