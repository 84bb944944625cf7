"""The register of primitives, and the fields for their arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from bayesnas_graph.ir import Argument, Coupling, Op, Shape, ShapeError, named_shape

OpClass = TypeVar("OpClass", bound=type[Op])

PRIMITIVES: dict[str, type[Op]] = {}

FLOAT, INDEX = 4, 8  # bytes of a statistic, and of an index


@dataclass(frozen=True)
class ChannelByChannel(Op):
    """An operation whose output channels each depend on the same channel of its inputs."""

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs)


@dataclass(frozen=True)
class SameShape(ChannelByChannel):
    """An operation whose output has the shape of its input, channel by channel."""

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]


@dataclass(frozen=True)
class Untrained(Op):
    """An operation that is not pure, but has no parameters: it is random, or has tensors that are not trained."""

    pure: ClassVar[bool] = False

    @property
    def saves_inputs(self) -> bool:
        return False

    def parameters(self, *inputs: Shape) -> int:
        return 0

    def weight_curvature(self, local: Any) -> dict[str, Any]:
        return {}


def register(cls: OpClass) -> OpClass:
    """Add a primitive to the language under its name."""
    if cls.name in PRIMITIVES:
        raise ValueError(f"`{cls.name}` is registered twice")
    if not cls.__doc__:
        raise ValueError(f"`{cls.name}` has no documentation")
    PRIMITIVES[cls.name] = cls
    return cls


def count(
    default: int | None = None, *, minimum: int = 1, absent: str | None = None, words: tuple[str, ...] = ()
) -> Any:
    """A whole number: a width, a kernel size, a stride. With `absent`, it may be omitted; it also takes the `words`."""
    metadata = {"argument": Argument("integer", minimum, absent=absent, words=words)}
    if default is None and absent is None:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def rational(default: str, *, minimum: str = "0", maximum: str | None = None) -> Any:
    """A fraction, given as text so that it is exact."""
    limit = None if maximum is None else Fraction(maximum)
    return field(default=Fraction(default), metadata={"argument": Argument("rational", Fraction(minimum), limit)})


def pair(default: int, *, minimum: int = 1) -> Any:
    """A whole number, or an array of two, for the height and for the width: a kernel size, a stride."""
    return field(default=default, metadata={"argument": Argument("integer", minimum, is_pair=True)})


def word(default: str, *others: str) -> Any:
    """One of some strings."""
    return field(default=default, metadata={"argument": Argument("word", words=(default, *others))})


def flag(default: bool) -> Any:
    """True or false."""
    return field(default=default, metadata={"argument": Argument("boolean")})


def both(value: int | tuple[int, int]) -> tuple[int, int]:
    """A number for the height and one for the width, from one for both or from a pair."""
    return value if isinstance(value, tuple) else (value, value)


def plain(pair: tuple[int, int]) -> int | tuple[int, int]:
    """A single number if the two are equal.

    >>> plain((3, 3)), plain((1, 7))
    (3, (1, 7))
    """
    return pair[0] if pair[0] == pair[1] else pair


def image(op: Op, shape: Shape) -> tuple[int, int, int]:
    """The channels, height and width of an image; an error for anything else."""
    if len(shape) != 3:
        raise ShapeError(f"`{op.name}` needs an image, got {named_shape(shape)}")
    return shape[0], shape[1], shape[2]


def sequence(op: Op, shape: Shape) -> tuple[int, int]:
    """The channels and length of a sequence; an error for anything else."""
    if len(shape) != 2:
        raise ShapeError(f"`{op.name}` needs a sequence, got {named_shape(shape)}")
    return shape[0], shape[1]


def vector(op: Op, shape: Shape) -> int:
    """The length of a vector; an error for anything else."""
    if len(shape) != 1:
        raise ShapeError(f"`{op.name}` needs a vector, got {named_shape(shape)}")
    return shape[0]
