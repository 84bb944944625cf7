"""What a page says first: what was found, and how, in numbers from the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.compression import CompressionRecord, read_compression
from bayesnas_graph.runs.reading.outline import at_most, unmet
from bayesnas_graph.runs.reading.run import RunRecord
from bayesnas_graph.runs.sweep.folder import SweepRequest, SweepRun

STATES = {"running": "is in progress", "stopped": "was stopped"}


@dataclass(frozen=True)
class Headline:
    """The first lines of a page."""

    title: str  # what was found
    sentence: str  # what it took
    about: str  # which run it is
    facts: tuple[str, ...] = ()  # further numbers


# ---- one run


def run_headline(label: str, run: RunRecord) -> Headline:
    """The headline of a search, a training run or a compression run."""
    match run.manifest.get("kind", "search"):
        case "train":
            kind, parts = "training run", _trained(run)
        case "compress":
            kind, parts = "compression run", _compressed(read_compression(run))
        case _:
            kind, parts = "search", _searched(run)
    found, sentence = parts
    network = f"network {run.manifest['network']} of {run.manifest['space']}"
    about = f"{label} · {kind}: {network} on {run.config.get('data')}, seed {run.config.get('seed')}"
    return Headline(f"{subject(run)}: {found}", sentence, about, tuple(_facts(run)))


def subject(run: RunRecord) -> str:
    """The space and the data, without the folder of a file."""
    return f"{short_name(str(run.manifest['space']))} on {run.config.get('data')}"


def short_name(space: str) -> str:
    """The name of a space without the folder and suffix of its file.

    >>> short_name("quickstart"), short_name("spaces/my.nas"), short_name("runs/quickstart-1/")
    ('quickstart', 'my', 'quickstart-1')
    """
    return space.rstrip("/").rpartition("/")[2].removesuffix(".nas") or space


def _searched(run: RunRecord) -> tuple[str, str]:
    if run.result is not None:
        found = with_parameters(run.result["accuracy"], run.result["parameters"], run.metric)
    elif run.updates:
        last = run.updates[-1]
        found = f"{measured(last['accuracy'], run.metric)} on held-out samples after {counted(run.iteration, 'update')}"
    else:
        found = "no update yet"
    outline, is_over = run.outline, run.result is not None
    clauses = []
    if outline is not None:
        closed = len(outline.switches) - len(run.alive)
        was = "were closed" if is_over else "are closed so far" if closed != 1 else "is closed so far"
        was = "was closed" if is_over and closed == 1 else was
        clause = f"{closed:,} of {counted(len(outline.switches), 'switch')} {was}"
        if run.sizes is not None:
            effect = "which took the network" if is_over else "which would take the network"
            clause += f", {effect} {_change(outline.parameters, run.sizes[0])}"
        missed = None if run.result is None else unmet(run.result, run.config)
        clauses += [clause, _required(outline.wanted, missed)]
    return found, _sentence([*clauses, _time("search", run)])


def _trained(run: RunRecord) -> tuple[str, str]:
    result, last = run.result, run.rows[-1] if run.rows else {}
    epochs = f"{len(run.rows):,} of {run.config.get('epochs')} epochs"
    if result is not None:
        found = with_parameters(result["accuracy"], result["parameters"], run.metric)
        clauses = [f"the network was trained for {run.config.get('epochs')} epochs"]
        if isinstance(loss := result.get("loss"), float):
            clauses.append(f"its loss on the test set is {loss:.3g}")
    else:
        tested = last.get("test_accuracy")
        found = f"{measured(tested, run.metric)} after {epochs}" if tested is not None else f"{epochs} done"
        clauses = [f"{epochs} are done"]
    return found, _sentence([*clauses, _time("training", run)])


def _compressed(compression: CompressionRecord) -> tuple[str, str]:
    run, whole, left = compression.record, compression.whole, compression.left
    loops = counted(len(compression.loops), "loop")
    if run.result is None:
        found = f"{loops} done"
        if compression.loops:
            found = f"{compression.loops[-1].parameters:,} parameters after {loops}"
        return found, _sentence([f"{loops} {'is' if len(compression.loops) == 1 else 'are'} done", _time("run", run)])
    clauses = []
    if whole is not None and left is not None:
        errors = f"its error on the test set from {percent(whole.error / 100)} to {percent(left.error / 100)}"
        clauses.append(f"{loops} took the network {_change(whole.parameters, left.parameters)} and {errors}")
        sizes = {"operations": left.operations, "params": left.parameters}
        clauses.append(_required(*_targets(run.config, sizes)))
    found = with_parameters(run.result["accuracy"], run.result["parameters"], run.metric)
    return found, _sentence([*clauses, _time("run", run)])


def _targets(config: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The target sizes of a compression run, and those that are not met."""
    limits = {name: config.get(f"target_{name}") for name in sizes}
    given = {name: limit for name, limit in limits.items() if isinstance(limit, int)}
    missed = [at_most(name, limit) for name, limit in given.items() if sizes[name] > limit]
    return [at_most(name, limit) for name, limit in given.items()], missed


