"""Random spaces as plain data, with two readers: one writes them as text, the other with the builder.

The text has parentheses around everything, so the builder has to know where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from bayesnas_graph.builder import (
    Body,
    Node,
    Nodes,
    Number,
    Operation,
    Set,
    Space,
    Value,
    add,
    both,
    cell,
    chain,
    choose,
    concat,
    either,
    floor,
    image,
    largest,
    mean,
    motif,
    named_set,
    negate,
    network,
    ops,
    optional,
    params,
    product,
    set_of,
    smallest,
    std,
    when,
)

Plan = tuple[Any, ...]
JOINS = {"sum": add, "mean": mean, "product": product}


class Planner:
    """Makes random plans. Every motif takes a width and keeps the size of images."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.motifs: list[str] = []
        self.sets: list[str] = []

    def space(self) -> dict[str, Any]:
        sets, motifs = {}, {}
        for i in range(self.random.randint(0, 2)):
            sets[f"s{i}"] = self.options()
            self.sets.append(f"s{i}")
        for i in range(self.random.randint(0, 3)):
            motifs[f"m{i}"] = self.random.choice(("motif", "cell")), self.body()
            self.motifs.append(f"m{i}")
        return {"sets": sets, "motifs": motifs, "net": self.body(), "width": self.random.randint(1, 6)}

    def body(self) -> list[Plan]:
        names = ["x"]
        plans: list[Plan] = []
        for i in range(self.random.randint(0, 3)):
            kind = self.random.choice(("node", "join", "array", "loop", "if", "let"))
            source, name = self.random.choice(names), f"n{i}"
            plans.append((kind, name, source, self.operation(), self.condition(), self.random.choice(list(JOINS))))
            if kind in ("node", "join", "array"):
                names.append(name)
        plans += [("out", "", name, self.operation(), None, "") for name in names]
        return plans

    def operation(self, depth: int = 2) -> Plan:
        """An operation that gives an image of the width of the motif."""
        steps: list[Plan] = [
            (self.random.choice(("relu", "bn", "identity")),) for _ in range(self.random.randint(0, 2))
        ]
        if self.random.random() < 0.2:
            steps.append(("optional", ("bn",) if self.random.random() < 0.5 else ("chain", [("relu",), ("bn",)])))
        kind = self.random.randint(0, 5) if depth else 0
        if kind == 1:
            last: Plan = ("choose", self.random.choice((None, "1", "2", "exactly 1", "w * 0 + 1 of")), self.options())
        elif kind == 2 and self.motifs:
            last = ("use", self.random.choice(self.motifs))
        elif kind == 3:
            last = ("when", self.condition(), self.operation(depth - 1), self.operation(depth - 1))
        elif kind == 4:
            last = ("repeat", self.operation(0), self.random.randint(1, 3))
        elif kind == 5:
            last = ("std", self.random.choice((1, 3)))
        else:
            last = ("conv", self.width(), self.random.choice((1, 3)))
        return ("chain", [*steps, last])

    def width(self) -> Plan:
        """A number that is the width of the motif, in some disguise."""
        number = self.random.randint(1, 9)
        kind = self.random.choice(("w", "plus", "times", "when", "floor", "minus", "sign"))
        return (kind, number)

    def options(self) -> Plan:
        if self.sets and self.random.random() < 0.4:
            return ("set", self.random.choice(self.sets))
        listed = ("listed", self.random.sample((1, 3, 5, 7), self.random.randint(1, 3)))
        kind = self.random.randint(0, 3)
        if kind == 0:
            return ("union", listed, ("listed", [9]))
        if kind == 1:
            return ("minus", ("union", listed, ("listed", [9])), ("listed", [9]))
        return listed

    def condition(self, depth: int = 2) -> Plan:
        kind = self.random.choice(("less", "equal", *(("both", "either", "not") if depth else ())))
        if kind in ("less", "equal"):
            return (kind, self.random.randint(0, 6))
        if kind == "not":
            return (kind, self.condition(depth - 1))
        return (kind, self.condition(depth - 1), self.condition(depth - 1))


# ------------------------------------------------------------------------------------- as text


