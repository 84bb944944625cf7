"""Trainings in charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesnas_graph.report.charts import training
from bayesnas_graph.report.parts import section as made
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.run import Numbers, Traces


def section(runs: Mapping[str, Traces], key: str = "training") -> Section:
    """Loss and accuracy by epoch, of one training or of several. A compression is made of trainings too."""
    return epochs({run: found.rows for run, found in runs.items()}, key)


def epochs(
    rows: Mapping[str, Sequence[Numbers]], key: str = "training", title: str = "How the training went"
) -> Section:
    """The same for tables of epochs, wherever they come from."""
    notes = [] if any(rows.values()) else ["No epoch has ended yet."]
    return made(key, title, notes=notes, charts=[training.loss(rows), training.accuracy(rows)])
