"""Classes to text."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import iskeyword

from bayesnas_graph.emit.classes import Class, Classes
from bayesnas_graph.emit.text import LINE, operand, selected, wrapped
from bayesnas_graph.emit.units import Compute, Item, Split, Unit, Use, Weigh, units
from bayesnas_graph.ir import Expression, Graph, ModuleCall
from bayesnas_graph.ops import Input

# Names that a class or its forward method already uses.
_TAKEN = {"self", "torch", "nn", "F", "Tensor", "gates", "forward", "training", "gated_sum", "T_destination"}
_TAKEN |= {"type", "float", "double", "half", "train", "eval", "to", "cpu", "cuda", "apply", "modules", "children"}
_TAKEN |= {"buffers", "parameters", "state_dict", "compile", "register_buffer", "zero_grad", "share_memory", "xpu"}

_GATED_SUM = '''

def gated_sum(values: list[Tensor], weights: Tensor) -> Tensor:
    """The sum of some values, each times its weight."""
    total = values[0] * weights[0]
    for value, weight in zip(values[1:], weights[1:], strict=True):
        total = total + value * weight
    return total
'''


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the tensors at a path: number `index` of `count` equal parts along their first axis."""

    path: str  # of a module for weights, of a tensor for gates
    index: int = 0
    count: int = 1


@dataclass(frozen=True)
class Emitted:
    """A source file, the name of its network, and where weights and gates of the graph are in it."""

    text: str
    network: str
    modules: dict[str, Slot]  # node of the elaborated graph -> where its weights are
    gates: dict[str, Slot]  # gate -> where its value is


def emit(graph: Graph, doc: str = "", *, standalone: bool = False) -> Emitted:
    """The source of a graph: a class per kind of motif, a line per operation.

    It needs torch, and the functions of our `runtime` that it calls. A graph that no pass has made faster
    calls but one, for gates, which a `standalone` source has in itself.
    """
    root = units(graph)
    classes = Classes(root)
    body = "".join(_Printer(classes, cls).text() for cls in classes)
    if standalone and "gated_sum(" in body:
        body = _GATED_SUM + body
    text = f'"""{doc or f"Network `{graph.name}`."}"""\n\n{_imports(body, graph)}{body}'
    modules: dict[str, str] = {}
    gates: dict[str, Slot] = {}
    _locate(root, "", classes, modules, gates)
    slots = {
        name: Slot(modules[node.name], index, len(node.stands_for))
        for node in graph
        if node.name in modules
        for index, names in enumerate(node.stands_for)
        for name in names
    }
    return Emitted(text, classes.of(root).name, slots, gates)


def _imports(body: str, graph: Graph) -> str:
    """The imports that a text needs: torch, our functions and modules, and the packages of the user's operations."""
    users: set[str] = set()
    ours = {"gated_sum"} if "gated_sum(" in body and _GATED_SUM not in body else set()
    for call in _calls(graph):
        if isinstance(call, Expression):
            ours |= {call.helper} if call.helper else set()
        elif call.package == "runtime":
            ours.add(call.target)
        elif call.package != "nn" and not call.package.startswith("torch."):
            users.add(call.package)
    lines = ["import torch"] if "torch." in body else []
    lines.append("from torch import Tensor, nn")
    lines += ["from torch.nn import functional as F"] if "F." in body else []
    lines += ["", f"from bayesnas_graph.runtime import {', '.join(sorted(ours, key=_import_order))}"] if ours else []
    return "\n".join([*(f"import {package}" for package in sorted(users)), *([""] if users else []), *lines, ""])


def _calls(graph: Graph) -> Iterator[ModuleCall | Expression]:
    for node in graph:
        if not isinstance(node.op, Input):
            yield node.op.torch(*(graph[edge.source].shape for edge in graph.inputs(node.name)))


def _import_order(name: str) -> tuple[bool, str]:
    return not name[0].isupper(), name  # classes first, as linters want it


def _locate(unit: Unit, path: str, classes: Classes, modules: dict[str, str], gates: dict[str, Slot]) -> None:
    prefix = f"{unit.scope.name}." if unit.scope.name else ""
    names = identifiers(classes.of(unit).unit)
    gates.update({gate: Slot(f"{path}gates", i, len(unit.gates)) for i, gate in enumerate(unit.gates)})
    for item in unit.items:
        if isinstance(item, Use):
            _locate(item.unit, f"{path}{names[item.name]}.", classes, modules, gates)
        elif isinstance(item, Compute) and isinstance(item.call, ModuleCall):
            modules[prefix + item.name] = path + names[item.name]


def identifiers(unit: Unit) -> dict[str, str]:
    """A Python name for every value and submodule of a unit; no two are the same, and none is taken."""
    found = {name: name for name in unit.inputs}
    taken = _TAKEN | set(unit.inputs)
    for item in unit.items:
        for name in (item.name, *(item.results if isinstance(item, Use) else ())):
            if name not in found:
                found[name] = _identifier(name, taken)
                taken.add(found[name])
        if isinstance(item, Split):
            found.update({part: f"{found[item.name]}[{i}]" for i, part in enumerate(item.results)})
    return found