def as_text(space: dict[str, Any]) -> str:
    parts = ['import "std.nas"'] if "'std'" in repr(space) else []
    parts += [f"set {name}(w) = {_set(plan)}" for name, plan in space["sets"].items()]
    parts += [f"{role} {name}(w) {{ in x {_body(body)} }}" for name, (role, body) in space["motifs"].items()]
    types = "image(4, 8, 8) -> image(w, 8, 8)"
    body = f"in x {_body(space['net'])} require params < 1000000"
    return "\n".join([*parts, f"network net(w = {space['width']}) : {types} {{ {body} }}"])


def _body(plans: list[Plan]) -> str:
    return "\n".join(_statement(*plan) for plan in plans)


def _statement(kind: str, name: str, source: str, operation: Plan, condition: Plan, join: str) -> str:
    op = _op(operation)
    match kind:
        case "node":
            return f"node {name} = {source} : {op}"
        case "join":
            return f"node {name} : {join} {source} -> {name} : {op} {source} -> {name} : {op}"
        case "array":
            source = f"if k == 0 then {source} else {name}_h[k - 1]"
            return f"node {name}_h[k in 0..2] = {source} : {op} node {name} = concat({name}_h[0..2])"
        case "loop":
            return f"for i in 0..2 {{ {source} -> out : {op} }}"
        case "if":
            return f"if {_condition(condition)} {{ {source} -> out : {op} }} else {{ {source} -> out : relu > {op} }}"
        case "let":
            return f"let {name} = {op} {source} -> out : {name}"
        case _:
            return f"{source} -> out : {op}"


def _op(plan: Plan) -> str:
    match plan:
        case ("chain", steps):
            return " > ".join(f"({_op(step)})" if step[0] in ("when", "chain") else _op(step) for step in steps)
        case ("optional", inner):
            return f"optional ({_op(inner)})"
        case ("choose", limit, options):
            return f"choose {limit or ''} ({_set(options)})"
        case ("use", name):
            return f"{name}(w)"
        case ("when", condition, yes, no):
            return f"if {_condition(condition)} then {_op(yes)} else {_op(no)}"
        case ("repeat", inner, times):
            return f"({_op(inner)}) * {times}"
        case ("std", k):
            return f"relu_conv_bn(w, {k})"
        case ("conv", width, k):
            return f"conv({_width(*width)}, {k})"
        case _:
            return str(plan[0])


def _width(kind: str, number: int) -> str:
    texts = {
        "w": "w",
        "plus": f"((w + {number}) - {number})",
        "times": f"((w * {number}) / {number})",
        "when": f"(if (w == {number}) then {number} else w)",
        "floor": f"floor((w + (1 / {number + 1})))",
        "minus": f"max(w, (0 - ({number} - w)) - {number})",
        "sign": "(-(-(w^1)))",
    }
    return texts[kind]


def _set(plan: Plan) -> str:
    match plan:
        case ("set", name):
            return f"{name}(w)"
        case ("listed", kernels):
            return "{" + ", ".join(f"conv(w, {k})" for k in kernels) + "}"
        case ("union", one, other):
            return f"({_set(one)} | {_set(other)})"
        case (_, one, other):
            return f"({_set(one)} - {_set(other)})"
    raise ValueError(plan)


def _condition(plan: Plan) -> str:
    match plan:
        case ("less", number):
            return f"(w < {number})"
        case ("equal", number):
            return f"(w == {number})"
        case ("not", inner):
            return f"(not {_condition(inner)})"
        case (kind, one, other):
            return f"({_condition(one)} {'and' if kind == 'both' else 'or'} {_condition(other)})"
    raise ValueError(plan)


# ------------------------------------------------------------------------------ with the builder


def _before(start: Node, h: Nodes, k: Value) -> Node:
    return when(k == 0, start, h[k - 1])


def build(space: dict[str, Any]) -> Space:
    return _Builder(space).network()


