"""The live display of a search: the present below, and above it a line for everything that has happened."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from bayesnas_graph.cli.console import duration, note, say, short_time, show_diagnostics
from bayesnas_graph.cli.display.search_lines import compared_text, conclusion, head, update_text
from bayesnas_graph.cli.display.search_state import SearchState, able_text, shrink_text
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.cli.rich_output import live_console
from bayesnas_graph.diagnostics.wrapping import wrapped

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic
    from bayesnas_graph.search.finalists import Finalist

REFRESHES = 1  # per second; drawing takes a few milliseconds of the search
TRAIL = 4  # lines above the live part that stay in view, for any size of table
EDGE = 1  # spaces on either side
NARROW = 64  # width below which numbers are in one column


@dataclass
class SearchScreen:
    """Lines that stay, and below them the present, which is drawn again and again and removed at the end."""

    stream: TextIO = field(default_factory=lambda: sys.stdout)
    state: SearchState | None = None
    _live: Live | None = None
    _began: float = 0.0
    _table: tuple[object, list[str]] = (None, [])

    def closed(self) -> None:
        if self._live is not None:
            self._live.stop()

    def started(self, state: SearchState, warning: Diagnostic | None) -> None:
        for line in head(state):
            say(line)
        if warning is not None:
            show_diagnostics([warning])
        self.state, self._began = state, time.monotonic()
        self._live = Live(
            get_renderable=lambda: self,
            console=live_console(self.stream),
            transient=True,
            refresh_per_second=REFRESHES,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def logged(self, state: SearchState) -> None:
        self.state = state

    def updated(self, before: SearchState, state: SearchState) -> None:
        self.state = state
        self._say(update_text(before, state))

    def concluded(self, state: SearchState, why: str) -> None:
        self.state = state
        self._say(note(conclusion(state, why)), 7)

    def compared(self, state: SearchState, finalist: Finalist, number: int) -> None:
        self._say(compared_text(state, finalist, number))

    def happened(self, state: SearchState, text: str) -> None:
        self.state = state
        self._say(text)

    def noted(self, text: str) -> None:
        self._say(note(text), 7)

    def _say(self, text: str, hanging: int = 2) -> None:
        """Print a line that stays, above the live part."""
        assert self._live is not None, "a search starts first"
        console = self._live.console
        lines = wrapped(text, console.width, 0, hanging)
        console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the live part, for a terminal of any size."""
        state, size = self.state, options.size
        if state is None:
            return
        edge = min(EDGE, (size.width - 1) // 2)
        width = size.width - 2 * edge
        elapsed = time.monotonic() - self._began
        lines = [Text(), *progress(state, elapsed, width), Text(), *figures(state, width)]
        most = max(1, size.height - TRAIL)
        table = self._switches(state, width, most - len(lines) - 1)
        if table:
            lines += [Text(), *table]
        lines = lines[:most]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        yield Group(*(Text(" " * edge).append_text(line) for line in lines))

    def _switches(self, state: SearchState, width: int, height: int) -> list[Text]:
        """Return the table of open switches, rebuilt when it has changed."""
        made_for = state.alive, width, height
        if self._table[0] != made_for:
            self._table = made_for, SwitchTable.of(state.outline.switches, state.alive).lines(width, max(0, height))
        return [Text(line, style="" if number else "dim") for number, line in enumerate(self._table[1])]


def progress(state: SearchState, elapsed: float, width: int) -> list[Text]:
    """Return a bar over all steps, and times."""
    outline = state.outline
    part = state.step / outline.total_steps
    phase, count = state.phase, f"{state.step:,}/{outline.total_steps:,} steps"
    room = max(0, width - len(phase) - len(count) - 4)
    done = int(room * part)
    bar = Text.assemble((phase, "bold"), "  ", ("█" * done, "green"), ("░" * (room - done), "dim"), "  ", count)
    remaining = "" if state.left is None else f", {duration(state.left)} left"
    pace = "" if state.row is None else f", {short_time(state.row.seconds)} per step"
    return [bar, Text(f"{duration(elapsed)} elapsed{remaining}{pace}")]


def figures(state: SearchState, width: int) -> list[Text]:
    """Return the numbers, in two columns if there is room."""
    row, outline = state.row, state.outline
    pairs = [
        (("loss", "-" if row is None else f"{row.loss:.4g}"), (state.metric.name, _accuracy(state))),
        (("penalty", "-" if row is None else f"{row.penalty:.4g}"), ("lambda", f"{state.intensity:.3g}")),
        (
            ("parameters", share(state.parameters, outline.parameters)),
            ("multiply-adds", share(state.flops, outline.flops)),
        ),
        (
            ("switches", f"{len(state.alive):,} of {len(outline.switches):,} open"),
            ("learning rate", "-" if row is None else f"{row.rate:.3g}"),
        ),
    ]
    lines = []
    for (label, value), (other, second) in pairs:
        left, right = Text.assemble((f"{label:<12}", "dim"), value), Text.assemble((f"{other:<15}", "dim"), second)
        if width < NARROW:
            lines += [left, right]
        else:
            left.truncate(width // 2, pad=True)
            lines.append(left.append_text(right))
    if state.shrink is not None:
        reach = f"{shrink_text(state.shrink)}, where 1 closes a gate"
        lines.append(Text.assemble((f"{'shrink':<12}", "dim"), reach, (able_text(state.shrink), "yellow")))
    if outline.wanted:
        lines.append(Text.assemble((f"{'target':<12}", "dim"), ", ".join(outline.wanted)))
    return lines


def share(part: int, whole: int) -> str:
    """Return a number and that of all candidates, in a unit that keeps both short.

    >>> share(16_466, 45_650), share(6_979_808, 11_685_376)
    ('16,466 of 45,650', '6.98M of 11.7M')
    """
    for size, letter in ((10**9, "G"), (10**6, "M")):
        if whole >= 10 * size:
            return f"{part / size:.3g}{letter} of {whole / size:.3g}{letter}"
    return f"{part:,} of {whole:,}"


def _accuracy(state: SearchState) -> str:
    known = [] if state.row is None else [f"{state.row.accuracy:.3f}"]
    known += [] if state.held_out is None else [f"{state.held_out:.3f} held-out"]
    return ", ".join(known) or "-"
