"""Restore the fields of nodes, scopes and gates that graph documents of versions 1 and 2 omit.

These versions hold only ids. The omitted fields follow from how elaboration formed ids at that time. The current
version holds the fields themselves, so this file is only for old documents. One case cannot be restored: `y.x_2` may be
the second edge from `x` or an edge from `x_2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from bayesnas_graph.ir import Edge, Gate, Node, Scope
from bayesnas_graph.language.json.subtrees import paths


class Origins:
    """Parses the names in an old document."""

    def __init__(self, name: str, nodes: Mapping[str, Node], edges: Iterable[Edge], scopes: Iterable[Scope]) -> None:
        self.name = name
        self._nodes, self._edges, self._scopes = nodes, list(edges), {scope.name: scope for scope in scopes}
        self._targets = {edge.gate.name: edge.target for edge in self._edges if edge.gate is not None}

    def nodes(self) -> dict[str, Node]:
        """The nodes, with the fields that follow from their names."""
        found = {}
        for node in self._nodes.values():
            behind = [path for path in paths(node.name) if self._targets.get(path, node.name) != node.name]
            found[node.name] = replace(
                node, label=_label(node.name), behind=tuple(behind), scope=self._scope_of(node.name)
            )
        return found

    def scopes(self) -> list[Scope]:
        """The scopes, with the fields that follow from their names."""
        return [
            replace(scope, label=_label(scope.name), text=_shown(scope.name), parent=self._innermost(scope.name))
            for scope in self._scopes.values()
        ]

    def _scope_of(self, node: str) -> str:
        """The scope that a node is directly in. A choice is in its own scope."""
        own = self._scopes.get(node)
        return node if own is not None and own.role == "choice" else self._innermost(node)

    def _innermost(self, name: str) -> str:
        """The innermost scope around a name: the longest of its prefixes that is a scope."""
        prefix = name.rpartition(".")[0]
        while prefix and prefix not in self._scopes:
            prefix = prefix.rpartition(".")[0]
        return prefix

    def edges(self) -> list[Edge]:
        """The edges, with all fields of their gates."""
        return [replace(edge, gate=self._gate(edge, edge.gate)) if edge.gate else edge for edge in self._edges]

    def _gate(self, edge: Edge, gate: Gate) -> Gate:
        op = self._nodes[edge.target].op
        choice = self._choice_of_zero(edge, gate) if op.is_zero_switch else edge.target
        around = (path for path in reversed(list(paths(choice))[:-1]) if path in self._scopes)
        motif = next((self._scopes[path] for path in around if self._scopes[path].role != "choice"), None)
        prefix = f"{motif.name}." if motif else ""
        cell, colon, path = gate.group.rpartition(":")
        local = gate.name.removeprefix(prefix)
        target, source = self._ends(prefix, choice.removeprefix(prefix))
        gate = replace(
            gate,
            choice=choice,
            part=cell if colon else motif.kind if motif else self.name,
            use=_shown(path.removesuffix(local).removesuffix(".")) if path.endswith(local) else "",
            target=target,
            source=source,
        )
        if op.is_zero_switch:
            return replace(gate, label="zero", kind="zero")
        if op.is_choice:
            return replace(gate, label=gate.name.removeprefix(f"{choice}."))
        inside = edge.source.removeprefix(f"{choice}.")
        return replace(gate, label="identity" if inside == edge.source else next(paths(inside)), kind="optional")

    def _choice_of_zero(self, edge: Edge, gate: Gate) -> str:
        choice = gate.name.removesuffix(".zero")
        return choice if choice in self._nodes else edge.target

    def _ends(self, prefix: str, choice: str) -> tuple[str, str]:
        """The node that a choice leads to, and its source if several choices lead there."""
        *_, parent = ("", *list(paths(choice))[:-1])
        above = self._nodes.get(prefix + parent)
        if above is not None and above.op.is_gated and not above.op.is_choice:  # `optional choose` counts once
            return self._ends(prefix, parent)
        for path in paths(choice):
            node = self._nodes.get(prefix + path)
            if node is not None and node.op.is_join and self._inputs.get(node.name, 0) > 1 and path != choice:
                source, *steps = choice.removeprefix(f"{path}.").split(".")
                return ".".join([_shown(path), *steps]), self._source(prefix, path, source)
        return _shown(choice), ""

    def _source(self, prefix: str, target: str, name: str) -> str:
        """The node in part of an id: `h_0` is `h[0]` if there is an array `h`; `x_2` is the second edge from `x`."""
        array, _, number = name.rpartition("_")
        if not number.isdecimal() or prefix + name in self._known:
            return name
        if prefix + array in self._arrays:
            return f"{array}[{number}]"
        is_repeated = int(number) > 1 and f"{prefix}{target}.{array}" in self._known
        return f"{self._source(prefix, target, array)} ({number})" if is_repeated else name

    @cached_property
    def _inputs(self) -> dict[str, int]:
        count: dict[str, int] = {}
        for edge in self._edges:
            count[edge.target] = count.get(edge.target, 0) + 1
        return count

    @cached_property
    def _known(self) -> set[str]:
        """All names and their prefixes."""
        return {path for name in (*self._nodes, *self._scopes) for path in paths(name)}

    @cached_property
    def _arrays(self) -> set[str]:
        parts = (path.rpartition(".") for path in self._known)
        return {array for array, dot, last in parts if dot and last.isdecimal()}


def _shown(name: str) -> str:
    """A name as displayed.

    >>> _shown("h.0"), _shown("seen.1.f_0")
    ('h[0]', 'seen[1].f_0')
    """
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)


def _label(name: str) -> str:
    """The last part of a name, with its index if it is an element of an array.

    >>> _label("large.h.1"), _label("stem.bn")
    ('h[1]', 'bn')
    """
    return _shown(name).rpartition(".")[2]
