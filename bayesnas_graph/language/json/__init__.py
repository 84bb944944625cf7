"""Graphs as JSON documents, their fingerprints, and the differences between them."""

from bayesnas_graph.language.json.difference import Difference, compare
from bayesnas_graph.language.json.document import from_document, from_json, read_graph, to_document, to_json
from bayesnas_graph.language.json.fingerprint import fingerprint
from bayesnas_graph.language.json.schema import GraphDocument, json_schema
from bayesnas_graph.language.json.summary import summary

__all__ = [
    "Difference",
    "GraphDocument",
    "compare",
    "fingerprint",
    "from_document",
    "from_json",
    "json_schema",
    "read_graph",
    "summary",
    "to_document",
    "to_json",
]
