"""The pages about error codes."""

from __future__ import annotations

from bayesnas_graph.diagnostics.codes import CODES
from bayesnas_graph.diagnostics.model import Diagnostic, NasError
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.suggest import did_you_mean


def error_page(code: str) -> str:
    """Return the page about a code, given as `NAS201`, `nas201` or `201`. Raises NasError if there is no such code.

    >>> error_page("201").splitlines()[0]
    '# NAS201: joined values have different shapes'
    """
    name = code.upper()
    if name.isdigit():
        name = f"NAS{name:0>3}"
    if name not in CODES:
        help = did_you_mean(name, CODES) or "`bayesnas-graph explain` lists all codes"
        raise NasError([Diagnostic("NAS101", f"unknown error code `{code}`", help=help)])
    return (folder("errors") / f"{name}.md").read_text(encoding="utf-8")
