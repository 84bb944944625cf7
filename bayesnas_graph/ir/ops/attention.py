"""Attention: every position of a sequence reads all positions of another, weighted by how well they match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops.base import FLOAT, count, flag, register, sequence
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Attention(Op):
    """Scaled dot-product attention of three sequences: queries, keys and values (Vaswani et al., 2017).

    The channels are divided among `heads`, or into heads of `head_width` channels; without both there is one head. With
    `causal`, a position reads only itself and those before it. There are no weights: `self_attention` of the library
    has the linear layers around it.
    """

    name: ClassVar[str] = "attention"
    inputs: ClassVar[int | None] = 3
    saves_output: ClassVar[bool] = True

    heads: int | None = count(absent="1")
    head_width: int | None = count(absent="all")
    causal: bool = flag(False)

    def invalid_argument(self) -> tuple[str, str] | None:
        if self.heads is not None and self.head_width is not None:
            return "head_width", "cannot be given together with `heads`"
        return None

    def head_count(self, channels: int) -> int:
        """The number of heads on this many channels."""
        return channels // self.head_width if self.head_width else self.heads or 1

    def shape(self, *inputs: Shape) -> Shape:
        queries, keys, values = (sequence(self, shape) for shape in inputs)
        channels = queries[0]
        if keys != values or keys[0] != channels:
            needed = "queries, keys and values of the same width, and a value for every key"
            raise ShapeError(f"`attention` needs {needed}, got {', '.join(map(shape_text, inputs))}")
        if self.heads and channels % self.heads:
            raise ShapeError(f"`attention` has {self.heads} heads, which do not divide {channels} channels")
        if self.head_width and channels % self.head_width:
            raise ShapeError(f"`attention` has heads of {self.head_width}, which do not divide {channels} channels")
        if self.causal and queries != keys:
            lengths = f"{queries[1]} queries and {keys[1]} keys"
            raise ShapeError(f"`attention` with `causal` needs as many queries as keys, got {lengths}")
        return queries

    def torch(self, *inputs: Shape) -> Expression:
        # By heads, positions and channels of a head. A width of heads stays the same if some are removed.
        divided = "({heads}, -1)" if self.head_width is None else "(-1, {head})"
        read = ", ".join(f"{{{i}}}.unflatten(1, {divided}).mT" for i in range(3))
        causal = ", is_causal=True" if self.causal else ""
        number = self.head_width or self.heads or 1
        template = f"F.scaled_dot_product_attention({read}{causal}).mT.flatten(1, 2)"
        return Expression(template, (number,) * 3)

    def flops(self, *inputs: Shape) -> int:
        (channels, queries), (_, keys), _ = inputs
        return 2 * channels * queries * keys

    def operations(self, *inputs: Shape) -> int:
        (channels, queries), (_, keys), _ = inputs
        heads = self.head_count(channels)
        matching, reading = heads * keys * (2 * channels // heads - 1), channels * (2 * keys - 1)
        return queries * (matching + reading)

    def stored_values(self, *inputs: Shape) -> int:
        """Its output, and one number for each query of each head: torch computes the weights again when needed."""
        channels, queries = inputs[0]
        return queries * (channels + self.head_count(channels))

    @property
    def saves_inputs(self) -> bool:
        return True

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        channels, queries = inputs[0]
        return FLOAT * queries * self.head_count(channels)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        """The diagonal of `J^T diag(H) J`, without the second derivatives of the softmax (Gauss-Newton).

        In a head of width `d`, query `i` reads value `j` with weight `p_ij = softmax_j(q_i k_j / sqrt(d))`:

            y_ic = sum_j p_ij v_jc
            dy_ic / dv_jc = p_ij
            dy_ic / ds_ij = p_ij (v_jc - y_ic)             for the score s_ij = q_i k_j / sqrt(d)
            dy_ic / dk_ja = p_ij (v_jc - y_ic) q_ia / sqrt(d)
            dy_ic / dq_ia = sum_j p_ij (v_jc - y_ic) k_ja / sqrt(d) = sum_j p_ij v_jc (k_ja - m_ia) / sqrt(d)

        with the mean key `m_ia = sum_j p_ij k_ja`. Squared and summed over outputs with `H_ic`.
        """
        from torch import einsum

        heads = self.head_count(local.hessian.shape[1])
        q, k, v, y, h = (_by_head(values, heads) for values in (*local.inputs, local.output, local.hessian))
        p = self._weights(q, k)
        of_values = einsum("nhij,nhic->nhjc", p.square(), h)
        # sum_c H_ic (v_jc - y_ic)^2, expanded so that no tensor has three axes of positions and channels.
        spread = h @ v.square().mT - 2 * (h * y) @ v.mT + (h * y.square()).sum(-1, keepdim=True)
        of_keys = einsum("nhij,nhia->nhja", p.square() * spread, q.square()) / q.shape[-1]
        # For each query, the covariance of values and keys: sum_j p_ij v_jc k_ja - y_ic m_ia.
        together = einsum("nhij,nhjc,nhja->nhica", p, v, k) - einsum("nhic,nhia->nhica", y, p @ k)
        of_queries = einsum("nhic,nhica->nhia", h, together.square()) / q.shape[-1]
        return tuple(_joined(found) for found in (of_queries, of_keys, of_values))

    def _weights(self, q: Tensor, k: Tensor) -> Tensor:
        """For every query, the weights of all positions."""
        scores = q @ k.mT / sqrt(q.shape[-1])
        if self.causal:
            later = scores.new_ones(scores.shape[-2:]).triu(1).bool()
            scores = scores.masked_fill(later, float("-inf"))
        return scores.softmax(-1)

    def coupling(self, *inputs: Shape) -> Coupling:
        """A query or a key affects all channels of its head, a value only its own. Heads are removed as a whole."""
        channels = inputs[0][0]
        heads = self.head_count(channels)
        head = Link(heads, channels // heads, channels // heads)
        return Coupling((head, head, Link(channels)))

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Attention:
        return self if self.heads is None else replace(self, heads=self.heads * sum(output) // len(output))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return nonzero[2]  # weights are never zero, whatever queries and keys are


def _by_head(values: Tensor, heads: int) -> Tensor:
    """Samples, heads, positions, and channels of a head."""
    return values.reshape(len(values), heads, -1, values.shape[2]).mT


def _joined(values: Tensor) -> Tensor:
    """Samples, channels, positions."""
    return values.mT.flatten(1, 2)
