"""Augmentation by a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.data import Augmentation, Mixing, training
from bayesnas_graph.data.custom_augment import CustomAugmentation
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem
from tests.data.test_batches import IMAGES, LOADING, MEMORY, PLAIN, same


def mixed_up(images: Tensor, generator: torch.Generator) -> Tensor:
    """Something that depends on the whole batch."""
    return (images + images.mean() + torch.rand(images.shape, generator=generator)) / 3


def using(function: Callable[[Tensor, torch.Generator], object]) -> Augmentation:
    return Augmentation(crop=1, flip=True, cutout=2, custom=CustomAugmentation("mine:change", function))


@settings(max_examples=25)
@given(start=st.integers(0, 4), world=st.integers(1, 4), batch=st.integers(4, 20), mixing=st.booleans())
def test_any_start_and_any_number_of_processes(start: int, world: int, batch: int, mixing: bool) -> None:
    loading = replace(
        LOADING, batch=batch, augmentation=using(mixed_up), mixing=Mixing(0.3, 1.0, 53) if mixing else None
    )
    indices = torch.arange(3, 53)
    whole = list(training(MEMORY, indices, loading, 2))[start:]
    for rank in range(world):
        part = training(MEMORY, indices, replace(loading, rank=rank, world=world), 2, start)
        same(part, [(images[rank::world], labels[rank::world]) for images, labels in whole])


def test_what_it_is_given() -> None:
    """Images from 0 to 1, and other random numbers for every batch and epoch."""
    seen: list[tuple[Tensor, float]] = []

    def look(images: Tensor, generator: torch.Generator) -> Tensor:
        seen.append((images, float(torch.rand((), generator=generator))))
        return images

    how = replace(PLAIN, augmentation=Augmentation(custom=CustomAugmentation("mine:look", look)))
    batches = [labels for epoch in (0, 1) for _, labels in training(MEMORY, torch.arange(53), how, epoch)]
    for (images, _), labels in zip(seen, batches, strict=True):
        torch.testing.assert_close(images, IMAGES[labels] / 255)
    assert len({number for _, number in seen}) == len(batches) == 10
    plain = training(MEMORY, torch.arange(53), PLAIN, 0)
    for (found, _), (expected, _) in zip(training(MEMORY, torch.arange(53), how, 0), plain, strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images, _: images[:2], "`mine:change` returned 2x3x8x8 for 10x3x8x8"),
        (lambda images, _: images.double(), "`mine:change` returned float64 on cpu for float32 on cpu"),
        (lambda images, _: None, "`mine:change` returned `None` instead of images"),
        (lambda images, _: 1 / 0, "`mine:change` failed: ZeroDivisionError: division by zero"),
        (lambda images: images, "`mine:change` failed: TypeError: "),
    ],
)
def test_what_it_may_not_do(function: Callable[..., object], message: str) -> None:
    with pytest.raises(NasError) as error:
        next(training(MEMORY, torch.arange(53), replace(LOADING, augmentation=using(function)), 0))
    assert problem(error).code == "NAS505"
    assert problem(error).message.startswith(message)
    assert "takes a batch of images" in str(problem(error).help)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_such_module:change", "cannot be imported: no module `no_such_module`"),
        ("bayesnas_graph.data:nothing", "cannot be imported: AttributeError: "),
        ("bayesnas_graph.data:__all__", "is a `list`, which is not callable"),
    ],
)
def test_functions_that_are_not_there(spec: str, message: str) -> None:
    with pytest.raises(NasError) as error:
        CustomAugmentation.of(spec)
    assert problem(error).message.startswith(f"`{spec}` {message}")
