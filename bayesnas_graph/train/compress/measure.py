"""Measurements on held-out samples, and their consequences: the penalty of a loop, and what is pruned after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.bayes import THRESHOLD, weight_curvature
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.objectives import objective_of
from bayesnas_graph.train.compress.connectivity import gets_through, is_connected
from bayesnas_graph.train.compress.groups import Groups
from bayesnas_graph.train.compress.masks import masks_of, without
from bayesnas_graph.train.compress.penalty import Penalty
from bayesnas_graph.train.compress.prior import data_variances, removal_costs, settled
from bayesnas_graph.train.compress.selection import Pruning, Ranked, SizeTarget, per_operation, prune, pruned


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements on held-out samples, over all processes."""

    h: ByNode  # the curvature of the mean loss by every weight
    loss: float


def measured(graph: Graph, weights: ByNode, batches: Iterable[tuple[Tensor, Tensor]], device: Device) -> Measured:
    """Measure the curvature by every weight, and the loss."""
    batch_list, mean = list(batches), device.processes.mean
    network = ReferenceNetwork(graph).to(device.torch_device).take(weights).eval()
    samples, measure = sum(len(y) for _, y in batch_list), objective_of(graph).loss()
    with torch.no_grad():
        loss = torch.stack([measure(network(x)[0], y) * (len(y) / samples) for x, y in batch_list]).sum()
    curvature = weight_curvature(network, batch_list, measure)
    h = {node: {name: mean(value, samples) for name, value in named.items()} for node, named in curvature.items()}
    return Measured(h, float(mean(loss, samples)))


def penalty(
    graph: Graph, weights: ByNode, groups: tuple[Groups, ...], measurement: Measured, lambda_w: float
) -> Penalty:
    """Return the penalty that suits these weights."""
    masks = masks_of(groups, weights)
    priors = {some: settled(some, weights, measurement.h, masks, lambda_w) for some in groups}
    needed = {some.layer for some in groups if not is_connected(graph, {some.layer})}
    return Penalty({some: lambda_w * prior.omega for some, prior in priors.items()}, masks, needed)


def pruning_after_loop(
    graph: Graph,
    weights: ByNode,
    groups: tuple[Groups, ...],
    measurement: Measured,
    config: CompressConfig,
    lambda_w: float,
) -> Pruning:
    """Return the network as pruned after a loop. Raises NasError if its output no longer depends on its input."""
    zeros = {some: some.norms(weights) == 0 for some in groups}
    if not gets_through(graph, weights):
        message = "the penalty has closed every path through the network"
        raise NasError([Diagnostic("NAS621", message, help="start again with a smaller `lambda`")])
    masks = without(masks_of(groups, weights), zeros)
    target = SizeTarget(config.target_operations, config.target_params)
    if config.prune == "zero":
        return pruned(graph, weights, masks)
    costs = {some: removal_costs(some, weights, measurement.h) for some in groups}
    if config.prune == "removal":
        ranked = Ranked.by(per_operation(graph, costs, masks), costs, masks)
        return prune(graph, weights, masks, ranked, ranked.within(config.tolerance * measurement.loss), target)
    priors = {some: settled(some, weights, measurement.h, masks, lambda_w) for some in groups}
    variances = {some: data_variances(some, priors[some], weights, measurement.h, lambda_w) for some in groups}
    ranked = Ranked.by(variances, costs, masks)
    most = sum(int(((one <= THRESHOLD) & ranked.alive[some]).sum()) for some, one in variances.items())
    return prune(graph, weights, masks, ranked, most, target)
