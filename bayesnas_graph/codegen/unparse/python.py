"""Operations that the user wrote in Python, as definitions in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bayesnas_graph.codegen.unparse.names import defined_words, unique
from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops.python import PythonOp

PythonKind = tuple[str, str, tuple[str, ...]]  # name, target, parameters


class PythonOps:
    """The Python operations of a graph, each with a name in the file."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self._names: dict[PythonKind, str] = {}
        for op in ops:
            if isinstance(op, PythonOp) and _kind(op) not in self._names:
                self._names[_kind(op)] = unique(op.called, self.names | defined_words())

    @property
    def names(self) -> set[str]:
        """Their names."""
        return set(self._names.values())

    def name(self, op: Op) -> str:
        """The name of a primitive in the file."""
        return self._names[_kind(op)] if isinstance(op, PythonOp) else op.name

    def lines(self) -> Iterator[str]:
        """The definitions. Raises ValueError if a parameter cannot be named in a text."""
        for (_, target, parameters), name in self._names.items():
            for parameter in parameters:
                if unique(parameter, ()) != parameter:
                    raise ValueError(f"`{parameter}` cannot be the name of a parameter")
            signature = f"({', '.join(parameters)})" if parameters else ""
            yield f'op {name}{signature} from "{target}"'


def _kind(op: PythonOp) -> PythonKind:
    return op.called, op.target, tuple(name for name, _ in op.values)
