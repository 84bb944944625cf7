"""Labelled images: sets of them, and batches that are the same whenever they are asked for again."""

from bayesnas_graph.data.augment import Augmentation, augment, normalise
from bayesnas_graph.data.batches import Loading, evaluation, steps_per_epoch, training
from bayesnas_graph.data.fit import check_fit
from bayesnas_graph.data.measure import statistics
from bayesnas_graph.data.model import Data, Examples, InMemory, Statistics
from bayesnas_graph.data.order import generator, order, split
from bayesnas_graph.data.pad import padded
from bayesnas_graph.data.sets import SETS, DataSet, load

__all__ = [
    "SETS",
    "Augmentation",
    "Data",
    "DataSet",
    "Examples",
    "InMemory",
    "Loading",
    "Statistics",
    "augment",
    "check_fit",
    "evaluation",
    "generator",
    "load",
    "normalise",
    "order",
    "padded",
    "split",
    "statistics",
    "steps_per_epoch",
    "training",
]
