"""Synthetic images of ten shapes, drawn from a seed; needs no files."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod, sqrt

import torch
from torch import Tensor

from bayesnas_graph.data.checked import shape_text
from bayesnas_graph.data.model import InMemory, Shape
from bayesnas_graph.data.sampling import chunks, generator
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import available_memory, memory_text

TRAIN, TEST = 4000, 1000
MAX_BYTES = 2**28  # of all images together; larger images are fewer
NOISE = 0.08
VALUES_PER_PIXEL = 4  # at least, of an image that is being drawn


def load_shapes(shape: Shape, seed: int) -> tuple[InMemory, InMemory]:
    """Return the training set and the test set, with equally many images of each class. Raises NasError."""
    need, free = VALUES_PER_PIXEL * len(KINDS) * prod(shape) * 4, available_memory()
    if free is not None and need > free:
        message = f"drawing `shapes` of {shape_text(shape)} needs {memory_text(need)}, but {memory_text(free)}"
        help = "use smaller images, by a parameter of the network if it has one"
        raise NasError([Diagnostic("NAS407", f"{message} of memory are available", help=help)])
    scale = min(1.0, MAX_BYTES / ((TRAIN + TEST) * prod(shape)))
    train, test = (max(int(count * scale) // len(KINDS), 1) * len(KINDS) for count in (TRAIN, TEST))
    return draw_shapes(train, shape, "train", seed), draw_shapes(test, shape, "test", seed)


def draw_shapes(count: int, shape: Shape, part: str, seed: int) -> InMemory:
    """Draw `count` images with the classes in turn; the result depends on the part and the seed alone."""
    random = generator(f"shapes {part}", seed)
    labels = torch.arange(count) % len(KINDS)
    images = torch.cat([_draw(piece, shape, random) for piece in chunks(labels, 500)])
    return InMemory(images, labels)


def _draw(labels: Tensor, shape: Shape, random: torch.Generator) -> Tensor:
    """An image for each label: a shape at a random place, in a random colour, on a background with a gradient."""
    channels, height, width = shape

    def uniform(low: float, high: float, *size: int) -> Tensor:
        return low + (high - low) * torch.rand(len(labels), *size, generator=random)

    extent = min(height, width)
    radius = uniform(0.22, 0.42, 1, 1) * extent
    y = torch.arange(height).view(1, -1, 1) - height / 2 - uniform(-0.5, 0.5, 1, 1) * (height - 2 * radius)
    x = torch.arange(width).view(1, 1, -1) - width / 2 - uniform(-0.5, 0.5, 1, 1) * (width - 2 * radius)
    angle = uniform(-pi / 9, pi / 9, 1, 1)
    u = (angle.cos() * x + angle.sin() * y) / radius
    v = (angle.cos() * y - angle.sin() * x) / radius
    depth = torch.empty(len(labels), height, width)
    for number, kind in enumerate(KINDS):
        chosen = labels == number
        depth[chosen] = kind(u[chosen], v[chosen])
    inside = (depth * radius + 0.5).clamp(0, 1).unsqueeze(1)  # with edges one pixel wide

    ground, slope = uniform(0.2, 0.8, channels, 1, 1), uniform(-0.15, 0.15, channels, 2, 1, 1)
    ground = ground + slope[:, :, 0] * torch.linspace(-1, 1, height).view(-1, 1)
    ground = ground + slope[:, :, 1] * torch.linspace(-1, 1, width)
    contrast = uniform(0.25, 0.6, channels, 1, 1) * torch.where(uniform(0, 1, channels, 1, 1) < 0.5, -1.0, 1.0)
    noise = NOISE * torch.randn(len(labels), *shape, generator=random)
    return ((ground + inside * contrast + noise).clamp(0, 1) * 255).round().to(torch.uint8)


# Each function returns how deep a point lies inside its shape, in radii (negative outside). All shapes roughly fit into
# the unit circle.


def _disc(u: Tensor, v: Tensor) -> Tensor:
    return 0.9 - (u.square() + v.square()).sqrt()


def _box(u: Tensor, v: Tensor, width: float, height: float) -> Tensor:
    return torch.minimum(width - u.abs(), height - v.abs())


def _square(u: Tensor, v: Tensor) -> Tensor:
    return _box(u, v, 0.75, 0.75)


def _triangle(u: Tensor, v: Tensor) -> Tensor:
    return torch.minimum(0.5 - v, 0.5 + v / 2 - u.abs() * sqrt(3) / 2)


def _hollow(kind: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The outline of a shape."""

    def outline(u: Tensor, v: Tensor) -> Tensor:
        depth = kind(u, v)
        return torch.minimum(depth, 0.26 - depth)

    return outline


def _plus(u: Tensor, v: Tensor) -> Tensor:
    return torch.maximum(_box(u, v, 0.95, 0.17), _box(u, v, 0.17, 0.95))


def _saltire(u: Tensor, v: Tensor) -> Tensor:
    return _plus((u + v) / sqrt(2), (u - v) / sqrt(2))


def _tee(u: Tensor, v: Tensor) -> Tensor:
    return torch.maximum(_box(u, v + 0.65, 0.85, 0.17), _box(u, v - 0.05, 0.17, 0.85))


def _bars(u: Tensor, v: Tensor) -> Tensor:
    return torch.maximum(_box(u - 0.5, v, 0.17, 0.8), _box(u + 0.5, v, 0.17, 0.8))


def _crescent(u: Tensor, v: Tensor) -> Tensor:
    return torch.minimum(_disc(u, v), ((u - 0.45).square() + v.square()).sqrt() - 0.7)


KINDS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    _disc,
    _hollow(_disc),
    _square,
    _hollow(_square),
    _triangle,
    _plus,
    _saltire,
    _tee,
    _bars,
    _crescent,
)
