"""A black border around every image."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.data import Data, InMemory, Statistics, load, padded
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.search.run import build_problem
from tests.helpers import network
from tests.search.spaces import config


@given(pixels=st.integers(0, 4))
def test_a_border(pixels: int) -> None:
    data = load("digits", Path())
    wide = padded(data, pixels)
    indices = torch.tensor([5, 3])
    (small, labels), (large, same) = data.test.take(indices), wide.test.take(indices)
    assert torch.equal(labels, same)
    assert wide.shape == tuple(large.shape[1:]) == (1, 8 + 2 * pixels, 8 + 2 * pixels)
    assert torch.equal(large[..., pixels : pixels + 8, pixels : pixels + 8], small)
    assert large.sum() == small.sum(), "the border is black"
    assert len(wide.train) == len(data.train)


def test_vectors_have_no_border() -> None:
    examples = InMemory(torch.zeros(3, 7), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(NasError, match="cannot be padded"):
        padded(Data("vectors", examples, examples, (7,), 2, Statistics((0.0,), (1.0,))), 1)


@pytest.mark.parametrize("data", ["digits", "shapes"])
def test_a_search_pads(data: str) -> None:
    body = "in x x -> out : choose { max_pool(3), avg_pool(3) } > flatten > linear(10)"
    text = f"network net : image(1, 12, 12) -> classes(10) {{ {body} }}"
    problem = build_problem(Subject("net", "net", network(text), ()), config(data=data, pad=2), Path(), Processes())
    assert problem.data.shape == (1, 12, 12)
    assert problem.data.train.take(torch.arange(2))[0].shape == (2, 1, 12, 12)
