"""Charts of searches: curves, and the switches over time."""

from __future__ import annotations

from collections.abc import Mapping

from bayesnas_graph.report.charts import heatmaps, search
from bayesnas_graph.report.charts.heatmaps import SearchHistory
from bayesnas_graph.report.charts.metric import of_metric
from bayesnas_graph.report.charts.search import Curves
from bayesnas_graph.report.section import Fold, Section, build_section
from bayesnas_graph.report.timeline import timeline
from bayesnas_graph.runs.objectives import ACCURACY
from bayesnas_graph.runs.reading.run import RunRecord

MAX_OPEN = 60  # switches that are shown before a click


def curves_section(runs: Mapping[str, RunRecord], key: str = "curves") -> Section:
    """Loss, accuracy, open switches and sizes of one or more searches; under a fold, how they were run."""
    curves = {label: _curves(run) for label, run in runs.items()}
    rows = {label: run.rows for label, run in runs.items()}
    updates = {label: run.updates for label, run in curves.items()}
    last = max((run.times.last for run in curves.values()), default=0)
    more = (
        search.penalty(rows, last) if search.has_penalty(rows) else None,
        search.intensity(updates, last) if search.intensity_changes(updates) else None,
        search.step_time(rows, last),
    )
    notes = [] if any(rows.values()) else ["Nothing has been logged yet."]
    folds = [Fold("More curves", tuple(chart for chart in more if chart is not None))]
    metric = next((run.metric for run in runs.values()), ACCURACY)
    progress = of_metric(search.progress(curves), metric)
    return build_section(key, "Search curves", notes=notes, wide=[progress], folds=folds)


def _curves(run: RunRecord) -> Curves:
    times = timeline(run)
    return Curves(run.rows, times.stepped(run.updates), run.result, times)


def heat_section(run: SearchHistory, key: str = "heat") -> Section:
    """The switches, update by update: by operation, and those of each cell under a fold."""
    title = "Switches over time"
    if not run.history:
        return build_section(key, title, notes=["There has been no update yet."])
    is_open = len(run.switches) <= MAX_OPEN
    folds = [Fold(name, (chart,), wide=True, is_open=is_open) for name, chart in heatmaps.by_switch(run)]
    return build_section(key, title, wide=[heatmaps.by_operation(run)], folds=folds)
