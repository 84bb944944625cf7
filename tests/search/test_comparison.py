"""The comparison with random architectures: what is drawn, how it is trained, and that it can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.passes import prune, verify
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.loop import EXPLOSION, Interrupted
from bayesnas_graph.runs.reading.comparison import Comparison, read_comparison
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search.comparison import Comparing, draw
from bayesnas_graph.search.events import StepRow
from bayesnas_graph.search.finalists import finalist_graph
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.trial import Trial
from tests.helpers import mostly_long
from tests.search.launcher import Launcher
from tests.search.runs import assert_same_run
from tests.search.spaces import TINY, Notes, asked_often, device, problem
from tests.search.test_finalists import ONE

FEW: dict[str, Any] = {"compare_random": 3, "finalist_steps": 6, "checkpoint_steps": 2, "log_steps": 1}


class Watched(Notes):
    """Also remembers the comparison."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[Comparison] = []
        self.trained: list[tuple[int, StepRow]] = []
        self.ended: list[int] = []

    def comparing(self, comparison: Comparison) -> None:
        self.begun.append(comparison)

    def trial_logged(self, number: int, row: StepRow) -> None:
        self.trained.append((number, row))

    def trial_ended(self, comparison: Comparison, number: int) -> None:
        self.ended.append(number)


def smallest(given: Problem) -> frozenset[str]:
    """The switches to close so that the last candidate of every choice of `ONE` stays."""
    return frozenset(name for name in given.graph.switches if not name.endswith((".identity", ".zero")))


def compared(
    folder: Path, given: Problem, watcher: Watched | None = None, stop: int | None = None
) -> Comparison | None:
    folder.mkdir(exist_ok=True)
    asked = (lambda: False) if stop is None else asked_often(stop)
    comparing = Comparing(given, device(given.config), RunFolder(folder), "space", watcher or Watched(), asked)
    return comparing.run(smallest(given), 100)


# ------------------------------------------------------------------------------------------ what is drawn


def test_random_architectures_have_about_the_same_size() -> None:
    given = problem(ONE, **FEW)
    off = smallest(given)
    own = cost(prune(given.graph, off)).parameters
    among, drawn = draw(given, off, 3)
    assert among == "size"
    assert len(set(drawn)) == 3
    assert tuple(sorted(off)) not in drawn
    for one in drawn:
        assert 0.8 * own <= cost(prune(given.graph, frozenset(one))).parameters <= 1.2 * own
        verify(finalist_graph(given.graph, one))


def test_any_if_there_are_too_few_of_the_size() -> None:
    """Hardly any cell is as large as one of 3x3 convolutions."""
    given = problem(ONE, **FEW)
    among, drawn = draw(given, frozenset(n for n in given.graph.switches if not n.endswith((".conv_3", ".zero"))), 5)
    assert among == "any"
    assert len(set(drawn)) == 5


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (ONE.replace("    x -> out : conv(width", "    require params < 300\n    x -> out : conv(width"), {}),
        (ONE, {"target_params": 299}),
    ],
)
def test_requirements_are_met(text: str, settings: dict[str, Any]) -> None:
    given = problem(text, **FEW, **settings)
    among, drawn = draw(given, smallest(given), 8)
    assert among == "requirements"
    assert drawn
    assert all(cost(prune(given.graph, frozenset(one))).parameters < 300 for one in drawn)


@pytest.mark.parametrize("mode", ["written", "proxy", "proxyless"])
@pytest.mark.parametrize("zero", ["before", "after"])
def test_switches_that_are_off_are_all_that_is_gone(mode: str, zero: str) -> None:
    """In a space with zero switches, shared in every way."""
    given = problem(TINY, **FEW, mode=mode, zero=zero)
    _, drawn = draw(given, frozenset(), 6)
    for one in drawn:
        left = {gate.group for gate in prune(given.graph, frozenset(one)).gates}
        assert left == given.graph.switches.keys() - set(one)


# ------------------------------------------------------------------------------------------ how it is trained


def test_all_are_trained_alike(tmp_path: Path) -> None:
    watcher = Watched()
    found = compared(tmp_path, problem(ONE, **FEW), watcher)
    assert found is not None
    assert watcher.begun[0].done == 0
    assert watcher.ended == [0, 1, 2, 3]
    assert found.is_done
    assert found == read_comparison(RunFolder(tmp_path))
    rates = [[row.rate for number, row in watcher.trained if number == one] for one in range(4)]
    assert len(rates[0]) == 6
    assert all(one == rates[0] for one in rates)
    assert watcher.starts == [], "the start of a trial is not that of a search"
    assert not (tmp_path / "trials").exists()


