"""The stub files are up to date, so that type checkers know the arguments of all operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.builder.signatures import motifs, primitives, stub
from tests.conftest import ROOT

FILES: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "ops": ("The primitives as functions.", primitives),
    "std": ("The blocks of `std.nas` as functions.", motifs),
}


@pytest.mark.parametrize("name", FILES)
def test_stub_files(name: str, update_golden: bool) -> None:
    path = ROOT / "bayesnas_graph" / "builder" / f"{name}.pyi"
    doc, functions = FILES[name]
    expected = stub(doc, functions())
    if update_golden:
        path.write_text(expected)
    assert path.read_text() == expected
