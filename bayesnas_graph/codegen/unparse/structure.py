"""A tidy graph as nested units, in which values are numbered.

Their names in the graph are kept separately, so units that are alike are equal whatever their values are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.codegen.align import aligned
from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, results, units
from bayesnas_graph.codegen.unparse.order import walk
from bayesnas_graph.ir import Graph, ShapeError


@dataclass(frozen=True)
class UnitTree:
    """The unit of the whole graph, and the names of the items of every unit, by its scope."""

    root: Unit
    names: dict[str, tuple[str, ...]]


def structured(graph: Graph) -> UnitTree:
    """The units of a graph. Raises ValueError if an operation in Python has no proper name."""
    names: dict[str, tuple[str, ...]] = {}
    try:
        root = units(graph)
    except ShapeError as error:
        raise ValueError(str(error)) from error
    return UnitTree(aligned(_numbered(root, names), lambda item: item.op.kind), names)


def _sorted(item: Item) -> Item:
    """An item whose unit has its inputs and outputs in the order in which they are read and computed."""
    if not isinstance(item, UnitUse):
        return item
    unit = item.unit
    reads = {name: list(inner.inputs) for inner in unit.items for name in results(inner)}
    position = {name: i for i, name in enumerate(reads)}
    gives = sorted(range(len(unit.outputs)), key=lambda i: position[unit.outputs[i]])
    reached = {name: i for i, name in enumerate(walk((unit.outputs[i] for i in gives), reads))}
    takes = sorted(range(len(unit.inputs)), key=lambda i: reached[unit.inputs[i]])
    unit = replace(
        unit,
        inputs=tuple(unit.inputs[i] for i in takes),
        words=tuple(unit.words[i] for i in takes),
        outputs=tuple(unit.outputs[i] for i in gives),
    )
    read = tuple(item.inputs[i] for i in takes)
    return replace(item, unit=unit, inputs=read, results=tuple(item.results[i] for i in gives))


def _numbered(unit: Unit, names: dict[str, tuple[str, ...]]) -> Unit:
    """A unit whose items are in reading order and are named by their numbers."""
    producers = {name: item for item in unit.items for name in results(item)}
    reads = {item.name: [producers[name].name for name in item.inputs if name in producers] for item in unit.items}
    by_name = {item.name: item for item in unit.items}
    ends = [producers[name].name for name in unit.outputs if name in producers]
    items: list[Item] = []
    original: list[str] = []
    value = {name: name for name in unit.inputs}

    def known(some: Sequence[str]) -> tuple[str, ...]:
        return tuple(value[name] for name in some)

    for name in walk(ends, reads):
        item, number = _sorted(by_name[name]), str(len(items))
        original.append(item.results[0] if isinstance(item, UnitUse) and len(item.results) == 1 else item.name)
        read = known(item.inputs)
        computed = results(item)
        value.update({result: number if len(computed) == 1 else f"{number}:{i}" for i, result in enumerate(computed)})
        if isinstance(item, UnitUse):
            items.append(
                replace(item, name=number, unit=_numbered(item.unit, names), inputs=read, results=known(computed))
            )
        else:
            assert isinstance(item, OpUse), "a fixed network of primitives has nothing else"
            items.append(replace(item, name=number, inputs=read))
    names[unit.scope.name] = tuple(original)
    return replace(unit, items=tuple(items), outputs=known(unit.outputs))
