"""The packages of the extra `report`."""

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
    """Raise NasError if a package is missing."""
    for module, package in PACKAGES.items():
        try:
            import_module(module)
        except ImportError:
            message = f"reports need the package `{package}`, which is not installed"
            help = "install it with `pip install 'bayesnas-graph[report]'`"
            raise NasError([Diagnostic("NAS609", message, help=help)]) from None
