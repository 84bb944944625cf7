"""The primitives as functions: `ops.conv(16, k=5)`. Their signatures are in `ops.pyi`, which tests generate."""

from __future__ import annotations

from bayesnas_graph.builder.library import LibraryOperation, known
from bayesnas_graph.ir.ops import PRIMITIVES


def __getattr__(name: str) -> LibraryOperation:
    return known(name, {one: cls.__doc__ or "" for one, cls in PRIMITIVES.items()}, __name__)


def __dir__() -> list[str]:
    return list(PRIMITIVES)
