"""The graph: operations as nodes, values along edges, frozen once built."""

from bayesnas_graph.ir.call import Expression, ModuleCall, NumberArgument, Plain, Scalar, numbers
from bayesnas_graph.ir.constraint import Constraint, Term, WrittenEdge
from bayesnas_graph.ir.coupling import Axis, Coupling, Link, Mask, intersection, union
from bayesnas_graph.ir.graph import (
    Edge,
    Gate,
    Graph,
    Kind,
    Node,
    OutputKind,
    Scope,
    inner_name,
    local_name,
    switch_text,
    zero_name,
)
from bayesnas_graph.ir.op import KINDS, Argument, Op, Shape, ShapeError, TokenShape, Value, named_shape, shape_text

__all__ = [
    "KINDS",
    "Argument",
    "Axis",
    "Constraint",
    "Coupling",
    "Edge",
    "Expression",
    "Gate",
    "Graph",
    "Kind",
    "Link",
    "Mask",
    "ModuleCall",
    "Node",
    "NumberArgument",
    "Op",
    "OutputKind",
    "Plain",
    "Scalar",
    "Scope",
    "Shape",
    "ShapeError",
    "Term",
    "TokenShape",
    "Value",
    "WrittenEdge",
    "inner_name",
    "intersection",
    "local_name",
    "named_shape",
    "numbers",
    "shape_text",
    "switch_text",
    "union",
    "zero_name",
]
