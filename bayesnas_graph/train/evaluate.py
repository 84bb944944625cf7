"""Measuring a network with its weights: accuracy, size and latency."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch

from bayesnas_graph.codegen.emit import as_state, build, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export.weights import bytes_of
from bayesnas_graph.data import Data, evaluation
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.config.train import EvalConfig
from bayesnas_graph.runs.device import Device, machine_limits
from bayesnas_graph.runs.loading import check_network_fits, loading
from bayesnas_graph.runs.objectives import Objective, objective_of
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.runtime import use_channels_last
from bayesnas_graph.train.measure import Latency, Score, latency, score

BATCHES = (1, 64)  # for which latencies are measured


@dataclass(frozen=True)
class Evaluation:
    """Accuracy or another metric, size and latency of a network."""

    network: str  # its name
    objective: Objective
    space: str  # as the user named it
    data: str | None
    device: str
    parameters: int
    flops: int
    bytes: int  # of the weights, including statistics of norms
    latencies: tuple[Latency, ...]
    score: Score | None  # on the test set, if there is one
    samples: int = 0  # in the test set
    flops_at_least: bool = False  # whether some multiply-adds cannot be counted
    warnings: tuple[Diagnostic, ...] = ()  # about the data
    not_finite: tuple[str, ...] = ()  # weights that hold NaN or infinite values

    def to_plain(self) -> dict[str, Any]:
        """Return dictionaries, lists and numbers."""
        return {
            self.objective.metric.column: self.score and self.score.accuracy,
            "loss": self.score and self.score.loss,
            **({} if self.score is None else self.objective.more(self.score.loss)),
            "samples": self.samples,
            "parameters": self.parameters,
            "flops": self.flops,
            "flops_at_least": self.flops_at_least,
            "bytes": self.bytes,
            "latency": [asdict(latency) for latency in self.latencies],
        }


def evaluate(
    subject: Subject, weights: ByNode | None, data: Data | None, config: EvalConfig, device: Device, runs: int
) -> Evaluation:
    """Measure an exported network, with these weights or random ones. Raises NasError if the data do not fit."""
    network = subject.network
    graph = network.graph()
    seed_everything(config.seed, "weights")
    program = emit(graph, standalone=True)
    module = build(program)
    if weights is not None:
        module.load_state_dict(as_state(weights, {}, program))
    state = module.state_dict()
    size_in_bytes, not_finite = bytes_of(state), tuple(name for name in state if not state[name].isfinite().all())
    module.to(device.torch_device)
    if device.channels_last:
        use_channels_last(module)
    test_score, samples, objective = None, 0, objective_of(graph)
    with machine_limits(config, device):
        if data is not None:
            check_network_fits(network, data)
            samples = len(data.test)
            test_loading = loading(data, graph, config, config.seed, device)
            test_score = score(module, evaluation(data.test, torch.arange(samples), test_loading), device, objective)
        shapes = [kind.shape for kind in network.inputs]
        latencies = tuple(latency(module, shapes, batch, device, runs) for batch in BATCHES)
    size = cost(graph)
    return Evaluation(
        network=network.name,
        space=subject.name,
        data=config.data,
        device=str(device.torch_device),
        parameters=size.parameters,
        flops=size.flops,
        flops_at_least=size.flops_at_least,
        bytes=size_in_bytes,
        latencies=latencies,
        score=test_score,
        samples=samples,
        warnings=() if data is None else data.warnings,
        not_finite=not_finite,
        objective=objective,
    )
