"""Convert graphs to JSON documents and back. Only the spans are lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Constraint, Edge, Gate, Graph, Node, Op, Scope, Term, TokenShape, WrittenEdge
from bayesnas_graph.language.json.origins import Origins
from bayesnas_graph.language.json.problems import fail, fail_with, shown
from bayesnas_graph.language.json.schema import (
    SCHEMA,
    VERSION,
    VERSIONS,
    ConstraintDocument,
    EdgeDocument,
    GateDocument,
    GraphDocument,
    NodeDocument,
    OldGraphDocument,
    OldNodeDocument,
    OldVersion,
    PlaceDocument,
    ScopeDocument,
    TermDocument,
)
from bayesnas_graph.language.json.settings import current_op, op_document, read_op
from bayesnas_graph.language.json.soundness import (
    check_gates,
    check_replaced,
    check_scopes,
    check_weights,
    check_wiring,
    nodes_in_order,
)

LARGEST_DOCUMENT = 512 * 2**20  # bytes; every shipped space takes less than a twentieth of this


def to_document(graph: Graph) -> GraphDocument:
    """The graph as a document: nodes and edges in the order of the graph."""
    nodes = [
        NodeDocument(
            name=node.name,
            op=op_document(node.op),
            shape=list(node.shape),
            replaces=list(map(list, node.replaces)),
            place=_place(node.span),
            label=node.label,
            scope=node.scope,
            behind=list(node.behind),
            weights=node.weights,
        )
        for node in graph
    ]
    edges = [
        EdgeDocument(
            source=edge.source,
            target=edge.target,
            slot=edge.slot,
            gate=_gate(edge.gate) if edge.gate else None,
            place=_place(edge.span),
        )
        for edge in graph.edges
    ]
    return GraphDocument(
        schema=SCHEMA,
        version=VERSION,
        name=graph.name,
        nodes=nodes,
        edges=edges,
        outputs=list(graph.outputs),
        kinds=[] if set(graph.kinds) == {"classes"} else list(graph.kinds),
        scopes=[_scope(scope) for scope in graph.scopes],
        constraints=[_constraint(constraint) for constraint in graph.constraints],
    )


def _gate(gate: Gate) -> GateDocument:
    return GateDocument.model_validate({name: getattr(gate, name) for name in GateDocument.model_fields})


def _scope(scope: Scope) -> ScopeDocument:
    facts = {name: getattr(scope, name) for name in ScopeDocument.model_fields}
    return ScopeDocument.model_validate({**facts, "arguments": dict(scope.arguments)})


def _constraint(constraint: Constraint) -> ConstraintDocument:
    terms = []
    for term in constraint.terms:
        edge = term.edge
        inside, closable = list(edge.inside), edge.closable
        document = TermDocument(
            source=edge.source, target=edge.target, inside=inside, closable=closable, text=edge.text, kept=term.kept
        )
        terms.append(document)
    return ConstraintDocument(
        terms=terms,
        least=constraint.least,
        most=constraint.most,
        around=list(constraint.around),
        text=constraint.text,
        part=constraint.part,
        place=_place(constraint.span),
    )


def from_document(
    document: GraphDocument | OldGraphDocument, source_name: str = "<document>", *, allow_python: bool = False
) -> Graph:
    """The graph that a document describes. Raises NasError if the document is invalid.

    Nothing is imported here. Passes import the Python operations of the graph, and refuse to without `allow_python`.

    Spans are not restored: they are useful only together with the text.
    """
    nodes: dict[str, Node] = {}
    for i, node in enumerate(document.nodes):
        if node.name in nodes:
            fail(source_name, ["nodes", i, "name"], f"duplicate node `{node.name}`")
        described = current_op(node.op, document.version)
        op = read_op(described, source_name, ["nodes", i, "op"], allow_python=allow_python)
        nodes[node.name] = _node(node, op)
    edges = [
        Edge(edge.source, edge.target, edge.slot, Gate(**edge.gate.model_dump()) if edge.gate else None)
        for edge in document.edges
    ]
    for i, edge in enumerate(edges):
        for end, name in (("source", edge.source), ("target", edge.target)):
            if name not in nodes:
                fail(source_name, ["edges", i, end], f"unknown node `{name}`", did_you_mean(name, nodes))
    for i, name in enumerate(document.outputs):
        if name not in nodes:
            fail(source_name, ["outputs", i], f"unknown node `{name}`", did_you_mean(name, nodes))
    ordered = nodes_in_order(nodes, edges, source_name)
    check_wiring(nodes, edges, source_name)
    check_replaced(nodes, source_name)
    scopes = _scopes(document, source_name)
    if isinstance(document, OldGraphDocument):
        origins = Origins(document.name, {node.name: node for node in ordered}, edges, scopes.values())
        return Graph(document.name, origins.nodes().values(), origins.edges(), document.outputs, origins.scopes())
    if len(document.kinds) not in (0, len(document.outputs)):
        fail(source_name, ["kinds"], f"should have {len(document.outputs)} entries, one for each output")
    check_gates(nodes, edges, source_name)
    check_scopes(nodes, scopes, source_name)
    check_weights(nodes, edges, source_name)
    constraints = [_read_constraint(found, source_name, i) for i, found in enumerate(document.constraints)]
    return Graph(document.name, ordered, edges, document.outputs, scopes.values(), constraints, document.kinds)


def _read_constraint(document: ConstraintDocument, source_name: str, i: int) -> Constraint:
    if document.least > document.most:
        fail(source_name, ["constraints", i, "least"], f"should be at most `most`, {document.most}")
    terms = []
    for term in document.terms:
        edge = WrittenEdge(term.source, term.target, tuple(term.inside), term.closable, term.text)
        terms.append(Term(edge, term.kept))
    around = tuple(document.around)
    return Constraint(tuple(terms), document.least, document.most, around, document.text, document.part)


def _node(node: OldNodeDocument, op: Op) -> Node:
    shape = TokenShape(node.shape) if op.is_tokens else tuple(node.shape)
    made = Node(node.name, op, shape, replaces=tuple(map(tuple, node.replaces)))
    if not isinstance(node, NodeDocument):
        return made
    return replace(made, label=node.label, behind=tuple(node.behind), scope=node.scope, weights=node.weights)


def _scopes(document: GraphDocument | OldGraphDocument, source_name: str) -> dict[str, Scope]:
    found: dict[str, Scope] = {}
    for i, scope in enumerate(document.scopes):
        if scope.name in found:
            fail(source_name, ["scopes", i, "name"], f"duplicate scope `{scope.name}`")
        facts = scope.model_dump()
        found[scope.name] = Scope(**{**facts, "arguments": tuple(facts.get("arguments", {}).items())})
    return found


def to_json(graph: Graph) -> str:
    """The graph as JSON text. Equal graphs have equal texts."""
    document = to_document(graph)
    empty = {name for name in ("constraints", "kinds") if not getattr(document, name)}  # most graphs have none
    plain = document.model_dump(mode="json", by_alias=True, exclude=empty)
    for part in (*plain["nodes"], *plain["scopes"]):
        if not part["weights"]:  # most are not shared
            del part["weights"]
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str, source_name: str, *, allow_python: bool = False) -> Graph:
    """The graph that a JSON text describes, as `from_document`. Raises NasError with the position of the error."""
    try:
        data = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        fail(source_name, [], f"not valid JSON, line {error.lineno}, column {error.colno}: {_lower(error.msg)}")
    except ValueError as error:  # a constant, a repeated key, a number with thousands of digits
        fail(source_name, [], f"not valid JSON: {_lower(str(error))}")
    except RecursionError:
        fail(source_name, [], "nested too deeply")
    is_old = _version(data, source_name) in get_args(OldVersion)
    try:
        document = OldGraphDocument.model_validate(data) if is_old else GraphDocument.model_validate(data)
    except ValidationError as error:
        fail_with(source_name, data, error)
    return from_document(document, source_name, allow_python=allow_python)


def read_graph(path: Path, source_name: str, *, allow_python: bool = False) -> Graph:
    """The graph in a file, as `from_document`. Raises NasError."""
    if path.is_dir():
        fail(source_name, [], "it is a folder")
    if not path.exists():
        help = did_you_mean(path.name, [other.name for other in path.parent.glob("*.json")])
        fail(source_name, [], "file not found", help)
    if not path.is_file():
        fail(source_name, [], "not a regular file")
    if path.stat().st_size > LARGEST_DOCUMENT:
        message = f"cannot read `{source_name}`: larger than {LARGEST_DOCUMENT // 2**20} MiB"
        raise NasError([Diagnostic("NAS406", message)])
    try:
        text = read_file(path, LARGEST_DOCUMENT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fail(source_name, [], f"not UTF-8 text (byte {error.start})", "save it as UTF-8")
    except OSError as error:
        fail(source_name, [], error.strerror or str(error))
    return from_json(text, source_name, allow_python=allow_python)


def _place(span: Span | None) -> PlaceDocument | None:
    if span is None:
        return None
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return PlaceDocument(file=span.source.name, line=line, column=column, end_line=end_line, end_column=end_column)


def _version(data: object, source_name: str) -> int:
    """The version of a document. A document of another kind or version is reported before anything else."""
    if not isinstance(data, dict):
        fail(source_name, [], f"expected an object, got {shown(data)}")
    if data.get("schema") != SCHEMA:
        reason = f"should be {shown(SCHEMA)}, got {shown(data['schema'])}" if "schema" in data else "is missing"
        fail(source_name, ["schema"], reason, "docs/graph-json.md describes the format")
    version = data.get("version", VERSION)  # if it is missing, the schema says so
    if not isinstance(version, int) or isinstance(version, bool) or version not in VERSIONS:
        known = f"{VERSIONS[0]} to {VERSIONS[-1]}"
        fail(source_name, ["version"], f"only versions {known} are supported, got {shown(version)}")
    return version


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} appears twice in one object")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"`{text}` is not a number")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
