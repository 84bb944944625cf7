"""Units that differ in numbers only are one class: the numbers that differ become its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from keyword import iskeyword

from bayesnas_graph.emit.units import Compute, Item, Split, Unit, Use, Weigh
from bayesnas_graph.ir import ModuleCall

Plain = int | float | bool

# What the positional arguments of torch's constructors are called as parameters of ours.
_ROLES = {
    "Conv2d": ("channels", "width", "kernel"),
    "Linear": ("features", "width"),
    "BatchNorm1d": ("channels",),
    "BatchNorm2d": ("channels",),
    "GroupNorm": ("groups", "channels"),
    "Dropout": ("p",),
    "LightBatchNorm1d": ("channels",),
    "LightBatchNorm2d": ("channels",),
    "ReluConv2d": ("channels", "width", "kernel"),
}


@dataclass(eq=False)
class Class:
    """A class of units: its first member stands for all, `columns` says which numbers are parameters."""

    name: str
    members: list[Unit] = field(default_factory=list)
    columns: list[int | str] = field(default_factory=list)  # for every number: its parameter, or -1 if it is fixed
    parameters: dict[str, tuple[Plain, ...]] = field(default_factory=dict)  # name -> value for every member

    @property
    def unit(self) -> Unit:
        return self.members[0]

    def arguments(self, unit: Unit) -> list[Plain]:
        """The values of the parameters that make `unit`."""
        position = self.members.index(unit)
        return [values[position] for values in self.parameters.values()]


class Classes:
    """All classes of a program, those that others use first."""

    def __init__(self, root: Unit) -> None:
        self._by_key: dict[object, Class] = {}
        self._of: dict[Unit, Class] = {}
        self._names = {"F", "Tensor", "Motif"}  # what the file imports, and a word for kinds without letters
        self._classify(root)
        for cls in self:
            self._parametrise(cls)

    def __iter__(self) -> Iterator[Class]:
        yield from self._by_key.values()

    def of(self, unit: Unit) -> Class:
        """The class of a unit."""
        return self._of[unit]

    def _classify(self, unit: Unit) -> None:
        for item in unit.items:
            if isinstance(item, Use):
                self._classify(item.unit)
        key = unit.scope.kind, unit.inputs, unit.outputs, tuple(self._skeleton(item) for item in unit.items)
        if key not in self._by_key:
            self._by_key[key] = Class(self._class_name(unit.scope.kind))
        self._by_key[key].members.append(unit)
        self._of[unit] = self._by_key[key]

    def _skeleton(self, item: Item) -> object:
        """An item without its numbers."""
        match item:
            case Use(name=name, unit=unit, inputs=inputs, results=results):
                return name, self._of[unit].name, inputs, results
            case Weigh() | Split():
                return item
            case Compute(name=name, call=ModuleCall() as call, inputs=inputs):
                return name, call.constructor, len(call.args), tuple(key for key, _ in call.kwargs), inputs
            case Compute(name=name, call=call, inputs=inputs):
                return name, call, inputs

    def numbers(self, unit: Unit) -> list[tuple[str, Plain]]:
        """Every number in a unit, with what it is: arguments of constructors and of other classes."""
        found: list[tuple[str, Plain]] = []
        for item in unit.items:
            if isinstance(item, Use):
                cls = self._of[item.unit]
                found += zip(cls.parameters, cls.arguments(item.unit), strict=True)
            elif isinstance(item, Compute) and isinstance(item.call, ModuleCall):
                roles = _ROLES.get(item.call.target, ())
                found += [(roles[i] if i < len(roles) else "size", value) for i, value in enumerate(item.call.args)]
                found += item.call.kwargs
        return found

    def _parametrise(self, cls: Class) -> None:
        """Numbers that differ between members become parameters; those that always agree, one parameter."""
        table = [self.numbers(unit) for unit in cls.members]
        known: dict[tuple[Plain, ...], str] = {}
        for entries in zip(*table, strict=True):
            values = tuple(value for _, value in entries)
            if len(set(values)) == 1:
                cls.columns.append(-1)
                continue
            if values not in known:
                known[values] = _unique(entries[0][0], set(known.values()))
            cls.columns.append(known[values])
        cls.parameters = {name: values for values, name in known.items()}

    def _class_name(self, kind: str) -> str:
        name = _unique("".join(part[:1].upper() + part[1:] for part in kind.split("_")), self._names)
        name = name if name.isidentifier() else _unique(f"Motif{name}", self._names)
        self._names.add(name)
        return name


def _unique(name: str, taken: set[str]) -> str:
    unique, number = name, 1
    while unique in taken or iskeyword(unique):
        number += 1
        unique = f"{name}{number}"
    return unique
