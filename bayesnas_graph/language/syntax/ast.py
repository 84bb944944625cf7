"""The syntax tree, before names are resolved.

Every node has the span of its text. Operators of equal precedence are kept flat (`a + b + c` is one
`Arithmetic` with three operands), so that a long expression is not a deep tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bayesnas_graph.diagnostics.source import Source, Span


@dataclass(frozen=True, slots=True)
class Syntax:
    """Base class of all nodes."""

    span: Span


# ------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Identifier(Syntax):
    """A name where it is declared: by a definition, parameter or node."""

    name: str


@dataclass(frozen=True, slots=True)
class Reference(Syntax):
    """A name where it is used."""

    name: str


@dataclass(frozen=True, slots=True)
class Number(Syntax):
    value: int | Fraction


@dataclass(frozen=True, slots=True)
class Boolean(Syntax):
    value: bool


@dataclass(frozen=True, slots=True)
class String(Syntax):
    value: str


@dataclass(frozen=True, slots=True)
class Member(Syntax):
    """`file.name`, from a file imported `as file`."""

    owner: Expr
    name: Identifier


@dataclass(frozen=True, slots=True)
class Keyword(Syntax):
    """A keyword argument `name = value`."""

    name: Identifier
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Syntax):
    function: Expr
    arguments: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass(frozen=True, slots=True)
class Index(Syntax):
    array: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Prefix(Syntax):
    """`-a`, `+a` or `not a`."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Arithmetic(Syntax):
    """Operands and the operators between them, all of equal precedence, left to right."""

    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Logical(Syntax):
    operator: str  # "and" or "or"
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Chain(Syntax):
    """A comparison of values, or a chain of operations `a > b > c`."""

    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RangeOf(Syntax):
    start: Expr
    stop: Expr


@dataclass(frozen=True, slots=True)
class Conditional(Syntax):
    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Choose(Syntax):
    limit: Expr | None  # how many candidates can be kept; None for no limit
    options: Expr
    exact: bool = False  # whether exactly that many are kept, not at most


@dataclass(frozen=True, slots=True)
class Optional(Syntax):
    operation: Expr