def test_an_interrupted_comparison_is_resumed(tmp_path: Path) -> None:
    """After any step: the file is the same to the last byte."""
    given = problem(ONE, **FEW)
    compared(tmp_path / "whole", given)
    steps = []
    for _ in range(100):
        try:
            compared(tmp_path / "parts", given, stop=3)
            break
        except Interrupted as interrupted:
            steps.append(interrupted.step)
    assert len(steps) > 8
    assert steps == sorted(set(steps))
    assert min(steps) > 100
    assert max(steps) <= 100 + 4 * 6
    whole, parts = ((tmp_path / name / "comparison.json").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


def test_what_is_known_is_not_trained_again(tmp_path: Path) -> None:
    first = compared(tmp_path, problem(ONE, **FEW))
    watcher = Watched()
    more = compared(tmp_path, problem(ONE, **FEW | {"compare_random": 5}), watcher)
    assert first is not None
    assert more is not None
    known = {network.off for network in first.networks}
    assert watcher.ended == [i for i, network in enumerate(more.networks) if network.off not in known]
    assert {network.off: network for network in more.networks}.items() >= {
        network.off: network for network in first.networks if network in more.networks
    }.items()
    longer = Watched()
    compared(tmp_path, problem(ONE, **FEW | {"finalist_steps": 7}), longer)
    assert longer.ended == [0, 1, 2, 3], "with more steps, none is known"


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"version": 1, "networks": [{"off": 3}]}', '{"checksum": "0"}'])
def test_a_damaged_file_begins_again(content: str, tmp_path: Path) -> None:
    given = problem(ONE, **FEW)
    compared(tmp_path, given)
    whole = (tmp_path / "comparison.json").read_bytes()
    (tmp_path / "comparison.json").write_text(content)
    watcher = Watched()
    compared(tmp_path, given, watcher)
    assert watcher.ended == [0, 1, 2, 3]
    (note,) = watcher.messages
    assert "the comparison begins again" in note
    assert (tmp_path / "comparison.json").read_bytes() == whole


def test_architectures_of_another_space_are_not_taken(tmp_path: Path) -> None:
    given = problem(ONE, **FEW)
    found = compared(tmp_path, given)
    assert found is not None
    for off in (("no such switch",), (), found.networks[0].off):
        other = found.networks[1].model_copy(update={"off": off})
        RunFolder(tmp_path).write_json(tmp_path / "comparison.json", found.replaced(1, other).to_plain())
        assert compared(tmp_path, given) == found


def test_a_loss_that_explodes_leaves_an_architecture_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, code = Trial.run, EXPLOSION

    def exploding(trial: Trial) -> tuple[float, float]:
        if trial.off == given_off:
            raise NasError([Diagnostic(code, "the loss exploded again")])
        return run(trial)

    monkeypatch.setattr(Trial, "run", exploding)
    given, watcher = problem(ONE, **FEW), Watched()
    given_off = draw(given, smallest(given), 3)[1][1]
    found = compared(tmp_path, given, watcher)
    assert found is not None
    assert [network.failed for network in found.networks] == [False, False, True, False]
    assert found.is_done
    assert found.standing is not None
    assert len(found.standing.others) == 2
    assert watcher.messages == ["architecture 3 is left out: the loss exploded again"]
    code = "NAS601"
    (tmp_path / "comparison.json").unlink()
    with pytest.raises(NasError):
        compared(tmp_path, given)


def test_a_space_with_few_architectures(tmp_path: Path) -> None:
    text = """
    network net : image(1, 8, 8) -> classes(10) {{
        in x
        x -> out : choose 1 {{ {} }} > relu > global_avg_pool > linear(10)
    }}
    """
    two, watcher = problem(text.format("conv(4), conv(4, k = 1)"), **FEW), Watched()
    asked = Comparing(two, device(two.config), RunFolder(tmp_path), "space", watcher, lambda: False)
    found = asked.run(frozenset({"choice.conv_1"}), 0)
    assert found is not None
    assert len(found.networks) == 2
    assert watcher.messages == ["only 1 of 3 random architectures were found"]
    (tmp_path / "alone").mkdir()
    one, watcher = problem(text.format("conv(4)"), **FEW), Watched()
    alone = Comparing(one, device(one.config), RunFolder(tmp_path / "alone"), "space", watcher, lambda: False)
    assert alone.run(frozenset(), 0) is None
    assert watcher.messages == ["there is no other architecture of the same budget to compare with"]


# ------------------------------------------------------------------------------------------ whole runs


@pytest.mark.parametrize("strategy", mostly_long(STRATEGIES, "bayes", "random"))
def test_a_killed_run_ends_with_the_same_comparison(strategy: str, programs: Launcher) -> None:
    """Through the command line, with a signal in the middle of it, for every strategy."""
    (programs.folder / "one.nas").write_text(ONE)
    begin = (
        "search",
        "one.nas",
        "--config",
        "short.toml",
        "--allow-python",
        "--strategy",
        strategy,
        "--iterations",
        "1",
    )
    more = ("-s", "finish=2", "--compare-random", "2", "-s", "finalist_steps=8")
    whole, killed = (programs.folder / f"{strategy}-{name}" for name in ("whole", "killed"))
    assert programs.run(*begin, *more, "-o", whole)[0] == 0
    program = programs.start(*begin, *more, "-o", killed)
    assert program.until(lambda line: line.startswith("compared 1/3"))
    program.signal(9)
    program.ended()
    assert not (killed / "result.json").exists()
    code, printed = programs.run("search", "--resume", killed, "--allow-python")
    assert code == 0, printed
    assert "compared 2/3" in printed
    assert_same_run(whole, killed)
    assert (whole / "comparison.json").read_bytes() == (killed / "comparison.json").read_bytes()
