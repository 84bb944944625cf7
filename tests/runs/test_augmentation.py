"""Settings of augmentation that suit the data."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bayesnas_graph.data import Data, InMemory, Statistics
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.augmentation import changes, check_augmentation, fitted
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.settings import assigned, merged


def data(*shape: int) -> Data:
    """A data set of examples of a shape."""
    part = InMemory(torch.rand(4, *shape), torch.arange(4))
    return Data("some", part, part, shape, 4, Statistics((0.5,) * shape[0], (1.0,) * shape[0]))


@pytest.mark.parametrize(
    ("shape", "expected", "said"),
    [
        ((3, 32, 32), (4, True, 16), []),
        ((1, 17, 20), (4, True, 16), []),
        ((1, 16, 20), (4, True, 8), ["`cutout` is 8 instead of 16"]),
        ((1, 8, 8), (4, True, 4), ["`cutout` is 4 instead of 16"]),
        ((1, 3, 3), (0, True, 1), ["`cutout` is 1 instead of 16", "`crop` is off"]),
        ((5, 1, 1), (0, False, 0), ["`crop` and `flip` and `cutout` are off"]),
        ((2, 16), (0, False, 0), ["`crop` and `flip` and `cutout` are off"]),
    ],
)
def test_defaults_that_do_not_suit_the_data_change(
    shape: tuple[int, ...], expected: tuple[int, bool, int], said: list[str]
) -> None:
    given, some = TrainConfig(), data(*shape)
    found = fitted(given, some)
    assert (found.crop, found.flip, found.cutout) == expected
    check_augmentation(found, some)
    assert [line.partition(":")[0] for line in changes(given, found, some)] == said
    assert fitted(found, some) == found


def test_code_is_a_module_and_a_function() -> None:
    with pytest.raises(NasError, match="`augment` should be `package"):
        merged([assigned("augment=blur")], TrainConfig)


@pytest.mark.parametrize("settings", [{"cutout": 16}, {"crop": 4}, {"flip": True}])
def test_given_values_stay(settings: dict[str, Any]) -> None:
    key, value = next(iter(settings.items()))
    assert getattr(fitted(TrainConfig.model_validate(settings), data(1, 2, 2)), key) == value
    with pytest.raises(NasError, match=f"cannot be augmented with `{key}`: its examples are a sequence of 2x16"):
        check_augmentation(fitted(TrainConfig.model_validate(settings), data(2, 16)), data(2, 16))
