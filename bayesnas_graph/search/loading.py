"""How batches come to where a network is trained."""

from __future__ import annotations

from bayesnas_graph.data import Augmentation, Data, Loading
from bayesnas_graph.ir import Graph
from bayesnas_graph.ops import Input
from bayesnas_graph.search.config import Samples
from bayesnas_graph.search.place import Place


def loading(data: Data, graph: Graph, config: Samples, seed: int, place: Place) -> Loading:
    """As settings say, for the part of a batch that a process computes; as vectors, if the network takes them so."""
    (taken,) = (node.shape for node in graph if isinstance(node.op, Input))
    return Loading(
        batch=config.batch,
        seed=seed,
        augmentation=Augmentation(crop=config.crop, flip=config.flip, cutout=config.cutout),
        statistics=data.statistics,
        device=place.device,
        workers=config.workers,
        rank=place.processes.rank,
        world=place.processes.world,
        channels_last=place.channels_last,
        flat=len(taken) < len(data.shape),
    )
