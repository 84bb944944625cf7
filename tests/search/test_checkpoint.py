"""SearchCheckpoints: what goes in comes out, what is damaged is told, and a full disk costs nothing but time."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.bayes import Decision, Verdict, Why
from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.tables import read_table
from bayesnas_graph.runtime import precision
from bayesnas_graph.search.checkpoint import SearchCheckpoints, from_plain, to_plain
from bayesnas_graph.search.events import SearchRecorder
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from tests.search.launcher import Launcher
from tests.search.runs import assert_same, assert_same_run, checkpoints
from tests.search.spaces import TINY, Notes, asked_often, config, device, problem, search, searched, tiny_data

RATES = Rates(weights=0.05, gates=0.5, intensities=(0.1, 0.1))


def trained(config: SearchConfig, steps: int = 2, text: str = TINY) -> SearchLearner:
    torch.manual_seed(0)
    learner = new_learner(problem(text).graph, config, device(config))
    learner = strategy_of(config).start(learner, batch())
    for _ in range(steps):
        train(learner)
    return learner


def train(learner: SearchLearner) -> float:
    return float(train_step(learner, batch(), RATES)[0])


def batch() -> Batch:
    images, labels = tiny_data().train.take(torch.arange(20))
    return images.float() / 255, labels


# --------------------------------------------------------------------------------------- in and out

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    why = draw(st.sampled_from(Why))
    several = st.lists(numbers, max_size=3).map(tuple)
    return Verdict(
        name=draw(names),
        keep=why.keep,
        why=why,
        gamma=draw(numbers),
        s=draw(numbers),
        omega=draw(numbers),
        entropy=draw(st.none() | numbers),
        gates=tuple(draw(st.lists(names, max_size=3))),
        w=draw(several),
        h=draw(several),
        places=(),
    )


some = st.lists(verdicts(), max_size=3).map(tuple)
counts = st.integers(0, 2**40)
progresses = st.builds(
    SearchProgress,
    step=counts,
    iteration=counts,
    measured=st.booleans(),
    closed=some,
    unchanged=counts,
    growth=numbers,
    slowdown=numbers,
    explosions=counts,
    first_loss=st.none() | numbers,
    architecture=st.none() | st.builds(Decision, some),
    ended=names,
)


@given(progress=progresses)
def test_progress_round_trip(progress: SearchProgress, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "progress.pt"
    torch.save(progress.to_plain(), path)
    assert SearchProgress.from_plain(torch.load(path, weights_only=True)) == progress


@pytest.mark.parametrize("strategy", ["bayes", "bayesnas"])
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("steps", [0, 3])
def test_learners_come_back(strategy: str, optimiser: str, steps: int, tmp_path: Path) -> None:
    given = config(strategy=strategy, optimiser=optimiser)
    learner = trained(given, steps)
    assert [float(sums.max()) for name, sums in learner.beliefs.items() if name == "new"] == (
        [steps] if strategy == "bayes" else []
    )
    units = torch.rand_like(learner.units)
    learner = learner.with_prior(replace(learner.prior, gamma=learner.prior.gamma * 0.3), units)
    content = to_plain(learner, SearchProgress(step=7))
    torch.save(content, tmp_path / "learner.pt")
    loaded = torch.load(tmp_path / "learner.pt", weights_only=True)
    again, progress = from_plain(loaded, problem(strategy=strategy, optimiser=optimiser), device(given))
    assert progress == SearchProgress(step=7)
    assert_same(to_plain(again, progress), loaded)
    assert train(again) == train(learner)
    assert_same(to_plain(again, progress), to_plain(learner, progress))


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_another_program_of_the_same_network(optimiser: str) -> None:
    """As with another number of processes: fusion depends on the batch size."""
    many = trained(config(batch=2**17, optimiser=optimiser))
    given = problem(optimiser=optimiser)
    few, _ = from_plain(to_plain(many, SearchProgress()), given, device(given.config))
    assert few.supernet.program != many.supernet.program
    assert torch.equal(few.supernet.gates, many.supernet.gates)
    for _ in range(3):
        assert train(few) == pytest.approx(train(many), rel=1e-5)


def test_the_last_few_are_kept(tmp_path: Path) -> None:
    searched(tmp_path, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000032.pt", "step-000000036.pt"]


@pytest.mark.parametrize("name", ["bayes", "bayesnas", "darts"])
@pytest.mark.parametrize("kinds", [((), ("cpu",)), (("cpu",), ())])
def test_a_search_continues_in_another_precision(
    name: str, kinds: tuple[tuple[str, ...], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when it is moved between Apple's GPU, which has no doubles, and another device."""
    given, notes, expected = problem(strategy=name), Notes(), searched(tmp_path / "whole", strategy=name)
    monkeypatch.setattr(precision, "WITHOUT_DOUBLE", frozenset(kinds[0]))
    with pytest.raises(Interrupted):
        search(given, tmp_path / "moved", stop=asked_often(14)).run()
    monkeypatch.setattr(precision, "WITHOUT_DOUBLE", frozenset(kinds[1]))
    outcome = search(given, tmp_path / "moved", notes).run()
    assert not notes.messages
    assert notes.starts[0].step > given.warmup
    learner = outcome.learner
    learnt = [learner.prior.gamma, learner.prior.omega, learner.units, *learner.beliefs.values()]
    assert {values.dtype for values in learnt} == {torch.float32 if kinds[1] else torch.float64}
    assert outcome.decision.off == expected.decision.off


# ----------------------------------------------------------------------------------------- damaged


