"""What operations are called in other frameworks and papers, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.library import library_names

# Keys are in lower case, without underscores and without a final 1d, 2d or 3d.
OTHER_NAMES: Mapping[str, str] = {
    "activation": "relu",
    "adaptiveavgpool": "global_avg_pool",
    "adaptivemaxpool": "global_max_pool",
    "add": "sum",
    "attention": "attention",
    "averagepool": "avg_pool",
    "averagepooling": "avg_pool",
    "avgpooling": "avg_pool",
    "batchnorm": "bn",
    "batchnormalization": "bn",
    "cat": "concat",
    "concatenate": "concat",
    "convolution": "conv",
    "dense": "linear",
    "depthwiseconv": "depthwise",
    "dilatedconv": "dil_conv",
    "dilconv": "dil_conv",
    "dwconv": "depthwise",
    "fc": "linear",
    "fullyconnected": "linear",
    "gap": "global_avg_pool",
    "globalaveragepooling": "global_avg_pool",
    "globalavgpooling": "global_avg_pool",
    "globalpool": "global_avg_pool",
    "gn": "group_norm",
    "groupnormalization": "group_norm",
    "interpolate": "up",
    "invertedresidual": "mbconv",
    "ln": "layer_norm",
    "layernormalization": "layer_norm",
    "maxpooling": "max_pool",
    "mbconvblock": "mbconv",
    "mul": "product",
    "multiheadattention": "attention",
    "multiply": "product",
    "noop": "identity",
    "resize": "up",
    "seblock": "squeeze_excite",
    "selayer": "squeeze_excite",
    "selfattention": "attention",
    "separableconv": "sep_conv",
    "silu": "swish",
    "skipconnect": "identity",
    "skipconnection": "identity",
    "squeezeexcitation": "squeeze_excite",
    "up": "up",
    "upsample": "up",
    "upsampling": "up",
    "zeropad": "pad",
}
_NOTHING = {"none", "zero", "zeroize", "noconnection", "nothing", "null"}
_DIMENSIONS = re.compile(r"[123]d$")


@cache
def _words() -> frozenset[str]:
    """The strings that primitives take as arguments."""
    arguments = (argument for cls in PRIMITIVES.values() for argument in cls.arguments().values())
    return frozenset(word for argument in arguments for word in argument.words)


@cache
def _without_underscores() -> dict[str, str]:
    """The names of operations, by their form without underscores."""
    return {name.replace("_", ""): name for name in (*library_names(), *PRIMITIVES)}


def other_name(name: str, is_imported: Callable[[str], bool]) -> str | None:
    """A help text for a name that means something elsewhere; None if it is not known.

    `is_imported` says which names of the library can be used.

    >>> other_name("BatchNorm2d", lambda _: False)
    'it is called `bn` here'
    """
    plain = _DIMENSIONS.sub("", name.lower().replace("_", ""))
    if plain in _NOTHING:
        return "leave it out: every candidate has a switch, and a search may turn off all switches of a choice"
    if name in _words():
        return f'write it as a string: `"{name}"`'
    here = OTHER_NAMES.get(plain) or _without_underscores().get(plain)
    if here is None:
        return None
    if here in PRIMITIVES or is_imported(here):
        return f"it is called `{here}` here"
    if here in library_names():
        return f'it is called `{here}` in the shipped library: add `import "std.nas"`'
    return f'there is no such primitive; a Python class can be used: `op {name} from "package.module:Class"`'
