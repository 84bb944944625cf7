"""`stats`: the size of a space."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayesnas_graph import passes
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.cli.rich_output import show_fields
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.passes.analysis import (
    Cost,
    CostRange,
    Extremes,
    NetworkCount,
    StepMemory,
    SwitchCounts,
    cost,
    extremes,
    networks,
    step_memory,
    switches,
)

BATCHES = (1, 64, 256)


def stats(
    file: SpaceFile,
    network: NetworkName = None,
    parameters: Parameters = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Count the architectures of a space, and the cost of the smallest, the largest, and all candidates together."""
    loaded = load_network(file, network, parameters, allow_python=allow_python)
    graph = loaded.graph()
    counted, distinct, costs, ends = switches(graph), networks(graph), cost(graph), extremes(graph)
    memory = step_memory(passes.run(graph, (*passes.SWITCHES, *passes.FASTER)))
    required = list(dict.fromkeys(map(str, graph.constraints)))
    if as_json:
        typer.echo(json_text({**_json(loaded, counted, distinct, costs, ends, memory), "requirements": required}))
        return
    signature = f"{', '.join(map(show, loaded.inputs))} -> {', '.join(map(show, loaded.outputs))}"
    echo(bold(f"network {loaded.name}: {signature}"), 2)
    rows = _rows(loaded, counted, distinct, costs, ends, memory)
    show_fields([*rows, *(("requires", text) for text in required)], 14)


def _rows(
    network: Network, counted: SwitchCounts, distinct: NetworkCount, costs: Cost, ends: Extremes, memory: StepMemory
) -> list[tuple[str, str]]:
    rows = [("arguments", network.arguments_text or "none")]
    uncounted = "at least " if costs.flops_at_least else ""
    if counted.choices:
        rows += [
            ("architectures", f"{scientific(counted.settings)}{_exact(counted.settings)}"),
            ("networks", f"{_number(distinct)}, distinct and connected"),
            ("choices", f"{counted.choices:,} ({network.block.choices:,} in all uses)"),
            ("switches", f"{counted.candidates:,} ({counted.gates:,} in all uses)"),
            ("operations", f"{network.block.nodes:,}"),
            ("parameters", f"{costs.parameters:,} with all candidates"),
            ("parameters", f"{_span(ends.parameters)} in one architecture"),
            ("multiply-adds", f"{costs.flops_text} per sample with all candidates"),
            ("multiply-adds", f"{uncounted}{_span(ends.flops)} per sample in one architecture"),
        ]
    else:
        rows += [
            ("architectures", "1, a fixed network"),
            ("operations", f"{network.block.nodes:,}"),
            ("parameters", f"{costs.parameters:,}"),
            ("multiply-adds", f"{costs.flops_text} per sample"),
        ]
    rows += [("activations", f"{memory.activations(batch) / 2**20:,.1f} MiB at batch {batch}") for batch in BATCHES]
    rows += [("training", f"{memory.training(batch) / 2**20:,.1f} MiB at batch {batch}") for batch in BATCHES]
    rows += [("requires", str(budget)) for budget in network.budgets]
    return rows


def _span(costs: CostRange) -> str:
    """Return a range of costs, saying which end is the best found rather than proven."""
    smallest, largest = costs.smallest, costs.largest
    least = "" if smallest.proven else " (smallest found)"
    most = "" if largest.proven else " (largest found)"
    return f"{smallest.cost:,}{least} to {largest.cost:,}{most}"


def scientific(number: int) -> str:
    """Return a whole number of any size with three digits.

    >>> scientific(15625), scientific(2**196), scientific(7371**5)
    ('1.56e4', '1.00e59', '2.18e19')
    """
    digits = str(number)
    if len(digits) < 4:
        return digits
    head = round(int(digits[:12].ljust(12, "0")) / 10**11, 2)
    return f"{head:.2f}e{len(digits) - 1}" if head < 10 else f"1.00e{len(digits)}"


def _number(distinct: NetworkCount) -> str:
    most = "" if distinct.exact else "at most "
    return f"{most}{scientific(distinct.count)}{_exact(distinct.count)}"


def _exact(number: int) -> str:
    if number < 1000:
        return ""
    return f" ({number:,})" if len(str(number)) <= 24 else " (`--json` prints all digits)"


def _json(
    network: Network, counted: SwitchCounts, distinct: NetworkCount, costs: Cost, ends: Extremes, memory: StepMemory
) -> dict[str, Any]:
    return {
        "version": 1,
        "network": network.name,
        "parameters": {name: show(value) for name, value in network.arguments},
        "architectures": str(counted.settings),  # JSON readers lose digits of large numbers
        "networks": {"count": str(distinct.count), "exact": distinct.exact},  # distinct and connected
        "choices": counted.choices,
        "switches": counted.candidates,
        "gates": counted.gates,
        "operations": network.block.nodes,
        "edges": network.block.edges,
        "weights": costs.parameters,
        "flops": costs.flops,
        "flops_at_least": costs.flops_at_least,
        "architecture": {"weights": _ends(ends.parameters), "flops": _ends(ends.flops)},
        "activation_bytes": {str(batch): memory.activations(batch) for batch in BATCHES},
        "training_bytes": {str(batch): memory.training(batch) for batch in BATCHES},
        "budgets": [str(budget) for budget in network.budgets],
    }


def _ends(costs: CostRange) -> dict[str, dict[str, Any]]:
    ends = {"smallest": costs.smallest, "largest": costs.largest}
    return {name: {"cost": extreme.cost, "proven": extreme.proven} for name, extreme in ends.items()}
