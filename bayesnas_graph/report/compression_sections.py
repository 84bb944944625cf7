"""Tables and charts of compression runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.report.charts import compression
from bayesnas_graph.report.section import Section, Table, build_section
from bayesnas_graph.report.training_section import training_section
from bayesnas_graph.runs.layers import PrunedLayer
from bayesnas_graph.runs.reading.compression import (
    LAYER_HEAD,
    CompressionRecord,
    NetworkRecord,
    latency_cells,
    layer_cells,
)

MAX_LAYER_RUNS = 4  # runs whose layers are shown together
MAX_LAYERS = 12  # in a table that is not folded

Runs = Mapping[str, CompressionRecord]


def compression_sections(runs: Runs) -> tuple[Section, ...]:
    """Results, layers and training curves of one or more compression runs."""
    return (_summary(runs), *_layers(runs), _epochs(runs))


def _summary(runs: Runs) -> Section:
    done = [label for label, run in runs.items() if run.left is not None]
    notes = [] if len(done) == len(runs) else [_unfinished(runs, len(done))]
    tables = [_networks(runs[label]) for label in done] if len(runs) == 1 else [_all_networks(runs)]
    groups = {label: _settings_but_seed(run) for label, run in runs.items()}
    chart = compression.error_curve(runs, groups)
    return build_section("compression", "Compression results", notes=notes, tables=tables, wide=[chart])


def _unfinished(runs: Runs, done: int) -> str:
    if len(runs) > 1:
        return f"{done} of {len(runs)} compression runs are finished."
    loops = len(next(iter(runs.values())).loops)
    return f"The run is not finished: {loops} {'loop is' if loops == 1 else 'loops are'} done."


def _networks(run: CompressionRecord) -> Table:
    """A column for each network."""
    networks = {name: network for name, network in _named(run) if network is not None}
    columns = [_numbers(network) for network in networks.values()]
    labels = dict.fromkeys(label for column in columns for label in column)
    rows = [(label, *(column.get(label, "") for column in columns)) for label in labels]
    if run.cut is not None:
        cut = [f"{run.cut:.2f} %" if name == compression.LEFT else "" for name in networks]
        rows.insert(2, ("error before the final training", *cut))
    return Table(("", *networks), tuple(rows))


def _named(run: CompressionRecord) -> Iterator[tuple[str, NetworkRecord | None]]:
    yield from ((compression.WHOLE, run.whole), (compression.LEFT, run.left), (compression.MAGNITUDE, run.rival))


def _numbers(network: NetworkRecord) -> dict[str, str]:
    return {
        "widths": network.widths,
        "error": f"{network.error:.2f} %",
        "parameters": f"{network.parameters:,}",
        "multiply-adds": at_least(network.flops, network.flops_at_least),
        "operations": at_least(network.operations, network.flops_at_least),
        **dict(latency_cells(batch, seconds) for batch, seconds in network.latency.items()),
    }


def _all_networks(runs: Runs) -> Table:
    """A row for each network of each run."""
    head = ("run", "network", "widths", "error", "parameters", "multiply-adds", "operations")
    rows = []
    for label, run in runs.items():
        for name, network in _named(run):
            if network is not None:
                numbers = _numbers(network)
                rows.append((label, name, *(numbers[column] for column in head[2:])))
        if run.left is None:
            rows.append((label, run.record.state, *[""] * len(head[2:])))
    return Table(head, tuple(rows), ("network", "widths"))


def _settings_but_seed(run: CompressionRecord) -> str:
    """Equal for runs that differ only in their seeds."""
    settings = {key: value for key, value in run.record.config.items() if key != "seed"}
    return json.dumps([run.record.manifest.get("fingerprint"), settings], sort_keys=True, default=str)


def _layers(runs: Runs) -> Iterator[Section]:
    layers = {label: run.layers for label, run in runs.items() if run.layers}
    if not layers:
        return
    if len(layers) > MAX_LAYER_RUNS:
        notes = [f"Layers are shown for up to {MAX_LAYER_RUNS} runs."]
        yield build_section("layers", "Layer by layer", notes=notes)
        return
    charts = [
        compression.kept_groups(layers),
        compression.per_layer(layers, "parameters"),
        compression.per_layer(layers, "operations"),
    ]
    tables = [
        _layer_table(run_layers, f"Layers of {label}" if len(layers) > 1 else "All layers")
        for label, run_layers in layers.items()
    ]
    yield build_section("layers", "Layer by layer", tables=tables, charts=charts)


def _layer_table(layers: tuple[PrunedLayer, ...], title: str) -> Table:
    rows = tuple(map(layer_cells, layers))
    return Table(LAYER_HEAD, rows, ("kind", "groups left"), title, folded=len(rows) > MAX_LAYERS)


def _epochs(runs: Runs) -> Section:
    """All epochs; of a single run also those of the network pruned by magnitude."""
    rows = {label: run.record.rows for label, run in runs.items()}
    if len(runs) == 1:
        label, run = next(iter(runs.items()))
        rows |= {f"{label}, {compression.MAGNITUDE}": run.rival_rows} if run.rival_rows else {}
    metric = next(run.record.metric for run in runs.values())
    return training_section(rows, "epochs", "Training during compression", metric)
