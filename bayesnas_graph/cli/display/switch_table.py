"""The table of open switches, by cell and operation, in the space available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from bayesnas_graph.runs.reading.outline import OutlineSwitch

Key = tuple[str, str]  # row and column
GAP = 2  # spaces between columns


@dataclass(frozen=True)
class SwitchTable:
    """A table of entries `open/all`."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    open: Mapping[Key, int]
    all: Mapping[Key, int]

    @staticmethod
    def of(switches: Iterable[OutlineSwitch], alive: Container[str]) -> SwitchTable:
        """Return the table: rows in the order of the space, operations by frequency, zero switches last."""
        counted = list(switches)
        frequency = Counter(switch.operation for switch in counted)
        zeros = {switch.operation for switch in counted if switch.is_zero}
        operations = sorted(frequency, key=lambda operation: (operation in zeros, -frequency[operation]))
        return SwitchTable(
            rows=tuple(dict.fromkeys(switch.part for switch in counted)),
            columns=tuple(operations),
            open=Counter((switch.part, switch.operation) for switch in counted if switch.name in alive),
            all=Counter((switch.part, switch.operation) for switch in counted),
        )

    def lines(self, width: int, height: int) -> list[str]:
        """Return the table in at most `height` lines of `width` characters, transposed if that fits better.

        Columns that do not fit are combined, the least frequent operations first. The result is empty if even that
        is too large.
        """
        transposed = self._transposed()
        for table in (self, transposed):
            if table._width() <= width and len(table.rows) < height:
                return table._text()
        table = self if self._width() <= width else transposed
        if len(table.rows) >= height:
            table = table._transposed()._with_columns(max(0, height - 2))._transposed()
        most = min(len(table.columns), width // (GAP + len("1/1")))  # more cannot fit
        narrower = (table._with_columns(number) for number in range(most, -1, -1))
        return next((table._text() for table in narrower if table._width() <= width and len(table.rows) < height), [])

    def _transposed(self) -> SwitchTable:
        def transposed(counts: Mapping[Key, int]) -> dict[Key, int]:
            return {(column, row): count for (row, column), count in counts.items()}

        return SwitchTable(self.columns, self.rows, transposed(self.open), transposed(self.all))

    def _with_columns(self, number: int) -> SwitchTable:
        """Return the first columns, and one column for all others."""
        if number == len(self.columns):
            return self
        others = f"{len(self.columns) - number} more" if number else "all"
        name = {column: column if i < number else others for i, column in enumerate(self.columns)}

        def combined(counts: Mapping[Key, int]) -> Counter[Key]:
            sums: Counter[Key] = Counter()
            for (row, column), count in counts.items():
                sums[row, name[column]] += count
            return sums

        return SwitchTable(self.rows, tuple(dict.fromkeys(name.values())), combined(self.open), combined(self.all))

    def _cells(self) -> list[list[str]]:
        """Return headings and entries; an entry is empty where a cell does not have the operation."""

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
