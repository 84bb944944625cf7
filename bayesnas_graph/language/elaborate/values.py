"""Values of expressions.

Numbers are `int` or `Fraction`, truth values are `bool`, strings are `str`, and arrays are tuples. Everything else is a
class here.
All values except nodes are hashable and compare by content: sets and caches rely on this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Op, OutputKind, Shape, shape_text
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.decimals import decimal
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.number_choices import Chosen, NumberChoice, NumberOwner
from bayesnas_graph.language.syntax import ast

Number = int | Fraction
Argument = Number | bool | tuple[Number | bool, ...]  # a value that is given for a parameter of a network


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `start` up to, but not including, `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return max(0, self.stop - self.start)


# ------------------------------------------------------------------- what can label an edge


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive with its arguments."""

    op: Op
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.op)


@dataclass(frozen=True, slots=True)
class Use:
    """A motif with its arguments, not yet connected to anything."""

    function: MotifFunction
    arguments: tuple[tuple[str, Value], ...]
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        arguments = ", ".join(f"{name} = {show(value)}" for name, value in self.arguments)
        return f"{self.function.definition.name.name}({arguments})" if arguments else self.function.definition.name.name


@dataclass(frozen=True, slots=True)
class Sequence:
    """One operation after another. The steps of a `repeated` one become steps of the chain that it is in."""

    steps: tuple[Operation, ...]
    span: Span = field(compare=False, repr=False)
    repeated: bool = field(default=False, compare=False)  # written as `block * 3`

    def __str__(self) -> str:
        return " > ".join(map(str, self.steps))


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice among operations."""

    candidates: tuple[Operation, ...]
    limit: int | None
    span: Span = field(compare=False, repr=False)
    names: tuple[str, ...] = ()  # one per candidate, empty for those without
    least: int = 0  # how many must be kept

    def __str__(self) -> str:
        words = ["choose"] + ["exactly"] * bool(self.least) + [str(self.limit)] * (self.limit is not None)
        return f"{' '.join(words)} {{{', '.join(candidate_texts(self.candidates, self.names))}}}"


@dataclass(frozen=True, slots=True)
class Perhaps:
    """An optional operation."""

    operation: Operation
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"optional {self.operation}"


@dataclass(frozen=True, slots=True)
class ByNumber:
    """An operation with a chosen number among its arguments: one operation for each option."""

    choice: NumberChoice
    operations: tuple[Operation, ...]
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.operations))}"


@dataclass(frozen=True, slots=True)
class Repeated:
    """An operation applied a chosen number of times, one after another."""

    operation: Operation
    times: Chosen
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.operation} * ({self.times})"


@dataclass(frozen=True, slots=True)
class Shared:
    """An operation with one set of weights and switches, however often it is used."""

    definition: ast.Motif  # its name, with an empty body
    id: str  # unique in the motif that declares it
    operation: Operation
    owner: NumberOwner  # the expansion of that motif

    @property
    def name(self) -> str:
        """Its name in the text."""
        return self.definition.name.name

    @property
    def span(self) -> Span:
        """Where it is declared."""
        return self.definition.span

    def __str__(self) -> str:
        return self.name


Operation = Primitive | Use | Sequence | Selection | Perhaps | ByNumber | Repeated | Shared


@dataclass(frozen=True, slots=True)
class OptionSet:
    """A set of operations or of numbers, in the order of the text.

    There is a name for each operation, that of its candidate or an empty one.
    """

    items: tuple[Operation | Number, ...]
    names: tuple[str, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Its items, if it is a set of operations; else nothing."""
        return tuple(item for item in self.items if not isinstance(item, int | Fraction))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Its items, if it is a set of numbers; else nothing."""
        return tuple(item for item in self.items if isinstance(item, int | Fraction))


def candidate_texts(candidates: tuple[Operation | Number, ...], names: tuple[str, ...]) -> list[str]:
    """Candidates as they would be written."""
    pairs = zip(candidates, names or [""] * len(candidates), strict=True)
    return [f"{name} = {candidate}" if name else str(candidate) for candidate, name in pairs]


# -------------------------------------------------------------------- what can be called


@dataclass(frozen=True, slots=True)
class PrimitiveFunction:
    """A primitive without its arguments."""

    cls: type[Op]


@dataclass(frozen=True, slots=True)
class MotifFunction:
    """A motif without its arguments."""

    module: Module
    definition: ast.Motif


@dataclass(frozen=True, slots=True)
class SetFunction:
    """A set without its arguments."""

    module: Module
    definition: ast.SetDefinition


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A Python operation without its arguments."""

    module: Module
    definition: ast.PythonOperation


