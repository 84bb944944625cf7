"""Patterns: which weights of a layer go together.

The weight of a layer is `W[n, c, m, k]`: filters, channels, rows and columns of the kernel. A pattern puts all entries
into one group that share some of these four. A linear layer has one row and one column, and is a matrix to everybody:
`row` and `column` are those of the matrix, an output and an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.ir.ops.convolution import Conv, Depthwise, Linear

# What the entries of a group share. Two of them overlap: an entry stays only if both its groups do.
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
KINDS = (Conv.name, Depthwise.name, Linear.name)

Chosen = Mapping[str, str]  # a kind of layer, or the name of a layer or motif -> patterns, with commas


def is_layer(node: Node) -> bool:
    """Whether a node has weights that patterns are for."""
    return isinstance(node.op, Conv | Depthwise | Linear)


def shared(node: Node, patterns: Iterable[str]) -> tuple[str, ...]:
    """What the groups of some patterns share in a layer, each once.

    >>> shared(Node("fc", Linear(10), (10,)), ["row", "column", "channel"])
    ('n', 'c')
    """
    table = OF_MATRICES if isinstance(node.op, Linear) else PATTERNS
    found = [key for pattern in patterns for key in table[pattern]]
    if isinstance(node.op, Linear):  # rows and columns of a kernel that has one of each
        found = [key.replace("m", "").replace("k", "") for key in found]
    return tuple(dict.fromkeys(found))


def named(kind: str, shares: str) -> str:
    """The name of the pattern whose groups share this, in a kind of layer.

    >>> named("conv", "cmk"), named("linear", "c"), named("linear", "")
    ('shape', 'column', 'layer')
    """
    names = {keys[0]: name for name, keys in PATTERNS.items() if len(keys) == 1}
    if kind == Linear.name:
        names |= {"n": "row", "c": "column", "": "layer"}
    return names[shares]


def chosen_for(graph: Graph, chosen: Chosen) -> dict[str, tuple[str, ...]]:
    """The patterns of every layer: those of its name or of a motif around it, or else those of its kind.

    A name may have `*` for anything. Of several that fit, the last counts. Raises NasError for what fits nothing.
    """
    layers = [node for node in graph if is_layer(node)]
    by_kind = {key: _patterns(key, text) for key, text in chosen.items() if key in KINDS}
    by_name = {key: _patterns(key, text) for key, text in chosen.items() if key not in KINDS}
    for key in by_name:
        if not any(_is_called(graph, node, key) for node in layers):
            names = [*KINDS, *(node.name for node in layers), *(scope.name for scope in graph.scopes)]
            help = did_you_mean(key, names) or f"layers are {_some(node.name for node in layers)}"
            raise NasError([Diagnostic("NAS620", f"no layer is called `{key}`", help=help)])
    found = {}
    for node in layers:
        named = [patterns for key, patterns in by_name.items() if _is_called(graph, node, key)]
        found[node.name] = named[-1] if named else by_kind.get(node.op.name, ())
    return found


def _is_called(graph: Graph, node: Node, key: str) -> bool:
    names = [node.name, *(scope.name for scope in graph.enclosing(node.name))]
    return any(fnmatchcase(name, key) for name in names if name)


def _patterns(key: str, text: str) -> tuple[str, ...]:
    """The patterns of a text. Raises NasError for what is none."""
    found = tuple(part.strip() for part in text.split(","))
    if found == (NONE,):
        return ()
    for name in found:
        if name not in PATTERNS:
            help = did_you_mean(name, PATTERNS) or f"there are {', '.join(PATTERNS)}, and {NONE} by itself"
            raise NasError([Diagnostic("NAS620", f"there is no pattern `{name}`, for `{key}`", help=help)])
    return found


def _some(names: Iterable[str]) -> str:
    first, second, *others = [*(f"`{name}`" for name in names), "", ""]
    return ", ".join(name for name in (first, second, "..." if any(others) else "") if name)
