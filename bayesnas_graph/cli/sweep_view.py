"""A sweep as it is shown while it goes on: a line for each run that ends, and on a terminal those that are running."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.cli.console import say
from bayesnas_graph.cli.table import rich_console

if TYPE_CHECKING:
    from rich.text import Text

    from bayesnas_graph.runs.sweep.folder import Run, SweepFolder
    from bayesnas_graph.runs.sweep.schedule import Teller

LONGEST = 12  # runs that are listed


@dataclass(frozen=True)
class Lines:
    """One for each run that ends."""

    say: Callable[[str], None] = say

    def ended(self, run: Run, number: int, total: int) -> None:
        if run.found is not None:
            told = f"{run.found.parameters:,} weights, accuracy {run.found.accuracy:.4f}"
        else:
            told = f"{run.state}: {run.error}" if run.error else run.state
        self.say(f"{number} of {total} done: {run.point.shown}: {told}")

    def stopping(self) -> None:
        self.say("stopping when all runs have saved their state; Ctrl-C again ends them at once")

    def turn(self, runs: Sequence[Run]) -> None:
        pass


@dataclass(frozen=True)
class Screen(Lines):
    """The same lines, and below them the runs that are going on, each with what it said last."""

    folder: SweepFolder | None = None
    show: Callable[[Text], None] = lambda _: None

    def turn(self, runs: Sequence[Run]) -> None:
        from rich.text import Text

        from bayesnas_graph.runs.sweep.folder import last_line

        assert self.folder is not None, "a screen is made with one"
        busy = [run for run in runs if run.state == "running"]
        width = max((len(run.point.shown) for run in busy), default=0)
        lines = [f"{run.point.shown:<{width}}  {last_line(self.folder.log(run.point))}" for run in busy[:LONGEST]]
        more, waiting = len(busy) - LONGEST, sum(run.state == "waiting" for run in runs)
        lines += [f"and {more} more"] if more > 0 else []
        lines += [f"{waiting} waiting"] if waiting else []
        self.show(Text("\n".join(lines), style="dim", no_wrap=True, overflow="ellipsis"))


@contextmanager
def viewing(folder: SweepFolder, *, live: bool) -> Iterator[Teller]:
    """Lines in a pipe, more on a terminal. When nobody listens any more, the runs go on all the same."""
    if not live:
        yield Lines()
        return
    from rich.live import Live

    out = rich_console()

    def say(text: str) -> None:
        with suppress(OSError):
            out.print(text, markup=False, soft_wrap=True)

    def show(text: Text) -> None:
        with suppress(OSError):
            screen.update(text, refresh=True)

    with Live(console=out, auto_refresh=False, transient=True) as screen:
        yield Screen(say, folder, show)
