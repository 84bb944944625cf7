"""Numbers that differ between the members of a class, as parameters of its constructor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bayesnas_graph.codegen.emit.names import identifier
from bayesnas_graph.codegen.emit.signatures import SIGNATURES, Number, Plain

# Sizes are given by position, in this order: of the input, between, of the output. All else is given by name.
SIZES = ("channels", "inner", "width", "size")

# What a parameter of ours need not be told, as with torch.
DEFAULTS = {name: value for _, defaults in SIGNATURES.values() for name, value in defaults.items()}

EVIDENCE = 3  # different values that must agree before one size is told by another


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a constructor, with its value for every member of the class."""

    name: str
    role: str
    values: tuple[Plain, ...]

    @property
    def default(self) -> Plain | None:
        """What it is if it is left out, where that is of use."""
        default = DEFAULTS.get(self.role)
        return default if default in self.values else None

    @property
    def declaration(self) -> str:
        kinds = {type(value) for value in self.values}
        kind = next(kind.__name__ for kind in (float, int, bool) if kind in kinds)
        return f"{self.name}: {kind}" + ("" if self.default is None else f" = {self.default!r}")

    def argument(self, value: Plain, text: str | None) -> str | None:
        """How it is told in a call, by a text or else as the value itself; not at all if it need not be."""
        if text is None and value == self.default:
            return None
        told = text or repr(value)
        return told if self.role in SIZES else f"{self.name}={told}"


@dataclass(eq=False)
class _Column:
    """A number that differs between members; `text` tells it by others, if it can be."""

    role: str
    values: tuple[Plain, ...]
    text: str = ""  # with a place for the name of `base`
    base: _Column | None = None

    @property
    def whole(self) -> bool:
        """Whether it can be calculated with; an operation of the user's may have any number as its width."""
        return all(type(value) is int for value in self.values)


def parametrise(rows: Sequence[Sequence[Number]], taken: Collection[str]) -> tuple[list[str | None], list[Parameter]]:
    """What stands for each number in the constructor, and the parameters. `rows` has a row for every member.

    Numbers that always agree are one parameter.

    >>> rows = [[Number("kernel", k), Number("padding", p), Number("stride", 1)] for k, p in [(3, 1), (5, 2)]]
    >>> texts, parameters = parametrise(rows, ())
    >>> texts, [parameter.name for parameter in parameters]
    (['kernel', 'kernel // 2', None], ['kernel'])
    """
    columns: dict[object, _Column] = {}
    places: list[_Column | None] = []
    for entries in zip(*rows, strict=True):
        values = tuple(number.value for number in entries)
        kinds = tuple(map(type, values))
        if len(set(zip(kinds, values, strict=True))) == 1:
            places.append(None)
            continue
        role = entries[0].role
        is_size = role in SIZES or role in ("norm", "groups")
        key = "size" if is_size else role, kinds, values
        if key not in columns:
            if role == "norm":
                role = "width" if any(column.role in SIZES for column in columns.values()) else "channels"
            columns[key] = _Column(role, values)
        places.append(columns[key])
    found = list(columns.values())
    _tell_paddings([column for column in found if column.whole])
    _tell_sizes([column for column in found if column.whole and column.role in SIZES])
    names = _names([column for column in found if column.base is None], taken)
    texts = [None if column is None else _text(column, names) for column in places]
    return texts, [Parameter(name, column.role, column.values) for column, name in names.items()]


def _tell_paddings(columns: list[_Column]) -> None:
    """A padding that keeps the size is told by the window."""
    for padding in [column for column in columns if column.role == "padding"]:
        for window in [column for column in columns if column.role in ("kernel", "dilation")]:
            text = "{} // 2" if window.role == "kernel" else "{}"
            reach = [int(k) // 2 if window.role == "kernel" else int(k) for k in window.values]
            for times in (1, 2):  # so far a window reaches that is dilated or has five rows
                if padding.values == tuple(times * r for r in reach):
                    padding.base, padding.text = window, text if times == 1 else _twice(text)


def _twice(text: str) -> str:
    return f"2 * ({text})" if " " in text else f"2 * {text}"


def _tell_sizes(sizes: list[_Column]) -> None:
    """The first and the last size are told; those between may be a multiple of one of them, or a few more."""
    inputs = [column for column in sizes if column.role == "channels"]
    outputs = [column for column in sizes if column.role == "width"]
    told = [*inputs[:1], *outputs[-1:]]
    for size in [column for column in sizes if column not in told]:
        for base in told:
            text = _relation(base, size)
            if text and size.base is None:
                size.base, size.text = base, text
        if size.base is None:
            told.append(size)


def _relation(base: _Column, size: _Column) -> str | None:
    pairs = [(int(b), int(s)) for b, s in zip(base.values, size.values, strict=True)]
    if len(set(base.values)) < EVIDENCE or min(min(pair) for pair in pairs) < 1:
        return None
    (b, s), *_ = pairs
    if all(b * y == s * x for x, y in pairs):
        return f"{{}} * {s // b}" if s % b == 0 else f"{{}} // {b // s}" if b % s == 0 else None
    return f"{{}} + {s - b}" if s > b and all(y - x == s - b for x, y in pairs) else None


def _names(columns: list[_Column], taken: Collection[str]) -> dict[_Column, str]:
    """The parameters in their order; of several widths only the last is that of the output."""
    widths = [column for column in columns if column.role == "width"]
    for column in widths[:-1]:
        column.role = "inner"
    names: dict[_Column, str] = {}
    for column in sorted(columns, key=_place):
        names[column] = identifier(column.role, {"self", *taken, *names.values()}, "")
    return names


def _place(column: _Column) -> int:
    if column.role in SIZES:
        return SIZES.index(column.role)
    return len(SIZES) + (DEFAULTS.get(column.role) in column.values)  # Python wants those with a default last


def _text(column: _Column, names: dict[_Column, str]) -> str:
    return names[column] if column.base is None else column.text.format(names[column.base])
