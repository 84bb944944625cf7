"""Diagnostics are values: created anywhere, collected, and rendered last."""

from bayesnas_graph.diagnostics.codes import CODES, Code
from bayesnas_graph.diagnostics.model import Diagnostic, Fix, Label, NasError, Report, Severity
from bayesnas_graph.diagnostics.render import as_json, render
from bayesnas_graph.diagnostics.suggest import did_you_mean, nearest, suggestion

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Fix",
    "Label",
    "NasError",
    "Report",
    "Severity",
    "as_json",
    "did_you_mean",
    "nearest",
    "render",
    "suggestion",
]
