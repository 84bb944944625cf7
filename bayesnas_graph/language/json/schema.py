"""The schema of graph documents. Further checks are made when a document is converted to a graph.

Documents are written in the current version. Older ones, whose nodes, gates and scopes have fewer fields, can be read.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

from bayesnas_graph.ir import Kind, OutputKind
from bayesnas_graph.language.elaborate.limits import LARGEST_NUMBER

SCHEMA: Literal["bayesnas-graph/graph"] = "bayesnas-graph/graph"
Version = Literal[3, 4]  # the last is used for writing; in 3, `layer_norm` is over a whole sample
OldVersion = Literal[1, 2]  # supported for reading; 2 added `scopes` and `replaces`, both optional
VERSION: Version = 4
VERSIONS: tuple[int, ...] = (*get_args(OldVersion), *get_args(Version))

Name = Annotated[str, Field(min_length=1)]
Word = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$")]  # an identifier of the language
Size = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
MotifArgument = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)] | bool | str
Position = Annotated[int, Field(ge=1)]
# Values are checked against the declaration of the operation, which is stricter than a type could be.
Setting = Annotated[
    JsonValue,
    WithJsonSchema(
        {
            "type": ["integer", "array", "boolean", "string", "object", "null"],
            "description": "A whole number or two of them, a truth value, a word, a fraction such as `1/100000` as a "
            "string, or null.",
        }
    ),
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PlaceDocument(_Part):
    """A range of a text. Lines and columns start at 1; the end is exclusive."""

    file: str
    line: Position
    column: Position
    end_line: Position
    end_column: Position


class OpDocument(_Part):
    """An operation with its arguments. Omitted arguments have their defaults."""

    name: Name
    args: dict[str, Setting]


class OldNodeDocument(_Part):
    """One operation, computing one value. The shape is that of one sample, without the batch dimension.

    `replaces` names the nodes that a pass merged into this one: a list for each equal part of its channels.
    """

    name: Name
    op: OpDocument
    shape: list[Size] = Field(min_length=1)
    replaces: list[Annotated[list[Name], Field(min_length=1)]] = []
    place: PlaceDocument | None = None


class NodeDocument(OldNodeDocument):
    """One operation, computing one value. The shape is that of one sample, without the batch dimension.

    `replaces` names the nodes that a pass merged into this one: a list for each equal part of its channels. `label` is
    what the text calls it, `scope` the scope it is directly in, and `behind` the gates of the candidates it is part of.
    Nodes with the same `weights` share them.
    """

    label: str = ""
    scope: str = ""
    behind: list[Name] = []
    weights: str = ""


class OldGateDocument(_Part):
    """A switch. Gates with the same group are one switch."""

    name: Name
    group: Name


class GateDocument(OldGateDocument):
    """A switch. Gates with the same group are one switch.

    `choice` is the choice or optional operation that its candidate leads into, `label` names the candidate. `part`,
    `use`, `target` and `source` say where it is in the text. If it is an option of a number, `number` is the name of
    the number, and `home` the scope that it is chosen in.
    """

    choice: Name
    label: str
    kind: Kind
    part: str
    use: str = ""
    target: str
    source: str = ""
    number: str = ""
    home: str = ""


class OldEdgeDocument(_Part):
    """The value of `source` as argument number `slot`, from 0, of `target`."""

    source: Name
    target: Name
    slot: int = Field(ge=0)
    gate: OldGateDocument | None = None
    place: PlaceDocument | None = None


class EdgeDocument(OldEdgeDocument):
    """The value of `source` as argument number `slot`, from 0, of `target`."""

    gate: GateDocument | None = None


class OldScopeDocument(_Part):
    """One use of the motif `kind`, or a choice: the nodes whose names begin with `name` and a dot."""

    name: Name
    kind: Word
    role: Literal["motif", "cell", "network", "choice", "share"]
    outputs: Size = 1


class ScopeDocument(OldScopeDocument):
    """One use of the motif `kind`, or a choice.

    `parent` is the scope it is directly in, `label` what the text calls the use, and `text` the same with all uses
    around it. `arguments` has those of the motif that are numbers, truth values, or names of motifs.
    Uses with the same `weights` share those of all their nodes.
    """

    parent: str = ""
    label: str = ""
    text: str = ""
    arguments: dict[str, MotifArgument] = {}
    weights: str = ""


class TermDocument(_Part):
    """An edge of the text that counts if it is kept or, if `kept` is false, if it is not.

    `source` is the node that computes its value, `target` the join that reads it, empty if there is none. `inside` are
    the choices and optional operations on it, and it is `closable` if it is off when all these are. Nodes that were
    pruned stay in the list.
    """

    source: Name
    target: str = ""
    inside: list[Name] = []
    closable: bool = False
    text: str = ""
    kept: bool = True


class ConstraintDocument(_Part):
    """At least `least` and at most `most` of the terms hold while one of the nodes `around` is used.

    `text` is the requirement as the language says it, and `part` the cell, motif or network that it is in.
    """

    terms: list[TermDocument] = Field(min_length=1)
    least: int = Field(ge=0)
    most: int = Field(ge=0)
    around: list[Name] = Field(min_length=1)
    text: str = ""
    part: str = ""
    place: PlaceDocument | None = None


class OldGraphDocument(_Part):
    """A graph of an older version. What its nodes, gates and scopes omit follows from their names."""

    kind: Literal["bayesnas-graph/graph"] = Field(alias="schema")
    version: OldVersion
    name: str
    nodes: list[OldNodeDocument]
    edges: list[OldEdgeDocument]
    outputs: list[Name] = Field(min_length=1)
    scopes: list[OldScopeDocument] = []


class GraphDocument(_Part):
    """A graph: its nodes, the edges between them, its output nodes, the scopes of the nodes, and its constraints."""

    # A field cannot be called `schema`, because pydantic has a method of that name.
    kind: Literal["bayesnas-graph/graph"] = Field(alias="schema")
    version: Annotated[Version, WithJsonSchema({"const": VERSION, "title": "Version", "type": "integer"})]
    name: str
    nodes: list[NodeDocument]
    edges: list[EdgeDocument]
    outputs: list[Name] = Field(min_length=1)
    kinds: list[OutputKind] = []
    scopes: list[ScopeDocument] = []
    constraints: list[ConstraintDocument] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a graph document in the current version.

    >>> sorted(json_schema()["required"])
    ['edges', 'name', 'nodes', 'outputs', 'schema', 'version']
    """
    schema = GraphDocument.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
