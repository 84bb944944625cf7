"""Diagnostics for the expansion of motifs."""

from __future__ import annotations

from collections.abc import Sequence

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Shape
from bayesnas_graph.language.elaborate.wiring import Wiring
from bayesnas_graph.language.syntax import ast


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 input`, `2 inputs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def uses_itself(name: str, span: Span, defined: Span) -> Diagnostic:
    """A motif whose expansion never ends."""
    return Diagnostic(
        "NAS402",
        f"`{name}` recurses forever",
        Label(span, "used again with the same arguments"),
        (Label(defined, "while expanding this"),),
        help="decrease a parameter in each use, and end the recursion with `if`",
    )


def wrong_inputs(name: str, wanted: int, actual: int, span: Span, defined: Span | None = None) -> Diagnostic:
    """An operation with the wrong number of inputs."""
    return Diagnostic(
        "NAS210",
        f"`{name}` takes {count(wanted, 'input')}, got {actual}",
        Label(span, "used here"),
        (Label(defined, "defined here"),) if defined else (),
    )


def wrong_network_inputs(wiring: Wiring, definition: ast.Motif) -> Diagnostic:
    """A network whose `in` statements do not match its declared number of inputs."""
    declared = Label(definition.inputs[0].span.to(definition.inputs[-1].span), "declared here")
    here = wiring.inputs[-1].span if wiring.inputs else definition.name.span
    text = f"`in` declares {count(len(wiring.inputs), 'input')}"
    message = f"network `{definition.name.name}` declares {count(len(definition.inputs), 'input')}"
    return Diagnostic(
        "NAS210", message, Label(here, text), (declared,), "make the `in` statements match the declaration"
    )


def different_shapes(
    code: str, message: str, text: str, span: Span, labels: Sequence[Label], shapes: Sequence[Shape]
) -> Diagnostic:
    """A diagnostic that shows every value with its shape, one label per span."""
    merged: dict[Span, list[str]] = {}
    for label in labels:
        merged.setdefault(label.span, []).append(label.text)
    secondary = tuple(Label(where, ", ".join(dict.fromkeys(texts))) for where, texts in merged.items())
    channels, sizes = {shape[0] for shape in shapes}, {shape[1:] for shape in shapes}
    ranks = {len(shape) for shape in shapes}
    if ranks == {1, 3}:
        help = "images and vectors cannot be joined: make the images vectors first, for example with `global_avg_pool`"
    elif ranks == {2, 3}:
        help = "images and sequences cannot be joined: make the images sequences first, with `to_sequence`"
    elif len(ranks) > 1:
        help = "sequences and vectors cannot be joined: make the sequences vectors first, for example with `at(0)`"
    elif len(sizes) > 1:
        what = "lengths" if ranks == {2} else "heights and widths"
        help = f"{what} differ: use the same stride and padding for all"
    elif len(channels) > 1:
        help = "channels differ: use the same width for all"
        help += ", or join with `concat`" if code == "NAS201" else ""
    else:
        help = None
    return Diagnostic(code, message, Label(span, text), secondary, help)
