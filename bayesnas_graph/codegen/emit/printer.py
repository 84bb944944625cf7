"""One class as text."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, islice

from bayesnas_graph.codegen.emit.layout import ClassLayout, attribute
from bayesnas_graph.codegen.emit.loops import Repeat
from bayesnas_graph.codegen.emit.text import LINE, addend, class_docstring, operand, selected, wrapped
from bayesnas_graph.codegen.names import plain
from bayesnas_graph.codegen.units import Item, OpUse, Split, UnitUse, Weigh, updates_itself
from bayesnas_graph.ir import Expression, ModuleCall

MIN_COMPREHENSION = 3  # equal modules in a row that are printed as one


class Printer:
    """Prints one class."""

    def __init__(self, layout: ClassLayout, about: str = "", shapes: str = "") -> None:
        self.about = about  # what the text says about it
        self.shapes = shapes  # a sentence on inputs and outputs
        self.classes = layout.classes
        self.layout = layout
        self.cls = layout.cls
        self.unit = layout.unit
        self.names = layout.names
        self.uses = Counter(name for item in layout.items for name in item.inputs)
        self.uses.update(self.unit.outputs)
        for repeat in layout.items:
            if isinstance(repeat, Repeat):
                self.uses.update(name for item in repeat.body for name in item.inputs)
        self.inline: dict[str, str] = {}  # values that are read once, to be printed where they are read

    def head(self) -> str:
        """The first line and the docstring."""
        return "\n".join(["", "", f"class {self.cls.name}(nn.Module):", *self._doc(), ""])

    def body(self) -> str:
        """The code of all methods."""
        init = self._init()
        return "\n".join(["", *init, *([""] if init else []), *self._forward(), ""])

    def _doc(self) -> list[str]:
        scope = self.cls.scope
        role = "shared operation" if scope.role == "share" else plain(scope.role)
        what = "A choice" if scope.role == "choice" else f"The {role} `{plain(scope.kind)}`"
        told = " and ".join(f"{name} = {str(value).lower()}" for name, value in self.cls.telling)
        count = len(self.unit.gates)
        switches = f", with {count} switch{'es' * (count != 1)} of its own" if count else ""
        return class_docstring(self.about, f"{what}{' with ' * bool(told)}{told}{switches}.", self.shapes)

    # ---- the constructor

    def _init(self) -> list[str]:
        parameters = ", ".join(["self", *(parameter.declaration for parameter in self.cls.parameters)])
        lines = [f"self.{p.name} = {p.name}" for p in self.cls.parameters if p.name in self.layout.attributes]
        modules: dict[str, str] = {}  # shared weights once
        for item in self.layout.items:
            if isinstance(item, Repeat):
                modules[self.names[item.name]] = self._list(item)
            elif item.name in self.layout.paths:
                modules.setdefault(self.names[attribute(item)], self._constructor(item))
        lines += [f"self.{name} = {module}" for name, module in modules.items()]
        if self.unit.gates:
            lines.append(f"self.gates = nn.Parameter(torch.ones({len(self.unit.gates)}))")
        if not lines:
            return []
        head = [*wrapped(f"    def __init__({parameters}) -> None:"), "        super().__init__()"]
        return [*head, *(row for line in lines for row in wrapped(f"        {line}"))]

    def _constructor(self, item: Item) -> str:
        terms = self.cls.terms[item.name]
        if isinstance(item, OpUse) and isinstance(item.call, ModuleCall):
            return item.call.source([None if term is None else str(term) for term in terms])
        assert isinstance(item, UnitUse)
        cls = self.classes.of(item.unit)
        values = zip(cls.parameters, cls.arguments(item.unit), terms, strict=True)
        arguments = [parameter.argument(value, term) for parameter, value, term in values]
        return f"{cls.name}({', '.join(text for text in arguments if text is not None)})"

    def _list(self, repeat: Repeat) -> str:
        runs = [(call, len(list(group))) for call, group in groupby(map(self._constructor, repeat.uses))]
        modules: list[str] = []
        for call, count in runs:
            modules += [f"*({call} for _ in range({count}))"] if count >= MIN_COMPREHENSION else [call] * count
        if repeat.is_chain:
            return f"nn.Sequential({', '.join(modules)})"
        listed = ", ".join(modules) if len(runs) > 1 else modules[0].removeprefix("*(").removesuffix(")")
        return f"nn.ModuleList([{listed}])"

    # ---- forward

    def _forward(self) -> list[str]:
        inputs = ", ".join(["self", *(f"{self.names[name]}: Tensor" for name in self.unit.inputs)])
        several = len(self.unit.outputs) > 1
        result = f"tuple[{', '.join(['Tensor'] * len(self.unit.outputs))}]" if several else "Tensor"
        lines = [f"    def forward({inputs}) -> {result}:"]
        for item in self.layout.items:
            if isinstance(item, Repeat) and not item.is_chain:
                lines += self._loop(item)
            else:
                lines += self._statement(item)
        lines.append(f"        return {', '.join(self._value(name) for name in self.unit.outputs)}")
        return [row for line in lines for row in wrapped(line)]

    def _statement(self, item: Item | Repeat, repeat: Repeat | None = None) -> list[str]:
        """The line that computes an item, unless it will be printed where it is read."""
        expression = self._expression(item, repeat)
        results = item.results if isinstance(item, UnitUse | Repeat) else (item.name,)
        keeps_place = isinstance(item, OpUse | UnitUse) and bool(item.weights) and updates_itself(item)
        may_move = not isinstance(item, Split) and len(results) == 1 and not keeps_place
        if may_move and self._inlined(results[0], expression):
            return []
        indent = "            " if repeat else "        "
        return [f"{indent}{', '.join(self.names[name] for name in results)} = {expression}"]

    def _inlined(self, name: str, expression: str) -> bool:
        """Return whether a value is printed where it is read: it is read once, and short or the result."""
        if self.uses[name] != 1 or (len(expression) > LINE // 2 and self.unit.outputs != (name,)):
            return False
        self.inline[name] = expression
        return True

    def _loop(self, repeat: Repeat) -> list[str]:
        modules, each = self.names[repeat.name], self.names[f"{repeat.name}each"]
        state = [self.names[name] for name in repeat.state]
        start = [self._value(name) for name in dict.fromkeys(repeat.start)]
        targets = (", " if len(start) == len(state) else " = ").join(state)
        lines = [] if state == start else [f"        {targets} = {', '.join(start)}"]
        if repeat.gate is None:
            lines.append(f"        for {each} in self.{modules}:")
        else:
            gates = self._gates(tuple(range(repeat.gate, repeat.gate + len(repeat.uses))))
            both = f"{each}, {self.names[f'{repeat.name}gate']}"
            lines.append(f"        for {both} in zip(self.{modules}, {gates}, strict=True):")
        *before, last = repeat.body
        for item in before:
            lines += self._statement(item, repeat)
        result = self._expression(last, repeat)
        lines.append(f"            {', '.join(state)} = {', '.join([*state[1:], result])}")
        return lines

    def _value(self, name: str) -> str:
        return self.inline.pop(name, None) or self.names[name]

    def _expression(self, item: Item | Repeat, repeat: Repeat | None = None) -> str:
        """The value of an item. In a loop it uses the module and the gate of the round."""
        read = [self._value(name) for name in item.inputs]
        match item:
            case UnitUse() if repeat:
                return f"{self.names[f'{repeat.name}each']}({', '.join(read)})"
            case Weigh() if repeat:
                return f"gated_sum([{read[0]}], {self.names[f'{repeat.name}gate']})"
            case Weigh(gates=gates, sizes=sizes) if sizes:
                values = iter(read)
                groups = [f"[{', '.join(islice(values, size))}]" for size in sizes]
                return f"gated_total([{', '.join(groups)}], {self._gates(gates)})"
            case Weigh(gates=gates, zero=zero):
                return f"gated_sum([{', '.join(read)}], {self._gates(gates if zero is None else (*gates, zero))})"
            case Split(sizes=sizes) if len(set(sizes)) > 1:
                return f"divided({read[0]}, {list(sizes)})"
            case Split(results=results):
                return f"{operand(read[0])}.chunk({len(results)}, 1)"
            case OpUse(call=Expression() as call):
                return self._filled(item, call, read)
            case _:
                applied = item.call.applied if isinstance(item, OpUse) and isinstance(item.call, ModuleCall) else ()
                return f"self.{self.names[attribute(item)]}({', '.join([*read, *map(str, applied)])})"

    def _gates(self, gates: tuple[int, ...]) -> str:
        return selected(gates, len(self.unit.gates))

    def _filled(self, item: OpUse, call: Expression, read: list[str]) -> str:
        """An expression of some values. Parameters in it are attributes of the module."""
        texts = [None if term is None else str(term.of_self()) for term in self.cls.terms[item.name]]
        if item.op.adds and len(read) > 1:
            return call.source([addend(value, first=not i) for i, value in enumerate(read)])
        return call.source([value if call.encloses(i) else operand(value) for i, value in enumerate(read)], texts)
