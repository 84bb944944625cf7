"""Classes to text."""

from __future__ import annotations

import builtins
from collections import Counter
from dataclasses import dataclass
from keyword import iskeyword

from bayesnas_graph.emit.classes import Class, Classes
from bayesnas_graph.emit.text import LINE, operand, selected, wrapped
from bayesnas_graph.emit.units import Compute, Item, Unit, Use, Weigh, units
from bayesnas_graph.ir import Expression, Graph, ModuleCall, Node
from bayesnas_graph.ops import Input

# Names that a class or its forward method already uses.
_TAKEN = {"self", "torch", "nn", "F", "Tensor", "gates", "forward", "training", "weighted_sum", "T_destination"}
_TAKEN |= {"type", "float", "double", "half", "train", "eval", "to", "cpu", "cuda", "apply", "modules", "children"}
_TAKEN |= {"buffers", "parameters", "state_dict", "compile", "register_buffer", "zero_grad", "share_memory", "xpu"}

_WEIGHTED_SUM = '''

def weighted_sum(values: list[Tensor], weights: Tensor) -> Tensor:
    """The sum of some values, each times its weight."""
    first, *rest = weights.unbind()
    total = values[0] * first
    for value, weight in zip(values[1:], rest, strict=True):
        total = torch.addcmul(total, value, weight)
    return total
'''


@dataclass(frozen=True)
class Emitted:
    """A source file, the name of its network, and where weights and gates of the graph are in it."""

    text: str
    network: str
    modules: dict[str, str]  # node -> path of its module
    gates: dict[str, tuple[str, int]]  # gate -> path of its tensor, and its position there


def emit(graph: Graph, doc: str = "") -> Emitted:
    """The source of a graph: plain torch, a class per kind of motif."""
    root = units(graph)
    classes = Classes(root)
    body = "".join(_Printer(classes, cls).text() for cls in classes)
    if "weighted_sum(" in body:
        body = _WEIGHTED_SUM + body
    packages = {call.package for node in graph if (call := _module(graph, node)) and call.package != "nn"}
    text = f'"""{doc or f"Network `{graph.name}`."}"""\n\n{_imports(body, packages)}{body}'
    modules: dict[str, str] = {}
    gates: dict[str, tuple[str, int]] = {}
    _locate(root, "", classes, modules, gates)
    return Emitted(text, classes.of(root).name, modules, gates)


def _module(graph: Graph, node: Node) -> ModuleCall | None:
    if isinstance(node.op, Input):
        return None
    call = node.op.torch(*(graph[edge.source].shape for edge in graph.inputs(node.name)))
    return call if isinstance(call, ModuleCall) else None


def _imports(body: str, packages: set[str]) -> str:
    """The imports that a text needs: torch, and the packages of operations that the user wrote."""
    torch = ["import torch"] if "torch." in body else []
    torch.append("from torch import Tensor, nn")
    torch += ["from torch.nn import functional as F"] if "F." in body else []
    users = [f"import {package}" for package in sorted(packages) if not package.startswith("torch.")]
    return "\n".join([*users, *([""] if users else []), *torch, ""])


def _locate(
    unit: Unit, path: str, classes: Classes, modules: dict[str, str], gates: dict[str, tuple[str, int]]
) -> None:
    prefix = f"{unit.scope.name}." if unit.scope.name else ""
    names = identifiers(classes.of(unit).unit)
    gates.update({gate: (f"{path}gates", i) for i, gate in enumerate(unit.gates)})
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
    return found


def _identifier(name: str, taken: set[str]) -> str:
    word = name.replace(".", "_")
    if word.startswith("_"):
        word = f"v{word}"  # Python gives names with underscores in front a meaning of their own
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
        count = len(self.unit.gates)
        switches = f", with {count} switch{'es' * (count != 1)} of its own" if count else ""
        return [f'    """The {scope.role} `{scope.kind}`{switches}."""']

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
            elif not self._inlined(item.name, expression):
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
            case Weigh(gates=(gate,)):
                return f"{operand(read[0])} * self.gates[{gate}]"
            case Weigh(gates=gates):
                return f"weighted_sum([{', '.join(read)}], {selected(gates)})"
            case Compute(call=Expression() as call):
                return call.source([value if call.encloses(i) else operand(value) for i, value in enumerate(read)])
            case Compute():
                return f"self.{self.names[item.name]}({', '.join(read)})"