def _facts(run: RunRecord) -> Iterator[str]:
    """What the sentence does not say."""
    result, outline, kind = run.result, run.outline, run.manifest.get("kind", "search")
    if result is not None:
        weights = ", with the weights of the search" if kind == "search" else ""
        yield f"{run.metric.name} on the test set{weights}"
    if run.sizes is not None:
        yield f"{run.flops_text} {f'of {outline.flops_text} ' if outline else ''}multiply-adds"
    if run.updates:
        yield f"{counted(run.iteration, 'update')}, final lambda {run.updates[-1]['lambda']:.3g}"
    yield counted(run.step, "step")
    if result is not None and "why" in result:
        yield f"ended because {result['why']}"
    if run.begun is not None:
        yield f"started {run.begun:%Y-%m-%d %H:%M} UTC"


# ---- several runs


def comparison_headline(runs: Mapping[str, RunRecord]) -> Headline:
    """The headline of a comparison."""
    subjects = list(dict.fromkeys(map(subject, runs.values())))
    results = _results(runs)
    of_what = subjects[0] if len(subjects) == 1 else counted(len(subjects), "subject")
    metric = next((run.metric for run in runs.values() if run.result is not None), ACCURACY)
    title = f"{len(runs):,} runs of {of_what}{_range(results.values(), metric)}"
    left = len(runs) - len(results)
    state = [f"{counted(left, 'run')} {'has' if left == 1 else 'have'} no result yet"] if left else []
    return Headline(title, _sentence([*_best(results, metric), *state]), f"comparison: {' · '.join(runs)}")


def sweep_headline(label: str, request: SweepRequest, runs: Sequence[SweepRun]) -> Headline:
    """The headline of a sweep."""
    metric = next((run.result.metric for run in runs if run.result is not None), ACCURACY)
    results = {run.point.name: (run.result.accuracy, run.result.parameters) for run in runs if run.result is not None}
    title = f"{counted(len(runs), 'run')} of {short_name(request.space)}{_range(results.values(), metric)}"
    swept = f"{', '.join(request.sweep) or 'seeds only'}, {counted(request.seeds, 'seed')}"
    progress = f"{len(results):,} of {counted(len(runs), 'run')} {'is' if len(results) == 1 else 'are'} done"
    about = f"{label} · sweep of {request.space}: {swept}"
    return Headline(title, _sentence([*_best(results, metric), progress]), about)


Results = Mapping[str, tuple[float, int]]  # accuracy and parameters by run


def _results(runs: Mapping[str, RunRecord]) -> Results:
    ended = {label: run.result for label, run in runs.items() if run.result is not None}
    return {label: (result["accuracy"], result["parameters"]) for label, result in ended.items()}


def most_accurate(runs: Mapping[str, RunRecord]) -> str | None:
    """The most accurate of several runs, the smallest if there are several; None if none has ended."""
    return _first(_results(runs))


def _first(results: Results) -> str | None:
    return max(results, key=lambda label: (results[label][0], -results[label][1]), default=None)


def _range(results: Iterable[tuple[float, int]], metric: Metric) -> str:
    found = list(results)
    if not found:
        return ", none finished yet"
    accuracies, parameters = [accuracy for accuracy, _ in found], [size for _, size in found]
    low, high = measured(min(accuracies), metric), measured(max(accuracies), metric)
    few, many = f"{min(parameters):,}", f"{max(parameters):,}"
    start = low[:-2] if metric.is_share else low
    accuracy = high if low == high else f"{start} to {high.removeprefix(metric.name).lstrip()}"
    return f": {accuracy} with {many if few == many else f'{few} to {many}'} parameters"


