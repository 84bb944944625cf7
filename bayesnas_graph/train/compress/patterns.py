"""Patterns: which weights of a layer are removed together.

The weight of a layer is `W[n, c, m, k]`: filters, channels, rows and columns of the kernel, which has one row in a
convolution of sequences. A pattern puts all entries that share some of these four into one group. The weight of a
linear layer is a matrix, and `row` and `column` are those of the matrix: an output and an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.ir.ops import PRIMITIVES

# The axes whose index all entries of a group share. With two groups, an entry is kept only if both are.
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "shape": ("cmk",),
    "row": ("cm",),
    "column": ("ck",),
    "row+column": ("cm", "ck"),
    "channel": ("c",),
    "group-shape": ("mk",),
    "group-row": ("m",),
    "group-column": ("k",),
    "group-row+column": ("m", "k"),
    "filter": ("n",),
}
OF_MATRICES: Mapping[str, tuple[str, ...]] = {
    **PATTERNS,
    "row": ("n",),
    "column": ("c",),
    "row+column": ("n", "c"),
}
NONE = "none"
MATRIX = "nc"  # the axes of a weight that is a matrix
KINDS = tuple(name for name, op in PRIMITIVES.items() if op.weight_axes)

Chosen = Mapping[str, str]  # a kind of layer, or the name of a layer or motif -> patterns, separated by commas


def is_layer(node: Node) -> bool:
    """Return whether patterns apply to the weight of a node."""
    return bool(node.op.weight_axes)


def shared(node: Node, patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the axes that the groups of some patterns share in a layer, each once.

    >>> from bayesnas_graph.ir.ops.linear import Linear
    >>> shared(Node("fc", Linear(10), (10,)), ["row", "column", "channel"])
    ('n', 'c')
    """
    axes = node.op.weight_axes
    table = OF_MATRICES if axes == MATRIX else PATTERNS
    keys = ["".join(axis for axis in key if axis in axes) for pattern in patterns for key in table[pattern]]
    return tuple(dict.fromkeys(keys))


def named(kind: str, shares: str) -> str:
    """Return the name of the pattern whose groups share these axes, in a kind of layer.

    >>> named("conv", "cmk"), named("linear", "c"), named("linear", ""), named("conv1d", "")
    ('shape', 'column', 'layer', 'layer')
    """
    names = {keys[0]: name for name, keys in PATTERNS.items() if len(keys) == 1} | {"": "layer"}
    if PRIMITIVES[kind].weight_axes == MATRIX:
        names |= {"n": "row", "c": "column"}
    return names[shares]


def chosen_for(graph: Graph, chosen: Chosen) -> dict[str, tuple[str, ...]]:
    """Return the patterns of every layer: by its name or a motif around it, or else by its kind.

    A name may contain `*` for anything. If several match, the last one applies. Raises NasError if one matches nothing.
    Layers that share their weights have none: what one use does not need, another may.
    """
    layers = [node for node in graph if is_layer(node) and node.name not in graph.shared]
    by_kind = {key: _patterns(key, text) for key, text in chosen.items() if key in KINDS}
    by_name = {key: _patterns(key, text) for key, text in chosen.items() if key not in KINDS}
    for key in by_name:
        if not any(_is_called(graph, node, key) for node in layers):
            names = [*KINDS, *(node.name for node in layers), *(scope.name for scope in graph.scopes)]
            help = did_you_mean(key, names) or f"the layers are {_some(node.name for node in layers)}"
            raise NasError([Diagnostic("NAS620", f"unknown layer `{key}`", help=help)])
    by_layer = {}
    for node in layers:
        named = [patterns for key, patterns in by_name.items() if _is_called(graph, node, key)]
        by_layer[node.name] = named[-1] if named else by_kind.get(node.op.name, ())
    return by_layer


def _is_called(graph: Graph, node: Node, key: str) -> bool:
    names = [node.name, *(scope.name for scope in graph.enclosing(node.name))]
    return any(fnmatchcase(name, key) for name in names if name)


def _patterns(key: str, text: str) -> tuple[str, ...]:
    """Return the patterns named in a text. Raises NasError for an unknown one."""
    names = tuple(part.strip() for part in text.split(","))
    if names == (NONE,):
        return ()
    for name in names:
        if name not in PATTERNS:
            help = did_you_mean(name, PATTERNS) or f"known patterns: {', '.join(PATTERNS)}, or {NONE} alone"
            raise NasError([Diagnostic("NAS620", f"unknown pattern `{name}` for `{key}`", help=help)])
    return names


def _some(names: Iterable[str]) -> str:
    first, second, *others = [*(f"`{name}`" for name in names), "", ""]
    return ", ".join(name for name in (first, second, "..." if any(others) else "") if name)
