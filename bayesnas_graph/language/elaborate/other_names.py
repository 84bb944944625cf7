"""What operations are called in other frameworks and papers, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.library import library_names

# Keys are in lower case, without underscores and without a final 1d, 2d or 3d.
OTHER_NAMES: Mapping[str, str] = {
    "activation": "relu",
    "adaptiveaveragepool": "adaptive_avg_pool",
    "adaptivepool": "adaptive_avg_pool",
    "add": "sum",
    "averagepool": "avg_pool",
    "averagepooling": "avg_pool",
    "avgpooling": "avg_pool",
    "batchnorm": "bn",
    "batchnormalization": "bn",
    "cat": "concat",
    "channelsplit": "slice_channels",
    "chunk": "slice_channels",
    "clstoken": "class_token",
    "concatenate": "concat",
    "convolution": "conv",
    "convolutiontranspose": "conv_transpose",
    "convtransposed": "conv_transpose",
    "deconv": "conv_transpose",
    "deconvolution": "conv_transpose",
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
    "hsigmoid": "hard_sigmoid",
    "hswish": "hard_swish",
    "interpolate": "resize",
    "invertedresidual": "mbconv",
    "lrelu": "leaky_relu",
    "ln": "layer_norm",
    "layernormalization": "layer_norm",
    "maxpooling": "max_pool",
    "mbconvblock": "mbconv",
    "mul": "product",
    "mha": "self_attention",
    "multiheadattention": "self_attention",
    "multiply": "product",
    "noop": "identity",
    "posembed": "position_embedding",
    "positionalembedding": "position_embedding",
    "positionalencoding": "position_embedding",
    "seblock": "squeeze_excite",
    "selayer": "squeeze_excite",
    "scaleddotproductattention": "attention",
    "separableconv": "sep_conv",
    "shuffle": "channel_shuffle",
    "silu": "swish",
    "skipconnect": "identity",
    "skipconnection": "identity",
    "slice": "slice_channels",
    "split": "slice_channels",
    "squeezeexcitation": "squeeze_excite",
    "sub": "difference",
    "subtract": "difference",
    "minus": "difference",
    "transformerencoderlayer": "transformer_block",
    "transposedconv": "conv_transpose",
    "tconv": "conv_transpose",
    "transposeconv": "conv_transpose",
    "up": "upsample",
    "upconv": "conv_transpose",
    "upsampling": "upsample",
    "upscale": "upsample",
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


@dataclass(frozen=True, slots=True)
class OtherName:
    """What to write instead of a name that means something elsewhere."""

    help: str
    replacement: str | None = None  # what to write in its place, if that is all there is to do


def other_name(name: str, is_imported: Callable[[str], bool]) -> OtherName | None:
    """What to write instead of a name that means something elsewhere; None if it is not known.

    `is_imported` says which names of the library can be used.

    >>> other_name("BatchNorm2d", lambda _: False)
    OtherName(help='it is called `bn` here', replacement='bn')
    """
    plain = _DIMENSIONS.sub("", name.lower().replace("_", ""))
    if plain in _NOTHING:
        help = "leave it out: every candidate has a switch, and a search may turn off all switches of a choice"
        return OtherName(help)
    if name == "edges":
        return OtherName("the edges into one node are counted by `inputs(h)`")
    if name in _words():
        return OtherName(f'write it as a string: `"{name}"`', f'"{name}"')
    here = OTHER_NAMES.get(plain) or _without_underscores().get(plain)
    if here is None:
        return None
    if here in PRIMITIVES or is_imported(here):
        return OtherName(f"it is called `{here}` here", here)
    if here in library_names():
        return OtherName(f'it is called `{here}` in the shipped library: add `import "std.nas"`')
    return OtherName(f'there is no such primitive; a Python class can be used: `op {name} from "package.module:Class"`')
