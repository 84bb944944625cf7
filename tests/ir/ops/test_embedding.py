"""Embeddings, which read whole numbers, against torch and autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import ModuleCall, ShapeError, TokenShape
from bayesnas_graph.ir.ops import Embedding
from bayesnas_graph.ir.ops.build import build_module
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.language.json import from_json, to_json
from tests.helpers import body, codes, graph

OP, TOKENS = Embedding(7, 4), TokenShape((5,))
TEXT = "network net : tokens(5) -> classes(4) { in x x -> out : embedding(7, 4) > at(-1) }"


def built() -> tuple[nn.Module, Tensor]:
    call = OP.torch(TOKENS)
    assert isinstance(call, ModuleCall)
    return build_module(call).double(), torch.tensor([[0, 6, 3, 3, 1], [2, 2, 2, 4, 0]])


def test_it_is_that_of_torch() -> None:
    module, tokens = built()
    reference = nn.Embedding(7, 4).double()
    reference.load_state_dict(module.state_dict())
    torch.testing.assert_close(module(tokens), reference(tokens).transpose(1, 2))
    assert OP.shape(TOKENS) == (4, 5)
    assert OP.parameters(TOKENS) == 28
    assert OP.flops(TOKENS) == 0


def test_curvature_of_its_weight() -> None:
    """A weight counts once for each time that its token occurs; tokens themselves have no curvature."""
    module, tokens = built()
    hessian = torch.randn(2, 4, 5, dtype=torch.float64)
    local = Local((tokens,), module(tokens).detach(), hessian, torch.zeros_like(hessian), module)
    expected = torch.zeros(7, 4, dtype=torch.float64)
    for sample, own in zip(tokens, hessian, strict=True):
        output = module(sample[None])
        each = torch.eye(20, dtype=torch.float64).view(20, *output.shape)
        (rows,) = torch.autograd.grad(output, list(module.parameters()), each, is_grads_batched=True)
        expected += torch.tensordot(own.flatten(), rows.square(), 1) / 2
    torch.testing.assert_close(OP.weight_curvature(local)["weight"], expected)
    assert not OP.curvature(local)[0].any()


def test_channels_can_be_removed() -> None:
    module, tokens = built()
    weight = module.state_dict()["weight"]
    weight[:, 1] = 0
    assert OP.nonzero_outputs(((True,) * 5,), {"weight": weight}, TOKENS) == (True, False, True, True)
    kept = (True, False, True, True)
    smaller = OP.narrowed(((True,) * 5,), kept)
    assert smaller == Embedding(7, 3)
    call = smaller.torch(TOKENS)
    assert isinstance(call, ModuleCall)
    narrow = build_module(call).double()
    narrow.load_state_dict(OP.sliced({"weight": weight}, ((True,) * 5,), kept, TOKENS))
    torch.testing.assert_close(narrow(tokens), module(tokens)[:, [0, 2, 3]])


def test_only_tokens_can_be_embedded() -> None:
    with pytest.raises(ShapeError, match="`embedding` needs tokens, got a vector of 5"):
        OP.shape((5,))
    assert codes(body("x -> out : embedding(7, 4)", "vector(5) -> sequence(4, 5)")) == ["NAS211"]


@pytest.mark.parametrize("operation", ["relu", "linear(4)", "flatten", "bn", "optional relu", "choose { bn, relu }"])
def test_tokens_can_only_be_embedded(operation: str) -> None:
    assert codes(body(f"x -> out : {operation}", "tokens(4) -> classes(4)")) == ["NAS211"]


def test_a_motif_can_take_tokens_or_a_vector() -> None:
    """The two have different shapes, so that the motif is checked for both."""
    text = "motif m { in x x -> out : linear(4) } network n : vector(4), tokens(4) -> classes(4), classes(4) { "
    assert codes(text + "in x, y out m(x), m(y) }") == ["NAS211"]


def test_documents_keep_tokens() -> None:
    before = graph(TEXT)
    after = from_json(to_json(before), "graph.json")
    assert after == before
    assert [node.shape for node in after if node.op.is_input] == [TokenShape((5,))]
    with pytest.raises(NasError, match="needs tokens"):
        from_json(to_json(before).replace('"tokens": true', '"tokens": false'), "graph.json")
