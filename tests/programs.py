"""Random programs: most are valid, many have an error, all are badly formatted."""

from __future__ import annotations

import re
from random import Random

from hypothesis import strategies as st

from bayesnas_graph.language.syntax import reserved_words

_ACTIVATIONS = (
    *("relu", "relu6", "swish", "gelu", "tanh", "bn", "identity", "dropout(0.3)", "layer_norm"),
    *("leaky_relu(1/5)", "elu", "elu(1.5)", "hard_swish", "hard_sigmoid", "mish", "softmax"),
)
_PADDED = ("conv", "depthwise", "max_pool", "avg_pool")
_WINDOWS = ("conv({w}, {k})", "conv({w}, 1)", "max_pool({k})", "avg_pool({k})", "depthwise({k})", "conv(k = {k})")
_SHAPED = (
    *_WINDOWS,
    *("conv({w}, [1, {k}])", "conv({w}, [{k}, 3], dilation = [1, 2])", "depthwise([{k}, 1], dilation = [2, 1])"),
    *("max_pool([1, {k}])", "avg_pool([{k}, 1])", 'avg_pool([2, {k}], padding = "same")'),
    *("upsample > max_pool(2, 2)", "avg_pool([2, 1], [2, 1]) > upsample([2, 1])", "resize({k}) > resize(8)"),
    *("conv_transpose({w}, {k}, 1)", "conv({w}, 2, 2) > conv_transpose({w})", "max_pool(2, 2) > conv_transpose(k = 3)"),
    "conv(2 * {w}, 1) > channel_shuffle > slice_channels(1, {w})",
    "conv(4, {k}) > channel_shuffle(2) > conv({w}, 1)",
    *('upsample(2, "bilinear") > adaptive_avg_pool(8)', 'resize(12, mode = "nearest") > adaptive_max_pool(8, 8)'),
)
_BY_CHANNEL = ("relu", "bn", "swish", "tanh", "max_pool(3)", "conv()", "depthwise(c)", "dropout(0.3)", "optional bn")
_COUNTS = ("", "", "1 ", "1 ", "exactly 1 ", "exactly 1 ", "2 of ", "exactly 2 - 1 of ", "max(1, 2) of ")
_ON_SEQUENCES = (
    *("layer_scale", "shift(init = 1)", "position_embedding", "linear()", "group_norm(1)", "layer_norm"),
    *("to_image(2, 4) > relu > to_sequence", "to_image(4, 2) > layer_norm > to_sequence", "attending", "attending"),
    *('conv1d(k = 2, padding = "same")', "avg_pool1d(3)", "pad1d(1, 2) > conv1d(k = 4, padding = 0)"),
)
_ATTENDING = (
    "motif attending { in x node q = x : linear() node k = x : linear() "
    "attention(head_width = 1, causal = true)(q, k, x) -> out : layer_scale }"
)
_SLIDING = re.compile(r"\b(conv|depthwise|max_pool|avg_pool)(?=\()")
_CONDITIONS = (
    *("inputs(g[2]) == 2", "inputs(g[1]) <= 1", "inputs(g[2]) >= 1 + 1", "edges <= 4", "edges > 2", "edges == 4"),
    *("edge({a}, g[1]) implies edge(g[0], g[2])", "not (edge({a}, g[1]) and edge({a}, g[2]))", "edge(g[1], g[2])"),
    *("edge({a}, g[0]) or edge({a}, g[1])", "edge({a}, g[1]) implies not edge({a}, g[2]) and edge({a}, g[0])"),
)


LARGEST = 60  # roughly, the operations of a body: graphs of thousands of nodes show nothing that smaller ones do not


