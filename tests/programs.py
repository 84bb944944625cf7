"""Random programs: most are valid, many have an error, all are badly formatted."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from bayesnas_graph.language.syntax import reserved_words

_ACTIVATIONS = ("relu", "relu6", "swish", "gelu", "tanh", "bn", "identity", "dropout(0.3)", "layer_norm")
_SHAPED = ("conv({w}, {k})", "conv({w}, 1)", "max_pool({k})", "avg_pool({k})", "depthwise({k})", "conv(k = {k})")
_BY_CHANNEL = ("relu", "bn", "swish", "tanh", "max_pool(3)", "conv()", "depthwise(c)", "dropout(0.3)", "optional bn")
_COUNTS = ("", "", "1 ", "1 ", "exactly 1 ", "exactly 1 ", "2 of ", "exactly 2 - 1 of ", "max(1, 2) of ")
_CONDITIONS = (
    *("inputs(g[2]) == 2", "inputs(g[1]) <= 1", "inputs(g[2]) >= 1 + 1", "edges <= 4", "edges > 2", "edges == 4"),
    *("edge({a}, g[1]) implies edge(g[0], g[2])", "not (edge({a}, g[1]) and edge({a}, g[2]))", "edge(g[1], g[2])"),
    *("edge({a}, g[0]) or edge({a}, g[1])", "edge({a}, g[1]) implies not edge({a}, g[2]) and edge({a}, g[0])"),
)


class Program:
    """Generates a random program. `fault` is the probability that a piece is wrong."""

    def __init__(self, random: Random, fault: float) -> None:
        self.random = random
        self.fault = fault
        self.motifs: list[str] = []  # names of motifs that take a width and keep the size
        self.sets: list[str] = []

    def text(self) -> str:
        items = ['import "std.nas"'] if self.random.random() < 0.5 else []
        if self.random.random() < 0.5:
            items.append(f"let base = {self._number(1)}")
        for i in range(self.random.randint(0, 2)):
            items.append(f"set s{i}(w = 4) = {self._set('w')}")
            self.sets.append(f"s{i}")
        for i in range(self.random.randint(0, 3)):
            role = self.random.choice(("motif", "cell"))
            items.append(f"{role} m{i}(w, deep = {self._truth()}) {self._body('w')}")
            self.motifs.append(f"m{i}")
        items.append(
            f"network net(w = {self.random.randint(1, 8)}) : image(4, 8, 8) -> image(w, 8, 8) {self._body('w')}"
        )
        return self._separator().join(self._spoiled(item) for item in items) + self._separator()

    # ---- pieces

    def _body(self, width: str) -> str:
        names = ["a"]
        lines = ["in a"]
        for i in range(self.random.randint(0, 3)):
            lines.append(self._node(f"n{i}", names, width))
            names.append(f"n{i}")
        if self.random.random() < 0.3:
            lines.append(f"let k = {self._number(1)}")
        if self.random.random() < 0.3:
            lines.append(self._chosen(names))
            names.append("v")
        if self.random.random() < 0.3:
            lines.append(f"node h[{self.random.randint(1, 3)}] = {names[-1]} : {self._operation(width)}")
            names.append("sum(h)")
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
            return f"node {name} : {join} {source} -> {name} : {self._operation(width)}"
        if kind == 1:
            return f"node {name} = concat({source}, {self.random.choice(names)})"
        if kind == 2:
            return f"node {name} = {source} : choose {self.random.choice(_COUNTS)}{self._set(width)}"
        return f"node {name} = {source} : {self._operation(width)}"

    def _chosen(self, names: list[str]) -> str:
        """A node `v`, computed with chosen numbers: a width, a kernel, a depth."""
        width, kernel, depth = (f"choose {{{', '.join(map(str, options))}}}" for options in self._options())
        steps = [self.random.choice(("conv(u, c)", "conv(u)", "conv(2 * u, 1)", "conv(6, c) > bn > conv(u, 1)"))]
        steps += (self.random.choice(_BY_CHANNEL) for _ in range(self.random.randint(0, 3)))
        if self.random.random() < 0.3:
            block = self.random.choice(("relu", "bn", "(conv() > bn)", "depthwise(c)", "conv(k = c)"))
            steps.append(f"{block} * ({depth})")
        if self.motifs and self.random.random() < 0.3:
            steps.append(f"{self.random.choice(self.motifs)}(u)")
        if self.random.random() < 0.1:
            steps.append(self.random.choice(("layer_norm", "conv(u, groups = 2)", "group_norm(2)")))  # not possible
        return f"let u = {width} let c = {kernel} node v = {self.random.choice(names)} : {' > '.join(steps)}"

    def _options(self) -> tuple[list[int], list[int], list[int]]:
        most = self.random.randint(1, 3)
        return tuple(self.random.sample(every, most) for every in ((2, 4, 5, 8), (1, 3, 5), (0, 1, 2, 3)))  # type: ignore[return-value]

    def _to(self, width: str) -> str:
        return self.random.choice((f"conv({width}, 1)", f"relu > conv({width}, 3)", f"conv({width}, 1) > optional bn"))

    def _operation(self, width: str) -> str:
        steps = [self.random.choice(_ACTIVATIONS) for _ in range(self.random.randint(0, 2))]
        if self.motifs and self.random.random() < 0.3:
            steps.append(f"{self.random.choice(self.motifs)}({width})")
        if self.random.random() < 0.2:
            steps.append(f"(if {self._truth()} then relu else tanh > bn)")
        return " > ".join([*steps, self._shaped(width)])

    def _shaped(self, width: str) -> str:
        return self.random.choice(_SHAPED).format(w=width, k=self.random.choice((1, 3, 5)))

    def _set(self, width: str) -> str:
        if self.sets and self.random.random() < 0.3:
            return f"{self.random.choice(self.sets)}({width})"
        options = {f"conv({width}, {k})" for k in self.random.sample((1, 3, 5, 7), self.random.randint(1, 3))}
        text = "{" + ", ".join(sorted(options)) + self.random.choice(("", ",")) + "}"
        if self.random.random() < 0.3:
            text += f" | {{conv({width}, k) for k in [3, 9]}}"
        return text

    def _number(self, least: int) -> str:
        return self.random.choice(
            (f"{self.random.randint(least, 9)}", "max(2, 3) * 2", "floor(7 / 2)", "2^3 - 1", "1 + 1/2 * 2")
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


_WORDS = [
    *sorted(reserved_words()),
    *("x", "h", "w", "0", "1", "3", "2.5", "10^9", "0..10^9", "relu", "conv"),
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
