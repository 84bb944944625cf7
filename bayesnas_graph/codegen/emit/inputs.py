"""Units that are alike but for two inputs that are one value: that value is given to them twice.

A unit has each value that it reads once among its inputs. The first cell of a stack, say, reads the stem where the
others read the two cells before them: `cell(stem)` becomes `cell(stem, stem)`, and all are one class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from bayesnas_graph.codegen.emit.signatures import skeleton
from bayesnas_graph.codegen.emit.units import Compute, Item, Unit, Use

Kind = Callable[[Compute], object]  # equal for operations that differ in numbers only
Settled = dict[Unit, tuple[Unit, Sequence[int]]]  # unit -> as it will be, and which old input each new one is


def call_kind(item: Compute) -> object:
    """What a call of torch is without its numbers."""
    return skeleton(item.call)


def aligned(root: Unit, kind: Kind = call_kind) -> Unit:
    """The same program, in which units that are alike have as many inputs."""
    levels: dict[int, list[Unit]] = defaultdict(list)
    _sort(root, levels)
    settled: Settled = {}
    forms: dict[Unit, object] = {}
    for height in sorted(levels):  # units that are alike are on one level
        alike: dict[object, list[Unit]] = defaultdict(list)
        for unit in levels[height]:
            alike[_form(_rebuilt(unit, settled), forms, kind)].append(unit)
        for form, group in alike.items():
            _settle(group, settled)
            forms.update({settled[unit][0]: (height, form) for unit in group})
    return settled[root][0]


def _sort(unit: Unit, levels: dict[int, list[Unit]]) -> int:
    """Put a unit and all in it on levels, those that use no other on the lowest."""
    height = max((1 + _sort(item.unit, levels) for item in unit.items if isinstance(item, Use)), default=0)
    levels[height].append(unit)
    return height


def _rebuilt(unit: Unit, settled: Settled) -> Unit:
    """A unit that uses others as they will be."""
    return replace(unit, items=tuple(_given(item, settled) for item in unit.items))


def _given(item: Item, settled: Settled) -> Item:
    if not isinstance(item, Use):
        return item
    unit, places = settled[item.unit]
    return replace(item, unit=unit, inputs=tuple(item.inputs[i] for i in places))


def _form(unit: Unit, forms: dict[Unit, object], kind: Kind) -> object:
    """What is left of a unit without its numbers, and without which of its inputs are read where."""

    def masked(names: Sequence[str]) -> tuple[str, ...]:
        return tuple("" if name in unit.inputs else name for name in names)

    items: list[object] = []
    for item in unit.items:
        match item:
            case Use(name=name, unit=used, results=results):
                items.append((name, forms[used], masked(item.inputs), results))
            case Compute(name=name):
                items.append((name, kind(item), masked(item.inputs)))
            case _:
                items.append(replace(item, inputs=masked(item.inputs)))
    return unit.scope.kind, tuple(items), masked(unit.outputs), len(unit.gates)


def _settle(group: list[Unit], settled: Settled) -> None:
    """Give units that are alike an input for each value that is a value of its own in one of them."""
    units = [_rebuilt(unit, settled) for unit in group]
    reads = list(zip(*(_reads(unit) for unit in units), strict=True))  # for every place, what each unit reads there
    inputs = list(dict.fromkeys(reads))
    spread = any(len(inputs) > len(unit.inputs) for unit in units)
    for i, (old, unit) in enumerate(zip(group, units, strict=True)):
        places = [unit.inputs.index(read[i]) for read in inputs] if spread else range(len(unit.inputs))
        settled[old] = _spread(unit, places, [inputs.index(read) for read in reads]) if spread else unit, places


def _reads(unit: Unit) -> list[str]:
    """The inputs of a unit, in the order in which it reads them, as often as it does."""
    names = [name for item in unit.items for name in item.inputs]
    return [name for name in [*names, *unit.outputs] if name in unit.inputs]


def _spread(unit: Unit, places: Sequence[int], reads: list[int]) -> Unit:
    """A unit with other inputs, which it reads in this order."""
    left = iter(reads)

    def renamed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{next(left)}." if name in unit.inputs else name for name in names)

    items = tuple(replace(item, inputs=renamed(item.inputs)) for item in unit.items)
    return replace(
        unit,
        inputs=tuple(f"{i}." for i in range(len(places))),
        words=tuple(unit.words[i] for i in places),
        items=items,
        outputs=renamed(unit.outputs),
    )
