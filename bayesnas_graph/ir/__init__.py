"""The graph: operations as nodes, values along edges, frozen once built."""

from bayesnas_graph.ir.call import Expression, ModuleCall
from bayesnas_graph.ir.coupling import Axis, Coupling, Kept, Link, both, either
from bayesnas_graph.ir.graph import Edge, Gate, Graph, Kind, Node, Scope, switch_text, zero_name
from bayesnas_graph.ir.op import Argument, Op, Shape, ShapeError, Value, named_shape, shape_text

__all__ = [
    "Argument",
    "Axis",
    "Coupling",
    "Edge",
    "Expression",
    "Gate",
    "Graph",
    "Kept",
    "Kind",
    "Link",
    "ModuleCall",
    "Node",
    "Op",
    "Scope",
    "Shape",
    "ShapeError",
    "Value",
    "both",
    "either",
    "named_shape",
    "shape_text",
    "switch_text",
    "zero_name",
]
