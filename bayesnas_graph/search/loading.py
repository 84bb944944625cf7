"""How batches come to where a network is trained."""

from __future__ import annotations

from bayesnas_graph.data import Augmentation, Data, Loading
from bayesnas_graph.search.config import Samples
from bayesnas_graph.search.place import Place


def loading(data: Data, config: Samples, seed: int, place: Place) -> Loading:
    """As settings say, for the part of a batch that a process computes."""
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
    )
