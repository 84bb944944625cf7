"""Texts about networks, for headers of files."""

from __future__ import annotations

from bayesnas_graph.codegen.docs import Docs
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.block import Block, Nested


def docs_of(network: Network) -> Docs:
    """Return what the text says about a network and its motifs; nothing about motifs of one name that differ."""
    found: dict[str, set[str]] = {}
    for block in reached([network.block], _inside):
        if block is not network.block:
            found.setdefault(block.definition.name.name, set()).add(block.definition.doc)
    return Docs(network.definition.doc, {name: docs.pop() for name, docs in found.items() if len(docs) == 1})


def _inside(block: Block) -> list[Block]:
    return [step.block for step in block.steps if isinstance(step, Nested)]
