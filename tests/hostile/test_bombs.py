"""Short texts that would take forever: their values share parts, and are exponentially larger than they look."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.model import MOST_SUGGESTIONS
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.elaborate.values import Value, size_of
from tests.cli.conftest import Run, run

__all__ = ["run"]

LEVELS = 60
MOTIF = "motif m(f, g) { in x  x -> out : f > g }\n"


def net(operation: str) -> str:
    body = f"in x  x -> out : {operation} > global_avg_pool > linear(10)"
    return f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}\n"


def levels(name: str, first: str, next: str) -> str:
    """`let name0 = first`, and then every level made of the one before, written `_` in `next`."""
    lets = [f"let {name}{i} = {next}".replace("_", f"{name}{i - 1}") for i in range(1, LEVELS)]
    return "\n".join([f"let {name}0 = {first}", *lets]) + "\n"


ARRAYS = levels("a", "[1, 2]", "[_, _]")
LAST = LEVELS - 1
BOMBS = {
    "arrays compared": ARRAYS + levels("b", "[1, 2]", "[_, _]") + net(f"conv(if a{LAST} == b{LAST} then 1 else 2)"),
    "arrays not equal": ARRAYS + levels("b", "[1, 3]", "[_, _]") + net(f"conv(if a{LAST} != b{LAST} then 1 else 2)"),
    "a parameter that doubles": "motif m(d, w) { in x  x -> out : if d == 0 then relu else m(d - 1, [w, w]) }\n"
    + net("m(60, 1)"),
    "chains": levels("f", "relu > relu", "_ > _") + net(f"f{LAST}"),
    "choices": levels("f", "relu", "choose { _, _ > relu }") + net(f"f{LAST}"),
    "optional choices": levels("f", "relu", "optional choose { _, _ > tanh }") + net(f"f{LAST}"),
    "motifs of motifs": MOTIF + levels("f", "relu", "m(_, _)") + net(f"f{LAST}"),
    "sets of arrays": "set s(a) = { conv(1), relu }\n" + ARRAYS + net(f"choose s(a{LAST})"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(name: str) -> None:
    report = Report()
    Checker(report).text(Source("bomb.nas", BOMBS[name]))
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["NAS403"]


def test_sharing_is_no_error() -> None:
    """Values that are large only because of a few levels are fine, and so are large ones that are never used."""
    report = Report()
    text = ARRAYS + levels("f", "relu", "_ > tanh") + net("f40")
    Checker(report).text(Source("shared.nas", text))
    assert not report.diagnostics


@given(st.recursive(st.integers(0, 3), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=20))
def test_the_size_counts_all_parts(value: Value) -> None:
    def count(part: Value) -> int:
        return 1 + sum(map(count, part)) if isinstance(part, tuple) else 1

    assert size_of(value, 1_000) == count(value)
    assert size_of(value, 2) == min(count(value), 3)


def test_thousands_of_errors(run: Run, tmp_path: Path) -> None:
    """Only the first ones have suggestions, and only the first ones are shown."""
    (tmp_path / "errors.nas").write_text("".join(f"let name{i} = naem{i}\n" for i in range(1_000)) + net("relu"))
    result = run("check", tmp_path / "errors.nas")
    assert result.code == 1
    assert "... and 800 more, not shown" in result.err
    assert "1,000 errors" in result.err
    assert result.err.count("did you mean") == MOST_SUGGESTIONS


def test_many_comments() -> None:
    report = Report()
    Checker(report).text(Source("comments.nas", "// nothing\n" * 50_000 + net("relu")))
    assert not report.diagnostics


@pytest.mark.parametrize(
    ("imports", "code", "message"),
    [
        (lambda i: [(i + 1) % 4_000], "NAS404", "imports are nested more than 50 files deep"),
        (lambda i: [i + 1] * (i < 3_999), "NAS404", "imports are nested more than 50 files deep"),
        (lambda i: range(1, 4_000) if i == 0 else [], "NAS406", "more than 1,000 files are imported"),
        (lambda i: [j for j in (2 * i + 1, 2 * i + 2) if j < 4_000], "NAS406", "more than 1,000 files are imported"),
    ],
    ids=["circle", "chain", "star", "tree"],
)
def test_thousands_of_files(imports: object, code: str, message: str, run: Run, tmp_path: Path) -> None:
    assert callable(imports)
    for i in range(4_000):
        lines = "".join(f'import "f{j}.nas"\n' for j in imports(i))
        (tmp_path / f"f{i}.nas").write_text(f"{lines}let v{i} = {i}\n")
    result = run("check", tmp_path / "f0.nas")
    assert result.code == 1
    assert result.err.count("error[") == 1
    assert f"error[{code}]: {message}" in result.err
