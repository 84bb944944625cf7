"""When things happened in a search."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.report.timeline import Phase, timeline
from bayesnas_graph.runs.reading.run import Numbers, RunRecord
from tests.report.fake_runs import traced


def rows(*pairs: tuple[int, int]) -> tuple[Numbers, ...]:
    return tuple({"iteration": float(iteration), "step": float(step)} for iteration, step in pairs)


def run(log: tuple[Numbers, ...], updates: int, *, ended: bool = True, **outline: int) -> RunRecord:
    result = {"why": "", "parameters": 1, "flops": 1, "accuracy": 0.5} if ended else None
    record = traced(rows=log, updates=tuple({"iteration": float(n)} for n in range(1, updates + 1)), result=result)
    assert record.outline is not None
    return replace(record, outline=replace(record.outline, **{"warmup": 10, "steps": 20, "iterations": 2, **outline}))


LOG = rows((0, 5), (0, 10), (1, 20), (1, 30), (2, 50))


def test_an_update_follows_the_last_step_of_its_iteration() -> None:
    found = timeline(run((*LOG, *rows((3, 90))), 2))
    assert found.updates == {1: 30, 2: 50}
    assert found.phases == (Phase("warm-up", 0, 10), Phase("2 updates", 10, 50), Phase("finish", 50, 90))
    assert found.last == 90


def test_a_search_without_warm_up_and_finish() -> None:
    assert timeline(run(rows((1, 20), (2, 40)), 2)).phases == (Phase("2 updates", 0, 40),)


def test_a_search_that_goes_on() -> None:
    found = timeline(run((*LOG[:4], *rows((2, 40))), 1, ended=False))
    assert found.updates == {1: 30}
    assert found.phases == (Phase("warm-up", 0, 10), Phase("1 update", 10, 40))


def test_finalists_come_before_the_finish() -> None:
    found = timeline(run((*LOG, *rows((3, 70), (3, 90), (3, 120))), 2, finalists=2, finalist_steps=20))
    assert found.phases[2:] == (Phase("finalists", 50, 90), Phase("finish", 90, 120))


def test_without_a_log_settings_say_when_updates_were_due() -> None:
    found = timeline(run((), 2))
    assert found.updates == {1: 30, 2: 50}
    assert found.last == 50
    assert timeline(replace(run((), 2), outline=None)).updates == {}


def test_before_the_first_step() -> None:
    assert timeline(run((), 0, ended=False)).phases == ()


def test_rows_of_updates_get_their_steps() -> None:
    record = run(LOG, 3)
    assert [(row["iteration"], row["step"]) for row in timeline(record).stepped(record.updates)] == [
        (1, 30), (2, 50), (3, 50),
    ]  # fmt: skip
