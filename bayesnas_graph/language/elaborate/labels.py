"""What operations are called in the names of nodes and switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as Seq

from bayesnas_graph.language.elaborate.values import (
    Operation,
    Perhaps,
    Place,
    Primitive,
    Selection,
    Sequence,
    Use,
    show,
)


def label_of(operation: Operation) -> str:
    """A short name for an operation, fit to be part of a node's name."""
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


def distinct(operations: Seq[Operation]) -> list[str]:
    """Names for candidates: arguments are told where the name alone is not enough, `sep_conv_3` and `sep_conv_5`."""
    labels = [label_of(operation) for operation in operations]
    for label in {name for name, count in Counter(labels).items() if count > 1}:
        same = [i for i, name in enumerate(labels) if name == label]
        arguments = [_arguments(operations[i]) for i in same]
        differing = [
            n for n in dict.fromkeys(n for a in arguments for n in a) if len({a.get(n) for a in arguments}) > 1
        ]
        for i, given in zip(same, arguments, strict=True):
            labels[i] = "_".join([label, *(_word(given[n]) for n in differing if n in given)])
    names = Names(["zero"])  # as the compiler calls the zero switch of a choice
    return [names.unique(label) for label in labels]


class Names:
    """Names that are taken. A second of one name gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._repeats: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        """The name, or if it is taken the name with the next number."""
        unique = name
        while unique in self._taken:
            self._repeats[name] += 1
            unique = f"{name}_{self._repeats[name] + 1}"
        self._taken.add(unique)
        return unique

    def release(self, name: str) -> None:
        """Let a name be given again."""
        self._taken.discard(name)


def numbered(labels: Seq[str]) -> list[str]:
    """Labels of which the later ones are numbered where they are equal.

    >>> numbered(["relu", "conv", "bn", "conv"])
    ['relu', 'conv', 'bn', 'conv_2']
    """
    names = Names()
    return [names.unique(label) for label in labels]


def _arguments(operation: Operation) -> dict[str, str]:
    if isinstance(operation, Use):
        return {name: show(value) for name, value in operation.arguments}
    if isinstance(operation, Primitive):
        return {name: str(value).lower() for name, value in operation.op.settings().items()}
    return {}


def _word(text: str) -> str:
    """A value as part of a name."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text).strip("_") or "none"


def origin(inputs: Seq[Place]) -> str:
    """What an operation reads, as part of a name: `h_0` for `h[0]`."""
    return "_".join(place.name.replace(".", "_") for place in inputs[:4])
