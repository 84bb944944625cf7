"""Gives units that are alike the same number of inputs, even if one of them reads the same value twice.

A unit lists each value that it reads once among its inputs. The first cell of a stack, for example, reads only the
stem, where the others read the two cells before them: `cell(stem)` becomes `cell(stem, stem)`, and all are one class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, by_height

KindOf = Callable[[OpUse], object]  # the same for operations that differ in numbers only
Aligned = dict[Unit, tuple[Unit, Sequence[int]]]  # unit -> its new form, and which old input each new one is


def call_kind(item: OpUse) -> object:
    """A torch call without its numbers."""
    return item.call.skeleton


def aligned(root: Unit, kind: KindOf = call_kind) -> Unit:
    """The same program, in which units that are alike have the same number of inputs."""
    done: Aligned = {}
    forms: dict[Unit, object] = {}
    for height, level in enumerate(by_height(root)):  # units that are alike have one height
        alike: dict[object, list[Unit]] = defaultdict(list)
        for unit in level:
            alike[_form(_rebuilt(unit, done), forms, kind)].append(unit)
        for form, group in alike.items():
            _align(group, done)
            forms.update({done[unit][0]: (height, form) for unit in group})
    return done[root][0]


def _rebuilt(unit: Unit, done: Aligned) -> Unit:
    """A unit that uses the new forms of others."""
    return replace(unit, items=tuple(_given(item, done) for item in unit.items))


def _given(item: Item, done: Aligned) -> Item:
    if not isinstance(item, UnitUse):
        return item
    unit, places = done[item.unit]
    return replace(item, unit=unit, inputs=tuple(item.inputs[i] for i in places))


def _form(unit: Unit, forms: dict[Unit, object], kind: KindOf) -> object:
    """A unit without its numbers, ignoring which input is read where."""

    def masked(names: Sequence[str]) -> tuple[str, ...]:
        return tuple("" if name in unit.inputs else name for name in names)

    items: list[object] = []
    for item in unit.items:
        match item:
            case UnitUse(name=name, unit=used, results=results, weights=weights):
                items.append((name, forms[used], masked(item.inputs), results, weights))
            case OpUse(name=name, weights=weights):
                items.append((name, kind(item), masked(item.inputs), weights))
            case _:
                items.append(replace(item, inputs=masked(item.inputs)))
    return unit.scope.kind, tuple(items), masked(unit.outputs), len(unit.gates)


def _align(group: list[Unit], done: Aligned) -> None:
    """Give units that are alike one input for each value that is distinct in any of them."""
    units = [_rebuilt(unit, done) for unit in group]
    reads = list(zip(*(_reads(unit) for unit in units), strict=True))  # for every read, the value in each unit
    inputs = list(dict.fromkeys(reads))
    spread = any(len(inputs) > len(unit.inputs) for unit in units)
    for i, (old, unit) in enumerate(zip(group, units, strict=True)):
        places = [unit.inputs.index(read[i]) for read in inputs] if spread else range(len(unit.inputs))
        done[old] = _spread(unit, places, [inputs.index(read) for read in reads]) if spread else unit, places


def _reads(unit: Unit) -> list[str]:
    """The inputs of a unit in the order in which it reads them, each as often as it is read."""
    names = [name for item in unit.items for name in item.inputs]
    return [name for name in [*names, *unit.outputs] if name in unit.inputs]


def _spread(unit: Unit, places: Sequence[int], reads: list[int]) -> Unit:
    """A unit with other inputs, read in this order."""
    next_reads = iter(reads)

    def renamed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{next(next_reads)}." if name in unit.inputs else name for name in names)

    items = tuple(replace(item, inputs=renamed(item.inputs)) for item in unit.items)
    return replace(
        unit,
        inputs=tuple(f"{i}." for i in range(len(places))),
        words=tuple(unit.words[i] for i in places),
        items=items,
        outputs=renamed(unit.outputs),
    )