@dataclass(frozen=True, slots=True)
class LetFunction:
    """A `let` with parameters. `scope` is the body that it is defined in; None at the top of a file."""

    module: Module
    definition: ast.Let
    scope: object = field(default=None, repr=False)  # a `NameScope`, which needs this module


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the language."""

    name: str


Function = PrimitiveFunction | MotifFunction | SetFunction | PythonFunction | LetFunction | Builtin

# ----------------------------------------------------------------------------- the rest


@dataclass(frozen=True, slots=True)
class Namespace:
    """A file imported `as` a name."""

    module: Module


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of an input or output, such as `image(3, 32, 32)`, `vector(784)`, `classes(10)` or `values(1)`."""

    kind: Literal["image", "sequence", "tokens", "vector", "classes", "values", "labels", "map"]
    shape: Shape

    @property
    def predicts(self) -> OutputKind:
        """What an output of this type predicts; classes if the type does not say."""
        return self.kind if self.kind in ("values", "labels", "map") else "classes"


@dataclass(frozen=True, slots=True, eq=False)
class MotifNode:
    """A node of the motif being expanded; compares by identity."""

    name: str  # in the graph: `h.2`
    text: str  # as displayed: `h[2]`
    span: Span = field(repr=False)
    shape: Shape | None = None  # known only for inputs
    channels: Channels | None = None  # of an input, where its width is chosen
    declared: bool = True  # false for the result of an operation inside an expression

    @property
    def written(self) -> str:
        """The node as in the text: `h[2]`, or the operation with its arguments if it has no name."""
        if self.declared:
            return self.text
        text = " ".join(self.span.text.split())
        return text if len(text) <= 40 else f"{text[:37]}..."


@dataclass(frozen=True, slots=True)
class Poison:
    """The value of a failed computation. Reading it fails silently; the error has already been reported."""


POISON = Poison()

Value = (
    int
    | Fraction
    | Chosen
    | bool
    | str
    | tuple["Value", ...]
    | Range
    | Primitive
    | Use
    | Sequence
    | Selection
    | Perhaps
    | ByNumber
    | Repeated
    | Shared
    | OptionSet
    | PrimitiveFunction
    | MotifFunction
    | SetFunction
    | PythonFunction
    | LetFunction
    | Builtin
    | Namespace
    | ValueType
    | MotifNode
    | Poison
)


def nodes_in(value: Value) -> tuple[MotifNode, ...] | None:
    """The nodes in a value: a node itself, or all nodes of an array. None for anything else."""
    if isinstance(value, MotifNode):
        return (value,)
    if isinstance(value, tuple):
        inside = [nodes_in(item) for item in value]
        if all(nodes is not None for nodes in inside):
            return tuple(node for nodes in inside if nodes is not None for node in nodes)
    return None


def is_string(text: str) -> bool:
    """Whether a text can be a string of the language: it has no quotes, no line breaks and only valid characters."""
    return not any(c in '"\n\r' or "\ud800" <= c <= "\udfff" for c in text)


def parts_of(value: Value) -> tuple[Value, ...]:
    """The values that a value consists of."""
    match value:
        case tuple():
            return value
        case Sequence():
            return value.steps
        case Selection():
            return value.candidates
        case Perhaps() | Shared():
            return (value.operation,)
        case ByNumber():
            return value.operations
        case Repeated():
            return (value.operation, value.times)
        case Chosen():
            return value.values
        case OptionSet():
            return value.items
        case Use():
            return tuple(argument for _, argument in value.arguments)
        case _:
            return ()


def size_of(value: Value, most: int) -> int:
    """The number of values in a value, written out in full; counting stops above `most`.

    Comparing, hashing, showing and expanding a value takes as long. Written as a text, a value can be exponentially
    smaller: after `let b = [a, a]`, `b` shares its parts.

    >>> a = (1, 2)
    >>> size_of((a, a), 100), size_of((a, a), 3)
    (7, 4)
    """
    count, waiting = 0, [value]
    while waiting and count <= most:
        count += 1
        waiting.extend(parts_of(waiting.pop()))
    return count


def kind(value: Value) -> str:
    """The kind of a value, in words: `a number`, `an operation`."""
    match value:
        case bool():
            return "a boolean"
        case int() | Fraction():
            return "a number"
        case Chosen():
            return "a choice of numbers"
        case str():
            return "a string"
        case tuple():
            return "an array"
        case Range():
            return "a range"
        case OptionSet() | SetFunction():
            return "a set"
        case MotifNode():
            return "a node"
        case Namespace():
            return "an imported file"
        case Builtin() | LetFunction():
            return "a function"
        case ValueType():
            return "a type"
        case Poison():
            return "nothing"
        case _:
            return "an operation"


def show(value: Value) -> str:
    """A value as it would be written."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case Fraction():
            return decimal(value) or str(value)
        case tuple():
            return f"[{', '.join(map(show, value))}]"
        case Range():
            return f"{value.start}..{value.stop}"
        case OptionSet():
            return f"{{{', '.join(candidate_texts(value.items, value.names))}}}"
        case PrimitiveFunction():
            return value.cls.name
        case MotifFunction() | SetFunction() | PythonFunction() | LetFunction():
            return value.definition.name.name
        case Builtin() | MotifNode():
            return value.name
        case ValueType():
            return f"{value.kind}({', '.join(map(str, value.shape))})"
        case Namespace():
            return value.module.file.source.name
        case _:
            return str(value)


def type_text(value: ValueType) -> str:
    """A type as shown next to shapes."""
    return f"{value.kind} of {shape_text(value.shape)}"
