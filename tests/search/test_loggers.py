"""Loggers: with a fake writer, with TensorBoard, and with stand-ins for packages that tests do not have."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.loggers import openers
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.loggers import SearchLogger, search_loggers
from bayesnas_graph.search.progress import SearchProgress
from tests.search.spaces import TINY, device, problem, search, searched


@dataclass
class Book:
    """The written values by name and step; a new writer drops those after its first step."""

    scalars: dict[tuple[str, int], float] = field(default_factory=dict)
    histograms: dict[tuple[str, int], int] = field(default_factory=dict)
    open: int = 0

    def writer(self, folder: RunPaths, purge_step: int, settings: Mapping[str, Any]) -> Book:
        assert "seed" in settings
        self.scalars = {key: value for key, value in self.scalars.items() if key[1] < purge_step}
        self.open += 1
        return self

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        assert (tag, global_step) not in self.scalars, "written twice"
        self.scalars[tag, global_step] = scalar_value

    def add_histogram(self, tag: str, values: Tensor, global_step: int) -> None:
        self.histograms[tag, global_step] = len(values)

    def close(self) -> None:
        self.open -= 1

    def steps(self, tag: str) -> list[int]:
        return [step for name, step in self.scalars if name == tag]


def test_scalars_by_step(tmp_path: Path) -> None:
    book = Book()
    board = SearchLogger(book.writer, RunPaths(tmp_path))
    outcome = searched(tmp_path / "run", watcher=board, strategy="bayesnas", stable=0)
    assert book.steps("loss") == list(range(2, 37, 2))
    for tag in ("accuracy/held-out", "size/weights", "size/multiply-adds", "lambda", "shrink_budget/smallest"):
        assert book.steps(tag) == [12, 20, 28]
    for tag in ("accuracy/train", "penalty", "rate", "seconds/step", "switches/open"):
        assert book.steps(tag) == book.steps("loss")
    assert book.scalars["size/weights", 28] == outcome.cost.parameters
    assert book.scalars["switches/max_pool", 12] in (0, 1)
    assert book.histograms["gamma_log10", 12] == 7
    assert book.open == 1
    board.closed()
    assert book.open == 0


def test_resuming_drops_events_after_the_checkpoint(tmp_path: Path) -> None:
    book = Book()
    asked = problem(stable=0)
    calls = iter(range(100))

    def killed() -> bool:
        if next(calls) > 20:
            raise RuntimeError("killed")
        return False

    with pytest.raises(RuntimeError, match="killed"):
        search(asked, tmp_path / "run", SearchLogger(book.writer, RunPaths(tmp_path)), killed).run()
    last = max(int(path.stem.removeprefix("step-")) for path in (tmp_path / "run").glob("*.pt"))
    assert last < book.steps("loss")[-1]
    search(asked, tmp_path / "run", SearchLogger(book.writer, RunPaths(tmp_path))).run()
    assert book.steps("loss") == list(range(2, 37, 2))


def test_rolling_back_drops_events_too() -> None:
    """As after an explosion, when the writer is not restarted."""
    book = Book()
    asked = problem()
    board = SearchLogger(book.writer, RunPaths(Path()))
    board.started(asked, new_learner(asked.graph, asked.config, device(asked.config)), SearchProgress())
    row = StepRow(step=2, iteration=0, loss=1.0, accuracy=0.5, penalty=0.1, rate=0.1, seconds=0.1, alive=7)
    for step in (2, 4, 6, 4, 6):
        board.logged(replace(row, step=step))
    assert book.steps("loss") == [2, 4, 6]
    assert book.open == 1


def test_closing_before_the_beginning() -> None:
    SearchLogger(Book().writer).closed()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(NasError) as error:
        search_loggers(["tensorboard"])
    assert error.value.diagnostics[0].code == "NAS609"
    assert error.value.diagnostics[0].help == "install it with `pip install tensorboard`"


def test_with_the_package(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

    (board,) = search_loggers(["tensorboard"])
    assert isinstance(board, SearchLogger)
    board.folder = RunPaths(tmp_path)
    searched(tmp_path / "run", watcher=board)
    board.closed()
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")][:3] == [2, 4, 6]


WANDB = """
import json
from pathlib import Path

