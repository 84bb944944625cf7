"""The verb `lsp` without its package; sessions are in tests/lsp."""

from __future__ import annotations

import sys

import pytest

from bayesnas_graph.cli.lsp import lsp
from bayesnas_graph.diagnostics import NasError


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    with pytest.raises(NasError) as error:
        lsp()
    (found,) = error.value.diagnostics
    assert found.code == "NAS609"
    assert found.message == "the language server needs the package `pygls`, which is not installed"
    assert found.help == "install it with `pip install pygls`"