class _Builder:
    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space
        self.sets: dict[str, Callable[[Number], Set]] = {}
        self.motifs: dict[str, Callable[[Number], Operation]] = {}
        for name, plan in space["sets"].items():
            self.sets[name] = named_set(self._set_function(plan), name=name)
        for name, (role, body) in space["motifs"].items():
            self.motifs[name] = (motif if role == "motif" else cell)(self._function(body), name=name)

    def network(self) -> Space:
        def net(g: Body, w: Number = self.space["width"]) -> None:
            self._record(g, g.input("x", image(4, 8, 8)), w, self.space["net"])
            g.returns(image(w, 8, 8))
            g.require(params < 1_000_000)

        return network(net)

    def _set_function(self, plan: Plan) -> Callable[[Number], Set]:
        def function(w: Number) -> Set:
            return self.set(plan, w)

        return function

    def _function(self, body: list[Plan]) -> Callable[[Body, Number], None]:
        def function(g: Body, w: Number) -> None:
            self._record(g, g.input("x"), w, body)

        return function

    def _record(self, g: Body, x: Any, w: Any, plans: list[Plan]) -> None:
        nodes = {"x": x}
        for kind, name, source, operation, condition, join in plans:
            start, op = nodes[source], self.op(operation, w)
            match kind:
                case "node":
                    nodes[name] = g.node(name, start, op)
                case "join":
                    nodes[name] = g.node(name, join=JOINS[join])
                    g.edge(start, nodes[name], op)
                    g.edge(start, nodes[name], op)
                case "array":
                    h = g.nodes(f"{name}_h", 2, partial(_before, start), op, index="k")
                    nodes[name] = g.node(name, concat(h[:2]))
                case "loop":
                    for _ in g.range(2):
                        g.edge(start, g.out, op)
                case "if":
                    with g.if_(self.condition(condition, w)):
                        g.edge(start, g.out, op)
                    with g.else_():
                        g.edge(start, g.out, ops.relu() >> op)
                case "let":
                    g.edge(start, g.out, g.let(name, op))
                case _:
                    g.edge(start, g.out, op)

    def op(self, plan: Plan, w: Any) -> Operation:
        match plan:
            case ("chain", steps):
                return chain(*(self.op(step, w) for step in steps))
            case ("optional", inner):
                return optional(self.op(inner, w))
            case ("choose", limit, options):
                limits = {None: None, "1": 1, "2": 2, "exactly 1": 1, "w * 0 + 1 of": w * 0 + 1}
                return choose(self.set(options, w), limit=limits[limit], exactly=limit == "exactly 1")
            case ("use", name):
                return self.motifs[name](w)
            case ("when", condition, yes, no):
                return when(self.condition(condition, w), self.op(yes, w), self.op(no, w))
            case ("repeat", inner, times):
                repeated: Operation = self.op(inner, w) * times
                return repeated
            case ("std", k):
                block: Operation = std.relu_conv_bn(w, k)
                return block
            case ("conv", width, k):
                return ops.conv(self.width(width[0], width[1], w), k)
            case _:
                found: Operation = getattr(ops, plan[0])()
                return found

    def width(self, kind: str, number: int, w: Any) -> Value:
        values: dict[str, Callable[[], Value]] = {
            "w": lambda: w,
            "plus": lambda: w + number - number,
            "times": lambda: w * number / number,
            "when": lambda: when(w == number, number, w),
            "floor": lambda: floor(w + Fraction(1, number + 1)),
            "minus": lambda: largest(w, 0 - (number - w) - number),
            "sign": lambda: (w**1).__neg__().__neg__(),
        }
        return values[kind]()

    def set(self, plan: Plan, w: Any) -> Set:
        match plan:
            case ("set", name):
                return self.sets[name](w)
            case ("listed", kernels):
                return set_of(*(ops.conv(w, k) for k in kernels))
            case ("union", one, other):
                return self.set(one, w) | self.set(other, w)
            case (_, one, other):
                return self.set(one, w) - self.set(other, w)
        raise ValueError(plan)

    def condition(self, plan: Plan, w: Any) -> Value:
        match plan:
            case ("less", number):
                less: Value = smallest(w, w) < number
                return less
            case ("equal", number):
                equal: Value = w == number
                return equal
            case ("not", inner):
                return negate(self.condition(inner, w))
            case (kind, one, other):
                return (both if kind == "both" else either)(self.condition(one, w), self.condition(other, w))
        raise ValueError(plan)
