"""Data sets of labelled images, and reproducible batches of them."""

from bayesnas_graph.data.augment import Augmentation, augment
from bayesnas_graph.data.batches import Loading, evaluation, steps_per_epoch, training
from bayesnas_graph.data.datasets import DATASETS, DataSet, load
from bayesnas_graph.data.fit import check_fit
from bayesnas_graph.data.mixing import Mixing
from bayesnas_graph.data.model import Data, Examples, InMemory, Statistics
from bayesnas_graph.data.normalisation import normalise, statistics
from bayesnas_graph.data.pad import padded
from bayesnas_graph.data.sampling import generator, shuffled, split

__all__ = [
    "DATASETS",
    "Augmentation",
    "Data",
    "DataSet",
    "Examples",
    "InMemory",
    "Loading",
    "Mixing",
    "Statistics",
    "augment",
    "check_fit",
    "evaluation",
    "generator",
    "load",
    "normalise",
    "padded",
    "shuffled",
    "split",
    "statistics",
    "steps_per_epoch",
    "training",
]
