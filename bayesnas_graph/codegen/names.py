"""Python names for the nodes of a graph."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Sequence
from keyword import iskeyword

_OF_MODULES = """
T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval
extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules
mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook register_buffer
register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule
share_memory state_dict to to_empty train training type xpu zero_grad
"""

# The imports of a file, and all attributes of a torch module: names that nothing else in a class may have.
RESERVED = frozenset({"self", "torch", "nn", "F", "Tensor", "gates", "gated_sum", *_OF_MODULES.split()})


def plain(name: str) -> str:
    """A name without characters that mean something to Python: a graph from a file may have any name.

    >>> plain("large.h.1"), plain("x; import os")
    ('large_h_1', 'x__import_os')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"


def identifier(name: str, taken: Collection[str], separator: str = "_") -> str:
    """A Python name for a node that is not taken.

    >>> identifier("h.1.conv", ()), identifier("sum", ()), identifier("x", {"x"})
    ('h_1_conv', 'sum_', 'x_2')
    """
    word = plain(name.rstrip("."))
    if not word[0].isalpha():
        word = f"v{word}"  # a name cannot begin with a digit, and a leading underscore has a meaning
    if iskeyword(word) or hasattr(builtins, word):
        word = f"{word}_"
    unique, number = word, 1
    while unique in taken:
        number += 1
        unique = f"{word}{separator}{number}"
    return unique


def array(name: str) -> tuple[str, int] | None:
    """The array that a node is an element of, and its index.

    >>> array("s.3"), array("stem.conv")
    (('s', 3), None)
    """
    match = re.fullmatch(r"(.+)\.(\d+)", name)
    return (match[1], int(match[2])) if match else None


def shared(names: Sequence[str]) -> str:
    """The common name of several nodes apart from their numbers; empty if they have none.

    >>> shared(["h.1", "h.2"]), shared(["h.1.h_0.choice", "h.2.h_1.choice"]), shared(["large", "small"])
    ('h', 'h_choice', '')
    """
    arrays = {part[0] for part in map(array, names) if part}
    if len(arrays) == 1 and all(map(array, names)):
        return arrays.pop()
    words = {tuple(word for word in re.split("[._]", name) if word and not word.isdigit()) for name in names}
    if len(words) > 1:
        return ""
    (path,) = words
    return "_".join(word for i, word in enumerate(path) if path[i - 1 : i] != (word,))


def plural(word: str) -> str:
    """The plural of a word.

    >>> plural("block"), plural("branch"), plural("assembly"), plural("cells")
    ('blocks', 'branches', 'assemblies', 'cells')
    """
    if word.endswith(("ch", "sh", "x", "ss")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"
