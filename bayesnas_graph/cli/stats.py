"""`stats`: the size of a space."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.cli.rich_output import show_fields
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.passes.analysis import CostRange, NetworkCount
from bayesnas_graph.report.space_stats import SpaceStats, space_stats

BATCHES = (1, 64, 256)


def stats(
    file: SpaceFile,
    network: NetworkName = None,
    parameters: Parameters = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Count the architectures of a space, and the cost of the smallest, the largest, and all candidates together."""
    counted = space_stats(load_network(file, network, parameters, allow_python=allow_python))
    if as_json:
        typer.echo(json_text(_json(counted)))
        return
    echo(bold(f"network {counted.network}: {', '.join(counted.inputs)} -> {', '.join(counted.outputs)}"), 2)
    show_fields(_rows(counted), 14)


def _rows(counted: SpaceStats) -> list[tuple[str, str]]:
    arguments = ", ".join(f"{name} = {value}" for name, value in counted.arguments.items())
    rows = [("arguments", arguments or "none")]
    uncounted = "at least " if counted.flops_at_least else ""
    flops = f"{at_least(counted.flops, counted.flops_at_least)} per sample"
    if counted.choices:
        rows += [
            ("architectures", f"{scientific(counted.architectures)}{_exact(counted.architectures)}"),
            ("networks", f"{_number(counted.networks)}, distinct and connected"),
            ("choices", f"{counted.choices:,} ({counted.choice_uses:,} in all uses)"),
            ("switches", f"{counted.switches:,} ({counted.switch_uses:,} in all uses)"),
            ("operations", f"{counted.operations:,}"),
            ("parameters", f"{counted.parameters:,} with all candidates"),
            ("parameters", f"{_span(counted.architecture_parameters)} in one architecture"),
            ("multiply-adds", f"{flops} with all candidates"),
            ("multiply-adds", f"{uncounted}{_span(counted.architecture_flops)} per sample in one architecture"),
        ]
    else:
        rows += [
            ("architectures", "1, a fixed network"),
            ("operations", f"{counted.operations:,}"),
            ("parameters", f"{counted.parameters:,}"),
            ("multiply-adds", flops),
        ]
    memory = counted.memory
    rows += [("activations", f"{memory.activations(batch) / 2**20:,.1f} MiB at batch {batch}") for batch in BATCHES]
    rows += [("training", f"{memory.training(batch) / 2**20:,.1f} MiB at batch {batch}") for batch in BATCHES]
    return [*rows, *(("requires", text) for text in (*counted.budgets, *counted.conditions))]


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


def _json(counted: SpaceStats) -> dict[str, Any]:
    sizes = {"weights": counted.architecture_parameters, "flops": counted.architecture_flops}
    return {
        "version": 1,
        "network": counted.network,
        "parameters": counted.arguments,
        "architectures": str(counted.architectures),  # JSON readers lose digits of large numbers
        "networks": {"count": str(counted.networks.count), "exact": counted.networks.exact},  # distinct and connected
        "choices": counted.choices,
        "switches": counted.switches,
        "gates": counted.switch_uses,
        "operations": counted.operations,
        "edges": counted.edges,
        "weights": counted.parameters,
        "flops": counted.flops,
        "flops_at_least": counted.flops_at_least,
        "architecture": {name: _ends(costs) for name, costs in sizes.items()},
        "activation_bytes": {str(batch): counted.memory.activations(batch) for batch in BATCHES},
        "training_bytes": {str(batch): counted.memory.training(batch) for batch in BATCHES},
        "budgets": counted.budgets,
        "requirements": counted.conditions,
    }


def _ends(costs: CostRange) -> dict[str, dict[str, Any]]:
    ends = {"smallest": costs.smallest, "largest": costs.largest}
    return {name: {"cost": extreme.cost, "proven": extreme.proven} for name, extreme in ends.items()}
