"""Reference pages of the Python API: one for each module with public names, from the docstrings."""

from __future__ import annotations

import importlib
from inspect import isfunction

from mkdocs.config.defaults import MkDocsConfig

MODULES = {
    "bayesnas_graph.api": "The verbs",
    "bayesnas_graph.report.results": "Results of runs",
    "bayesnas_graph.builder": "Spaces in Python",
    "bayesnas_graph.diagnostics": "Diagnostics",
    "bayesnas_graph.derive": "Architectures",
    "bayesnas_graph.passes": "Passes",
    "bayesnas_graph.passes.analysis": "Analyses of a graph",
    "bayesnas_graph.ir": "Graphs and operations",
    "bayesnas_graph.language.json": "Graphs as documents",
    "bayesnas_graph.bayes": "The prior",
    "bayesnas_graph.search.prior": "A search of your own",
    "bayesnas_graph.search.events": "Events of a search",
    "bayesnas_graph.train.events": "Events of a training run",
    "bayesnas_graph.train.compress.events": "Events of a compression run",
    "bayesnas_graph.runs.sweep.schedule": "Sweeps",
    "bayesnas_graph.runs.reading.metrics": "Tables of runs",
    "bayesnas_graph.data": "Data",
    "bayesnas_graph.runtime": "Modules of exported networks",
}

# What the verbs return, beside the results of runs, all on one page.
VALUES = (
    "bayesnas_graph.report.space_stats.SpaceStats",
    "bayesnas_graph.report.space_diff.SpaceDiff",
    "bayesnas_graph.report.space_description.ShippedSpace",
    "bayesnas_graph.report.space_description.SpaceDescription",
    "bayesnas_graph.language.elaborate.vocabulary.VocabularyEntry",
    "bayesnas_graph.report.drawing.Drawing",
    "bayesnas_graph.report.builder.ReportPage",
    "bayesnas_graph.runs.reading.run.RunRecord",
    "bayesnas_graph.runs.reading.sweep_record.SweepRecord",
    "bayesnas_graph.runs.reading.sweep_record.SweepRunRecord",
    "bayesnas_graph.data.available.Availability",
    "bayesnas_graph.derive.sample.Sample",
    "bayesnas_graph.derive.sample.Drawn",
    "bayesnas_graph.codegen.supernet.network.Supernet",
    "bayesnas_graph.codegen.export.model.Model",
    "bayesnas_graph.train.evaluate.Evaluation",
)

# The page has a title of its own.
_PLAIN = "\n    options:\n      show_root_heading: false\n      show_root_toc_entry: false"
_FIELDS = '\n    options:\n      show_if_no_docstring: true\n      filters: ["!^_"]'


def pages() -> dict[str, str]:
    """Return a page for every module, which mkdocstrings fills in."""
    found = {f"reference/{module}.md": _page(module, title) for module, title in MODULES.items()}
    values = "\n\n".join(f"::: {name}{_FIELDS}" for name in VALUES)
    return found | {"reference/values.md": f"# What the verbs return\n\n{values}\n"}


def _page(module: str, title: str) -> str:
    parts = [f"# {title}", f"`{module}`", f"::: {module}{_PLAIN}"]
    parts += [f"::: {module}.{name}.{name}" for name in _hidden(module)]
    return "\n\n".join(parts) + "\n"


def _hidden(module: str) -> list[str]:
    """Return the public functions that have the name of their file: the file hides them from mkdocstrings."""
    imported = importlib.import_module(module)
    functions = (getattr(imported, name) for name in getattr(imported, "__all__", ()))
    return [each.__name__ for each in functions if isfunction(each) and each.__module__ == f"{module}.{each.__name__}"]


def add_to_navigation(config: MkDocsConfig) -> None:
    """Put the pages where the navigation says `reference/`."""
    (verbs, *others) = ({title: f"reference/{module}.md"} for module, title in MODULES.items())
    listed = [verbs, {"What the verbs return": "reference/values.md"}, *others]
    for section in config.nav or []:
        for entries in section.values():
            for entry in entries:
                if isinstance(entry, dict) and entry.get("Reference") == "reference/":
                    entry["Reference"] = listed
