"""How long the recipe `quick` of every space takes: `python -m benchmarks.quick_times --data-dir data --save`.

Each space is searched for a few steps with its recipe. The processor time per step and per update is measured, and
added up to the length of the recipe. Later steps are cheaper, because switches are closed: this is an upper estimate.

Prints a table. `--save` keeps the record, and updates docs/systems.md. With names of spaces, only these are measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bayesnas_graph import api
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.recipes import ELSEWHERE, named_recipes
from bayesnas_graph.runs.settings import from_values, merged, read_settings
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.run import SearchTask
from benchmarks.page import fill
from benchmarks.record import RESULTS, Record, Row, append, resumed
from benchmarks.tables import table

NAME = "quick_times"
FOLDER = RESULTS / "systems"  # apart from the records of docs/benchmarks.md
COMMAND = "python -m benchmarks.quick_times --data-dir data --save"
PAGE = Path(__file__).parent.parent / "docs" / "systems.md"
SHORT = {"warmup": 3, "steps": 3, "iterations": 1, "finish": 0, "log_steps": 1, "checkpoint_steps": 10**6, "threads": 1}
SLOW = {"rate": 1e-3, "gate_rate": 1e-3}  # gates and weights have no time to settle; these take as long


@dataclass(frozen=True)
class Times:
    """Processor time of the parts of a search, in seconds, and the length of its recipe."""

    data: str
    warmup: int
    iterations: int
    steps: int
    finish: int
    step: float  # with the gates
    update: float
    rest: float  # before the first step and after the last one, with the test set

    @property
    def total(self) -> float:
        """Seconds for the whole search."""
        steps = self.warmup + self.iterations * self.steps + self.finish
        return steps * self.step + self.iterations * self.update + self.rest


@dataclass
class Clock(SearchWatcher):
    """Processor times between the events of a search."""

    last: float = field(default_factory=time.process_time)
    steps: list[float] = field(default_factory=list)
    updates: list[float] = field(default_factory=list)
    rest: float = 0.0

    def _lap(self) -> float:
        now = time.process_time()
        seconds, self.last = now - self.last, now
        return seconds

    def started(self, _problem: Problem, _learner: SearchLearner, _progress: SearchProgress) -> None:
        self.rest += self._lap()

    def logged(self, _row: StepRow) -> None:
        self.steps.append(self._lap())

    def updated(self, _found: Iteration, _accuracy: float, _seconds: float) -> None:
        self.updates.append(self._lap())

    def finished(self, _task: SearchTask, _outcome: SearchOutcome) -> None:
        self.rest += self._lap()


def measured(space: str, data_dir: Path) -> Times:
    """Search a space for a few steps with its recipe. Raises NasError."""
    recipe = read_settings(named_recipes(Path(space))[ELSEWHERE])
    whole = merged([recipe], SearchConfig)
    short = merged([recipe, from_values({**SHORT, **SLOW})], SearchConfig)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        api.search(space, config=short, output=Path(folder) / "run", data_dir=data_dir, watch=(clock,))
    steps = sorted(clock.steps[1:])  # the first one also allocates
    assert whole.warmup is not None, f"{space} has a recipe without `warmup`"
    assert whole.steps is not None, f"{space} has a recipe without `steps`"
    return Times(
        data=str(whole.data),
        warmup=whole.warmup,
        iterations=whole.iterations,
        steps=whole.steps,
        finish=whole.steps if whole.finish is None else whole.finish,
        step=steps[len(steps) // 2],
        update=max(clock.updates),
        rest=clock.rest,
    )


def spaces() -> list[str]:
    """The shipped spaces with a recipe for two cores."""
    return [path.stem for path in shipped_spaces() if ELSEWHERE in named_recipes(path)]


def row(times: Times) -> tuple[str, ...]:
    """A row of the table, without the space."""
    steps = times.warmup + times.iterations * times.steps + times.finish
    return (
        times.data,
        f"{steps:,}",
        f"{times.iterations:,}",
        f"{times.step:.2g}",
        f"{times.update:.2g}",
        f"{times.total / 60:.1f}",
    )


def generated(record: Record) -> str:
    """The table of docs/systems.md."""
    head = ("space", "data", "steps", "updates", "s per step", "s per update", "minutes")
    ordered = sorted(record.rows, key=lambda found: str(found["space"]))
    return table(head, [(f"`{found['space']}`", *row(times_of(found))) for found in ordered], words=2)


def times_of(found: Row) -> Times:
    """The times in a row of the record."""
    return Times(**{key: value for key, value in found.items() if key != "space"})


def page(record: Record) -> str:
    """The page with the table of a record."""
    return fill(PAGE.read_text(), lambda _: generated(record))


def main() -> None:
    """Measure the spaces, and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spaces", nargs="*", default=spaces(), help="shipped spaces (default: all with choices)")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--save", action="store_true", help="keep the record, and update docs/systems.md")
    arguments = parser.parse_args()
    begun = Record.begin(NAME, COMMAND, ("space",))
    record = resumed(begun, FOLDER) if arguments.save else begun
    for space in arguments.spaces:
        found = {"space": space, **asdict(measured(space, arguments.data_dir))}
        print(space, *row(times_of(found)), sep="  ", flush=True)
        record = append(record, found, FOLDER) if arguments.save else record.with_rows([found])
    print(generated(record))
    if arguments.save:
        PAGE.write_text(page(record))


if __name__ == "__main__":
    main()
