"""A graph as Python source."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bayesnas_graph.codegen.align import aligned
from bayesnas_graph.codegen.docs import NO_DOCS, Docs
from bayesnas_graph.codegen.emit.classes import Classes
from bayesnas_graph.codegen.emit.constants import Scaling, name_widths
from bayesnas_graph.codegen.emit.layout import ClassLayout
from bayesnas_graph.codegen.emit.printer import Printer
from bayesnas_graph.codegen.emit.text import LINE, docstring, wrapped_lines
from bayesnas_graph.codegen.units import Unit, UnitUse, units
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.ir import Expression, Graph, ModuleCall, Shape, inner_name
from bayesnas_graph.passes.analysis import cost

Paths = Callable[[Unit], dict[str, str]]

_GATED_SUM = '''

def gated_sum(values: list[Tensor], gates: Tensor) -> Tensor:
    """The sum of some values, each times its gate, and times the zero gate if there is one gate more."""
    own, zero = gates.view(-1)[: len(values)], gates.view(-1)[len(values) :]
    total = values[0] * own[0]
    for value, gate in zip(values[1:], own[1:], strict=True):
        total = total + value * gate
    return total * zero if len(zero) else total
'''


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the tensors at a path: part `index` of `count` equal parts along their first axis."""

    path: str  # of a module for weights, of a tensor for gates
    index: int = 0
    count: int = 1


@dataclass(frozen=True)
class Emitted:
    """A source file, the name of its network, and where the weights and gates of the graph are in it."""

    text: str
    network: str
    modules: dict[str, Slot]  # node of the elaborated graph -> where its weights are
    gates: dict[str, Slot]  # gate -> where its value is
    roles: dict[str, str] = field(default_factory=dict)  # the name of a class -> what it is
    parameters: int = 0  # how many


def emit(
    graph: Graph, doc: str = "", *, docs: Docs = NO_DOCS, standalone: bool = False, scalings: Iterable[Scaling] = ()
) -> Emitted:
    """The source of a graph: a class per kind of motif, a line per operation.

    It needs torch and our `runtime`. Without optimising passes, a graph needs only a few definitions of the `runtime`:
    a function for gates, and modules that torch does not have. A `standalone` source includes them. `doc` is about
    the file, `docs` about the network and its motifs. With `scalings`, widths are written in terms of a parameter if
    possible.
    """
    root = aligned(units(graph))
    classes = Classes(root)
    width = name_widths(classes, scalings)
    layouts = {cls: ClassLayout(classes, cls) for cls in classes}
    network = classes.of(root)
    printers = [
        Printer(layout, docs.network, _shapes(graph)) if cls is network else Printer(layout, docs.of(cls.scope))
        for cls, layout in layouts.items()
    ]
    bodies = [printer.body() for printer in printers]
    code = "".join(bodies)  # without docstrings, which may say anything
    included = {name: _definition(name) for name in _used(graph, code)} if standalone else {}
    imports = _imports("".join(included.values()) + code, graph, included)
    written = "".join(printer.head() + body for printer, body in zip(printers, bodies, strict=True))
    about = _with_imports(doc or f"Network `{graph.name}`.", graph)
    heading = docstring("\n".join(wrapped_lines(about)))
    text = f"{heading}\n\n{imports}{width}{''.join(included.values())}{written}"
    modules: dict[str, Slot] = {}
    gates: dict[str, Slot] = {}
    for path, unit, paths in _located(root, "", lambda unit: layouts[classes.of(unit)].paths):
        gates.update({gate: Slot(f"{path}gates", i, len(unit.gates)) for i, gate in enumerate(unit.gates)})
        for name, module in paths.items():
            node = graph[inner_name(unit.scope.name, name)]
            for index, parts in enumerate(node.stands_for):
                modules.update(dict.fromkeys(parts, Slot(path + module, index, len(node.stands_for))))
    roles = {cls.name: cls.scope.role for cls in classes if cls is not network}
    return Emitted(text, network.name, modules, gates, roles, cost(graph).parameters)