class Program:
    """Generates a random program. `fault` is the probability that a piece is wrong."""

    def __init__(self, random: Random, fault: float) -> None:
        self.random = random
        self.fault = fault
        self.motifs: dict[str, int] = {}  # motifs that take a width and keep the size, with about how large they are
        self.size = 0  # of the body being written
        self.sets: list[str] = []
        self.sequences = random.random() < 0.3  # whether it is about sequences, not images
        self.functions: list[str] = []  # names of functions of one number that return a positive integer

    def text(self) -> str:
        items = ['import "std.nas"'] if self.random.random() < 0.5 else []
        if self.random.random() < 0.5:
            items.append(f"let base = {self._number(1)}")
        if self.random.random() < 0.5:
            items.append(f"let scaled(v, by = {self._number(1)}) = {self._function()}")
            self.functions.append("scaled")
        for i in range(self.random.randint(0, 2)):
            items.append(f"set s{i}(w = 4) = {self._set('w')}")
            self.sets.append(f"s{i}")
        for i in range(self.random.randint(0, 3)):
            role = self.random.choice(("motif", "cell"))
            items.append(f"{role} m{i}(w, deep = {self._truth()}) {self._body('w')}")
            self.motifs[f"m{i}"] = self.size
        items.append(
            f"network net(w = {self.random.randint(1, 8)}) : image(4, 8, 8) -> image(w, 8, 8) {self._body('w')}"
        )
        text = self._separator().join(self._spoiled(item) for item in items) + self._separator()
        return self._of_sequences(text) if self.sequences else text

    def with_requirements(self) -> str:
        """A network with few switches and conditions on them."""
        lines = [*self._required("a", "w"), "sum(g) -> out : conv(w, 1)"]
        if self.random.random() < 0.5:
            lines.append(f"a -> out : {self.random.choice(('', 'optional '))}choose exactly 1 {{conv(w, 1), conv(w)}}")
        return f"network net(w = 2) : image(4, 8, 8) -> image(w, 8, 8) {{ in a {' '.join(lines)} }}"

    def _of_sequences(self, text: str) -> str:
        """The same program about sequences."""
        for image, sequence in (("image(4, 8, 8)", "sequence(4, 8)"), ("image(w, 8, 8)", "sequence(w, 8)")):
            text = text.replace(image, sequence)
        return f"{_SLIDING.sub(lambda name: f'{name[1]}1d', text)}{_ATTENDING}{self._separator()}"

    # ---- pieces

    def _body(self, width: str) -> str:
        self.size = 0
        names = ["a"]
        lines = ["in a"]
        for i in range(self.random.randint(0, 3)):
            lines.append(self._node(f"n{i}", names, width))
            names.append(f"n{i}")
        if self.random.random() < 0.3:
            lines.append(f"let k = {self._number(1)}")
        if self.random.random() < 0.2:
            lines.append(f"let local(v = w) = {self._function()} assert local() > 0 and local({self._number(1)}) > 0")
        if self.random.random() < 0.3:
            lines.append(self._chosen(names))
            names.append("v")
        if self.random.random() < 0.3:
            lines.append(self._shared(names, width))
            names.append("sum(q)")
        if self.random.random() < 0.3:
            lines.append(f"node h[{self.random.randint(1, 3)}] = {names[-1]} : {self._operation(width)}")
            names.append(self.random.choice(("sum(h)", "sum([h[-1]] + h)", "sum(h[0..0] + h)")))
        if self.random.random() < 0.2:
            count = self.random.randint(1, 3)
            lines.append(f"node r[i in 0..{count}] = {names[-1]} then r[i - 1] : {self._operation(width)}")
            names.append(self.random.choice(("r[-1]", "sum((r + [])[-1])")))
        if self.random.random() < 0.3:
            lines += self._required(names[0], width)
            names.append("sum(g)")
        if self.random.random() < 0.2:
            lines.append(f'assert {self._truth()} or w > 0, "never"')
        if self.random.random() < 0.3:
            inside = f"{self.random.choice(names)} -> out : {self._operation(width)}"
            lines.append(f"for i in 0..{self.random.randint(0, 3)} {{ {inside} }}")
        used = " ".join(f"{name} -> out : {self._to(width)}" for name in names)
        lines.append(used)
        return "{" + self._separator() + self._separator().join(self._spoiled(line) for line in lines) + "}"

    def _required(self, source: str, width: str) -> list[str]:
        """Nodes with edges that may be off, and conditions on them."""
        lines = ["node g[3]"]
        for i in range(3):
            edge = self.random.choice((f"optional conv({width}, 3)", f"choose 1 {self._set(width)}"))
            lines.append(f"{source}, g[0..{i}] -> g[{i}] : {edge}")
        conditions = self.random.sample(_CONDITIONS, self.random.randint(1, 2))
        return [*lines, *(f"require {condition.format(a=source)}" for condition in conditions)]

    def _node(self, name: str, names: list[str], width: str) -> str:
        source = self.random.choice(names)
        kind = self.random.randint(0, 3)
        if kind == 0:
            join = self.random.choice(("sum", "mean", "product"))
            if self.random.random() < 0.2:
                other = f"conv({width}, 1)({source})"
                return f"node {name} : difference {other} -> {name} {source} -> {name} : {self._operation(width)}"
            return f"node {name} : {join} {source} -> {name} : {self._operation(width)}"
        if kind == 1:
            return f"node {name} = concat({source}, {self.random.choice(names)})"
        if kind == 2:
            return f"node {name} = {source} : choose {self.random.choice(_COUNTS)}{self._set(width)}"
        return f"node {name} = {source} : {self._operation(width)}"

    def _shared(self, names: list[str], width: str) -> str:
        """Nodes `q` that use weights `t`: alone, repeated, as candidates, on equal inputs, in a loop."""
        operation = self._operation(width)
        if self.random.random() < 0.3:
            operation = f"choose {self._set(width)} > {operation}"
        uses = ("t", "t", "t > relu", "t * 2", "relu > t", "optional t", f"choose 1 {{ t, conv({width}) }}", "tt")
        count = self.random.randint(1, 3)
        source = f"node p = {self.random.choice(names)} : conv({width}, 1)"
        lines = [f"share t = {operation} share tt = t > bn", f"{source} node q[{count}]"]
        for i in range(count):
            read = self.random.choice(("p", "p", f"q[{i - 1}]" if i else "p"))
            lines.append(f"{read} -> q[{i}] : {self.random.choice(uses)}")
        if self.random.random() < 0.3:
            lines.append("for i in 0..2 { share own = t > bn p -> q[0] : own p -> q[0] : relu > own }")
        return " ".join(lines)

    def _chosen(self, names: list[str]) -> str:
        """A node `v`, computed with chosen numbers: a width, a kernel, a depth."""
        width, kernel, depth = (f"choose {{{', '.join(map(str, options))}}}" for options in self._options())
        steps = [self.random.choice(("conv(u, c)", "conv(u)", "conv(2 * u, 1)", "conv(6, c) > bn > conv(u, 1)"))]
        steps += (self.random.choice(_BY_CHANNEL) for _ in range(self.random.randint(0, 3)))
        if self.random.random() < 0.3:
            block = self.random.choice(("relu", "bn", "(conv() > bn)", "depthwise(c)", "conv(k = c)"))
            steps.append(f"{block} * ({depth})")
        if self.random.random() < 0.3:
            steps += self._motif("u")
        if self.random.random() < 0.1:
            steps.append(self.random.choice(("layer_norm", "conv(u, groups = 2)", "group_norm(2)")))  # not possible
        return f"let u = {width} let c = {kernel} node v = {self.random.choice(names)} : {' > '.join(steps)}"

    def _options(self) -> tuple[list[int], list[int], list[int]]:
        most = self.random.randint(1, 3)
        return tuple(self.random.sample(every, most) for every in ((2, 4, 5, 8), (1, 3, 5), (0, 1, 2, 3)))  # type: ignore[return-value]

    def _to(self, width: str) -> str:
        return self.random.choice((f"conv({width}, 1)", f"relu > conv({width}, 3)", f"conv({width}, 1) > optional bn"))

    def _operation(self, width: str) -> str:
        known = (*_ACTIVATIONS, *_ON_SEQUENCES) if self.sequences else (*_ACTIVATIONS, "layer_scale", "shift")
        steps = [self.random.choice(known) for _ in range(self.random.randint(0, 2))]
        if self.random.random() < 0.3:
            steps += self._motif(width)
        if self.random.random() < 0.2:
            steps.append(f"(if {self._truth()} then relu else tanh > bn)")
        steps = [self._repeated(step) for step in steps]
        self.size += len(steps) + 1
        return " > ".join([*steps, self._repeated(self._shaped(width))])

    def _motif(self, width: str) -> list[str]:
        """A use of a motif, if there is one that does not make the body too large."""
        fitting = [name for name, size in self.motifs.items() if self.size + 2 * size <= LARGEST]
        if not fitting:
            return []
        name = self.random.choice(fitting)
        self.size += 2 * self.motifs[name]  # operations are often used twice
        return [f"{name}({width})"]

    def _repeated(self, step: str) -> str:
        if self.random.random() < 0.8:
            return step
        times = self.random.choice(("0", "1", "2", "(1 + 1)", "len([3, 5])"))
        return self.random.choice((f"{step} * {times}", f"{times} * {step}", f"({step} > relu) * {times}"))

    def _shaped(self, width: str) -> str:
        shaped = self.random.choice(_WINDOWS if self.sequences else _SHAPED).format(
            w=width, k=self.random.choice((1, 3, 5))
        )
        if self.random.random() < 0.1:
            shaped = f'{self.random.choice(_PADDED)}(k = {self.random.choice((1, 2, 3, 4))}, padding = "same")'
        return shaped

    def _set(self, width: str) -> str:
        if self.sets and self.random.random() < 0.3:
            return f"{self.random.choice(self.sets)}({width})"
        options = {f"conv({width}, {k})" for k in self.random.sample((1, 3, 5, 7), self.random.randint(1, 3))}
        named = [self.random.choice((text, f"n{i} = {text}")) for i, text in enumerate(sorted(options))]
        text = "{" + ", ".join(named) + self.random.choice(("", ",")) + "}"
        if self.random.random() < 0.3:
            text += f" | {{conv({width}, k) for k in [3, 9]}}"
        return text

    def _number(self, least: int) -> str:
        return self.random.choice(
            (
                *(f"{self.random.randint(least, 9)}", "max(2, 3) * 2", "floor(7 / 2)", "2^3 - 1", "1 + 1/2 * 2"),
                *("2e0", "50e-1", "0_3", "sum([1, 2])", "sum(1..3)", "([1] + [2, 3])[1]", "[4, 5][-1]", "(2..5)[0]"),
                *(f"{function}(3)" for function in self.functions),
            )
        )

    def _function(self) -> str:
        return self.random.choice(
            ("max(1, floor(v))", "if v < 2 then 1 else 2", "ceil(v / 2) + 1", '(if "a" == "b" then 2 else 1) * ceil(v)')
        )

    def _truth(self) -> str:
        return self.random.choice(("true", "false", "not true", "1 < 2", "3 == 3 and 2 >= 1", "1 != 1 or true"))

    # ---- layout and faults

    def _separator(self) -> str:
        return self.random.choice(
            (" ", "\n", "\n\n\n", "\n    ", " // note\n", "\n/// said\n", " /* b */ ", "\n/* two\nlines */\n")
        )

    def _spoiled(self, text: str) -> str:
        if self.random.random() >= self.fault or not text:
            return text
        i = self.random.randrange(len(text))
        return self.random.choice(
            (
                text[:i] + text[i + 1 :],
                text[:i] + self.random.choice("{}[]()<>=:,.-+*/^|;#\"'é ") + text[i:],
                text.replace("conv", "covn", 1),
                text.replace(" : ", " = ", 1),
                text.replace("w", "unknown", 1),
                text.replace("->", "<-", 1),
                text.replace("3", "0", 1),
                text.replace("3", "10^9", 1),
                text.replace("relu", "relu(4)", 1),
                text.replace("a", "n1", 1),
            )
        )


