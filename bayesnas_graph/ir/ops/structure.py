"""Operations that the compiler inserts into the graph. Not available in the language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Argument, Coupling, Expression, Op, Shape
from bayesnas_graph.ir.ops.base import SameShape
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.join import Sum

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Input(Op):
    """An input of the network: numbers, or `tokens`."""

    name: ClassVar[str] = "input"
    is_input: ClassVar[bool] = True
    inputs: ClassVar[int | None] = 0

    tokens: bool = field(default=False, metadata={"argument": Argument("boolean", is_recent=True)})

    @property
    def is_tokens(self) -> bool:
        return self.tokens

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return ()

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling(())


@dataclass(frozen=True)
class Choice(Sum):
    """The sum of the candidates that a search keeps: at most `limit` of them, or any number without a limit.

    While it is used, at least `least` are kept. Each of its edges has a gate, the switch of a candidate.
    """

    name: ClassVar[str] = "choice"
    is_choice: ClassVar[bool] = True
    is_gated: ClassVar[bool] = True

    limit: int | None = field(default=None, metadata={"argument": Argument("integer", 1, absent="any")})
    least: int = field(default=0, metadata={"argument": Argument("integer", 0, is_recent=True)})

    @property
    def candidate_limit(self) -> int | None:
        return self.limit

    @property
    def candidate_least(self) -> int:
        return self.least

    def invalid_argument(self) -> tuple[str, str] | None:
        if self.limit is not None and self.least > self.limit:
            return "least", f"must be at most `limit`, {self.limit}, but is {self.least}"
        return None


@dataclass(frozen=True)
class Total(Sum):
    """The sum of choices that nothing else reads, computed with them."""

    name: ClassVar[str] = "total"
    adds_choices: ClassVar[bool] = True


@dataclass(frozen=True)
class Width(Choice):
    """A choice among the first so many channels of one value: each candidate is a `first`, or the value itself."""

    name: ClassVar[str] = "width"
    chooses_width: ClassVar[bool] = True


@dataclass(frozen=True)
class Gated(SameShape):
    """Passes on a value that a gate may turn off.

    The gate is on its edge, and so is the curvature that the gate adds.
    """

    is_gated: ClassVar[bool] = True
    passes_through: ClassVar[bool] = True
    combines_linearly: ClassVar[bool] = True

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,)

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@dataclass(frozen=True)
class Maybe(Gated):
    """A value that is optional in the text."""

    name: ClassVar[str] = "maybe"
    is_optional: ClassVar[bool] = True


@dataclass(frozen=True)
class Zero(Gated):
    """The zero switch of a choice: when off, it turns all candidates off."""

    name: ClassVar[str] = "zero"
    is_zero_switch: ClassVar[bool] = True
