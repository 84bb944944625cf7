"""Summarise a difference in a few lines: the same change to many nodes is one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import Graph, local_name, shape_text
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.json.difference import Change, Difference, Port, PortChange, Read, Reshared, Rewired
from bayesnas_graph.language.json.fingerprint import op_identity
from bayesnas_graph.language.json.problems import printable
from bayesnas_graph.language.json.subtrees import Subtree, subtrees
from bayesnas_graph.language.json.switches import Switch, cell_uses, within

NAMED = 3  # names listed on a line; the rest are counted


@dataclass
class _Line:
    """One change, and all places where it occurs."""

    places: dict[str, None] = field(default_factory=dict)
    times: int = 0
    operations: int = 0


class _Lines:
    """Lines under construction, by their text without the places."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str | None, str], _Line] = {}

    def add(
        self, verb: str, where: tuple[str | None, str], detail: str, *, times: int = 1, operations: int = 0
    ) -> None:
        """Add a change at a place, whose name is relative to its cell."""
        cell, place = where
        line = self._found.setdefault((verb, cell, detail), _Line())
        line.places[place] = None
        line.times += times
        line.operations += operations

    def __iter__(self) -> Iterator[str]:
        for (verb, cell, detail), line in self._found.items():
            counts = []
            if line.times > 1 and line.times > len(line.places):
                counts.append(f"{line.times:,} times")
            if line.operations:
                counts.append(counted(line.operations, "operation"))
            text = f"{verb} " if verb else ""
            text += f"cell {cell}: " if cell else ""
            text += _listed(list(line.places)) + (f": {detail}" if detail else "")
            yield text + (f" ({', '.join(counts)})" if counts else "")


def summary(difference: Difference, before: Graph, after: Graph) -> list[str]:
    """The difference as lines of text; empty if there is none."""
    if difference.same:
        return []
    lines = [_port("input", change) for change in difference.inputs]
    lines += [_port("output", change) for change in difference.outputs]
    lines += [f"budget + {text}" for text in difference.budgets_added]
    lines += [f"budget - {text}" for text in difference.budgets_removed]
    lines += [f"requirement + {text}" for text in difference.requirements_added]
    lines += [f"requirement - {text}" for text in difference.requirements_removed]
    if not difference.same_graph:
        lines += _cells(before, after)
        lines += _switches(difference, before, after)
        lines += _operations(difference, before, after)
        lines += _renamed(difference)
        if not lines:
            lines.append("the same operations, joined in another way")
    return list(map(printable, lines))


def _port(kind: str, change: PortChange) -> str:
    def text(port: Port | None) -> str:
        return f"{port.name} {shape_text(port.shape)}" if port else "none"

    return f"{kind} {change.number}: {text(change.before)} -> {text(change.after)}"


# ------------------------------------------------------------------------------------ switches


def _cells(before: Graph, after: Graph) -> Iterator[str]:
    """Cells that are used more or less often, or were replaced by others."""
    old, new = cell_uses(before), cell_uses(after)
    other: dict[tuple[str, str], list[str]] = {}
    for use, cell in new.items():
        if old.get(use, cell) != cell:
            other.setdefault((old[use], cell), []).append(use)
    for (was, cell), places in other.items():
        yield f"cell {was} -> {cell} at {_listed(places)}"
    often, now = Counter(old.values()), Counter(new.values())
    for cell in dict.fromkeys([*often, *now]):
        if often[cell] != now[cell]:
            yield f"cell {cell}: {often[cell]} -> {now[cell]} uses"


def _switches(difference: Difference, before: Graph, after: Graph) -> Iterable[str]:
    changes = difference.switches
    places: dict[tuple[str | None, str], list[tuple[str, Switch]]] = {}
    for sign, found in (("+", changes.added), ("-", changes.removed)):
        for switch in found:
            places.setdefault((switch.cell, switch.choice), []).append((sign, switch))
    added = Counter(gate for node in difference.added for gate in after.gates_of(node.name))
    removed = Counter(gate for node in difference.removed for gate in before.gates_of(node.name))
    lines = _Lines()
    for where, here in places.items():
        detail = ", ".join(f"{sign} {switch.candidate or 'optional'}" for sign, switch in here)
        size = sum((added if sign == "+" else removed).get(gate, 0) for sign, switch in here for gate in switch.gates)
        lines.add("switches", where, detail, times=max(switch.uses for _, switch in here), operations=size)
    for pair in changes.regrouped:
        first = pair.before[0]
        path = first.choice + (f": {first.candidate}" if first.candidate else "")
        old, new = len(pair.before), len(pair.after)
        if {switch.group for switch in pair.before} == {switch.group for switch in pair.after}:
            detail = f"gates moved between {old} switches"
        else:
            detail = f"one switch is now {new}" if old == 1 else f"{old} switches are now {'one' if new == 1 else new}"
        lines.add("switches", (first.cell, path), detail, times=0)
    return lines


