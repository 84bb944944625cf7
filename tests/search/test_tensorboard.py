"""TensorBoard events, with a fake writer and with the real one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from torch import Tensor

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.search.events import StepRow
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.tensorboard import TensorBoard, writer
from tests.search.spaces import device, problem, search, searched


@dataclass
class Book:
    """The written values by name and step; a new writer drops those after its first step."""

    scalars: dict[tuple[str, int], float] = field(default_factory=dict)
    histograms: dict[tuple[str, int], int] = field(default_factory=dict)
    open: int = 0

    def writer(self, folder: Path, purge_step: int) -> Book:
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
    board = TensorBoard(tmp_path, book.writer)
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
        search(asked, tmp_path / "run", TensorBoard(tmp_path, book.writer), killed).run()
    last = max(int(path.stem.removeprefix("step-")) for path in (tmp_path / "run").glob("*.pt"))
    assert last < book.steps("loss")[-1]
    search(asked, tmp_path / "run", TensorBoard(tmp_path, book.writer)).run()
    assert book.steps("loss") == list(range(2, 37, 2))


def test_rolling_back_drops_events_too() -> None:
    """As after an explosion, when the writer is not restarted."""
    book = Book()
    asked = problem()
    board = TensorBoard(Path(), book.writer)
    board.started(asked, new_learner(asked.graph, asked.config, device(asked.config)), SearchProgress())
    row = StepRow(step=2, iteration=0, loss=1.0, accuracy=0.5, penalty=0.1, rate=0.1, seconds=0.1, alive=7)
    for step in (2, 4, 6, 4, 6):
        board.logged(replace(row, step=step))
    assert book.steps("loss") == [2, 4, 6]
    assert book.open == 1


def test_closing_before_the_beginning() -> None:
    TensorBoard(Path(), Book().writer).closed()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(NasError) as error:
        writer()
    assert error.value.diagnostics[0].code == "NAS609"
    assert error.value.diagnostics[0].help == "install it with `pip install tensorboard`"


def test_with_the_package(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

    board = TensorBoard(tmp_path, writer())
    searched(tmp_path / "run", watcher=board)
    board.closed()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")][:3] == [2, 4, 6]
