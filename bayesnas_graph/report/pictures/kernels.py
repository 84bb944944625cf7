"""Kernel sizes in labels, where candidates of one name have different ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from bayesnas_graph.report.pictures.diagram import Diagram, Strand

MOST_KERNELS = 2  # that are listed in a label


def with_kernels(diagram: Diagram) -> Diagram:
    """A diagram where candidates that differ in their kernels have different labels.

    Inside a choice they have already: a choice of two sizes of `conv` has `conv 3x3` and `conv 5x5`. Here all choices
    are compared.
    """
    kernels: dict[str, dict[str, None]] = defaultdict(dict)
    for strand in (strand for panel in diagram.panels for choice in panel.choices for strand in choice.strands):
        kernels[_unsized(strand)].update(dict.fromkeys(strand.kernels))

    def labelled(strand: Strand) -> Strand:
        name = _unsized(strand)
        if len(kernels[name]) < 2 or not strand.kernels:
            return strand
        more = ["…"] if len(strand.kernels) > MOST_KERNELS else []
        sizes = " or ".join([*strand.kernels[:MOST_KERNELS], *more])
        return replace(strand, label=f"{name} {sizes}")

    panels = []
    for panel in diagram.panels:
        choices = (replace(choice, strands=tuple(map(labelled, choice.strands))) for choice in panel.choices)
        panels.append(replace(panel, choices=tuple(choices)))
    return replace(diagram, panels=tuple(panels))


def _unsized(strand: Strand) -> str:
    """The label without the size of the kernel, if it has one."""
    return strand.label.removesuffix(f" {strand.kernels[0]}") if strand.kernels else strand.label
