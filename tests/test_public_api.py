"""What is public is listed, documented, and used by a script that the type checker has seen."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.cli.main import VERBS
from tests.conftest import ROOT
from website.reference import MODULES

SCRIPT = ROOT / "tests" / "typing" / "user_script.py"
FUNCTIONS = [name for name in api.__all__ if inspect.isfunction(getattr(api, name))]
NEVER_FAIL = {"check", "spaces", "data_list"}
# Verbs that are not called from Python: they write a template, and talk to an editor.
COMMANDS_ONLY = {"new", "lsp"}
NAMES = {"eval": "evaluate", "data": "data_list"}


def function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(api, name)
    return found


def test_every_verb_is_a_function() -> None:
    verbs = {verb for panel in VERBS.values() for verb in panel}
    assert {NAMES.get(verb, verb) for verb in verbs - COMMANDS_ONLY} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_say_arguments_results_and_errors(name: str) -> None:
    text = " ".join((inspect.getdoc(function(name)) or "").split())
    assert len(text) > 60
    assert ("Raises NasError" in text) is (name not in NEVER_FAIL)
    explained = f"{text}\n{api.__doc__}"
    signature = inspect.signature(function(name)).parameters
    parameters = [name for name, one in signature.items() if one.kind is not one.VAR_KEYWORD]
    assert [parameter for parameter in parameters if not re.search(rf"\b{parameter}s?\b", explained)] == []


def test_the_table_of_functions_is_complete() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    table = page.partition("| function |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)\(", table)) == set(FUNCTIONS)


def test_public_modules_say_what_is_public() -> None:
    page = (ROOT / "docs" / "stability.md").read_text()
    table = page.partition("| module |")[2].partition("\n\n")[0]
    listed = re.findall(r"`(bayesnas_graph[\w.]*)`", table)
    assert sorted(listed) == sorted(MODULES)
    for name in listed:
        module = importlib.import_module(name)
        assert module.__all__
        assert [one for one in module.__all__ if not hasattr(module, one)] == []


def test_the_script_of_a_user_uses_every_function() -> None:
    """`tests/test_wheel.py` checks the types of the script against the wheel."""
    tree = ast.parse(SCRIPT.read_text())
    used = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "nas"
    }
    assert set(FUNCTIONS) - used == set()
    assert set(imported(tree)) <= {*MODULES, "bayesnas_graph"} | STRATEGIES


# A strategy of one's own is not among what stays the same.
STRATEGIES = {f"bayesnas_graph.search.{name}" for name in ("contests", "relaxation", "strategy")}


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("bayesnas_graph"):
            yield node.module


def test_spaces_are_looked_at_without_torch() -> None:
    code = (
        "import sys; from bayesnas_graph import api as nas\n"
        "network = nas.load('quickstart')\n"
        "nas.stats(network), nas.diff(network, 'quickstart'), nas.draw(network).svg, nas.fmt('quickstart')\n"
        "nas.check('quickstart'), nas.describe('quickstart'), nas.ops(), nas.spaces(), nas.explain('NAS201')\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0
