"""What a page says first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bayesnas_graph.report.headline import Headline, comparison_headline, most_accurate, run_headline
from bayesnas_graph.runs.reading.run import RunRecord, read_run_record
from tests.report.fake_runs import searched as fake
from tests.report.fake_runs import traced
from tests.runs.reading.compressions import RESULT, write_compression


def headline(run: RunRecord) -> Headline:
    return run_headline("run", run)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_search(tmp_path: Path) -> None:
    found = headline(fake(closed=("cell:h[0].conv", "cell:h[1].skip")))
    assert plain(found.title) == "tiny on digits: 75.00 % with 100 parameters"
    assert plain(found.sentence) == (
        "2 of 6 switches were closed, which took the network from 1,000 to 100 parameters (10 %); "
        "no size was required; its steps and updates took 2 s."
    )
    assert found.about == "run · search: network net of tiny on digits, seed 0"
    assert found.facts[:2] == (
        "accuracy on the test set, with the weights of the search",
        "1,000 of 10,000 multiply-adds",
    )
    assert "ended because all iterations are done" in found.facts


def test_a_required_size() -> None:
    run = fake()
    assert run.outline is not None
    assert run.result is not None
    wanted = replace(run, outline=replace(run.outline, wanted=("params <= 200", "params <= 50")))
    assert "params <= 200 and params <= 50 were required and are met" in headline(wanted).sentence
    missed = replace(wanted, result={**run.result, "unmet": ["params <= 50"]})
    assert "were required; params <= 50 is not met" in headline(missed).sentence
    target = fake(target_params=50)
    assert target.outline is not None
    target = replace(target, outline=replace(target.outline, wanted=("params <= 50",)))
    assert "params <= 50 was required and is not met" in headline(target).sentence


def test_an_unfinished_search() -> None:
    run = replace(fake(closed=("cell:h[0].conv",)), result=None, running=True)
    found = headline(run)
    assert plain(found.title) == "tiny on digits: 60.00 % on held-out samples after 2 updates"
    assert "1 of 6 switches is closed so far" in found.sentence
    assert found.sentence.endswith("the search is in progress; its steps and updates took 2 s so far.")
    begun = traced()
    assert headline(begun).title == "tiny on digits: no update yet"
    assert headline(begun).sentence.endswith("; the search was stopped.")


def test_a_training_run() -> None:
    row = {"step": 10.0, "loss": 1.0, "accuracy": 0.5, "test_loss": 1.1, "test_accuracy": 0.4, "seconds": 30.0}
    rows = tuple({"epoch": float(n), **row} for n in (1, 2))
    result = {"parameters": 90, "flops": 900, "accuracy": 0.8, "loss": 0.5}
    found = headline(traced("train", rows=rows, result=result, epochs=2))
    assert plain(found.title) == "tiny on digits: 80.00 % with 90 parameters"
    assert found.sentence == (
        "The network was trained for 2 epochs; its loss on the test set is 0.5; its steps took 1 min 00 s."
    )
    half = headline(traced("train", rows=rows[:1], epochs=2))
    assert plain(half.title) == "tiny on digits: 40.00 % after 1 of 2 epochs"


def test_a_compression_run(tmp_path: Path) -> None:
    run = read_run_record(write_compression(tmp_path / "a"))
    found = headline(run)
    assert plain(found.title) == "tiny on digits: 96.00 % with 1,000 parameters"
    assert plain(found.sentence).startswith(
        "2 loops took the network from 4,000 to 1,000 parameters (25 %) "
        "and its error on the test set from 3.00 % to 4.00 %; no size was required; its steps took "
    )
    run.config["target_operations"] = 1500
    assert "operations <= 1,500 was required and is not met" in headline(run).sentence
    unfinished = read_run_record(write_compression(tmp_path / "b", result={**RESULT, "accuracy": None}))
    assert headline(unfinished).title == "tiny on digits: 3,998 parameters after 2 loops"
    assert headline(unfinished).sentence.startswith("2 loops are done; the run was stopped")


def test_a_comparison() -> None:
    runs = {"a": fake(), "b": replace(fake(), result={"accuracy": 0.9, "parameters": 300, "flops": 1, "unmet": []})}
    found = comparison_headline(runs)
    assert plain(found.title) == "2 runs of tiny on digits: 75.00 to 90.00 % with 100 to 300 parameters"
    assert plain(found.sentence) == (
        "The most accurate is b, 90.00 % with 300 parameters; the smallest is a, 75.00 % with 100 parameters."
    )
    assert most_accurate(runs) == "b"
    smaller = replace(fake(), result={"accuracy": 0.9, "parameters": 200, "flops": 1, "unmet": []})
    assert most_accurate({**runs, "c": smaller}) == "c"
    assert most_accurate({"a": replace(fake(), result=None)}) is None
    alone = comparison_headline({**runs, "b": replace(fake(), result=None)})
    assert plain(alone.title) == "2 runs of tiny on digits: 75.00 % with 100 parameters"
    assert alone.sentence == "1 run has no result yet."
