"""Siblings are timed on the device, the answers are kept, and no answer changes a result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.diagnostics.checksums import with_checksum
from bayesnas_graph.ir import Graph
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.fusion import measured as module
from bayesnas_graph.runs.fusion.cache import cache_file, cache_folder, document, read_times, write_times
from bayesnas_graph.runs.fusion.measured import MeasuredFusion
from bayesnas_graph.runs.fusion.timing import Conditions, Times, synchronise, time_site
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.search.checkpoint import SearchCheckpoints, from_plain, to_plain
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.loop import Search, SearchOutcome
from bayesnas_graph.search.progress import SearchProgress
from tests.helpers import body, graph
from tests.search.runs import assert_same, checkpoints
from tests.search.spaces import Notes, config, device, problem

CPU = torch.device("cpu")
HERE = Conditions(CPU, torch.float32, channels_last=True, batch=2)
ABOUT = {"device": "a", "torch": "b", "precision": "fp32"}
SIBLINGS = graph(body("node h[4] = x : conv(5, 3) > bn > relu > conv(3) h -> out"))
(SITE,) = passes.fusion_sites(SIBLINGS)
FASTER, SLOWER = Times(2.0, 1.0), Times(1.0, 2.0)

EVEN: dict[str, Any] = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "bayesnas-graph"
    return cache_folder()


@contextmanager
def timed(times: Times, *, fresh: bool = False) -> Iterator[list[Graph]]:
    """Every site takes this long; the graphs that are timed. With `fresh`, the cache is empty."""
    seen: list[Graph] = []
    if fresh:
        rmtree(cache_folder(), ignore_errors=True)

    def timer(graph: Graph, _: Conditions) -> Times:
        seen.append(graph)
        return times

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time_site", timer)
        yield seen


def answer(fusion: MeasuredFusion, conditions: Conditions = HERE) -> bool:
    ((key, fused),) = fusion.answers(SIBLINGS, passes.Options(), conditions)
    assert key == SITE.key
    return fused


# ------------------------------------------------------------------------------------- timing


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("channels_last", [True, False])
def test_sites_are_timed(precision: torch.dtype, channels_last: bool) -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    times = time_site(SITE.graph, Conditions(CPU, precision, channels_last, batch=2))
    assert min(times) > 0
    assert torch.equal(torch.rand(3), expected), "no random number is used up"


def test_sequences_and_vectors_are_timed() -> None:
    text = "node h[4] = x : conv1d(4, 3) > bn > relu > conv1d(3) h -> out"
    (site,) = passes.fusion_sites(graph(body(text, "sequence(3, 8) -> sequence(3, 8)")))
    assert min(time_site(site.graph, HERE)) > 0


def test_phases_of_dilated_convolutions_are_timed() -> None:
    """Their siblings see four images for each sample."""
    text = "node h[4] = x : depthwise(3, dilation = 2) > conv(3, 1) > bn(false) h -> out"
    split = passes.run(graph(body(text)), passes.FASTER[: passes.FASTER.index(passes.fuse_siblings)])
    assert any(node.op.changes_batch for node in split)
    for site in passes.fusion_sites(split):
        assert min(time_site(site.graph, HERE)) > 0


def test_devices_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[object] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    for name in ("cuda", "mps", "cpu"):
        synchronise(torch.device(name))
    assert waited == [torch.device("cuda"), "mps"]


# ------------------------------------------------------------------------------------- the cache


def test_times_are_kept(cache: Path) -> None:
    with timed(FASTER) as seen:
        assert answer(MeasuredFusion(Processes())) is True
        assert len(seen) == 1
    with timed(SLOWER) as seen:
        assert answer(MeasuredFusion(Processes())) is True, "from the cache"
        assert seen == []
        assert answer(MeasuredFusion(Processes()), Conditions(CPU, torch.float32, True, 3)) is False
        assert answer(MeasuredFusion(Processes()), Conditions(CPU, torch.bfloat16, True, 2)) is False
        assert answer(MeasuredFusion(Processes()), Conditions(CPU, torch.float32, False, 2)) is False
    assert len(list(cache.iterdir())) == 2, "one for each precision"
    assert len(read_times(cache_file(cache, HERE.about), HERE.about)) == 3


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "3",
        json.dumps({"version": 1, "about": ABOUT}),
        json.dumps(document({**ABOUT, "torch": "another"}, {"s": FASTER})),
        json.dumps({**document(ABOUT, {"s": FASTER}), "version": 2}),
        json.dumps({**document(ABOUT, {}), "sites": [1]}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": [1, 2]}}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": {"apart": 1}}}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": {"apart": 1, "fused": "2"}}}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": {"apart": 1, "fused": True}}}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": {"apart": 1, "fused": -1}}}),
        json.dumps({**document(ABOUT, {}), "sites": {"s": {"apart": 1, "fused": float("nan")}}}),
        json.dumps(with_checksum(document(ABOUT, {"s": FASTER}))).replace("2.0", "3.0"),
    ],
)
def test_a_bad_file_counts_as_empty(content: str, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text(content)
    assert read_times(path, ABOUT) == {}
    write_times(path, ABOUT, {"s": SLOWER})
    assert read_times(path, ABOUT) == {"s": SLOWER}
    assert [other.name for other in tmp_path.iterdir()] == ["times.json"]


def test_a_bad_cache_is_written_again(cache: Path) -> None:
    path = cache_file(cache, HERE.about)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\x00")
    with timed(FASTER):
        assert answer(MeasuredFusion(Processes())) is True
    assert list(read_times(path, HERE.about).values()) == [FASTER]


def test_nothing_depends_on_the_cache(cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("a file where the folder should be")
    with timed(FASTER) as seen:
        fusion = MeasuredFusion(Processes())
        assert [answer(fusion) for _ in range(2)] == [True, True]
        assert len(seen) == 1


def test_a_site_that_does_not_fit_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(module, "time_site", fail)
    assert MeasuredFusion(Processes()).answers(SIBLINGS, passes.Options(), HERE) == ()


# ------------------------------------------------------------------------------------- runs


def folder(tmp_path: Path) -> RunFolder:
    (tmp_path / "run").mkdir(parents=True, exist_ok=True)
    return RunFolder(tmp_path / "run")


def test_a_run_keeps_its_answers(tmp_path: Path, cache: Path) -> None:
    with timed(FASTER):
        assert answer(MeasuredFusion(Processes(), folder(tmp_path))) is True
    with timed(SLOWER) as seen:
        write_times(cache_file(cache, HERE.about), HERE.about, {HERE.key(SITE.key): SLOWER})
        assert answer(MeasuredFusion(Processes())) is False, "the cache has changed"
        assert answer(MeasuredFusion(Processes(), folder(tmp_path))) is True, "the run has not"
        assert seen == []


def test_what_comes_from_the_cache_is_recorded(tmp_path: Path) -> None:
    with timed(FASTER):
        answer(MeasuredFusion(Processes()))
    run = folder(tmp_path)
    answer(MeasuredFusion(Processes(), run))
    assert read_times(run.fusion, HERE.about) == {HERE.key(SITE.key): FASTER}


class Second(Processes):
    """The second of two processes."""

    def broadcast(self, value: Any) -> Any:
        assert value == {}, "it has looked for nothing"
        return {SITE.key: False}


def test_all_processes_have_the_answers_of_the_first(tmp_path: Path) -> None:
    with timed(FASTER) as seen:
        assert answer(MeasuredFusion(Second(1, 2), folder(tmp_path))) is False
    assert seen == []
    assert not folder(tmp_path).fusion.exists()


@pytest.mark.parametrize(
    ("name", "settings", "is_measured"),
    [
        ("cpu", {}, False),
        ("cpu", {"fusion": "measured"}, True),
        ("cuda", {}, True),
        ("mps", {}, True),
        ("cuda", {"fusion": "table"}, False),
        ("cuda", {"deterministic": True}, False),
        ("cuda", {"deterministic": True, "fusion": "measured"}, True),
    ],
)
def test_where_siblings_are_timed(name: str, settings: dict[str, Any], is_measured: bool, tmp_path: Path) -> None:
    given = config(**settings)
    found = Device.of(given, torch.device(name), Processes()).for_run(given, folder(tmp_path))
    assert (found.fusion is not None) is is_measured


def learner(times: Times | None, tmp_path: Path) -> tuple[SearchLearner, Device]:
    given = config(fusion="measured" if times else "table")
    used = device(given).for_run(given, folder(tmp_path))
    torch.manual_seed(0)
    with timed(times or FASTER, fresh=True):
        return new_learner(problem().graph, given, used), used


def test_a_checkpoint_says_how_its_program_was_fused(tmp_path: Path) -> None:
    """Weights come back in a run that fuses otherwise, and in one that has lost its answers."""
    texts = set()
    for times in (FASTER, SLOWER, None):
        before, _ = learner(times, tmp_path / str(times))
        texts.add(before.supernet.program.text)
        content = to_plain(before, SearchProgress())
        for other in (FASTER, SLOWER, None):
            _, used = learner(other, tmp_path / f"to {other}")
            with timed(other or FASTER, fresh=True):
                after, _ = from_plain(content, problem(), used)
            mine, theirs = (one.supernet.reference().state_dict() for one in (before, after))
            assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert len(texts) == 2


def test_answers_change_no_weight_and_no_later_number(tmp_path: Path) -> None:
    states, later = [], []
    for times in (FASTER, SLOWER, None):
        found, _ = learner(times, tmp_path / str(times))
        states.append(found.supernet.reference().state_dict())
        later.append(torch.rand(3))
    for state in states[1:]:
        assert all(torch.equal(state[name], value) for name, value in states[0].items())
    assert torch.equal(later[0], later[1])
    assert torch.equal(later[0], later[2])


def run(
    tmp_path: Path, name: str, times: Times | None, stop: Callable[[], bool] = lambda: False
) -> tuple[SearchOutcome, Notes]:
    given, notes = problem(fusion="measured" if times else "table", **EVEN), Notes()
    (tmp_path / name).mkdir(exist_ok=True)
    place = RunFolder(tmp_path / name)
    used = device(given.config).for_run(given.config, place)
    with timed(times or FASTER, fresh=True):
        return Search(given, used, SearchCheckpoints(place.checkpoints), notes, stop).run(), notes


def test_a_search_is_the_same_whatever_is_fused(tmp_path: Path) -> None:
    runs = [run(tmp_path, str(i), times) for i, times in enumerate((None, FASTER, SLOWER))]
    assert len({outcome.decision.off for outcome, _ in runs}) == 1
    losses = [[row.loss for row in notes.rows] for _, notes in runs]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert losses[2] == pytest.approx(losses[0], rel=1e-3)
    assert (tmp_path / "1" / "fusion.json").exists()
    assert not (tmp_path / "0" / "fusion.json").exists()


def test_a_resumed_search_compiles_the_same_programs(tmp_path: Path) -> None:
    """Other times are measured when it is resumed, but it has recorded its own."""
    asked = iter([False] * 4)
    with pytest.raises(Interrupted):
        run(tmp_path, "stopped", FASTER, lambda: next(asked, True))
    run(tmp_path, "stopped", SLOWER)
    run(tmp_path, "whole", FASTER)
    found = [checkpoints(tmp_path / name / "checkpoints") for name in ("stopped", "whole")]
    assert_same(list(found[0].values())[-1], list(found[1].values())[-1])
    sites = next(iter(found[0].values()))["sites"]
    assert sites
    assert all(fused for _, fused in sites)