# ---------------------------------------------------------------------------------- operations


def _operations(difference: Difference, before: Graph, after: Graph) -> Iterable[str]:
    old_cells, new_cells = cell_uses(before), cell_uses(after)
    lines = _Lines()
    reshaped = []
    for change in difference.changed:
        if change.after.op.is_input:
            continue
        if _is_reshaped(change):
            reshaped.append(change)
        else:
            name = change.after.name
            lines.add("changed", within(after.enclosing(name), new_cells, name), _change(change))
    sides = (
        ("added", difference.added, after, difference.switches.added, new_cells),
        ("removed", difference.removed, before, difference.switches.removed, old_cells),
    )
    for verb, nodes, graph, switches, cells in sides:
        gates = {gate for switch in switches for gate in switch.gates}
        for tree in subtrees([node for node in nodes if not node.op.is_input], graph, gates):
            where = within(tree.around, cells, tree.name)
            lines.add(verb, where, _tree(tree, graph), operations=tree.size if tree.size > 1 else 0)
    for rewired in difference.rewired:
        name = rewired.after
        where = within(after.enclosing(name), new_cells, name)
        lines.add("rewired", where, _reads(rewired, before, after, new_cells))
    for reshared in difference.reshared:
        name = reshared.after
        lines.add("weights", within(after.enclosing(name), new_cells, name), _sharing(reshared))
    return [*lines, *_reshaped(reshaped, after, new_cells)]


def _change(change: Change) -> str:
    old, new = str(change.before.op), str(change.after.op)
    if old == new:  # the text of a Python operation does not include its module
        old, new = (op.target if isinstance(op, PythonOp) else repr(op) for op in (change.before.op, change.after.op))
    return f"{old} -> {new}"


def _is_reshaped(change: Change) -> bool:
    """Return whether only the shape changed, usually because of an earlier change."""
    return op_identity(change.before.op) == op_identity(change.after.op)


def _reshaped(changes: Iterable[Change], graph: Graph, cells: dict[str, str]) -> Iterator[str]:
    first: dict[str | None, str] = {}
    count: dict[str | None, int] = {}
    for change in changes:
        cell, place = within(graph.enclosing(change.after.name), cells, change.after.name)
        first.setdefault(cell, f"{place}: {shape_text(change.before.shape)} -> {shape_text(change.after.shape)}")
        count[cell] = count.get(cell, 0) + 1
    for cell, text in first.items():
        more = f" and {count[cell] - 1:,} more" if count[cell] > 1 else ""
        yield f"shape {f'cell {cell}: ' if cell else ''}{text}{more}"


def _tree(tree: Subtree, graph: Graph) -> str:
    return str(graph[tree.name].op) if tree.size == 1 and tree.name in graph.nx else ""


def _sharing(reshared: Reshared) -> str:
    return f"shared with {_listed(reshared.new)}" if reshared.new else "no longer shared"


def _reads(rewired: Rewired, before: Graph, after: Graph, cells: dict[str, str]) -> str:
    old, new = list(rewired.old), list(rewired.new)
    for read in rewired.old:
        if read in new:
            old.remove(read)
            new.remove(read)
    if not old and not new:
        return "reads in another order"
    here = {scope.name for scope in after.enclosing(rewired.after)[:1]}

    def local(read: Read) -> str:
        around = (after if read.name in after.nx else before).enclosing(read.name)
        for scope in here.intersection(scope.name for scope in around):
            return local_name(scope, str(read))
        return within(around, cells, str(read))[1]

    shown = [_listed(list(map(local, reads))) for reads in (old, new)]
    if not old:
        return f"also reads {shown[1]}"
    return f"reads {shown[1]} instead of {shown[0]}" if new else f"no longer reads {shown[0]}"


# ------------------------------------------------------------------------------------- renaming


def _renamed(difference: Difference) -> Iterable[str]:
    count: dict[str, int] = {}
    for old, new in difference.renamed:
        text = _step(old, new)
        count[text] = count.get(text, 0) + 1
    for pair in difference.switches.renamed:
        cells = pair.before[0].cell, pair.after[0].cell
        if cells[0] != cells[1]:
            text = " -> ".join(f"cell {cell}" if cell else "no cell" for cell in cells)
            count[text] = count.get(text, 0) + 1
    for text, times in count.items():
        yield f"renamed {text}" + (f" ({times:,} times)" if times > 1 else "")


def _step(old: str, new: str) -> str:
    """The parts of two names that differ."""
    a, b = old.split("."), new.split(".")
    while len(a) > 1 and len(b) > 1 and a[-1] == b[-1]:
        a.pop()
        b.pop()
    while len(a) > 1 and len(b) > 1 and a[0] == b[0]:
        del a[0], b[0]
    return f"{'.'.join(a)} -> {'.'.join(b)}"


def _listed(names: Sequence[str]) -> str:
    """The first few names, and the number of others."""
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED:,} more"
