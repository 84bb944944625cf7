"""The verbs of the program as Python functions.

    >>> from bayesnas_graph import api as nas
    >>> network = nas.load("lenet5")
    >>> network.name
    'lenet5'

Each function does the same as the verb of its name, but raises `NasError` instead of printing diagnostics. Nothing is
printed, and only requested files are written.

Some arguments mean the same everywhere. `output` is the folder of a new run, by default the next one in `runs`;
`resume` continues the run in a folder instead. `data_dir` is the folder of data sets, by default `data`, or that of the
run. `allow_python` lets files name Python code, which is imported. `watch` are told what happens. `force` replaces
existing files.
"""

from bayesnas_graph.api.datasets import data_get, data_list
from bayesnas_graph.api.networks import compile, derive, diff, export, sample, stats
from bayesnas_graph.api.runs import compress, evaluate, search, sweep, train
from bayesnas_graph.api.showing import draw, report, status, sweep_status
from bayesnas_graph.api.texts import check, describe, explain, fmt, load, ops, spaces
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate import Network, Text
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult

__all__ = [
    "CompressResult",
    "NasError",
    "Network",
    "SearchResult",
    "Text",
    "TrainResult",
    "check",
    "compile",
    "compress",
    "data_get",
    "data_list",
    "derive",
    "describe",
    "diff",
    "draw",
    "evaluate",
    "explain",
    "export",
    "fmt",
    "load",
    "ops",
    "report",
    "sample",
    "search",
    "spaces",
    "stats",
    "status",
    "sweep",
    "sweep_status",
    "train",
]
