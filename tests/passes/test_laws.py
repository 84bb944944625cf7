"""Passes preserve the result: with equal weights, equal outputs and gradients."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from tests.equivalence import assert_same_function
from tests.passes.cases import SIZES, shipped, small
from tests.programs import programs

SMALL = [("quickstart", "digits"), ("densenet", "search"), ("lenet5", "lenet5")]
ALL = (*passes.SWITCHES, *passes.FASTER)


PASSES: dict[str, tuple[passes.Pass, passes.Options]] = {
    "infer_shapes": (passes.infer_shapes, passes.DEFAULT),
    "zero_before": (passes.insert_zero_identity, passes.Options(zero="before")),
    "zero_after": (passes.insert_zero_identity, passes.Options(zero="after")),
    "proxy": (passes.group_switches, passes.Options(mode="proxy")),
    "proxyless": (passes.group_switches, passes.Options(mode="proxyless")),
    "merge": (passes.merge_common_subexpressions, passes.DEFAULT),
    "split_dilated": (passes.split_dilated, passes.DEFAULT),
    "fuse": (passes.fuse_siblings, passes.Options(device="cuda")),
    "lighten": (passes.lighten, passes.DEFAULT),
    "fuse_parallel": (passes.fuse_parallel, passes.Options(device="cuda")),
    "join_choices": (passes.join_choices, passes.Options(device="cuda")),
}


def test_every_pass_is_here() -> None:
    assert {step for step, _ in PASSES.values()} == set(ALL)


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=40)
@given(text=programs(fault=0))
def test_random_graphs(name: str, text: str) -> None:
    step, options = PASSES[name]
    for network in Checker(Report()).text(Source("t", text)).networks:
        before = network.graph()
        after = step(before, options)
        passes.verify(after)
        assert_same_function(before, after)
        assert step(after, options) == after, "done twice is done once"


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize(("space", "network"), SMALL)
def test_shipped_spaces(space: str, network: str, where: passes.ZeroSide) -> None:
    before, options = shipped(space, network), passes.Options(zero=where)
    after = passes.run(before, ALL, options)
    assert_same_function(before, after)
    assert passes.run(after, ALL, options) == after


# The largest has nothing that the two devices treat differently, and takes longest.
DEVICES = [
    (*size, device) for size in SIZES for device in ("cpu", "cuda") if (size[0], device) != ("hierarchical", "cuda")
]


@pytest.mark.parametrize(("space", "network", "device"), DEVICES)
def test_faster_forms_of_shipped_spaces(space: str, network: str, device: passes.DeviceKind) -> None:
    before, options = small(space, network), passes.Options(device=device, batch=1)
    after = passes.run(before, passes.FASTER, options)
    assert len(after) <= len(before)
    assert passes.run(after, passes.FASTER, options) == after
    assert_same_function(before, after)
