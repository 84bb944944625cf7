"""Spaces of sequences and transformers, from search to export."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.data import Data, InMemory, Statistics
from bayesnas_graph.diagnostics import NasError
from tests.conftest import ROOT
from tests.search.spaces import SHORT, searched

SMALL = {"width": 4, "heads": 2, "channels": 1, "length": 64, "labels": 10}
FEW: dict[str, Any] = {"iterations": 1, "steps": 2, "warmup": 1, "finish": 1, "batch": 8}

# All kinds of operations on sequences, with a choice among some of them.
MIXED = """
import "std.nas"

network net : sequence(1, 64) -> classes(10) {
    in x
    node a = x : conv1d(8, 4, 4, bias = true) > position_embedding > class_token
    node b = a : choose { conv1d(k = 3) > bn, transformer_block(2), layer_norm > shift, depthwise1d(3), identity }
    node c = b : optional layer_scale(init = 1) > gelu
    node d = scale(c, global_avg_pool(c))
    stack_vectors(at(0)(d), at(-1)(d), global_max_pool(d)) -> out : flatten > linear(10)
}
"""

FIXED = """
import "std.nas"

network net : sequence(1, 64) -> classes(10) {
    in x
    node a = x : conv1d(8, 4, 4, bias = true) > position_embedding > class_token
    a -> out : transformer_block(2) > layer_scale > shift > at(0) > linear(10)
}
"""


def test_the_space_of_signals_from_search_to_export(tmp_path: Path) -> None:
    """The pixels of small images, one after another, are a signal."""
    settings = SHORT | FEW | {"parameters": SMALL}
    settings["intensity"] = settings.pop("lambda")
    found = api.search(ROOT / "spaces" / "sequence.nas", output=tmp_path / "run", allow_python=True, **settings)
    architecture = api.derive(found, allow_python=True)
    x = torch.rand(2, 1, 64)
    with torch.no_grad(), found.outcome.learner.supernet.measuring() as supernet:
        torch.testing.assert_close(architecture.model(weights=True).build().eval()(x), supernet(x))


def signals() -> Data:
    """Two classes of signals with two channels: slow waves and fast ones."""
    random = torch.Generator().manual_seed(0)

    def part(count: int) -> InMemory:
        labels = torch.arange(count) % 2
        phase = 6 * torch.rand(count, 2, 1, generator=random)
        waves = torch.sin(torch.arange(16) * (1 + labels.view(-1, 1, 1)) + phase)
        return InMemory(waves, labels)

    return Data("signals", part(80), part(20), (2, 16), 2, Statistics((0.0, 0.0), (0.7, 0.7)))


def test_a_search_on_signals(tmp_path: Path) -> None:
    parameters = {"width": 4, "heads": 2, "channels": 2, "length": 16, "labels": 2}
    settings = SHORT | FEW | {"data": f"{__name__}:signals", "parameters": parameters}
    settings["intensity"] = settings.pop("lambda")
    result = api.search(ROOT / "spaces" / "sequence.nas", output=tmp_path / "run", **settings)
    assert result.outcome.graph.outputs
    with pytest.raises(NasError, match="cannot be augmented with `crop`: its examples are a sequence of 2x16"):
        api.search(ROOT / "spaces" / "sequence.nas", output=tmp_path / "other", **settings, crop=2)


def test_tokens_need_data_of_their_own(tmp_path: Path) -> None:
    text = "network net : tokens(64) -> classes(10) { in x x -> out : embedding(9, 4) > at(0) > choose { linear(10) } }"
    with pytest.raises(NasError, match="takes tokens, but `tiny` has images"):
        searched(tmp_path, text)


@pytest.mark.parametrize("estimator", ["exact", "ggn", "fisher", "empirical", "recursive", "mean"])
def test_every_estimator_knows_sequences(estimator: str, tmp_path: Path) -> None:
    outcome = searched(tmp_path, MIXED, curvature=estimator, **FEW)
    assert outcome.graph.outputs


def test_exported_source_needs_only_torch(tmp_path: Path) -> None:
    """Modules that torch does not have are part of the file."""
    api.export(api.load(text=FIXED), tmp_path / "net.py")
    code = "import sys; sys.modules['bayesnas_graph'] = None; import torch, net; "
    code += "print(*net.Net()(torch.zeros(2, 1, 64)).shape)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "2 10\n", done.stderr