class Settings:
    def __init__(self, silent): assert silent

class Histogram(list): pass

class Run:
    def __init__(self, folder): self.file = (Path(folder) / "wandb.jsonl").open("a")
    def define_metric(self, name, step_metric): assert (name, step_metric) == ("*", "step")
    def log(self, values): print(json.dumps(values), file=self.file)
    def finish(self): self.file.close()

def init(project, name, dir, config, mode, reinit, settings):
    assert mode == "offline" and config["seed"] == 0
    return Run(dir)
"""
MLFLOW = """
import json
from pathlib import Path
from types import SimpleNamespace

class MlflowClient:
    def __init__(self, uri):
        assert uri.startswith("sqlite:///") and uri.endswith("/mlflow.db")
        self.file = (Path(uri.removeprefix("sqlite:///")).parent / "mlflow.jsonl").open("a")
    def get_experiment_by_name(self, name): return None
    def create_experiment(self, name): return "1"
    def create_run(self, experiment, run_name): return SimpleNamespace(info=SimpleNamespace(run_id="run"))
    def log_batch(self, run, params): assert ("seed", "0") in params
    def log_metric(self, run, key, value, timestamp, step):
        print(json.dumps({key: value, "step": step}), file=self.file)
    def set_terminated(self, run): self.file.close()
"""
SEARCH: dict[str, Any] = {
    "data": "digits",
    "iterations": 1,
    "steps": 4,
    "warmup": 0,
    "finish": 0,
    "log_steps": 2,
    "threads": 1,
}


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that write all they are told into a file of the run folder."""
    (tmp_path / "wandb.py").write_text(WANDB)
    (tmp_path / "mlflow").mkdir()
    (tmp_path / "mlflow" / "__init__.py").write_text(MLFLOW)
    (tmp_path / "mlflow" / "entities.py").write_text("def Param(key, value):\n    return key, value\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("WANDB_MODE", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    for name in ("wandb", "mlflow", "mlflow.entities"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def logged(file: Path) -> dict[str, list[int]]:
    """The steps of every name."""
    found: dict[str, list[int]] = {}
    for line in file.read_text().splitlines():
        values = json.loads(line)
        step = values.pop("step")
        for name in values:
            found.setdefault(name, []).append(step)
    return found


@pytest.mark.usefixtures("stand_ins")
def test_runs_are_logged_by_name(tmp_path: Path) -> None:
    class Rows(SearchWatcher):
        seen = 0

        def logged(self, row: StepRow) -> None:
            self.seen += 1

    rows = Rows()
    names = ["wandb", "mlflow", "wandb"]
    run = api.search(api.Text(TINY), output=tmp_path / "run", watch=rows, loggers=names, **SEARCH)
    assert rows.seen == 2
    for file, extra in (("wandb.jsonl", ""), ("mlflow.jsonl", "/mean")):
        seen = logged(run.path / file)
        assert seen["loss"] == seen["rate"] == [2, 4]
        assert seen["accuracy/held-out"] == seen["switches/max_pool"] == seen[f"gamma_log10{extra}"] == [4]
    settings: dict[str, Any] = {"data": "digits", "epochs": 1, "batch": 500, "cutout": 0, "threads": 1}
    trained = api.train(api.derive(run), output=tmp_path / "train", loggers=names, **settings)
    for file in ("wandb.jsonl", "mlflow.jsonl"):
        seen = logged(trained.path / file)
        assert seen["accuracy/test"] == seen["loss/train"] == seen["loss"][-1:]


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_missing_package_is_found_before_the_start(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NasError, match=f"the logger `{name}` needs the package `{name}`") as error:
        api.search(api.Text(TINY), output=tmp_path / "run", loggers=[name], **SEARCH)
    assert error.value.diagnostics[0].help == f"install it with `pip install {name}`"
    assert not (tmp_path / "run").exists()


def test_loggers_that_do_not_exist() -> None:
    with pytest.raises(NasError, match="no logger `wandbb`") as error:
        openers(["wandbb"])
    assert error.value.diagnostics[0].help == "did you mean `wandb`?"