class Evil:
    """An object that runs code when unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no checkpoint, but it is long enough to be one" * 100)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 400] = bytes(255 - byte for byte in content[middle : middle + 400])
    path.write_bytes(bytes(content))


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(Evil(path.parent / "marker")))


def saved_with_code(path: Path) -> None:
    torch.save({"version": 1, "fingerprint": "", "progress": Evil(path.parent / "marker")}, path)


def of_another_kind(path: Path) -> None:
    torch.save(torch.zeros(3), path)


def without_weights(path: Path) -> None:
    content = torch.load(path, weights_only=True)
    del content["weights"]
    torch.save(content, path)


def of_another_width(path: Path) -> None:
    content = torch.load(path, weights_only=True)
    content["weights"] = {name: torch.zeros(3) for name in content["weights"]}
    torch.save(content, path)


def of_tomorrow(path: Path) -> None:
    torch.save(torch.load(path, weights_only=True) | {"version": 2}, path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[Callable[[Path], None], str] = {
    garbage: "it is damaged",
    empty: "it is damaged",
    truncated: "it is damaged",
    flipped: "it has changed since it was written",
    pickled: "it is damaged",
    saved_with_code: "it is damaged",
    of_another_kind: "it is damaged",
    without_weights: "it does not belong to this run",
    of_another_width: "it does not belong to this run",
    folder: "is a directory",
}


@pytest.fixture(scope="session")
def searched_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("searched")
    searched(made)
    return made


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_cannot_be_read(damage: Callable[[Path], None], searched_once: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(searched_once, run)
    last = run / "step-000000036.pt"
    damage(last)
    before = last.read_bytes() if last.is_file() else None
    watcher = Notes()
    searched(run, watcher=watcher)
    aside = run / "step-000000036.pt.damaged"
    assert watcher.messages[0] == (
        f"cannot read `{last}`: {DAMAGES[damage]}; it is now `{aside.name}`, and the run continues from step 32"
    )
    assert (aside.read_bytes() if aside.is_file() else None) == before, "nothing is lost"
    assert not (run / "marker").exists()
    assert_same(checkpoints(run), checkpoints(searched_once))


def test_a_checkpoint_of_a_newer_version(searched_once: Path, tmp_path: Path) -> None:
    """It is not damaged, so the steps it stands for are not taken again."""
    run = tmp_path / "run"
    shutil.copytree(searched_once, run)
    of_tomorrow(run / "step-000000036.pt")
    with pytest.raises(NasError) as error:
        searched(run)
    assert render(error.value.diagnostics[0]) == (
        f"error[NAS603]: cannot read `{run}/step-000000036.pt`: it has version 2, but this program reads 1\n"
        " = help: resume the run with the version of the program that wrote it\n"
    )
    assert not list(run.glob("*.damaged"))


def test_all_are_damaged(searched_once: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(searched_once, run)
    names = sorted(path.name for path in run.iterdir())
    for path in run.iterdir():
        garbage(path)
    with pytest.raises(NasError) as error:
        searched(run)
    assert render(error.value.diagnostics[0]) == (
        f"error[NAS603]: cannot read `{run}/step-000000036.pt`: it is damaged\n"
        " = help: no checkpoint is left to resume from: restore one, or start another run\n"
    )
    assert sorted(path.name for path in run.iterdir()) == names, "nothing is moved"


def test_another_space(searched_once: Path) -> None:
    given = problem()
    with pytest.raises(NasError) as error:
        SearchCheckpoints(searched_once, fingerprint="another").last(given, device(given.config))
    assert [d.code for d in error.value.diagnostics] == ["NAS604"]


# ---------------------------------------------------------------------------------------- full disk


def test_full_disk(programs: Launcher) -> None:
    """Files cannot grow beyond the size of a checkpoint; then the limit is lifted."""
    begin = ("search", "tiny.nas", "--config", "short.toml", "--allow-python")
    assert programs.run(*begin, "-o", "roomy")[0] == 0
    sizes = [path.stat().st_size for path in (programs.folder / "roomy" / "checkpoints").iterdir()]
    code, printed = programs.run(*begin, "-o", "full", largest_file=min(sizes) // 2)
    assert code == 1
    assert "error[NAS012]: cannot write `full/checkpoints/step-000000000.pt`: file too large\n" in printed
    assert "free some disk space, then continue with `--resume`" in printed
    assert programs.run("search", "--resume", "full", "--allow-python")[0] == 0
    assert_same_run(programs.folder / "roomy", programs.folder / "full")


def test_full_disk_in_the_middle(tmp_path: Path, searched_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def no_room(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(NasError) as error:
        searched(tmp_path)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS012"
    assert diagnostic.message == f"cannot write `{tmp_path}/step-000000008.pt`: no space left on device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000000.pt", "step-000000004.pt"]
    searched(tmp_path)
    assert_same(checkpoints(tmp_path), checkpoints(searched_once))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_tables_on_a_full_disk(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    record = SearchRecorder(run, "tiny")

    class Full(SearchRecorder):
        def started(self, *arguments: Any) -> None:
            record.started(*arguments)
            run.metrics.unlink()
            run.metrics.symlink_to("/dev/full")

    with pytest.raises(NasError) as error:
        search(problem(), run.checkpoints, Full(run, "tiny")).run()
    assert error.value.diagnostics[0].message == f"cannot write `{run.metrics}`: no space left on device"
    run.metrics.unlink()
    search(problem(), run.checkpoints, record).run()
    assert len(read_table(run.metrics)) == 18


def test_something_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("not a folder")
    with pytest.raises(NasError) as error:
        searched(tmp_path / "checkpoints")
    assert error.value.diagnostics[0].code == "NAS012"
