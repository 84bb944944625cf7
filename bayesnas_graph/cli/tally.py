"""How many switches are open, by the cell they are in and the operation they let through, in a table that fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from bayesnas_graph.runs.reading.outline import Switch

Key = tuple[str, str]  # row and column
GAP = 2  # blanks between columns


@dataclass(frozen=True)
class Tally:
    """A table of `open/all`."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    open: Mapping[Key, int]
    all: Mapping[Key, int]

    @staticmethod
    def of(switches: Iterable[Switch], alive: Container[str]) -> Tally:
        """Cells, motifs and networks as they come; operations by how frequent they are, with zero switches last."""
        counted = list(switches)
        frequency = Counter(switch.operation for switch in counted)
        zeros = {switch.operation for switch in counted if switch.is_zero}
        operations = sorted(frequency, key=lambda operation: (operation in zeros, -frequency[operation]))
        return Tally(
            rows=tuple(dict.fromkeys(switch.part for switch in counted)),
            columns=tuple(operations),
            open=Counter((switch.part, switch.operation) for switch in counted if switch.name in alive),
            all=Counter((switch.part, switch.operation) for switch in counted),
        )

    def lines(self, width: int, height: int) -> list[str]:
        """The table in at most so many lines of at most so many characters, on its side if that fits better.

        What there is no room for is counted together, the least frequent operations first. Nothing is shown where
        even that is too large.
        """
        turned = self._turned()
        for table in (self, turned):
            if table._width() <= width and len(table.rows) < height:
                return table._text()
        table = self if self._width() <= width else turned
        if len(table.rows) >= height:
            table = table._turned()._with_columns(max(0, height - 2))._turned()
        most = min(len(table.columns), width // (GAP + len("1/1")))  # not more than could fit anyway
        narrower = (table._with_columns(number) for number in range(most, -1, -1))
        return next((found._text() for found in narrower if found._width() <= width and len(found.rows) < height), [])

    def _turned(self) -> Tally:
        def turned(counts: Mapping[Key, int]) -> dict[Key, int]:
            return {(column, row): count for (row, column), count in counts.items()}

        return Tally(self.columns, self.rows, turned(self.open), turned(self.all))

    def _with_columns(self, number: int) -> Tally:
        """The first so many columns, and one for all others."""
        if number == len(self.columns):
            return self
        others = f"{len(self.columns) - number} more" if number else "all"
        name = {column: column if i < number else others for i, column in enumerate(self.columns)}

        def together(counts: Mapping[Key, int]) -> Counter[Key]:
            found: Counter[Key] = Counter()
            for (row, column), count in counts.items():
                found[row, name[column]] += count
            return found

        return Tally(self.rows, tuple(dict.fromkeys(name.values())), together(self.open), together(self.all))

    def _cells(self) -> list[list[str]]:
        """The heads and the entries; a cell without the operation has none."""

        def entry(key: Key) -> str:
            return f"{self.open.get(key, 0):,}/{self.all[key]:,}" if key in self.all else ""

        return [["", *self.columns], *([row, *(entry((row, column)) for column in self.columns)] for row in self.rows)]

    def _widths(self) -> list[int]:
        return [max(map(len, column)) for column in zip(*self._cells(), strict=True)]

    def _width(self) -> int:
        return sum(self._widths()) + GAP * len(self.columns)

    def _text(self) -> list[str]:
        first, *others = self._widths()
        lines = []
        for row, *entries in self._cells():
            texts = (f"{entry:>{GAP + width}}" for entry, width in zip(entries, others, strict=True))
            lines.append(f"{row:<{first}}{''.join(texts)}".rstrip())
        return lines
