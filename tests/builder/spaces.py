"""Two shipped spaces, written in Python."""

from __future__ import annotations

from bayesnas_graph.builder import (
    Body,
    Number,
    Operation,
    Set,
    Space,
    cell,
    channels,
    choose,
    classes,
    concat,
    image,
    motif,
    named_set,
    network,
    ops,
    params,
    set_of,
    std,
    when,
)

# ---------------------------------------------------------------------------------- quickstart


@named_set
def candidates(width: Number) -> Set:
    """The candidates of an edge."""
    return set_of(std.relu_conv_bn(width, 3), std.sep_conv(3), ops.max_pool(3), ops.identity())


@cell
def block(g: Body, width: Number) -> None:
    """Three nodes, each reading all before it.

    All uses share their switches.
    """
    x = g.input()
    entry = g.node("entry", x, std.relu_conv_bn(width))
    h = g.nodes("h", 3)
    for j in g.range(3, index="j"):
        g.edge([entry, h[:j]], h[j], choose(candidates(width)))
    g.output(concat(h))


@network
def digits(g: Body, width: Number = 8) -> None:
    x = g.input("x", image(1, 8, 8))
    g.returns(classes(10))
    stem = g.node("stem", x, ops.conv(width, 3) >> ops.bn())
    large = g.node("large", stem, block(width))
    small = g.node("small", large, ops.max_pool(2, 2) >> block(2 * width))
    last = g.node("last", small, block(2 * width))
    g.edge(last, g.out, ops.global_avg_pool() >> ops.linear(10))
    g.require(params < 20_000)


# --------------------------------------------------------------------------------- nasbench201


@motif
def nor_conv(g: Body, k: Number) -> None:
    x = g.input()
    g.edge(x, g.out, std.relu_conv_bn(channels(x), k))


@named_set
def edges() -> Set:
    return set_of(ops.identity(), nor_conv(1), nor_conv(3), ops.avg_pool(3))


@cell
def dense(g: Body, edge: Operation) -> None:
    x = g.input()
    h = g.nodes("h", 3)
    for j in range(3):  # a loop of Python, which leaves three statements in the text
        g.edge([x, h[:j]], h[j], edge)
    g.output(h[-1])


@motif
def residual_reduction(g: Body, width: Number) -> None:
    x = g.input()
    g.edge(x, g.out, std.relu_conv_bn(width, 3, 2) >> std.relu_conv_bn(width, 3))
    g.edge(x, g.out, ops.avg_pool(2, 2) >> ops.conv(width, 1))


@motif
def stage(g: Body, edge: Operation, cells: Number) -> None:
    x = g.input()
    c = g.nodes("c", cells, lambda c, k: when(k == 0, x, c[k - 1]), dense(edge))
    g.output(c[-1])


@motif
def skeleton(
    g: Body, edge: Operation, width: Number = 16, cells: Number = 5, labels: Number = 10, stride: Number = 1
) -> None:
    x = g.input()
    a = g.node("a", x, ops.conv(width, 3, stride) >> ops.bn() >> stage(edge, cells))
    b = g.node("b", a, residual_reduction(2 * width) >> stage(edge, cells))
    c = g.node("c", b, residual_reduction(4 * width) >> stage(edge, cells))
    g.edge(c, g.out, ops.bn() >> ops.relu() >> ops.global_avg_pool() >> ops.linear(labels))


@network
def search(
    g: Body,
    width: Number = 16,
    cells: Number = 5,
    stride: Number = 1,
    channels: Number = 3,
    size: Number = 32,
    labels: Number = 10,
) -> None:
    x = g.input("x", image(channels, size, size))
    g.returns(classes(labels))
    g.output(skeleton(choose(edges(), limit=1), width, cells, labels, stride)(x))


@network
def all_conv3x3(g: Body) -> None:
    x = g.input("x", image(3, 32, 32))
    g.returns(classes(10))
    g.output(skeleton(nor_conv(3))(x))


@network
def all_skip(g: Body) -> None:
    x = g.input("x", image(3, 32, 32))
    g.returns(classes(10))
    g.output(skeleton(ops.identity())(x))


nasbench201 = Space(search, all_conv3x3, all_skip, doc="NAS-Bench-201 on CIFAR-10.")