@dataclass(frozen=True, slots=True)
class Comprehension(Syntax):
    """`for variable in values if condition`; the last of several `for` varies fastest."""

    clauses: tuple[tuple[Identifier, Expr], ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Array(Syntax):
    """`[a, b]` or `[a for ...]`."""

    items: tuple[Expr, ...]
    comprehension: Comprehension | None = None


@dataclass(frozen=True, slots=True)
class SetLiteral(Syntax):
    """`{a, b}` or `{a for ...}`: a set of operations. `names` has one entry per item: `{small = a}`."""

    items: tuple[Expr, ...]
    comprehension: Comprehension | None
    names: tuple[Identifier | None, ...]


Expr = (
    Reference
    | Number
    | Boolean
    | String
    | Member
    | Call
    | Index
    | Prefix
    | Arithmetic
    | Logical
    | Chain
    | RangeOf
    | Conditional
    | Choose
    | Optional
    | Array
    | SetLiteral
)

# -------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class DeclarationSlot(Syntax):
    """`x`, `x[4]` or `x[i in 0..4]` in a declaration of inputs or nodes."""

    name: Identifier
    size: Expr | None = None
    variable: Identifier | None = None  # if given, `size` is its range


@dataclass(frozen=True, slots=True)
class In(Syntax):
    slots: tuple[DeclarationSlot, ...]


@dataclass(frozen=True, slots=True)
class NodeDeclaration(Syntax):
    """`node a, b : concat`, or with `sources`, a node and its edges: `node p = x : relu`."""

    slots: tuple[DeclarationSlot, ...]
    sources: tuple[Expr, ...] = ()
    label: Expr | None = None  # operation of the edges if there are sources, otherwise the join
    following: tuple[Expr, ...] = ()  # the sources of all elements of an array but the first


@dataclass(frozen=True, slots=True)
class OutTarget(Syntax):
    """`out` as the target of an edge."""


@dataclass(frozen=True, slots=True)
class EdgeStatement(Syntax):
    sources: tuple[Expr, ...]
    targets: tuple[Expr | OutTarget, ...]
    label: Expr | None


@dataclass(frozen=True, slots=True)
class Out(Syntax):
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class OutJoin(Syntax):
    join: Expr


@dataclass(frozen=True, slots=True)
class Let(Syntax):
    """A name for a value, or a function if there are parameters: `let double(x) = 2 * x`."""

    name: Identifier
    value: Expr
    parameters: tuple[Parameter, ...] | None = None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Share(Syntax):
    """A name for an operation with one set of weights: `share tower = conv(16) > bn`."""

    name: Identifier
    operation: Expr


@dataclass(frozen=True, slots=True)
class StatementBlock(Syntax):
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For(Syntax):
    variable: Identifier
    values: Expr
    body: StatementBlock


@dataclass(frozen=True, slots=True)
class If(Syntax):
    condition: Expr
    yes: StatementBlock
    no: StatementBlock | If | None


@dataclass(frozen=True, slots=True)
class Assert(Syntax):
    condition: Expr
    message: str | None


@dataclass(frozen=True, slots=True)
class Require(Syntax):
    """A budget: `require params < 3.5M`."""

    quantity: Identifier
    comparison: str
    bound: Expr


@dataclass(frozen=True, slots=True)
class RequireEdges(Syntax):
    """A constraint on edges: `require inputs(h) == 2`, `require edge(a, b) implies edge(b, c)`."""

    condition: Expr
    implied: Expr | None = None


Statement = (
    In | NodeDeclaration | EdgeStatement | Out | OutJoin | Let | Share | For | If | Assert | Require | RequireEdges
)


EDGE_FUNCTIONS = {"inputs": 1, "edge": 2}  # in requirements, and their number of arguments


def is_about_edges(expr: Expr) -> bool:
    """Return whether an expression of a requirement is `edges`, `inputs(...)` or `edge(...)`."""
    if isinstance(expr, Reference):
        return expr.name == "edges"
    return isinstance(expr, Call) and isinstance(expr.function, Reference) and expr.function.name in EDGE_FUNCTIONS


def declared(statement: Statement) -> list[str]:
    """The names that a statement declares in its block."""
    match statement:
        case In(slots=slots) | NodeDeclaration(slots=slots):
            return [slot.name.name for slot in slots]
        case Let(name=name) | Share(name=name):
            return [name.name]
        case _:
            return []


# ------------------------------------------------------------------------------- definitions


@dataclass(frozen=True, slots=True)
class Parameter(Syntax):
    name: Identifier
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Import(Syntax):
    path: str
    path_span: Span
    alias: Identifier | None


@dataclass(frozen=True, slots=True)
class SetDefinition(Syntax):
    name: Identifier
    parameters: tuple[Parameter, ...]
    value: Expr
    doc: str = ""


@dataclass(frozen=True, slots=True)
class PythonOperation(Syntax):
    """`op name(...) from "package.module:Class"`."""

    name: Identifier
    parameters: tuple[Parameter, ...]
    target: str
    target_span: Span
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Motif(Syntax):
    """A motif, cell or network; `role` says which. The hash leaves the body out, which may be long and deep."""

    role: str
    name: Identifier
    parameters: tuple[Parameter, ...]
    body: StatementBlock
    inputs: tuple[Expr, ...] = ()  # declared types; networks only
    outputs: tuple[Expr, ...] = ()
    doc: str = ""

    def __hash__(self) -> int:
        return hash((self.span, self.name))


Definition = Let | SetDefinition | PythonOperation | Motif
Item = Import | Definition


@dataclass(frozen=True, slots=True)
class File:
    """A parsed file. Definitions with errors are omitted; `lost` has their names, "" for an import."""

    source: Source
    doc: str
    items: tuple[Item, ...]
    lost: frozenset[str] = frozenset()

    @property
    def imports(self) -> tuple[Import, ...]:
        return tuple(item for item in self.items if isinstance(item, Import))

    @property
    def definitions(self) -> tuple[Definition, ...]:
        return tuple(item for item in self.items if not isinstance(item, Import))
