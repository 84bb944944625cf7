"""Operations that the compiler puts into the graph and that no text names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from bayesnas_graph.ir import Argument, Expression, Op, Shape
from bayesnas_graph.ops.join import Sum


@dataclass(frozen=True)
class Input(Op):
    """A value that is handed to the network."""

    name: ClassVar[str] = "input"
    inputs: ClassVar[int | None] = 0


@dataclass(frozen=True)
class Choice(Sum):
    """The sum of the candidates that a search leaves on: at most `limit` of them, or any number.

    Each of its edges has a gate, the switch of a candidate.
    """

    name: ClassVar[str] = "choice"

    limit: int | None = field(default=None, metadata={"argument": Argument("integer", 1, absent="any")})


@dataclass(frozen=True)
class Gated(Op):
    """Hands on a value that a gate may turn off."""

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}")

    def stores(self, *inputs: Shape) -> int:
        return 0


@dataclass(frozen=True)
class Maybe(Gated):
    """A value that is optional in the text."""

    name: ClassVar[str] = "maybe"


@dataclass(frozen=True)
class Zero(Gated):
    """The zero switch of a choice: off, it turns all candidates off."""

    name: ClassVar[str] = "zero"
