"""Analyses of a graph: its cost, its choices, the number of its architectures."""

from bayesnas_graph.passes.analysis.choices import ChoiceSwitches, choices
from bayesnas_graph.passes.analysis.cost import Cost, cost, cost_by_switch, operations, operations_by_node
from bayesnas_graph.passes.analysis.extremes import CostRange, Extreme, Extremes, extremes
from bayesnas_graph.passes.analysis.feasible import check_feasible
from bayesnas_graph.passes.analysis.limits import Limit, limits
from bayesnas_graph.passes.analysis.narrowing import Cut, cuts
from bayesnas_graph.passes.analysis.networks import NetworkCount, Networks, networks
from bayesnas_graph.passes.analysis.obey import obey, openings
from bayesnas_graph.passes.analysis.rules import Rules, violated
from bayesnas_graph.passes.analysis.settings import SwitchCounts, switches
from bayesnas_graph.passes.analysis.step_memory import StepMemory, step_memory

__all__ = [
    "ChoiceSwitches",
    "Cost",
    "CostRange",
    "Cut",
    "Extreme",
    "Extremes",
    "Limit",
    "NetworkCount",
    "Networks",
    "Rules",
    "StepMemory",
    "SwitchCounts",
    "check_feasible",
    "choices",
    "cost",
    "cost_by_switch",
    "cuts",
    "extremes",
    "limits",
    "networks",
    "obey",
    "openings",
    "operations",
    "operations_by_node",
    "step_memory",
    "switches",
    "violated",
]