def _identifier(name: str, taken: set[str]) -> str:
    word = name.rstrip(".").replace(".", "_")
    if not word[0].isalpha():
        word = f"v{word}"  # names begin with no digit, and those with an underscore have a meaning of their own
    if iskeyword(word) or hasattr(builtins, word):
        word = f"{word}_"
    unique, number = word, 1
    while unique in taken:
        number += 1
        unique = f"{word}_{number}"
    return unique


class _Printer:
    """Prints one class."""

    def __init__(self, classes: Classes, cls: Class) -> None:
        self.classes = classes
        self.cls = cls
        self.unit = cls.unit
        self.numbers = iter(cls.columns)
        self.names = identifiers(self.unit)
        self.uses = Counter(name for item in self.unit.items for name in item.inputs)
        self.uses.update(self.unit.outputs)
        self.inline: dict[str, str] = {}  # values that are read once, to be written where they are read

    def text(self) -> str:
        init = self._init()
        lines = ["", "", f"class {self.cls.name}(nn.Module):", *self._doc(), "", *init, *([""] if init else [])]
        return "\n".join([*lines, *self._forward(), ""])

    def _doc(self) -> list[str]:
        scope = self.unit.scope
        what = "A choice" if scope.role == "choice" else f"The {scope.role} `{scope.kind}`"
        count = len(self.unit.gates)
        switches = f", with {count} switch{'es' * (count != 1)} of its own" if count else ""
        return [f'    """{what}{switches}."""']

    # ---- the constructor

    def _init(self) -> list[str]:
        kinds = {name: type(values[0]).__name__ for name, values in self.cls.parameters.items()}
        parameters = ", ".join(["self", *(f"{name}: {kind}" for name, kind in kinds.items())])
        lines = [*wrapped(f"    def __init__({parameters}) -> None:"), "        super().__init__()"]
        for item in self.unit.items:
            call = self._constructor(item)
            if call is not None:
                lines += wrapped(f"        self.{self.names[item.name]} = {call}")
        if self.unit.gates:
            lines.append(f"        self.gates = nn.Parameter(torch.ones({len(self.unit.gates)}))")
        return lines if lines[-1] != "        super().__init__()" else []

    def _constructor(self, item: Item) -> str | None:
        if isinstance(item, Use):
            cls = self.classes.of(item.unit)
            return f"{cls.name}({', '.join(self._number(value) for value in cls.arguments(item.unit))})"
        if isinstance(item, Compute) and isinstance(item.call, ModuleCall):
            given = [self._number(value) for value in item.call.args]
            given += [f"{name}={self._number(value)}" for name, value in item.call.kwargs]
            return f"{item.call.constructor}({', '.join(given)})"
        return None

    def _number(self, value: object) -> str:
        column = next(self.numbers)
        return column if isinstance(column, str) else repr(value)

    # ---- forward

    def _forward(self) -> list[str]:
        inputs = ", ".join(["self", *(f"{name}: Tensor" for name in self.unit.inputs)])
        several = len(self.unit.outputs) > 1
        result = f"tuple[{', '.join(['Tensor'] * len(self.unit.outputs))}]" if several else "Tensor"
        lines = wrapped(f"    def forward({inputs}) -> {result}:")
        for item in self.unit.items:
            expression = self._expression(item)
            if isinstance(item, Use):
                targets = ", ".join(self.names[name] for name in item.results)
                if len(item.results) > 1 or not self._inlined(item.results[0], expression):
                    lines += wrapped(f"        {targets} = {expression}")
            elif isinstance(item, Split) or not self._inlined(item.name, expression):
                lines += wrapped(f"        {self.names[item.name]} = {expression}")
        lines += wrapped(f"        return {', '.join(self._value(name) for name in self.unit.outputs)}")
        return lines

    def _inlined(self, name: str, expression: str) -> bool:
        """Whether a value is left to be written where it is read: only once, and in a short line."""
        if self.uses[name] != 1 or len(expression) > LINE // 2:
            return False
        self.inline[name] = expression
        return True

    def _value(self, name: str) -> str:
        return self.inline.pop(name, None) or self.names[name]

    def _expression(self, item: Item) -> str:
        read = [self._value(name) for name in item.inputs]
        match item:
            case Use():
                return f"self.{self.names[item.name]}({', '.join(read)})"
            case Split(results=results):
                return f"{operand(read[0])}.chunk({len(results)}, 1)"
            case Weigh(gates=(gate,)):
                return f"{operand(read[0])} * self.gates[{gate}]"
            case Weigh(gates=gates, zero=zero):
                scale = "" if zero is None else f" * self.gates[{zero}]"
                return f"gated_sum([{', '.join(read)}], {selected(gates)}{scale})"
            case Compute(call=Expression() as call):
                return call.source([value if call.encloses(i) else operand(value) for i, value in enumerate(read)])
            case Compute():
                return f"self.{self.names[item.name]}({', '.join(read)})"
