"""Convert names of a graph to names that the language allows."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from bayesnas_graph.codegen.names import plain
from bayesnas_graph.codegen.telling import LONGEST_VALUE, Arguments
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.ir.ops.plugins import plugin_ops
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.syntax import reserved_words


@cache
def known_words() -> frozenset[str]:
    """The words that have a meaning in every file, except functions, which a name may shadow."""
    return reserved_words() | PRIMITIVES.keys() | {plugin.name for plugin in plugin_ops()}


@cache
def defined_words() -> frozenset[str]:
    """The words that no definition may have as its name, functions included."""
    return known_words() | BUILTINS.keys()


def unique(word: str, taken: Collection[str]) -> str:
    """A name that is neither taken nor a word of the language.

    >>> unique("h", ()), unique("h", {"h"}), unique("conv", ()), unique("7 up", ())
    ('h', 'h_2', 'conv_2', 'v7_up')
    """
    word = plain(word)
    word = f"v{word}" if word[0].isdigit() else word
    name, number = word, 1
    while name in taken or name in known_words():
        number += 1
        name = f"{word}_{number}"
    return name


def told_word(kind: str, arguments: Arguments) -> str:
    """The name of a motif with some of its arguments; a flag is shown by its name if it is on.

    >>> told_word("block", (("width", 24), ("activation", "relu"), ("affine", True), ("bias", False)))
    'block_width24_relu_affine'
    """
    words = [kind]
    for name, value in arguments:
        if isinstance(value, bool):
            words += [name] if value else []
        else:
            words.append(f"{name}{value}" if isinstance(value, int) else plain(value[:LONGEST_VALUE]))
    return "_".join(words)


@dataclass(frozen=True, slots=True)
class TargetNode:
    """The node that an operation leads to in a text, possibly an element of an array."""

    word: str
    index: int | None = None


def target_of(parts: tuple[str, ...], labels: Collection[str]) -> TargetNode | None:
    """The node that a name refers to; None if it only repeats the name of the operation.

    >>> target_of(("stem", "conv"), {"conv"}), target_of(("h", "2", "x", "conv"), {"conv"})
    (TargetNode(word='stem', index=None), TargetNode(word='h', index=2))
    >>> target_of(("conv_2",), {"conv"})
    """
    if parts[0] == "out" or (len(parts) == 1 and is_label(parts[0], labels)):
        return None
    if len(parts) > 1 and parts[1].isdigit():
        return TargetNode(parts[0], int(parts[1]))
    return TargetNode(parts[0])


def is_label(part: str, labels: Collection[str]) -> bool:
    """Return whether part of a name is the name of an operation, perhaps with numbers."""
    return any(part.startswith(label) and re.fullmatch(r"(_\d+)*", part[len(label) :]) for label in labels)