def programs(fault: float) -> st.SearchStrategy[str]:
    """Random programs with this probability of an error per piece."""
    return st.randoms(use_true_random=False).map(lambda random: Program(random, fault).text())


def programs_with_requirements() -> st.SearchStrategy[str]:
    """Random programs of one network, without errors, that say which of their switches may be on together."""
    return st.randoms(use_true_random=False).map(lambda random: Program(random, 0).with_requirements())


_WORDS = [
    *sorted(reserved_words()),
    *("x", "h", "w", "0", "1", "3", "2.5", "10^9", "0..10^9", "1e9", "1e-400", "1_000", "relu", "conv", '"same"'),
    *("->", ":", "=", "==", ">", "<", "|", "+", "-", "*", "/", "^", ",", ".", ".."),
    *("(", ")", "[", "]", "{", "}", '"', "/*", "*/", "//", "///", "//!"),
]


def mutate(text: str, random: Random) -> str:
    """A text with a few typing errors."""
    for _ in range(random.randint(1, 4)):
        i = random.randrange(len(text) + 1)
        j = min(len(text), i + random.randint(1, 12))
        kind = random.randint(0, 6)
        if kind == 0:
            text = text[:i] + text[j:]
        elif kind == 1:
            text = text[:i] + f" {random.choice(_WORDS)} " + text[i:]
        elif kind == 2:
            text = text[:j] + text[i:j] + text[j:]
        elif kind == 3:
            text = text[:i] + random.choice("{}[]()<>=:,.-+*/^|;#\"'é\x00\t") + text[i:]
        elif kind == 4:
            lines = text.split("\n")
            del lines[random.randrange(len(lines))]
            text = "\n".join(lines)
        elif kind == 5:
            lines = text.split("\n")
            a, b = random.randrange(len(lines)), random.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            text = "\n".join(lines)
        else:
            word = random.choice(_WORDS)
            words = text.split(" ")
            words[random.randrange(len(words))] = word
            text = " ".join(words)
    return text
