"""Weights that are shared in a space written in Python."""

from __future__ import annotations

from bayesnas_graph.builder import Body, classes, concat, image, network, ops
from tests.helpers import check


@network
def siamese(g: Body) -> None:
    a, b = g.input("a", image(1, 8, 8)), g.input("b", image(1, 8, 8))
    g.returns(classes(2))
    tower = g.share("tower", ops.conv(4) >> ops.bn() >> ops.global_avg_pool())
    u, v = g.node("u", a, tower), g.node("v", b, tower)
    g.edge(concat(u, v), g.out, ops.linear(2))


def test_the_text_has_the_statement() -> None:
    assert "    share tower = conv(4) > bn > global_avg_pool\n    node u = a : tower\n" in str(siamese)
    space, diagnostics = check(str(siamese))
    assert not diagnostics
    assert {node.weights for node in space.networks[0].graph()} == {"", "tower.conv", "tower.bn"}
