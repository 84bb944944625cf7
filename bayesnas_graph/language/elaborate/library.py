"""The shipped library."""

from __future__ import annotations

from functools import cache

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.language.elaborate.files import Loader, Module


def library() -> Module:
    """The module `std.nas`."""
    module = Loader(Report()).path(folder("spaces") / "std.nas", "std.nas")
    assert module is not None, "the library is part of the installation"
    return module


@cache
def library_names() -> frozenset[str]:
    """The names that `std.nas` defines."""
    return frozenset(library().own)
