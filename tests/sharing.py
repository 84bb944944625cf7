"""Random programs whose values share parts: short texts, many of which would expand to something huge."""

from __future__ import annotations

from random import Random

MOTIFS = """\
motif both(f, g) { in x  x -> out : f > g }
motif twice(f, w = 1) { in x  x -> out : f > f }
motif deep(d, f, w) { in x  x -> out : if d <= 0 then f else deep(d - 1, f, [w, w]) }
motif pass(m, f, a) { in x  x -> out : m(f, a) }
motif grow(d, f) { in x  x -> out : if d <= 0 then f else grow(d - 1, f > f) }
cell wide(f, a) { in x  node h = x : f  x, h -> out }
set some(f, a = 1) = { f, tanh, f > relu }
"""


class Sharing:
    """Generates a random program of `let` definitions, each made of the ones before it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.operations = ["relu", "bn"]
        self.arrays = ["[1, 2]", "[[]]"]
        self.numbers = ["1", "2"]
        self.motifs = ["both", "twice", "pass", "wide"]

    def text(self) -> str:
        parts = [MOTIFS]
        # A few kinds per program, so that chains of one kind get long.
        kinds = self.random.sample(range(4), self.random.randint(1, 3))
        for i in range(self.random.choice((4, 12, 40, 70))):
            parts.append(self._let(f"v{i}", self.random.choice(kinds)))
        parts.append(self._network())
        return "\n".join(parts)

    def _let(self, name: str, kind: int) -> str:
        if kind == 0:
            value, names = self._array(), self.arrays
        elif kind == 1:
            value, names = self._operation(), self.operations
        elif kind == 2:
            value, names = self._number(), self.numbers
        else:
            value, names = self.random.choice(self.motifs), self.motifs
        names.append(name)
        return f"let {name} = {value}"

    def _recent(self, names: list[str]) -> str:
        """Mostly the last one: that is what makes sizes double."""
        return names[-1] if self.random.random() < 0.8 else self.random.choice(names)

    def _array(self) -> str:
        a, b = self._recent(self.arrays), self._recent(self.arrays)
        return self.random.choice(
            (
                f"[{a}, {b}]",
                f"[{a}, {b}, {a}]",
                f"[{a} for i in 0..{self.random.randint(1, 4)}]",
                f"[[{a}, k] for k in {b}]",
                f"if {self._truth()} then {a} else [{b}]",
                f"{a}[0..1]",
                f"[{self._recent(self.operations)}, {a}]",
            )
        )

    def _operation(self) -> str:
        f, g, a = self._recent(self.operations), self._recent(self.operations), self._recent(self.arrays)
        return self.random.choice(
            (
                f"{f} > {g}",
                f"choose {{ {f}, {g} > relu }}",
                f"choose 1 {{ {f}, {g} > tanh, relu }}",
                f"optional {f}",
                f"both({f}, {g})",
                f"twice({f}, {a})",
                f"wide({f}, {a})",
                f"deep({self.random.choice((2, 30))}, {f}, {a})",
                f"grow({self.random.choice((2, 30))}, {f})",
                f"pass({self._recent(self.motifs)}, {f}, {a})",
                f"choose some({f}, {a})",
                f"if {self._truth()} then {f} else {g} > {f}",
            )
        )

    def _number(self) -> str:
        a, b = self._recent(self.numbers), self._recent(self.numbers)
        array = self._recent(self.arrays)
        return self.random.choice((f"{a} + {b}", f"{a} * {b}", f"{a} ^ 2", f"{a} / 3 - {b}", f"len({array})", f"-{a}"))

    def _truth(self) -> str:
        names = self.random.choice((self.arrays, self.operations, self.numbers, self.motifs))
        sign = self.random.choice(("==", "!="))
        return f"{self._recent(names)} {sign} {self._recent(names)}"

    def _network(self) -> str:
        lines = ["in x", "node h = x : conv(4, 1)"]
        for i in range(self.random.randint(1, 3)):
            lines.append(f"node n{i} = h : {self._recent(self.operations)}")
            lines.append(f"n{i} -> out : conv(if {self._truth()} then 4 else 4, 1)")
        return f"network net : image(4, 8, 8) -> image(4, 8, 8) {{ {'  '.join(lines)} }}\n"