def _shapes(graph: Graph) -> str:
    """A sentence on the inputs and outputs of a network."""
    inputs = [_shape(node.shape) for node in graph if node.op.is_input]
    outputs = [_shape(graph[name].shape) for name in graph.outputs]
    words = f"Input{'s' * (len(inputs) > 1)}", f"output{'s' * (len(outputs) > 1)}"
    return f"{words[0]}: {', '.join(inputs)}; {words[1]}: {', '.join(outputs)}."


def _shape(shape: Shape) -> str:
    return f"({', '.join(['batch', *map(str, shape)])})"


def _used(graph: Graph, code: str) -> list[str]:
    """The definitions of our `runtime` that a source can include: the function for gates, modules with own files."""
    modules = {call.target for call in _calls(graph) if isinstance(call, ModuleCall) and call.package == "runtime"}
    gates = ["gated_sum"] if "gated_sum(" in code else []
    return [*gates, *sorted(name for name in modules if _file(name).is_file())]


def _definition(name: str) -> str:
    """The source of a definition of our `runtime`, with a simpler one for gates. Does not import torch."""
    if name == "gated_sum":
        return _GATED_SUM
    return f"\n\nclass {_file(name).read_text(encoding='utf-8').partition('class ')[2]}"


def _file(name: str) -> Path:
    """The file of a module of our `runtime`: `layer_norm.py` has `LayerNorm`, and nothing else."""
    return folder("runtime") / f"{re.sub('(?<=[a-z])(?=[A-Z])', '_', name).lower()}.py"


def _with_imports(doc: str, graph: Graph) -> str:
    """A docstring that also says which modules and classes of the user the source needs."""
    classes: dict[str, set[str]] = {}
    for call in _user_calls(graph):
        classes.setdefault(call.package, set()).add(call.target)
    if not classes:
        return doc
    listed = "; ".join(f"`{', '.join(sorted(names))}` of `{package}`" for package, names in sorted(classes.items()))
    ending = "\n" if doc.endswith("\n") else ""
    return f"{doc.rstrip()}\n\nBesides torch, it imports {listed}.{ending}"


def _imports(body: str, graph: Graph, included: Collection[str]) -> str:
    """The imports of a source: torch, our `runtime` except what is included, and packages of the user."""
    users = {call.package for call in _user_calls(graph)}
    ours = {name for name in ("divided", "gated_sum", "gated_total") if f"{name}(" in body}
    for call in _calls(graph):
        if isinstance(call, Expression):
            ours |= {call.helper} if call.helper else set()
        elif call.package == "runtime":
            ours.add(call.target)
    ours = ours.difference(included)
    lines = ["import torch"] if "torch." in body else []
    lines.append("from torch import Tensor, nn")
    lines += ["from torch.nn import functional as F"] if "F." in body else []
    lines += ["", *_import_of_ours(ours)] if ours else []
    return "\n".join([*(f"import {package}" for package in sorted(users)), *([""] if users else []), *lines, ""])


def _calls(graph: Graph) -> Iterator[ModuleCall | Expression]:
    for node in graph:
        if not node.op.is_input:
            yield node.op.torch(*graph.input_shapes(node.name))


def _user_calls(graph: Graph) -> Iterator[ModuleCall]:
    """The calls of classes that are neither from torch nor from our `runtime`."""
    for call in _calls(graph):
        known = isinstance(call, Expression) or call.package in ("nn", "runtime", "torch")
        if not known and isinstance(call, ModuleCall) and not call.package.startswith("torch."):
            yield call


def _import_of_ours(names: Collection[str]) -> list[str]:
    """The lines that import these names from our `runtime`."""
    ordered = sorted(names, key=lambda name: (not name[0].isupper(), name))  # classes first, as linters expect
    line = f"from bayesnas_graph.runtime import {', '.join(ordered)}"
    if len(line) <= LINE:
        return [line]
    return ["from bayesnas_graph.runtime import (", *(f"    {name}," for name in ordered), ")"]


def _located(unit: Unit, path: str, paths: Paths) -> Iterator[tuple[str, Unit, dict[str, str]]]:
    """Every unit, with its path and the paths from there to its own modules."""
    module_paths = paths(unit)
    uses = {item.name: item.unit for item in unit.items if isinstance(item, UnitUse)}
    yield path, unit, {name: module for name, module in module_paths.items() if name not in uses}
    for name, used in uses.items():
        yield from _located(used, f"{path}{module_paths[name]}.", paths)
