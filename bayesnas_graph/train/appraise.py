"""A network with its weights, measured: how good it is, how large, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.data import Data, evaluation
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Place, machine_limits
from bayesnas_graph.runs.loading import loading
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.train.config import EvalConfig
from bayesnas_graph.train.course import check_network_fits
from bayesnas_graph.train.measure import Latency, Score, latency, score
from bayesnas_graph.train.weights import bytes_of, read_weights, take_weights

BATCHES = (1, 64)  # for which latencies are measured


@dataclass(frozen=True)
class Appraisal:
    """What was measured."""

    parameters: int
    flops: int
    bytes: int  # that the weights take, statistics of norms included
    latencies: tuple[Latency, ...]
    score: Score | None  # on the test set, where there is one
    samples: int = 0  # in the test set

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, lists and numbers."""
        return {
            "accuracy": self.score and self.score.accuracy,
            "loss": self.score and self.score.loss,
            "samples": self.samples,
            "parameters": self.parameters,
            "flops": self.flops,
            "bytes": self.bytes,
            "latency": [
                {"batch": one.batch, "median": one.median, "low": one.low, "high": one.high} for one in self.latencies
            ],
        }


def appraise(
    network: Network, weights: Path | None, data: Data | None, config: EvalConfig, place: Place, runs: int
) -> Appraisal:
    """Measure a network, with the weights of a file or with random ones, in the form in which it is given away.

    Raises NasError if the weights or the data do not fit.
    """
    graph = network.graph()
    seed_everything(config.seed, "weights")
    module = build(emit(graph, standalone=True))
    if weights is not None:
        take_weights(module, read_weights(weights), weights, network.name)
    held = bytes_of(module.state_dict())
    module.to(place.device)
    if place.channels_last:
        module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    found, samples = None, 0
    with machine_limits(config, place):
        if data is not None:
            check_network_fits(network, data)
            samples = len(data.test)
            how = loading(data, graph, config, config.seed, place)
            found = score(module, evaluation(data.test, torch.arange(samples), how), place)
        shapes = [kind.shape for kind in network.inputs]
        latencies = tuple(latency(module, shapes, batch, place, runs) for batch in BATCHES)
    size = cost(graph)
    return Appraisal(size.parameters, size.flops, held, latencies, found, samples)
