"""The widths of a network as multiples of one constant, so that a reader can change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayesnas_graph.codegen.emit.classes import Class, Classes
from bayesnas_graph.codegen.emit.units import Compute, Item, Unit, Use
from bayesnas_graph.ir import ModuleCall

_SIZES = ("channels", "inner", "width", "norm")


@dataclass(frozen=True)
class _Size:
    """A number of channels that is written out somewhere."""

    texts: list[str | None]
    index: int
    value: int


def name_widths(classes: Classes, root: Unit) -> str:
    """Tell all widths by a constant `WIDTH`, if they are multiples of the smallest; the line that defines it, or none.

    What comes into the network and what it gives are no widths of its own. If one width were told and another not, the
    constant could not be changed, so it is all of them or none.
    """
    sizes = [size for cls in classes for size in _sizes(classes, cls, root if cls is classes.of(root) else None)]
    smallest = min((size.value for size in sizes), default=1)
    if smallest == 1 or len(sizes) < 2 or any(size.value % smallest for size in sizes):
        return ""
    for size in sizes:
        times = size.value // smallest
        size.texts[size.index] = "WIDTH" if times == 1 else f"{times} * WIDTH"
    return f"\nWIDTH = {smallest}\n"


def _sizes(classes: Classes, cls: Class, root: Unit | None) -> Iterator[_Size]:
    for item in cls.unit.items:
        texts = cls.texts[item.name]
        given = classes.numbers(item)
        for i, number in enumerate(given):
            is_size = number.role in _SIZES or (number.role == "groups" and _is_depthwise(item))
            outside = root is not None and _is_outside(item, number.role, root)
            if texts[i] is None and is_size and type(number.value) is int and not outside and _is_module(item):
                yield _Size(texts, i, number.value)


def _is_module(item: Item) -> bool:
    return isinstance(item, Use) or (isinstance(item, Compute) and isinstance(item.call, ModuleCall))


def _is_depthwise(item: Item) -> bool:
    """Whether the groups of a convolution are its channels."""
    if not isinstance(item, Compute) or not isinstance(item.call, ModuleCall):
        return False
    return item.call.target == "Conv2d" and dict(item.call.kwargs).get("groups") == item.call.args[0]


def _is_outside(item: Item, role: str, root: Unit) -> bool:
    """Whether a number is that of an input or of an output of the network."""
    results = item.results if isinstance(item, Use) else (item.name,)
    if role == "channels" and any(name in root.inputs for name in item.inputs):
        return True
    return role == "width" and any(name in root.outputs for name in results)
