"""Names with their values while a definition is evaluated."""

from __future__ import annotations

from collections.abc import Callable

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.number_choices import Chosen, NumberOwner
from bayesnas_graph.language.elaborate.values import MotifNode, Operation, Value

Apply = Callable[[Operation, tuple[MotifNode, ...], Span], MotifNode]


class NameScope:
    """Names with their values, nested in an outer scope."""

    __slots__ = ("apply", "chosen", "module", "names", "owner", "parent")

    def __init__(
        self,
        module: Module,
        parent: NameScope | None = None,
        apply: Apply | None = None,
        owner: NumberOwner | None = None,
    ) -> None:
        self.module = module
        self.parent = parent
        self.names: dict[str, Value] = {}
        # Connects an operation to nodes; None outside motifs.
        self.apply: Apply | None = apply or (parent.apply if parent else None)
        # Whose numbers are chosen here; None if they are those of the file.
        self.owner: NumberOwner | None = owner or (parent.owner if parent else None)
        self.chosen: dict[int, Chosen] = {}  # numbers chosen here, by the id of their expression

    def find(self, name: str) -> Value | None:
        """The value of a name in this or an outer scope."""
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def root(self) -> NameScope:
        """The outermost scope, that of the parameters."""
        return self if self.parent is None else self.parent.root()

    def visible(self) -> set[str]:
        """All names visible here."""
        names = self.module.visible() | set(BUILTINS)
        scope: NameScope | None = self
        while scope is not None:
            names |= set(scope.names)
            scope = scope.parent
        return names
