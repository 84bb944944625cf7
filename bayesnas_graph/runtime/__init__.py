"""Functions and modules that compiled networks call. They use torch, and nothing else of this package.

A network that is compiled with `--no-fuse`, and every derived network, needs only torch.
"""

from bayesnas_graph.runtime.activation import ReluConv2d
from bayesnas_graph.runtime.centre import Centre
from bayesnas_graph.runtime.channels_last import use_channels_last
from bayesnas_graph.runtime.class_token import ClassToken
from bayesnas_graph.runtime.drop import dropped, dropping
from bayesnas_graph.runtime.embedding import Embedding
from bayesnas_graph.runtime.gated_total import gated_total
from bayesnas_graph.runtime.gates import Watch, channel_means, gated_sum, watched
from bayesnas_graph.runtime.layer_norm import LayerNorm
from bayesnas_graph.runtime.layer_scale import LayerScale
from bayesnas_graph.runtime.layout import divided, interleaved, phases, repeated, subsampled
from bayesnas_graph.runtime.norm import LightBatchNorm1d, LightBatchNorm2d
from bayesnas_graph.runtime.pool import light_max_pool2d
from bayesnas_graph.runtime.position_embedding import PositionEmbedding
from bayesnas_graph.runtime.recompute import recompute_cells
from bayesnas_graph.runtime.rescale import Rescale
from bayesnas_graph.runtime.select import Select
from bayesnas_graph.runtime.sequence_linear import SequenceLinear
from bayesnas_graph.runtime.shift import Shift
from bayesnas_graph.runtime.synced import synchronised

__all__ = [
    "Centre",
    "ClassToken",
    "Embedding",
    "LayerNorm",
    "LayerScale",
    "LightBatchNorm1d",
    "LightBatchNorm2d",
    "PositionEmbedding",
    "ReluConv2d",
    "Rescale",
    "Select",
    "SequenceLinear",
    "Shift",
    "Watch",
    "channel_means",
    "divided",
    "dropped",
    "dropping",
    "gated_sum",
    "gated_total",
    "interleaved",
    "light_max_pool2d",
    "phases",
    "recompute_cells",
    "repeated",
    "subsampled",
    "synchronised",
    "use_channels_last",
    "watched",
]
