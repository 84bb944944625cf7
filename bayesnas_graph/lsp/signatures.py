"""Signature help: the parameters of the call that is being written."""

from __future__ import annotations

from lsprotocol import types

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.vocabulary import definition_parameters, primitive_parameters
from bayesnas_graph.lsp.calls import call_at
from bayesnas_graph.lsp.describe import describe
from bayesnas_graph.lsp.markdown import markup, prose
from bayesnas_graph.lsp.reading import Reading


def signature_help(reading: Reading, position: types.Position) -> types.SignatureHelp | None:
    """The signature of the call around a position; None if there is none."""
    call = call_at(reading, reading.positions.offset(position))
    if call is None or (not call.parameters and call.called.role != "function"):
        return None
    description = describe(call.called)
    doc = markup(prose(description.doc))
    label, parameters = description.code, []
    if call.parameters:
        definition = call.called.definition
        texts = definition_parameters(definition) if definition else primitive_parameters(PRIMITIVES[call.called.name])
        label = f"{call.called.name}({', '.join(texts)})"
        parameters = [types.ParameterInformation(text) for text in texts]
    active = call.parameters.index(call.argument) if call.argument else None
    return types.SignatureHelp([types.SignatureInformation(label, doc, parameters)], 0, active)
