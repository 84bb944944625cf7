"""The command `diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bayesnas_graph.cli.diff import MOST_LINES, diff
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.json import to_json
from tests.helpers import graph

GOOD = """\
network n : image(3, 8, 8) -> classes(10) {
    in x
    node y = x : choose { relu, tanh }
    y -> out : global_avg_pool > linear(10)
    require params < 20K
}
"""

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(diff)


def run(*arguments: object) -> tuple[int, str]:
    """The exit code and the output. Diagnostics propagate, because `main` prints them."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(result.exception, NasError):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.nas").write_text(GOOD)
    return tmp_path


def test_the_same(here: Path) -> None:
    (here / "b.nas").write_text("// a comment\n" + GOOD.replace("    ", ""))
    assert run("a.nas", "b.nas") == (0, "the same space\n")
    assert run("quickstart", "quickstart.nas") == (0, "the same space\n")


def test_renamed(here: Path) -> None:
    (here / "b.nas").write_text(GOOD.replace("node y", "node z").replace("y ->", "z ->"))
    assert run("a.nas", "b.nas") == (0, "the same space, 3 nodes and 2 switches renamed\n")


def test_different(here: Path) -> None:
    (here / "b.nas").write_text(GOOD.replace("tanh", "gelu, bn").replace("20K", "30K"))
    assert run("a.nas", "b.nas") == (
        1,
        "different: 6 nodes and 2 switches before, 7 nodes and 3 switches after\n"
        "  budget + params < 30,000\n"
        "  budget - params < 20,000\n"
        "  switches y: + gelu, + bn, - tanh (3 operations)\n",
    )


def test_only_budgets(here: Path) -> None:
    (here / "b.nas").write_text(GOOD.replace("20K", "30K"))
    code, text = run("a.nas", "b.nas")
    assert code == 1
    assert text.startswith("the same graph with different budgets:\n")


def test_documents(here: Path) -> None:
    """JSON documents have no budgets, so these are not compared."""
    (here / "a.json").write_text(to_json(graph(GOOD)))
    assert run("a.nas", "a.json") == (0, "the same space\n")
    assert run("a.json", "a.json") == (0, "the same space\n")
    (here / "b.json").write_text(to_json(graph(GOOD)).replace('"tanh"', '"gelu"'))
    code, text = run("a.nas", "b.json")
    assert code == 1
    assert "changed y.tanh: tanh -> gelu" in text


def test_wrong_documents(here: Path) -> None:
    (here / "a.json").write_text(to_json(graph(GOOD)).replace('"tanh"', '"tahn"'))
    with pytest.raises(NasError, match=r"cannot read `a.json`: nodes\[2\].op.name: unknown operation `tahn`"):
        run("a.nas", "a.json")
    with pytest.raises(NasError, match="file not found"):
        run("a.nas", "b.json")


def test_json(here: Path) -> None:
    (here / "b.nas").write_text(GOOD.replace("tanh", "gelu").replace("linear(10)", "linear(10, false)"))
    code, text = run("a.nas", "b.nas", "--json")
    assert code == 1
    answer = json.loads(text)
    assert (answer["version"], answer["same"]) == (1, False)
    assert [node["name"] for node in answer["nodes"]["added"]] == ["y.gelu"]
    assert [node["name"] for node in answer["nodes"]["removed"]] == ["y.tanh"]
    (change,) = answer["nodes"]["changed"]
    assert [change[side]["op"]["args"]["bias"] for side in ("before", "after")] == [True, False]
    assert [switch["group"] for switch in answer["switches"]["added"]] == ["y.gelu"]
    assert json.loads(run("a.nas", "a.nas", "--json")[1])["same"]


def test_other_networks(here: Path) -> None:
    code, text = run("darts", "darts_imagenet", "--network", "evaluation")
    assert code == 1
    assert "input 0: x 3x32x32 -> x 3x224x224" in text
    with pytest.raises(NasError, match="no network `nothing`"):
        run("a.nas", "a.nas", "--network", "nothing")


def test_long_answers_are_cut(here: Path) -> None:
    count = MOST_LINES + 5
    for name, least in (("a", 1), ("b", 2)):
        statements = " ".join(f"x -> out : conv(4, 1, {least + i})" for i in range(0, 2 * count, 2))
        text = f"network n : image(4, 1, 1) -> image(4, 1, 1) {{ in x {statements} }}"
        (here / f"{name}.nas").write_text(
            text.replace("conv(4, 1, ", "crop_like(").replace("crop_like(", "conv(4, 1, ")
        )
    code, text = run("a.nas", "b.nas")
    assert code == 1
    assert len(text.splitlines()) == MOST_LINES + 1
    assert text.endswith("and 6 more lines; `--all` shows them\n")
    assert len(run("a.nas", "b.nas", "--all")[1].splitlines()) == count + 1
