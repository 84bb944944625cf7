"""Expand motifs into blocks, each once per combination of arguments and input shapes."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.diagnostics import Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Shape
from bayesnas_graph.language.elaborate.agreement import Agreement
from bayesnas_graph.language.elaborate.block import Block, UnfinishedBlock
from bayesnas_graph.language.elaborate.block_writer import BlockWriter
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.evaluate import Evaluator
from bayesnas_graph.language.elaborate.problems import uses_itself, wrong_inputs, wrong_network_inputs
from bayesnas_graph.language.elaborate.statements import wire
from bayesnas_graph.language.elaborate.structure import check_structure
from bayesnas_graph.language.elaborate.values import Use
from bayesnas_graph.language.elaborate.wiring import Wiring

BLOCK_COST = 100  # steps charged for expanding a motif, in addition to its body
FRAMES = 3  # uses shown with a problem inside a motif


class Expander:
    """Expands motifs, each once per combination of arguments and input shapes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.report = evaluator.report
        self.unfinished: list[UnfinishedBlock] = []  # of motifs with errors
        self._blocks: dict[object, Block | None] = {}  # None if it has problems
        self._open: set[object] = set()  # blocks being expanded
        self._wirings: dict[Block, Wiring] = {}
        self._uses: list[tuple[str, Span]] = []  # the motifs being expanded, with their uses
        self.agreement = Agreement(evaluator.meter, evaluator.report)

    def block(
        self, use: Use, shapes: tuple[Shape, ...], span: Span, channels: tuple[Channels | None, ...] | None = None
    ) -> Block:
        """The block of a motif. Raises NasError if it has problems, which are reported only once.

        `channels` are those of the inputs, where widths are chosen.
        """
        channels = channels or (None,) * len(shapes)
        key = use, tuple(type(value) for _, value in use.arguments), shapes, channels
        name = use.function.definition.name.name
        if key in self._open:
            self.report.fail(uses_itself(name, span, use.function.definition.name.span))
        if key not in self._blocks:
            self._blocks[key] = None
            self._open.add(key)
            with self.evaluator.meter.deeper(name, span):
                self._uses.append((name, span))
                try:
                    self._blocks[key] = self._expand(use, shapes, span, channels)
                except NasError as error:
                    self._explain(error)
                    raise
                finally:
                    self._uses.pop()
                    self._open.remove(key)
        block = self._blocks[key]
        if block is None:
            raise NasError([])
        return block

    def wiring(self, block: Block) -> Wiring:
        """The wiring of a block's motif."""
        return self._wirings[block]

    def _expand(self, use: Use, shapes: tuple[Shape, ...], span: Span, channels: tuple[Channels | None, ...]) -> Block:
        self.evaluator.meter.step(span, BLOCK_COST)
        wiring = wire(self.evaluator, use.function, use.arguments, shapes, channels)
        definition = use.function.definition
        if wiring.sound and len(wiring.inputs) != len(shapes):
            if len(self._uses) == 1:
                self.report.fail(wrong_network_inputs(wiring, definition))
            name = definition.name
            self.report.fail(wrong_inputs(name.name, len(wiring.inputs), len(shapes), span, name.span))
        if wiring.sound:
            wiring.problems = check_structure(wiring, self.report)
            wiring.sound = not wiring.problems
        block = BlockWriter(self, wiring, shapes, channels).write(use)
        self.evaluator.meter.nodes(block.nodes, span)
        self.evaluator.meter.edges(block.edges, span)
        self._wirings[block] = wiring
        self.agreement.declare(wiring.shared)
        return block

    def _explain(self, error: NasError) -> None:
        """Add the statements that use a motif to a problem inside it."""
        for diagnostic in error.diagnostics:
            if diagnostic.primary is None:
                continue
            labels = list(diagnostic.secondary)
            spans = {label.span for label in (diagnostic.primary, *labels)}
            for name, span in reversed(self._uses[1:][-FRAMES:]):  # the first is the network itself
                if span not in spans:
                    labels.append(Label(span, f"in `{name}`, used here"))
                    spans.add(span)
            self.report.replace(diagnostic, replace(diagnostic, secondary=tuple(labels)))
