"""Runs compared: results, settings that differ, and the overlap of their architectures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesnas_graph.report.search_sections import curves_section
from bayesnas_graph.report.section import Section, Table, build_section
from bayesnas_graph.report.setting_values import flat_settings
from bayesnas_graph.report.training_section import training_section
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from bayesnas_graph.runs.reading.run import RunRecord
from bayesnas_graph.runs.sweep.comparison import overlap

MAX_PAIRWISE = 12  # runs in the table of pairwise overlaps

Runs = Mapping[str, RunRecord]


def comparison_sections(runs: Runs) -> tuple[Section, ...]:
    """Sections on runs of any kinds. Compression runs have their curves in their own sections."""
    searches, trainings = ({label: run for label, run in runs.items() if kind_of(run) == kind} for kind in _WITH_CURVES)
    rows = {label: run.rows for label, run in trainings.items()}
    return (
        build_section("comparison", "Comparison", tables=[_results(runs), _settings(runs)]),
        *overlap_sections(searches),
        *([curves_section(searches)] if searches else []),
        *([training_section(rows, metric=_metric(trainings))] if trainings else []),
    )


_WITH_CURVES = ("search", "train")


def kind_of(run: RunRecord) -> str:
    """The kind of a run: `search`, `train` or `compress`."""
    return str(run.manifest.get("kind", "search"))


def _metric(runs: Runs) -> Metric:
    """The metric of the first of several runs."""
    return next((run.metric for run in runs.values()), ACCURACY)


def _results(runs: Runs) -> Table:
    metric = " or ".join(sorted({run.metric.name for run in runs.values() if run.result is not None})) or ACCURACY.name
    head = ("run", "kind", "state", metric, "parameters", "multiply-adds", "open switches", "updates", "steps")

    rows = []
    for label, run in runs.items():
        accuracy = run.result and f"{run.result['accuracy']:.4f}"
        sizes = [f"{run.sizes[0]:,}" if run.sizes else "", run.flops_text]
        alive = f"{len(run.alive):,} of {len(run.switches):,}" if run.switches else ""
        updates = f"{run.iteration:,}" if run.updates else ""
        rows.append((label, kind_of(run), run.state, accuracy or "", *sizes, alive, updates, f"{run.step:,}"))
    return Table(head, tuple(rows), ("kind", "state"), "Results").without_empty_columns()


def _settings(runs: Runs) -> Table:
    """The settings that differ between runs of the kinds that have them."""
    settings = {label: flat_settings(_settings_of(run)) for label, run in runs.items()}
    kinds: dict[str, set[str]] = {}  # that have a setting
    for label, run_settings in settings.items():
        for key in run_settings:
            kinds.setdefault(key, set()).add(kind_of(runs[label]))
    rows = []
    for key, own_kinds in kinds.items():
        if len({settings[label].get(key) for label, run in runs.items() if kind_of(run) in own_kinds}) > 1:
            rows.append((key, *(run_settings.get(key, "") for run_settings in settings.values())))
    table = Table(("setting", *runs), tuple(rows), title="Settings that differ")
    return table.transposed() if len(runs) > len(rows) > 0 else table


def _settings_of(run: RunRecord) -> dict[str, Any]:
    """The settings of a run, and what it ran on. The fingerprint distinguishes spaces of the same name."""
    fingerprint = str(run.manifest.get("fingerprint", ""))[:16]
    return {
        "space": run.manifest["space"],
        "network": run.manifest["network"],
        "fingerprint": fingerprint,
        **run.config,
    }


def overlap_sections(searches: Runs) -> Iterator[Section]:
    """For each space that at least two searches share, the candidates that they keep."""
    spaces: dict[tuple[OutlineSwitch, ...], dict[str, frozenset[str]]] = {}
    for label, run in searches.items():
        candidates = tuple(switch for switch in run.switches if not switch.is_zero)
        kept = frozenset(switch.name for switch in candidates) - run.closed
        if candidates:
            spaces.setdefault(candidates, {})[label] = kept
    shared = [(candidates, run_labels) for candidates, run_labels in spaces.items() if len(run_labels) > 1]
    for number, (candidates, run_labels) in enumerate(shared, 1):
        key = "agreement" if number == 1 else f"agreement-{number}"
        yield _overlap_section(
            key, candidates, run_labels, [label for label in run_labels if searches[label].result is None]
        )


def _overlap_section(
    key: str, candidates: tuple[OutlineSwitch, ...], kept: Mapping[str, frozenset[str]], unfinished: list[str]
) -> Section:
    everywhere = frozenset.intersection(*kept.values())
    somewhere = frozenset.union(*kept.values())
    notes = [
        f"Of {len(candidates):,} candidates, {len(everywhere):,} are kept by all {len(kept):,} runs, "
        f"{len(somewhere - everywhere):,} by some of them, and {len(candidates) - len(somewhere):,} by none. "
        f"On average, two runs share {overlap(list(kept.values())):.2f} of the candidates that either of them keeps."
    ]
    if unfinished:
        notes.append(f"Not finished, so more switches may be closed: {', '.join(unfinished)}.")
    by_all = tuple(_cells(switch) for switch in candidates if switch.name in everywhere)
    by_some = tuple(
        (*_cells(switch), *("kept" if switch.name in kept_in_run else "" for kept_in_run in kept.values()))
        for switch in candidates
        if switch.name in somewhere - everywhere
    )
    head = ("cell", "choice", "operation")
    tables = [
        _pairwise_overlap(kept),
        Table(head, by_all, head, f"Kept by all: {len(by_all):,}", folded=True),
        Table((*head, *kept), by_some, (*head, *kept), f"Kept by some: {len(by_some):,}", folded=True),
    ]
    return build_section(key, "Architecture overlap", notes=notes, tables=tables)


def _cells(switch: OutlineSwitch) -> tuple[str, str, str]:
    return switch.part, switch.choice, switch.operation


def _pairwise_overlap(kept: Mapping[str, frozenset[str]]) -> Table:
    if not 2 < len(kept) <= MAX_PAIRWISE:
        return Table((), ())
    rows = [(label, *(f"{overlap([own, other]):.2f}" for other in kept.values())) for label, own in kept.items()]
    return Table(("overlap", *kept), tuple(rows), title="Pairwise overlap")
