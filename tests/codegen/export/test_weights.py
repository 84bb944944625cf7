"""Weights files: round trip, and mismatched tensors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

from bayesnas_graph.codegen.export.weights import bytes_of, read_weights, take_weights, write_weights
from bayesnas_graph.diagnostics import NasError


def network() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Linear(2, 10))


def said(weights: dict[str, torch.Tensor]) -> str:
    module = network()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    with pytest.raises(NasError) as error:
        take_weights(module, weights, Path("a.safetensors"), "net")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS611"
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items()), "nothing was taken"
    return diagnostic.message.removeprefix("the weights in `a.safetensors` do not fit network `net`: ")


def test_in_and_out(tmp_path: Path) -> None:
    weights = network().state_dict()
    weights["0.weight"] = weights["0.weight"].contiguous(memory_format=torch.channels_last)
    write_weights(tmp_path / "weights", weights, "1234")
    read = read_weights(tmp_path / "weights")
    assert read.keys() == weights.keys()
    assert all(torch.equal(read[name], weights[name]) for name in weights)
    other = network()
    take_weights(other, read, tmp_path / "weights", "net")
    assert all(torch.equal(value, weights[name]) for name, value in other.state_dict().items())
    assert bytes_of(read) == 4 * (18 + 2 + 8 + 20 + 10) + 8
    write_weights(tmp_path / "again", read, "1234")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "weights").read_bytes()


def test_what_does_not_fit() -> None:
    good = network().state_dict()
    assert said({name: value for name, value in good.items() if not name.startswith("1")}) == (
        "5 are missing (`1.bias`, `1.num_batches_tracked`, `1.running_mean`, ...)"
    )
    assert said(good | {"3.weight": torch.zeros(1)}) == "1 are not in the network (`3.weight`)"
    assert said(good | {"2.weight": torch.zeros(10, 3)}) == "1 have a different shape (`2.weight: 10x3 for 10x2`)"
    assert said({"weight": torch.zeros(1)}).startswith("9 are missing (")


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"PK\3\4", pickle.dumps({"a": 1}), b"\xff" * 8 + b"{}"])
def test_invalid_weights_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(content)
    with pytest.raises(NasError) as error:
        read_weights(tmp_path / "weights")
    assert error.value.diagnostics[0].code == "NAS611"


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(NasError) as error:
            read_weights(path)
        assert error.value.diagnostics[0].code == "NAS011"
