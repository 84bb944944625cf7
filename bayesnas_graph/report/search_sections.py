"""Charts of searches: curves, and the switches over time."""

from __future__ import annotations

from collections.abc import Mapping

from bayesnas_graph.report.charts import heatmaps, search
from bayesnas_graph.report.charts.heatmaps import SearchHistory
from bayesnas_graph.report.section import Section, build_section
from bayesnas_graph.runs.reading.run import RunRecord


def curves_section(runs: Mapping[str, RunRecord], key: str = "curves") -> Section:
    """Loss, accuracy, open switches, sizes and times of one or more searches."""
    rows = {label: run.rows for label, run in runs.items()}
    updates = {label: run.updates for label, run in runs.items()}
    tests = {label: run.result["accuracy"] if run.result else None for label, run in runs.items()}
    charts = [
        search.loss(rows),
        search.accuracy(rows, updates, tests),
        search.open_switches(rows),
        search.parameters(updates),
        search.multiply_adds(updates),
        search.penalty(rows) if search.has_penalty(rows) else None,
        search.step_time(rows),
        search.intensity(updates) if search.intensity_changes(updates) else None,
    ]
    notes = [] if any(rows.values()) else ["Nothing has been logged yet."]
    return build_section(key, "Search curves", notes=notes, charts=charts)


def heat_section(runs: Mapping[str, SearchHistory], key: str = "heat") -> Section:
    """The switches, update by update."""
    title = "Switches over time"
    if not any(run.history for run in runs.values()):
        return build_section(key, title, notes=["There has been no update yet."])
    every = heatmaps.by_switch(runs)
    count = sum(len(run.switches) for run in runs.values())
    notes = [] if every else [f"There are {count:,} switches, too many to show one by one."]
    return build_section(key, title, notes=notes, wide=[heatmaps.by_operation(runs), every])
