"""Compressions: what they have made of networks, as tables and charts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from bayesnas_graph.report.charts import compression
from bayesnas_graph.report.parts import Table, section
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.training import epochs
from bayesnas_graph.runs.reading.compression import LAYER_HEAD, Compression, Layer, Network, latency_cells, layer_cells

MOST = 4  # runs whose layers are shown beside one another
MOST_LAYERS = 12  # that are told without being asked for

Runs = Mapping[str, Compression]


def sections(runs: Runs) -> tuple[Section, ...]:
    """What is left, layer by layer, and how it went, of one compression or of several."""
    return (_summary(runs), *_layers(runs), _epochs(runs))


def _summary(runs: Runs) -> Section:
    done = [run for run, found in runs.items() if found.left is not None]
    notes = [] if len(done) == len(runs) else [_unfinished(runs, len(done))]
    tables = [*(_networks(runs[run]) for run in done)] if len(runs) == 1 else [_side_by_side(runs)]
    groups = {run: _but_for_the_seed(found) for run, found in runs.items()}
    return section(
        "compression", "What is left", notes=notes, tables=tables, wide=[compression.error_curve(runs, groups)]
    )


def _unfinished(runs: Runs, done: int) -> str:
    if len(runs) > 1:
        return f"{done} of {len(runs)} compressions have come to their end."
    loops = len(next(iter(runs.values())).loops)
    return f"It has not come to its end: {loops} {'loop is' if loops == 1 else 'loops are'} done."


def _networks(found: Compression) -> Table:
    """The whole network, what is left, and the rival, a column for each."""
    networks = {name: network for name, network in _named(found) if network is not None}
    columns = [_numbers(network) for network in networks.values()]
    labels = dict.fromkeys(label for column in columns for label in column)
    rows = [(label, *(column.get(label, "") for column in columns)) for label in labels]
    if found.cut is not None:
        cut = [f"{found.cut:.2f} %" if name == compression.LEFT else "" for name in networks]
        rows.insert(2, ("error before it was trained", *cut))
    return Table(("", *networks), tuple(rows))


def _named(found: Compression) -> Iterator[tuple[str, Network | None]]:
    yield from (
        (compression.WHOLE, found.whole),
        (compression.LEFT, found.left),
        (compression.MAGNITUDE, found.rival),
    )


def _numbers(network: Network) -> dict[str, str]:
    return {
        "widths": network.widths,
        "error": f"{network.error:.2f} %",
        "weights": f"{network.parameters:,}",
        "multiply-adds": f"{network.flops:,}",
        "operations": f"{network.operations:,}",
        **dict(latency_cells(batch, seconds) for batch, seconds in network.latency.items()),
    }


def _side_by_side(runs: Runs) -> Table:
    """A row for each network of each run."""
    head = ("run", "network", "widths", "error", "weights", "multiply-adds", "operations")
    rows = []
    for run, found in runs.items():
        for name, network in _named(found):
            if network is not None:
                numbers = _numbers(network)
                rows.append((run, name, *(numbers[label] for label in head[2:])))
        if found.left is None:
            rows.append((run, found.traces.state, *[""] * len(head[2:])))
    return Table(head, tuple(rows), words=("network", "widths"))


def _but_for_the_seed(found: Compression) -> str:
    """What runs have in common that differ in their seeds alone."""
    settings = {key: value for key, value in found.traces.config.items() if key != "seed"}
    return json.dumps([found.traces.manifest.get("fingerprint"), settings], sort_keys=True, default=str)


def _layers(runs: Runs) -> Iterator[Section]:
    layers = {run: found.layers for run, found in runs.items() if found.layers}
    if not layers:
        return
    if len(layers) > MOST:
        yield section("layers", "Layer by layer", notes=[f"The layers of up to {MOST} runs are shown together."])
        return
    charts = [
        compression.kept_groups(layers),
        compression.per_layer(layers, "parameters"),
        compression.per_layer(layers, "operations"),
    ]
    tables = (
        _layer_table(some, f"Layers of {run}" if len(layers) > 1 else "All layers") for run, some in layers.items()
    )
    yield section("layers", "Layer by layer", tables=tables, charts=charts)


def _layer_table(layers: tuple[Layer, ...], title: str) -> Table:
    rows = tuple(map(layer_cells, layers))
    return Table(LAYER_HEAD, rows, words=("kind", "groups left"), title=title, folded=len(rows) > MOST_LAYERS)


def _epochs(runs: Runs) -> Section:
    """All epochs of a compression; those of its rival stand beside them where there is one run alone."""
    rows = {run: found.traces.rows for run, found in runs.items()}
    if len(runs) == 1:
        run, found = next(iter(runs.items()))
        rows |= {f"{run}, {compression.MAGNITUDE}": found.rival_rows} if found.rival_rows else {}
    return epochs(rows, "epochs", "How it was trained")
