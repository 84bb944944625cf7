"""A search as it is shown on a terminal: one screen, always up to date."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO, cast

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from bayesnas_graph.cli.console import discard_output, note, say, show_diagnostics, use_color
from bayesnas_graph.cli.standing import Standing, able_text, closed_text, duration, shrink_text, step_time
from bayesnas_graph.cli.tally import Tally
from bayesnas_graph.cli.watch import conclusion

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic

REFRESHES = 1  # a second; drawing takes a few milliseconds, which the search does without
FEWEST_MESSAGES = 2  # for which there is room, however large the table
SHOWN_MESSAGES = 30  # at most, however large the terminal
EDGE = 1  # blanks on either side
NARROW = 64  # columns of a terminal on which numbers stand below each other


@dataclass
class Screen:
    """The terminal for as long as a search begins and runs. The screen that was there before comes back."""

    folder: str
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    standing: Standing | None = None
    messages: tuple[str, ...] = ()  # replaced and never changed, for it is drawn in a thread of its own
    notes: tuple[str, ...] = ()  # what is printed when the screen is gone
    _live: Live | None = None
    _began: float = 0.0
    _table: tuple[object, list[str]] = (None, [])

    def closed(self) -> None:
        if self._live is not None:
            self._live.stop()
        for text in self.notes:
            say(note(text))

    def started(self, standing: Standing, warning: Diagnostic | None) -> None:
        if warning is not None:  # on the screen that comes back, too
            show_diagnostics([warning])
            self._tell(f"{warning.message}; {warning.help}")
        self.standing, self._began = standing, time.monotonic()
        console = Console(
            file=cast("TextIO", Lasting(self.stream)),
            no_color=not use_color(self.stream),
            highlight=False,
            force_terminal=True,
        )
        self._live = Live(
            get_renderable=lambda: self,
            console=console,
            screen=True,
            refresh_per_second=REFRESHES,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def logged(self, standing: Standing) -> None:
        self.standing = standing

    def updated(self, before: Standing, standing: Standing) -> None:
        self.standing = standing
        self._tell(f"update {standing.iteration}: held-out {standing.held_out:.3f}, {closed_text(before, standing)}")

    def concluded(self, standing: Standing, why: str) -> None:
        self.standing = standing
        self._tell(conclusion(standing, why))

    def noted(self, text: str) -> None:
        self._tell(text)
        self.notes = (*self.notes, text)

    def _tell(self, text: str) -> None:
        self.messages = (*self.messages[1 - SHOWN_MESSAGES :], text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """All of it, for a terminal of any size."""
        standing, size = self.standing, options.size
        if standing is None:
            return
        edge = min(EDGE, (size.width - 1) // 2)
        width = size.width - 2 * edge
        elapsed = time.monotonic() - self._began
        top = [
            *heading(standing, self.folder, width),
            Text(),
            *progress(standing, elapsed, width),
            Text(),
            *figures(standing, width),
            Text(),
        ]
        room = size.height - len(top)
        table = self._tally(standing, width, room - 1 - FEWEST_MESSAGES)
        if table:
            top += [*table, Text()]
        left = size.height - len(top)
        said = [Text(line, style="dim") for line in self._wrapped(width)[-left:]] if left > 0 else []
        lines = [*top, *said][: size.height]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        yield Group(*(Text(" " * edge).append_text(line) for line in lines))

    def _wrapped(self, width: int) -> list[str]:
        """What was said last, in lines."""
        return [
            line
            for text in self.messages
            for line in wrap(text, max(width, 20), initial_indent="· ", subsequent_indent="  ")
        ]

    def _tally(self, standing: Standing, width: int, height: int) -> list[Text]:
        """The table of open switches, made anew when it has changed."""
        made_for = standing.alive, width, height
        if self._table[0] != made_for:
            self._table = made_for, Tally.of(standing.outline.switches, standing.alive).lines(width, max(0, height))
        return [Text(line, style="" if number else "dim") for number, line in enumerate(self._table[1])]


def heading(standing: Standing, folder: str, width: int) -> list[Text]:
    """What is searched, and where: in one line if there is room."""
    outline = standing.outline
    rest = f"  network {outline.network} on {outline.data}, {outline.device}, seed {outline.seed}"
    subject, place = Text.assemble((outline.space, "bold"), rest), Text(folder, style="dim")
    between = width - subject.cell_len - place.cell_len
    return [Text.assemble(subject, " " * between, place)] if between >= 2 else [subject, place]


def progress(standing: Standing, elapsed: float, width: int) -> list[Text]:
    """A bar over all steps, and times."""
    outline = standing.outline
    part = standing.step / outline.total_steps
    phase, count = standing.phase, f"{standing.step:,}/{outline.total_steps:,} steps"
    room = max(0, width - len(phase) - len(count) - 4)
    done = int(room * part)
    bar = Text.assemble((phase, "bold"), "  ", ("█" * done, "green"), ("░" * (room - done), "dim"), "  ", count)
    left = "" if standing.left is None else f", {duration(standing.left)} left"
    pace = "" if standing.row is None else f", {step_time(standing.row.seconds)} a step"
    return [bar, Text(f"{duration(elapsed)} passed{left}{pace}")]


def figures(standing: Standing, width: int) -> list[Text]:
    """The numbers, in two columns if there is room."""
    row, outline = standing.row, standing.outline
    pairs = [
        (("loss", "-" if row is None else f"{row.loss:.4g}"), ("accuracy", _accuracy(standing))),
        (("penalty", "-" if row is None else f"{row.penalty:.4g}"), ("lambda", f"{standing.intensity:.3g}")),
        (
            ("weights", share(standing.parameters, outline.parameters)),
            ("multiply-adds", share(standing.flops, outline.flops)),
        ),
        (
            ("switches", f"{len(standing.alive):,} of {len(outline.switches):,} open"),
            ("rate", "-" if row is None else f"{row.rate:.3g}"),
        ),
    ]
    lines = []
    for (label, value), (other, second) in pairs:
        left, right = Text.assemble((f"{label:<10}", "dim"), value), Text.assemble((f"{other:<15}", "dim"), second)
        if width < NARROW:
            lines += [left, right]
        else:
            left.truncate(width // 2, pad=True)
            lines.append(left.append_text(right))
    if standing.shrink is not None:
        reach = f"{shrink_text(standing.shrink)}, where 1 closes a gate"
        lines.append(Text.assemble((f"{'shrink':<10}", "dim"), reach, (able_text(standing.shrink), "yellow")))
    if outline.wanted:
        lines.append(Text.assemble((f"{'wanted':<10}", "dim"), ", ".join(outline.wanted)))
    return lines


def share(part: int, whole: int) -> str:
    """A number beside that of all candidates, in a unit that keeps both short.

    >>> share(16_466, 45_650), share(6_979_808, 11_685_376)
    ('16,466 of 45,650', '6.98M of 11.7M')
    """
    for size, letter in ((10**9, "G"), (10**6, "M")):
        if whole >= 10 * size:
            return f"{part / size:.3g}{letter} of {whole / size:.3g}{letter}"
    return f"{part:,} of {whole:,}"


def _accuracy(standing: Standing) -> str:
    known = [] if standing.row is None else [f"{standing.row.accuracy:.3f}"]
    known += [] if standing.held_out is None else [f"{standing.held_out:.3f} held-out"]
    return ", ".join(known) or "-"


class Lasting:
    """As much of a stream as is used, which can still be written to when the terminal is gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            discard_output()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            discard_output()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()
