"""Tables of runs as rows with typed values."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import get_type_hints

from bayesnas_graph.runs.reading import metrics
from bayesnas_graph.runs.reading.metrics import FinalistMetrics, StepMetrics, SwitchMetrics, read_metrics
from bayesnas_graph.search import events as search
from bayesnas_graph.train import events as train
from bayesnas_graph.train.compress import events as compress


def test_rows_have_the_columns_that_are_written() -> None:
    written = {
        "StepMetrics": search.METRICS,
        "UpdateMetrics": search.UPDATES,
        "SwitchMetrics": search.HISTORY,
        "FinalistMetrics": search.FINALISTS,
        "EpochMetrics": train.METRICS,
        "LoopMetrics": compress.LOOPS,
    }
    assert {name: tuple(get_type_hints(getattr(metrics, name))) for name in written} == written


def test_types_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "switches.csv"
    path.write_text(
        "iteration,switch,keep,why,gamma,s,omega,entropy,w,h\n"
        "1,a,1,kept,3.40282e+38,2,-1.5,,0.5 -3.5e+38,1 2\n"
        "1,b,maybe,kept,1,2,3,4,5,6\n"
        "2,b,0,dead end,,,,,,\n"
        "3,c,0,de"
    )
    first, second = read_metrics(path, SwitchMetrics)
    assert (first["iteration"], first["switch"], first["keep"], first["why"]) == (1, "a", True, "kept")
    assert (first["gamma"], first["s"], first["omega"], first["entropy"]) == (inf, 2.0, -1.5, None)
    assert isinstance(first["s"], float)
    assert (first["w"], first["h"], first["worth"]) == ((0.5, -inf), (1.0, 2.0), None)
    assert (second["keep"], second["gamma"], second["w"]) == (False, None, ())
    assert tuple(first) == search.HISTORY


def test_malformed_tables(tmp_path: Path) -> None:
    assert read_metrics(tmp_path / "missing.csv", StepMetrics) == []
    (tmp_path / "other.csv").write_text("step,loss\n1,0.5\n")
    assert read_metrics(tmp_path / "other.csv", StepMetrics) == []
    (tmp_path / "finalists.csv").write_text("finalist,loss,accuracy,parameters,flops,off\n1,nan,0.5,10,20,a b\n")
    (row,) = read_metrics(tmp_path / "finalists.csv", FinalistMetrics)
    assert row["off"] == ("a", "b")
    assert row["loss"] != row["loss"]
