"""Names of classes: the name of the motif, with the arguments that tell several classes of one motif apart."""

from __future__ import annotations

from bayesnas_graph.codegen.names import plain
from bayesnas_graph.codegen.telling import LONGEST_VALUE, Arguments


def class_word(kind: str, arguments: Arguments) -> str:
    """The name of a class: `stage` with `n = 3` is `StageN3`, and a flag is shown by its name if it is on.

    >>> class_word("basic_block", ()), class_word("cell", (("k", 3), ("after_reduction", True), ("affine", False)))
    ('BasicBlock', 'CellK3AfterReduction')
    """
    words = [_camel(kind)]
    for name, value in arguments:
        if isinstance(value, bool):
            words += [_camel(name)] if value else []
        else:
            words.append(_camel(name) + _camel(str(value)[:LONGEST_VALUE]))
    return "".join(words)


def _camel(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in plain(text).split("_"))
