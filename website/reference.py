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
    "bayesnas_graph.ir": "Graphs and operations",
    "bayesnas_graph.bayes": "The prior",
    "bayesnas_graph.search.prior": "A search of your own",
    "bayesnas_graph.data": "Data",
    "bayesnas_graph.runtime": "Modules of exported networks",
}

# The page has a title of its own.
_PLAIN = "\n    options:\n      show_root_heading: false\n      show_root_toc_entry: false"


def pages() -> dict[str, str]:
    """Return a page for every module, which mkdocstrings fills in."""
    return {f"reference/{module}.md": _page(module, title) for module, title in MODULES.items()}


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
    listed = [{title: f"reference/{module}.md"} for module, title in MODULES.items()]
    for section in config.nav or []:
        for entries in section.values():
            for entry in entries:
                if isinstance(entry, dict) and entry.get("Reference") == "reference/":
                    entry["Reference"] = listed
