"""The live display of a search: one screen, always up to date."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from bayesnas_graph.cli.console import duration, note, say, short_time, show_diagnostics
from bayesnas_graph.cli.display.search_lines import compared_text, conclusion
from bayesnas_graph.cli.display.search_state import SearchState, able_text, closed_text, shrink_text
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.cli.rich_output import live_console

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic
    from bayesnas_graph.search.finalists import Finalist

REFRESHES = 1  # per second; drawing takes a few milliseconds of the search
FEWEST_MESSAGES = 2  # lines reserved for messages, for any size of table
SHOWN_MESSAGES = 30  # maximum, for any size of terminal
EDGE = 1  # spaces on either side
NARROW = 64  # width below which numbers are in one column


@dataclass
class SearchScreen:
    """Fills the terminal while a search runs, and then restores it."""

    folder: str
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    state: SearchState | None = None
    messages: tuple[str, ...] = ()  # replaced, never changed: it is drawn in another thread
    notes: tuple[str, ...] = ()  # printed when the screen is closed
    _live: Live | None = None
    _began: float = 0.0
    _table: tuple[object, list[str]] = (None, [])

    def closed(self) -> None:
        if self._live is not None:
            self._live.stop()
        for text in self.notes:
            say(note(text))

    def started(self, state: SearchState, warning: Diagnostic | None) -> None:
        if warning is not None:  # also on the restored screen
            show_diagnostics([warning])
            self._add(f"{warning.message}; {warning.help}")
        self.state, self._began = state, time.monotonic()
        self._live = Live(
            get_renderable=lambda: self,
            console=live_console(self.stream),
            screen=True,
            refresh_per_second=REFRESHES,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def logged(self, state: SearchState) -> None:
        self.state = state

    def updated(self, before: SearchState, state: SearchState) -> None:
        self.state = state
        self._add(f"update {state.iteration}: held-out {state.held_out:.3f}, {closed_text(before, state)}")

    def concluded(self, state: SearchState, why: str) -> None:
        self.state = state
        self._add(conclusion(state, why))

    def compared(self, state: SearchState, finalist: Finalist, number: int) -> None:
        self._add(compared_text(state, finalist, number))

    def happened(self, state: SearchState, text: str) -> None:
        self.state = state
        self._add(text)

    def noted(self, text: str) -> None:
        self._add(text)
        self.notes = (*self.notes, text)

    def _add(self, text: str) -> None:
        self.messages = (*self.messages[1 - SHOWN_MESSAGES :], text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the screen, for a terminal of any size."""
        state, size = self.state, options.size
        if state is None:
            return
        edge = min(EDGE, (size.width - 1) // 2)
        width = size.width - 2 * edge
        elapsed = time.monotonic() - self._began
        top = [
            *heading(state, self.folder, width),
            Text(),
            *progress(state, elapsed, width),
            Text(),
            *figures(state, width),
            Text(),
        ]
        room = size.height - len(top)
        table = self._switches(state, width, room - 1 - FEWEST_MESSAGES)
        if table:
            top += [*table, Text()]
        height_left = size.height - len(top)
        messages = [Text(line, style="dim") for line in self._wrapped(width)[-height_left:]] if height_left > 0 else []
        lines = [*top, *messages][: size.height]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        yield Group(*(Text(" " * edge).append_text(line) for line in lines))

    def _wrapped(self, width: int) -> list[str]:
        """Return the last messages, wrapped."""
        return [
            line
            for text in self.messages
            for line in wrap(text, max(width, 20), initial_indent="· ", subsequent_indent="  ")
        ]

    def _switches(self, state: SearchState, width: int, height: int) -> list[Text]:
        """Return the table of open switches, rebuilt when it has changed."""
        made_for = state.alive, width, height
        if self._table[0] != made_for:
            self._table = made_for, SwitchTable.of(state.outline.switches, state.alive).lines(width, max(0, height))
        return [Text(line, style="" if number else "dim") for number, line in enumerate(self._table[1])]


def heading(state: SearchState, folder: str, width: int) -> list[Text]:
    """Return the space and the run folder, in one line if there is room."""
    outline = state.outline
    rest = f"  network {outline.network} on {outline.data}, {outline.device}, seed {outline.seed}"
    subject, place = Text.assemble((outline.space, "bold"), rest), Text(folder, style="dim")
    between = width - subject.cell_len - place.cell_len
    return [Text.assemble(subject, " " * between, place)] if between >= 2 else [subject, place]


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
        (("loss", "-" if row is None else f"{row.loss:.4g}"), ("accuracy", _accuracy(state))),
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
