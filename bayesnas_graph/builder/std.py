"""The blocks of `std.nas` as functions: `std.sep_conv(3)`. Their signatures are in `std.pyi`, which tests generate."""

from __future__ import annotations

from functools import cache

from bayesnas_graph.builder.library import FileImport, LibraryOperation, known
from bayesnas_graph.language.elaborate.library import library
from bayesnas_graph.language.syntax import ast


def __getattr__(name: str) -> LibraryOperation:
    return known(name, _documented(), __name__, (FileImport("std.nas"),))


def __dir__() -> list[str]:
    return list(_documented())


@cache
def _documented() -> dict[str, str]:
    return {name: one.doc for name, one in library().own.items() if isinstance(one, ast.Motif)}
