"""Hover: what the name under the cursor is, and its shape and cost in the networks of the document."""

from __future__ import annotations

from lsprotocol import types

from bayesnas_graph.language.elaborate.occurrences import Occurrence
from bayesnas_graph.lsp.describe import describe
from bayesnas_graph.lsp.markdown import code_block, markup, prose
from bayesnas_graph.lsp.networks import Elaboration, Fact
from bayesnas_graph.lsp.reading import Reading

MOST_FACTS = 5  # shown; a motif may be used with many shapes


def hover(reading: Reading, elaboration: Elaboration | None, position: types.Position) -> types.Hover | None:
    """What is shown at a position; None if there is nothing to say. Without an elaboration, shapes are not shown."""
    name = reading.at(reading.positions.offset(position))
    if name is None or name.declaration is None:
        return None
    description = describe(name.declaration)
    parts = [code_block(description.code)]
    parts += [prose(description.doc)] if description.doc else []
    parts += _facts(elaboration, name) if elaboration is not None else []
    span = name.declaration.span
    if span is not None and not reading.is_here(span):
        parts.append(f"Defined in `{span.source.name.replace('`', '')}`.")
    return types.Hover(markup("\n\n".join(parts)), reading.positions.range(name.span))


def _facts(elaboration: Elaboration, name: Occurrence) -> list[str]:
    declaration = name.declaration
    if declaration is not None and declaration.span is not None and declaration.role in ("input", "node"):
        facts = elaboration.about_node(declaration.span)
    else:
        facts = elaboration.about_operation(name.span)
    if not facts:
        return []
    lines = [f"- {fact}" for fact in facts[:MOST_FACTS]]
    if len(facts) > MOST_FACTS:
        lines.append(f"- and {len(facts) - MOST_FACTS} more")
    return ["\n".join([_title(facts[0]), "", *lines])]


def _title(fact: Fact) -> str:
    return "Shape, per sample:" if fact.inputs is None else "In the networks of this file, per sample:"
