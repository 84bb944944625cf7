"""The command `sample`, and architectures by the names of their switches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from tests.cli.conftest import Run

SPACE = """
motif branch {
    in x
    x -> out : choose { conv(), max_pool(3) }
}

cell block {
    in x
    node h = x : choose 1 { conv(), conv(k = 5), bn }
    h -> out : optional relu
    x -> out
}

network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width) > block > branch > block > branch > global_avg_pool > linear(10)
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.nas").write_text(SPACE)
    return tmp_path


# ------------------------------------------------------------------------------------- sample


def test_the_table(run: Run) -> None:
    result = run("sample", "nasbench201", "-n", "2", "--seed", "3")
    assert result.code == 0, result.err
    heading, first, second, summary = result.out.splitlines()
    assert heading.split() == ["parameters", "multiply-adds", "switches", "architecture"]
    assert first.split()[0] == "1"
    assert second.endswith("|")
    assert summary == "2 architectures, drawn uniformly with seed 3"
    assert run("sample", "nasbench201", "-n", "2", "--seed", "3").out == result.out


def test_lines_of_json_are_architectures(run: Run, folder: Path) -> None:
    result = run("sample", "space.nas", "-n", "4", "--json")
    lines = result.out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3, 4]
    for line in lines:
        (folder / "one.json").write_text(line)
        told = json.loads(line)
        derived = run("derive", "space.nas", "--architecture", "@one.json", "-o", "out", "--force")
        assert derived.code == 0, derived.err
        assert f"{told['parameters']:,} parameters, {told['multiply_adds']:,} multiply-adds" in derived.out


def test_files_are_architectures(run: Run, folder: Path) -> None:
    result = run("sample", "space.nas", "-n", "1000", "-o", "drawn")
    assert "36 architectures: there are no others\nwrote 36 files to drawn\n" in result.out
    files = sorted(path.name for path in (folder / "drawn").iterdir())
    assert files[0] == "01.txt"
    assert files[-1] == "36.txt"
    derived = [api.derive("space.nas", architecture=(folder / "drawn" / name).read_text()) for name in files]
    assert len({one.written.text for one in derived}) == 36
    again = run("sample", "space.nas", "-n", "1000", "--seed", "1", "-o", "drawn")
    assert again.code == 1
    assert "error[NAS012]" in again.err


def test_a_network_without_choices_and_without_hope(run: Run, folder: Path) -> None:
    assert "1 architecture: there are no others" in run("sample", "lenet5").out
    (folder / "space.nas").write_text(SPACE.replace("linear(10)\n", "linear(10)\n    require params < 9\n"))
    result = run("sample", "space.nas")
    assert result.code == 1
    assert "error[NAS705]: no architecture of network `net` with `params < 9` was found" in result.err
    assert run("sample", "space.nas", "-n", "0").code == 2


def test_from_python() -> None:
    drawn = api.sample("space.nas", 5, seed=1)
    assert len(drawn) == 5
    for one in drawn:
        architecture = api.derive("space.nas", keep=one.switches)
        assert architecture.cost.parameters == one.parameters
    assert api.sample(api.load("space.nas", width=8), 1).drawn[0].parameters > 0


# --------------------------------------------------------------------------- names of switches


def test_keep(run: Run, folder: Path) -> None:
    listed = run("derive", "space.nas", "--keep", "nonsense", "-o", "out")
    assert listed.code == 1
    assert "error[NAS703]: network `net` has no switch `nonsense`\n = help: it has `" in listed.err
    both = {gate.text: group for group, gate in api.load("space.nas").graph().switches.items()}
    kept = [text for text in both if "conv_5" in text or "max_pool" in text]
    result = run("derive", "space.nas", "--keep", ",".join(kept), "-o", "out")
    assert result.code == 0, result.err
    ids = run(
        "derive", "space.nas", "--keep", both[kept[0]], "--keep", both[kept[1]], "--keep", both[kept[2]], "-o", "o2"
    )
    assert ids.code == 0, ids.err
    assert (folder / "out" / "network.nas").read_text() == (folder / "o2" / "network.nas").read_text()
    again = run("derive", "space.nas", "--architecture", "@out/decision.json", "-o", "o3")
    assert again.code == 0, again.err
    assert (folder / "o3" / "network.nas").read_text() == (folder / "o2" / "network.nas").read_text()


BRANCHES = "branch.choice.conv,branch_2.choice.conv"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--keep", "block h: conv_6"],
            1,
            "NAS703]: network `net` has no switch `block h: conv_6`\n = help: did you mean",
        ),
        (["--keep", f"h:conv_3,h: bn,block:out.h,{BRANCHES}"], 1, "error[NAS623]"),
        (["--keep", "block h: conv_3"], 1, "error[NAS612]"),
        (["--keep", ","], 2, "names no switch"),
        (["--keep", "x", "--architecture", "y"], 2, "give the architecture once"),
        (["--keep", "x", "--keep-per-edge", "1"], 2, "takes a space, and no options that select"),
        (["--architecture", '{"switches": 3}'], 1, "NAS701]: there is no list of switches"),
        (["--architecture", '["block h: conv",'], 1, "error[NAS701]: this is not JSON"),
        (
            ["--architecture", "block h: cnv"],
            1,
            "NAS703]: network `net` has no switch `block h: cnv`\n --> architecture:1:1",
        ),
    ],
)
def test_mistakes(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("derive", "space.nas", *arguments, "-o", "out")
    assert result.code == code
    assert message in result.err


def test_an_ambiguous_name() -> None:
    Path("two.nas").write_text(
        "cell a { in x x -> out : choose { conv(), relu } } cell b { in x x -> out : choose { conv(), relu } } "
        "network net : image(3, 8, 8) -> image(3, 8, 8) { in x x -> out : a > b }"
    )
    with pytest.raises(NasError, match=r"NAS704: `choice: conv` may be any of 2 switches") as error:
        api.derive("two.nas", keep=["choice: conv"])
    assert "use an id: `a:choice.conv`, `b:choice.conv`" in (error.value.diagnostics[0].help or "")


def test_other_verbs_take_an_architecture(run: Run, folder: Path) -> None:
    drawn = api.sample("space.nas", 1).drawn[0]
    (folder / "one.txt").write_text("# mine\n\n" + "\n".join(drawn.switches) + "\n")
    for verb in (["export", "-o", "net.py"], ["draw", "-o", "net.svg"]):
        result = run(verb[0], "space.nas", "--architecture", "@one.txt", *verb[1:])
        assert result.code == 0, result.err
    whole = run("draw", "space.nas", "-o", "whole.svg")
    assert whole.code == 0
    assert (folder / "net.svg").stat().st_size < (folder / "whole.svg").stat().st_size
    small = ("--data", "digits", "--epochs", "1", "--batch", "300", "-s", "cutout=0", "-s", "crop=0", "-s", "threads=1")
    result = run("train", "space.nas", "--architecture", "@one.txt", *small, "-o", "trained")
    assert result.code == 0, result.err
    assert api.load(folder / "trained" / "space" / "network.nas").block.choices == 0
    failed = run("train", "--resume", "trained", "--keep", drawn.switches[0])
    assert failed.code == 2
