"""Operations that the compiler puts into the graph and that no text names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from bayesnas_graph.ir import Argument, Op, Shape
from bayesnas_graph.ops.join import Pointwise


@dataclass(frozen=True)
class Input(Op):
    """A value that is handed to the network."""

    name: ClassVar[str] = "input"
    inputs: ClassVar[int | None] = 0


@dataclass(frozen=True)
class Choice(Pointwise):
    """The sum of the candidates that a search leaves on: at most `limit` of them, or any number."""

    name: ClassVar[str] = "choice"

    limit: int | None = field(default=None, metadata={"argument": Argument("integer", 1, absent="any")})


@dataclass(frozen=True)
class Maybe(Op):
    """A value that a search may turn off."""

    name: ClassVar[str] = "maybe"

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]
