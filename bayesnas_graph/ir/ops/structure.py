"""Operations that the compiler puts into the graph and that no text names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Argument, Coupling, Expression, Op, Shape
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.join import Sum

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Input(Op):
    """A value that is handed to the network."""

    name: ClassVar[str] = "input"
    inputs: ClassVar[int | None] = 0

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return ()

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling(())


@dataclass(frozen=True)
class Choice(Sum):
    """The sum of the candidates that a search leaves on: at most `limit` of them, or any number.

    Each of its edges has a gate, the switch of a candidate.
    """

    name: ClassVar[str] = "choice"

    limit: int | None = field(default=None, metadata={"argument": Argument("integer", 1, absent="any")})


@dataclass(frozen=True)
class Gated(Op):
    """Hands on a value that a gate may turn off.

    The gate is on its edge and none of its business: what curvature it adds is for whoever reads edges.
    """

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,)

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs)

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
