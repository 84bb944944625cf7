"""Searches in charts: how they went, and what became of their switches."""

from __future__ import annotations

from collections.abc import Mapping

from bayesnas_graph.report.charts import curves, heat
from bayesnas_graph.report.charts.heat import Searched
from bayesnas_graph.report.parts import section
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.run import Traces


def curves_section(runs: Mapping[str, Traces], key: str = "curves") -> Section:
    """Loss and accuracy, open switches, sizes and times, of one search or of several."""
    rows = {run: found.rows for run, found in runs.items()}
    updates = {run: found.updates for run, found in runs.items()}
    tests = {run: found.result["accuracy"] if found.result else None for run, found in runs.items()}
    charts = [
        curves.loss(rows),
        curves.accuracy(rows, updates, tests),
        curves.open_switches(rows),
        curves.weights(updates),
        curves.multiply_adds(updates),
        curves.penalty(rows) if curves.has_penalty(rows) else None,
        curves.step_time(rows),
        curves.intensity(updates) if curves.intensity_changes(updates) else None,
    ]
    notes = [] if any(rows.values()) else ["Nothing has been logged yet."]
    return section(key, "How the search went", notes=notes, charts=charts)


def heat_section(runs: Mapping[str, Searched], key: str = "heat") -> Section:
    """What became of the switches, update by update."""
    if not any(found.history for found in runs.values()):
        return section(key, "The switches over time", notes=["There has been no update yet."])
    every = heat.by_switch(runs)
    count = sum(len(found.switches) for found in runs.values())
    notes = [] if every else [f"There are {count:,} switches, too many to be shown one by one."]
    return section(key, "The switches over time", notes=notes, wide=[heat.by_operation(runs), every])
