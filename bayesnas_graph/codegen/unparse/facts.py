"""The parts of a file besides its graph: types, budgets, and comments that no text can break out of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayesnas_graph.ir import Node, OutputKind, Shape, TokenShape
from bayesnas_graph.language.elaborate.arithmetic import out_of_bounds
from bayesnas_graph.language.syntax.tree_builder import number

_BUDGET = re.compile(r"(params|flops|memory) *(<=|>=|<|>) *([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:\.[0-9]+)?[KMG])")
_SUFFIXES = (("G", 10**9), ("M", 10**6), ("K", 10**3))


def types(inputs: Sequence[Node], outputs: Sequence[Node], predicted: Sequence[OutputKind]) -> str:
    """The types of inputs and outputs. A graph cannot tell classes from other vectors: a single output is classes."""
    takes = [_type(node.shape, "vector") for node in inputs]
    is_classes = [len(outputs) == 1 or node.op.weight_axes == "nc" for node in outputs]
    of_vectors = ["classes" if is_class else "vector" for is_class in is_classes]
    kinds = [known if kind == "classes" else kind for known, kind in zip(of_vectors, predicted, strict=True)]
    gives = [_type(node.shape, kind) for node, kind in zip(outputs, kinds, strict=True)]
    return f"{', '.join(takes)} -> {', '.join(gives)}"


def _type(shape: Shape, of_vector: str) -> str:
    if isinstance(shape, TokenShape):
        return f"tokens({', '.join(map(str, shape))})"
    kinds = {1: of_vector, 2: "sequence", 3: "map" if of_vector == "map" else "image"}
    if len(shape) not in kinds:
        raise ValueError(f"inputs and outputs are images, sequences or vectors, and this has {len(shape)} dimensions")
    return f"{kinds[len(shape)]}({', '.join(map(str, shape))})"


def budget(text: str) -> str:
    """A budget as it is written. Raises ValueError if it is not valid.

    >>> budget("params < 20,000"), budget("flops<=1.5M"), budget("memory < 1234")
    ('params < 20K', 'flops <= 1.5M', 'memory < 1234')
    """
    match = _BUDGET.fullmatch(text.strip())
    bound = number(match[3].replace(",", "")) if match else None
    if match is None or not isinstance(bound, int) or out_of_bounds(bound):
        raise ValueError(f"`{one_line(text)}` is not a budget")
    shown = match[3] if match[3][-1] in "KMG" else str(bound)
    for suffix, scale in _SUFFIXES:
        if shown == str(bound) and bound and bound % scale == 0:
            shown = f"{bound // scale}{suffix}"
    return f"{match[1]} {match[2]} {shown}"


def about_file(doc: str) -> str:
    """A text as the documentation comment of a file."""
    return "\n".join(f"//! {line}".rstrip() for line in _lines(doc))


def about_definition(doc: str) -> list[str]:
    """A text as the documentation comment of a definition, line by line."""
    return [f"/// {line}".rstrip() for line in _lines(doc)]


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(_printable(text).split())


def noted(notes: Sequence[str]) -> str:
    """Notes as the comment at the end of a line.

    >>> noted(["gamma 0.83", "", "gamma 0.1"])
    '  // gamma 0.83; gamma 0.1'
    """
    comment = "; ".join(dict.fromkeys(note for note in notes if note))
    return f"  // {comment}" if comment else ""


def _lines(doc: str) -> list[str]:
    return [_printable(line).rstrip() for line in doc.strip("\n").split("\n")] if doc.strip() else []


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
