"""Names that are declared while a body is checked, without values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bayesnas_graph.language.elaborate.occurrences import Declaration

Kind = Literal["node", "value"]


@dataclass
class DeclaredNames:
    """The names of one scope, nested in an outer scope."""

    parent: DeclaredNames | None = None
    known: dict[str, Declaration] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)  # those of the known names that may stand for nodes
    later: frozenset[str] = frozenset()  # all names that this body declares

    def scope(self, name: str) -> DeclaredNames | None:
        """The innermost scope that declares a name."""
        scope: DeclaredNames | None = self
        while scope is not None and name not in scope.known:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Kind | None:
        """Whether a name may stand for nodes; None if it is not declared."""
        scope = self.scope(name)
        return None if scope is None else "node" if name in scope.nodes else "value"

    def declaration(self, name: str) -> Declaration | None:
        """What a name stands for; None if it is not declared."""
        scope = self.scope(name)
        return None if scope is None else scope.known[name]

    def add(self, declaration: Declaration, kind: Kind) -> None:
        """Declare a name, unless this scope has it."""
        if declaration.name not in self.known:
            self.known[declaration.name] = declaration
            if kind == "node":
                self.nodes.add(declaration.name)

    def root(self) -> DeclaredNames:
        """The outermost scope."""
        return self if self.parent is None else self.parent.root()

    def comes_later(self, name: str) -> bool:
        return name in self.later or (self.parent is not None and self.parent.comes_later(name))

    def all(self) -> set[str]:
        return set(self.known) | (self.parent.all() if self.parent else set())
