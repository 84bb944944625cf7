"""A search as a movie: what it keeps, update by update, and the derived network at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import e, log, pi
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.report.pictures import Movie, Scene, diagram_of, movie_of
from bayesnas_graph.report.pictures.gif import gif_of
from bayesnas_graph.report.reported_run import ReportedRun
from bayesnas_graph.runs.objectives import Metric
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.sweep import is_sweep

MOVIES = (".svg", ".gif")  # endings of file names
MOST_UPDATES = 60  # of a long search, some are left out
THRESHOLD = 1 / (2 * pi * e)  # of gamma: the entropy of the prior is zero there
WEAKEST = 0.15  # strength of a candidate that is still open
Numbers = Mapping[str, float]


def movie_problem(path: Path, folders: Sequence[Path]) -> str | None:
    """Say why these folders have no movie at a path; None if they may have one."""
    if path.suffix.lower() not in MOVIES:
        return f"`{path}` has no known ending: use {' or '.join(MOVIES)}"
    if len(folders) != 1 or is_sweep(folders[0]):
        return "a movie shows one search, so give one run"
    return None


def movie_file(run: ReportedRun, path: Path) -> bytes:
    """The contents of a file with the movie of a search: a GIF if its name ends so, otherwise SVG. Raises NasError."""
    movie = search_movie(run)
    if path.suffix.lower() == ".gif":
        return gif_of(movie.frames(), movie.timing.seconds)
    return movie.svg().encode()


def search_movie(run: ReportedRun) -> Movie:
    """The movie of a search. Raises NasError if there is nothing to show."""
    if run.kind != "search":
        help = "give the folder of a search"
        raise NasError([Diagnostic("NAS602", f"`{run.label}` is not a search, and has no movie", help=help)])
    if run.space is None or run.graph is None:
        raise NasError(run.problems)
    if not run.history:
        help = "wait for the first update of the search"
        raise NasError([Diagnostic("NAS602", f"`{run.label}` has no updates yet, and so no movie", help=help)])
    return movie_of(diagram_of(run.space.network), list(_scenes(run, run.graph)))


def _scenes(run: ReportedRun, graph: Graph) -> Iterator[Scene]:
    """The space before the search, after its updates, and the derived network."""
    groups = {gate.name: gate.group for gate in graph.gates}
    zeros = {gate.choice: gate.group for gate in graph.gates if gate.is_zero}
    behind = {gate.name: zeros.get(gate.choice, "") for gate in graph.gates}
    whole = cost(graph)
    sizes = {"parameters": float(whole.parameters), "flops": float(whole.flops)}
    count, metric = len(set(groups.values())), run.record.metric
    yield Scene(_numbers("start", sizes, count, count, metric), frozenset(groups))
    iterations = sorted({moment.iteration for moments in run.history.values() for moment in moments})
    updates = {int(update["iteration"]): update for update in run.record.updates}
    largest = _largest(run)
    for iteration in _some(iterations):
        latest = {name: _latest(moments, iteration) for name, moments in run.history.items()}
        closed = {name for name, moment in latest.items() if moment is not None and not moment.keep}
        kept = frozenset(gate for gate, group in groups.items() if group not in closed and behind[gate] not in closed)
        strengths = {gate: _strength(run, latest.get(groups[gate]), largest) for gate in kept}
        label = f"update {iteration} of {iterations[-1]}"
        yield Scene(_numbers(label, updates.get(iteration, {}), count - len(closed), count, metric), kept, strengths)
    if run.final:
        kept = frozenset(gate for gate, group in groups.items() if group in run.final and run.final[group].keep)
        left = len({groups[gate] for gate in kept})
        numbers = _numbers("derived", run.record.result or {}, left, count, metric, "test set")
        yield Scene(numbers, kept, is_derived=True)


def _numbers(
    label: str, numbers: Numbers, kept: int, count: int, metric: Metric, measured_on: str = "held out"
) -> dict[str, str]:
    """The texts above the panels."""
    texts = {"search": label, "switches open": f"{kept:,} of {count:,}"}
    if "parameters" in numbers:
        texts["parameters"] = f"{numbers['parameters']:,.0f}"
    if "flops" in numbers:
        texts["multiply-adds"] = f"{numbers['flops']:,.0f}"
    if "accuracy" in numbers:
        texts[metric.name] = f"{numbers['accuracy']:.3f} {measured_on}"
    return texts


def _some(iterations: Sequence[int]) -> list[int]:
    """All updates, or evenly spaced ones of many, with the last.

    >>> _some([1, 2, 3]), len(_some(range(1, 1001))), _some(range(1, 1001))[-1]
    ([1, 2, 3], 60, 1000)
    """
    count = min(len(iterations), MOST_UPDATES)
    return [iterations[(place + 1) * len(iterations) // count - 1] for place in range(count)]


def _latest(moments: Sequence[Moment], iteration: int) -> Moment | None:
    """The state of a switch at an update; a closed one stays closed."""
    return next((moment for moment in reversed(moments) if moment.iteration <= iteration), None)


def _largest(run: ReportedRun) -> float:
    """The largest gamma or strength of the search."""
    least = 2 * THRESHOLD if run.measure == "gamma" else 0.0
    return max([least, *(moment.gamma or 0.0 for moments in run.history.values() for moment in moments)])


def _strength(run: ReportedRun, moment: Moment | None, largest: float) -> float:
    """From 0 to 1, the largest of the search, as the lines in a report are drawn."""
    if moment is None or moment.gamma is None or largest <= 0:
        return 1.0
    if run.measure != "gamma":
        part = moment.gamma / largest
    elif moment.gamma <= 0:
        return WEAKEST
    else:
        part = log(moment.gamma / THRESHOLD) / log(largest / THRESHOLD)
    return min(1.0, max(WEAKEST, part))
