"""Labels of operations, and names of nodes and switches made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as Seq
from dataclasses import dataclass, replace

from bayesnas_graph.ir import inner_name
from bayesnas_graph.language.elaborate.values import (
    ByNumber,
    MotifNode,
    Operation,
    Perhaps,
    Primitive,
    Repeated,
    Selection,
    Sequence,
    Shared,
    Use,
    Value,
    show,
)

RESERVED_CANDIDATE = "zero"  # the zero switch of a choice


def label_of(operation: Operation) -> str:
    """A short name for an operation, usable as part of a node's name."""
    match operation:
        case Primitive(op=op):
            return op.label
        case Use(function=function):
            return function.definition.name.name
        case Sequence():
            return "chain"
        case Selection():
            return "choice"
        case Perhaps():
            return "optional"
        case ByNumber(operations=operations):
            return label_of(operations[0])
        case Repeated(operation=repeated):
            return label_of(repeated)
        case Shared(name=name):
            return name


def distinct(operations: Seq[Operation], given: Seq[str] = ()) -> list[str]:
    """Distinct labels for candidates, with arguments where needed: `sep_conv_3` and `sep_conv_5`.

    A candidate that has a name in `given` keeps it.
    """
    given = given or [""] * len(operations)
    labels = [label_of(operation) for operation in operations]
    unnamed = [label for label, name in zip(labels, given, strict=True) if not name]
    for label in {name for name, count in Counter(unnamed).items() if count > 1}:
        positions = [i for i, name in enumerate(labels) if name == label and not given[i]]
        arguments = [_arguments(operations[i]) for i in positions]
        differing = [
            n for n in dict.fromkeys(n for a in arguments for n in a) if len({a.get(n) for a in arguments}) > 1
        ]
        for i, values in zip(positions, arguments, strict=True):
            labels[i] = "_".join([label, *(_word(values[n]) for n in differing if n in values)])
    names = Names([RESERVED_CANDIDATE, *given])
    return [name or names.unique(label) for label, name in zip(labels, given, strict=True)]


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a step of a motif: its id in the graph, and its displayed forms."""

    id: str = ""  # `h.1.x.conv`
    text: str = ""  # the displayed form: `h[1].x.conv`
    target: str = ""  # the node it leads to, and the step on the way there: `h[1].conv`
    source: str = ""  # the node it reads, if others lead to the target too: `x`
    label: str = ""  # the last part: `conv`
    node: str = ""  # the node it leads to, if the file declares one: `h[1]`
    is_node: bool = False  # whether it names that node itself, not a step on the way there

    def inner(self, label: str) -> Name:
        """The name of a step within this one."""
        id, text, target = (inner_name(path, label) for path in (self.id, self.text, self.target))
        return Name(id, text, target, self.source, label, self.node)

    def numbered(self, suffix: str) -> Name:
        """The same name with a number, as returned by `Names.suffix`."""
        if not suffix:
            return self
        target = self.target if self.source else self.target + suffix
        return replace(self, id=self.id + suffix, text=self.text + suffix, target=target, label=self.label + suffix)


class Names:
    """Names in use. A repeated name gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._repeats: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        """The name, with the next number appended if it is taken."""
        return name + self.suffix(name)

    def suffix(self, name: str) -> str:
        """Reserve a name and return the suffix that makes it unique: empty, or a number."""
        suffix = ""
        while name + suffix in self._taken:
            self._repeats[name] += 1
            suffix = f"_{self._repeats[name] + 1}"
        self._taken.add(name + suffix)
        return suffix

    def release(self, name: str) -> None:
        """Make a name available again."""
        self._taken.discard(name)


def numbered(labels: Seq[str]) -> list[str]:
    """Labels with numbers appended to repeated ones.

    >>> numbered(["relu", "conv", "bn", "conv"])
    ['relu', 'conv', 'bn', 'conv_2']
    """
    names = Names()
    return [names.unique(label) for label in labels]


def _arguments(operation: Operation) -> dict[str, str]:
    if isinstance(operation, Use):
        return {name: _argument(value) for name, value in operation.arguments}
    if isinstance(operation, Primitive):
        pairs = not operation.op.is_python  # the only arrays that primitives take
        return {name: _setting(value, pairs) for name, value in operation.op.settings().items()}
    return {}


def _argument(value: Value) -> str:
    """An argument of a motif; of an operation only its name, because its own arguments mostly repeat the others."""
    return label_of(value) if isinstance(value, Operation) else show(value)


def _setting(value: object, pairs: bool) -> str:
    return "x".join(map(str, value)) if pairs and isinstance(value, tuple) else str(value).lower()


def _word(text: str) -> str:
    """A value as part of a name."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text).strip("_") or "none"


def node_name(node: MotifNode) -> Name:
    """The name of a node."""
    declared = node.text if node.declared else ""
    return Name(node.name, node.text, node.text, label=node.text, node=declared, is_node=node.declared)


def edge_name(target: MotifNode, inputs: Seq[MotifNode], number: int) -> Name:
    """The name of an operation on the `number`th of several edges into a node, from these inputs."""
    read = inputs[:4]
    id = "_".join(node.name.replace(".", "_") for node in read)
    source = ", ".join(node.text for node in read) + (f" ({number})" if number > 1 else "")
    return Name(f"{target.name}.{id}", f"{target.text}.{id}", target.text, source, id, target.text)
