"""What pages are made with, beyond what the program needs anyway: the extra `report`."""

from __future__ import annotations

from importlib import import_module

from bayesnas_graph.diagnostics import Diagnostic, NasError

PACKAGES = {  # by the module that is imported
    "jinja2": "jinja2",
    "markupsafe": "markupsafe",
    "pygments": "pygments",
    "vl_convert": "vl-convert-python",
}


def check_packages() -> None:
    """Raise NasError if one is missing. It is asked first, so that nobody waits for half a page."""
    for module, package in PACKAGES.items():
        try:
            import_module(module)
        except ImportError:
            message = f"a report needs the package `{package}`, which is not here"
            help = "install it with `pip install 'bayesnas-graph[report]'`"
            raise NasError([Diagnostic("NAS609", message, help=help)]) from None
