"""The arguments that tell several definitions of one motif apart."""

from __future__ import annotations

from collections.abc import Sequence

from bayesnas_graph.codegen.units import Unit, common_scope
from bayesnas_graph.ir import Scope

Arguments = tuple[tuple[str, int | str], ...]

LONGEST_VALUE = 24  # characters of an argument in a name


def distinguishing(kinds: Sequence[Sequence[Unit]]) -> list[Arguments]:
    """For each of several definitions of one motif, given by their units, the arguments that tell it from the others.

    Only arguments that all units of a definition share are used: if possible a single one, otherwise as few as needed.
    """
    shared = [_shared(units) for units in kinds]
    names = list(dict.fromkeys(name for arguments in shared for name in arguments))
    differing = [name for name in names if len({_typed(arguments.get(name)) for arguments in shared}) > 1]
    differing.sort(key=lambda name: not all(name in arguments for arguments in shared))  # known for all first
    alone = [name for name in differing if _count(shared, [name]) == len(kinds)]
    chosen: list[str] = alone[:1]
    for name in [] if alone else differing:
        if _count(shared, [*chosen, name]) > _count(shared, chosen):
            chosen.append(name)
    return [tuple((name, arguments[name]) for name in chosen if name in arguments) for arguments in shared]


def _shared(units: Sequence[Unit]) -> dict[str, int | str]:
    """The arguments that all units have in common."""
    kind = common_scope(units).kind
    first, *rest = [dict(_named(unit, kind).arguments) for unit in units]
    return {name: value for name, value in first.items() if all(_typed(o.get(name)) == _typed(value) for o in rest)}


def _named(unit: Unit, kind: str) -> Scope:
    """The scope of a unit that its definition is named after."""
    return next((scope for scope in reversed(unit.wrappers) if scope.kind == kind), unit.scope)


def _typed(value: int | str | None) -> tuple[type, int | str | None]:
    return type(value), value  # 1 and True are different


def _count(shared: Sequence[dict[str, int | str]], names: Sequence[str]) -> int:
    """The number of definitions that these arguments tell apart."""
    return len({tuple(_typed(arguments.get(name)) for name in names) for arguments in shared})