def _best(results: Results, metric: Metric) -> Iterator[str]:
    """The most accurate and the smallest of several results."""
    best = _first(results)
    if best is None or len(results) < 2:
        return
    smallest = min(results, key=lambda label: (results[label][1], -results[label][0]))
    if best == smallest:
        yield f"{best} is the most accurate and the smallest: {with_parameters(*results[best], metric)}"
    else:
        yield f"the most accurate is {best}, {with_parameters(*results[best], metric)}"
        yield f"the smallest is {smallest}, {with_parameters(*results[smallest], metric)}"


# ---- words


def percent(part: float) -> str:
    r"""A part of one as a percentage. The space does not break.

    >>> percent(0.92929)
    '92.93\xa0%'
    """
    return f"{100 * part:.2f}\N{NO-BREAK SPACE}%"


def measured(value: float, metric: Metric) -> str:
    """A metric with its value: in percent if it is a share.

    >>> measured(0.25, Metric("r2", "R2", is_share=False))
    'R2 0.250'
    """
    return percent(value) if metric.is_share else f"{metric.name} {metric.text(value)}"


def with_parameters(value: float, parameters: int, metric: Metric = ACCURACY) -> str:
    """A result in a few words."""
    return f"{measured(value, metric)} with {counted(parameters, 'parameter')}"


def _change(before: int, after: int) -> str:
    """How a number of parameters changed."""
    part = f" ({100 * after / before:.0f}\N{NO-BREAK SPACE}%)" if before else ""
    return f"from {before:,} to {counted(after, 'parameter')}{part}"


def _required(wanted: Sequence[str], missed: Sequence[str] | None) -> str:
    """The required sizes and whether they are met, if that is known.

    >>> _required([], []), _required(["params <= 20"], [])
    ('no size was required', 'params <= 20 was required and is met')
    >>> _required(["params <= 20", "flops <= 9"], ["flops <= 9"])
    'params <= 20 and flops <= 9 were required; flops <= 9 is not met'
    """
    if not wanted:
        return "no size was required"
    one, texts = len(wanted) == 1, " and ".join(wanted)
    was = f"{texts} {'was' if one else 'were'} required"
    if missed is None:
        return f"{texts} {'is' if one else 'are'} required"
    if not missed:
        return f"{was} and {'is' if one else 'are'} met"
    if one:
        return f"{was} and is not met"
    return f"{was}; {' and '.join(missed)} {'is' if len(missed) == 1 else 'are'} not met"


def _time(what: str, run: RunRecord) -> str:
    """The state of a run that has not ended, and the time that its log records."""
    state = "" if run.result is not None else f"the {what} {STATES.get(run.state, 'is not finished')}"
    steps, updates = _step_seconds(run), sum(update["seconds"] for update in run.updates)
    if not steps:
        return state
    parts = "steps and updates" if run.updates else "steps"
    took = f"its {parts} took {duration(steps + updates)}"
    return f"{state}; {took} so far" if state else took


def _step_seconds(run: RunRecord) -> float:
    """The seconds of all logged steps. A search logs the mean of some steps, the others log all steps of an epoch."""
    if run.manifest.get("kind", "search") != "search":
        return sum(row["seconds"] for row in run.rows)
    before = (0.0, *(row["step"] for row in run.rows))
    return sum(row["seconds"] * (row["step"] - last) for last, row in zip(before, run.rows, strict=False))


def duration(seconds: float) -> str:
    """A time in two units.

    >>> duration(7.6), duration(152), duration(7500)
    ('7 s', '2 min 32 s', '2 h 05 min')
    """
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if not minutes:
        return f"{int(seconds)} s"
    return f"{hours} h {minutes % 60:02} min" if hours else f"{minutes} min {int(seconds) % 60:02} s"


def _sentence(clauses: Iterable[str]) -> str:
    """Clauses as one sentence."""
    text = "; ".join(clause for clause in clauses if clause)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
