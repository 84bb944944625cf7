"""Names of the language for what a graph calls by names of its own."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from bayesnas_graph.codegen.emit.names import plain
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.syntax import reserved_words


@cache
def known_words() -> frozenset[str]:
    """The words that mean something in every file, but for functions, which a name may hide."""
    return reserved_words() | PRIMITIVES.keys()


@cache
def defined_words() -> frozenset[str]:
    """The words that no definition may be called, functions included."""
    return known_words() | BUILTINS.keys()


def unique(word: str, taken: Collection[str]) -> str:
    """A name, unlike all that are taken and all words of the language.

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


@dataclass(frozen=True, slots=True)
class Place:
    """What stood to the left of an operation in a text: a node, or an element of an array of nodes."""

    word: str
    index: int | None = None


def place_of(parts: tuple[str, ...], labels: Collection[str]) -> Place | None:
    """The node that a name speaks of; none where it only repeats what the operation is called.

    >>> place_of(("stem", "conv"), {"conv"}), place_of(("h", "2", "x", "conv"), {"conv"})
    (Place(word='stem', index=None), Place(word='h', index=2))
    >>> place_of(("conv_2",), {"conv"})
    """
    if parts[0] == "out" or (len(parts) == 1 and is_label(parts[0], labels)):
        return None
    if len(parts) > 1 and parts[1].isdigit():
        return Place(parts[0], int(parts[1]))
    return Place(parts[0])


def is_label(part: str, labels: Collection[str]) -> bool:
    """Whether part of a name is what an operation is called, perhaps with numbers."""
    return any(part.startswith(label) and re.fullmatch(r"(_\d+)*", part[len(label) :]) for label in labels)
