"""Numbers that differ between the members of a class, as parameters of its constructor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bayesnas_graph.codegen.columns import Column, Term, all_equal, typed
from bayesnas_graph.codegen.names import identifier
from bayesnas_graph.ir import NumberArgument, Plain
from bayesnas_graph.ir.call import DEFAULTS, python_literal

# Sizes are positional arguments, in this order: of the input, between, of the output. All others are keywords.
SIZES = ("channels", "inner", "width", "size")

MIN_EVIDENCE = 3  # distinct values that must agree before one size is computed from another


@dataclass(frozen=True, slots=True)
class ClassParameter:
    """A parameter of a constructor, with its value for every member of the class."""

    name: str
    role: str
    values: tuple[Plain, ...]

    @property
    def default(self) -> Plain | None:
        """The default of torch for this role, if a member uses it."""
        default = DEFAULTS.get(self.role)
        return default if default in self.values else None

    @property
    def declaration(self) -> str:
        default = "" if self.default is None else f" = {python_literal(self.default)}"
        return f"{self.name}: {_type(self.values)}{default}"

    def argument(self, value: Plain, term: Term | None) -> str | None:
        """The argument in a call, as a term or else as the value itself; None if it is the default."""
        if term is None and value == self.default:
            return None
        text = python_literal(value) if term is None else str(term)
        return text if self.role in SIZES else f"{self.name}={text}"


def class_parameters(
    rows: Sequence[Sequence[NumberArgument]], taken: Collection[str]
) -> tuple[list[Term | None], list[ClassParameter]]:
    """The term for each number in the constructor, and the parameters. `rows` has a row for every member.

    Numbers that always agree are one parameter.

    >>> from bayesnas_graph.ir.call import numbers
    >>> rows = [numbers(kernel=k, padding=p, stride=1) for k, p in [(3, 1), (5, 2)]]
    >>> terms, parameters = class_parameters(rows, ())
    >>> [term and str(term) for term in terms], [parameter.name for parameter in parameters]
    (['kernel', 'kernel // 2', None], ['kernel'])
    """
    columns: dict[object, Column[Plain]] = {}
    by_number: list[Column[Plain] | None] = []
    for entries in zip(*rows, strict=True):
        values = tuple(number.value for number in entries)
        if all_equal(values):
            by_number.append(None)
            continue
        role = entries[0].role
        is_size = role in SIZES or role in ("norm", "groups")
        key = "size" if is_size else role, typed(values)
        if key not in columns:
            if role == "norm":
                role = "width" if any(column.role in SIZES for column in columns.values()) else "channels"
            columns[key] = Column(role, values)
        by_number.append(columns[key])
    distinct = list(columns.values())
    _derive_paddings([column for column in distinct if column.is_whole])
    _derive_sizes([column for column in distinct if column.is_whole and column.role in SIZES])
    names = _names([column for column in distinct if column.base is None], taken)
    terms = [None if column is None else column.term(names) for column in by_number]
    return terms, [ClassParameter(name, column.role, column.values) for column, name in names.items()]


def _type(values: Sequence[Plain]) -> str:
    """The type of some values in Python."""
    kinds = {type(value) for value in values}
    shown = [next(kind.__name__ for kind in (float, int, bool) if kind in kinds)] if kinds - {str, tuple} else []
    shown += ["str"] if str in kinds else []
    arrays = [value for value in values if isinstance(value, tuple)]
    if arrays:
        items = [item for array in arrays for item in array]
        kind = _type(items) if items else "int"
        shown.append(f"tuple[{kind}, {kind}]" if {len(array) for array in arrays} == {2} else f"tuple[{kind}, ...]")
    return " | ".join(shown)


def _derive_paddings(columns: list[Column[Plain]]) -> None:
    """Compute a padding that keeps the size from the window."""
    for padding in [column for column in columns if column.role == "padding"]:
        for window in [column for column in columns if column.role in ("kernel", "dilation")]:
            template = "{} // 2" if window.role == "kernel" else "{}"
            reach = [k // 2 if window.role == "kernel" else k for k in window.integers()]
            for times in (1, 2):  # twice for a dilated window, or one with five rows
                if padding.integers() == [times * r for r in reach]:
                    padding.base, padding.template = window, template if times == 1 else _twice(template)


def _twice(template: str) -> str:
    return f"2 * ({template})" if " " in template else f"2 * {template}"


def _derive_sizes(sizes: list[Column[Plain]]) -> None:
    """Make the first and last size parameters. Others may be a multiple of one of them, or a constant more."""
    inputs = [column for column in sizes if column.role == "channels"]
    outputs = [column for column in sizes if column.role == "width"]
    bases = [*inputs[:1], *outputs[-1:]]
    for size in [column for column in sizes if column not in bases]:
        for base in bases:
            template = _relation(base, size)
            if template and size.base is None:
                size.base, size.template = base, template
        if size.base is None:
            bases.append(size)


def _relation(base: Column[Plain], size: Column[Plain]) -> str | None:
    """A template for `size` in terms of `base`, if there is enough evidence for a simple one."""
    pairs = list(zip(base.integers(), size.integers(), strict=True))
    if len(set(base.values)) < MIN_EVIDENCE or min(min(pair) for pair in pairs) < 1:
        return None
    (b, s), *_ = pairs
    if all(b * y == s * x for x, y in pairs):
        return f"{{}} * {s // b}" if s % b == 0 else f"{{}} // {b // s}" if b % s == 0 else None
    return f"{{}} + {s - b}" if s > b and all(y - x == s - b for x, y in pairs) else None


def _names(columns: list[Column[Plain]], taken: Collection[str]) -> dict[Column[Plain], str]:
    """The names of the parameters, in their order. Of several widths, only the last is that of the output."""
    widths = [column for column in columns if column.role == "width"]
    for column in widths[:-1]:
        column.role = "inner"
    names: dict[Column[Plain], str] = {}
    for column in sorted(columns, key=_position):
        names[column] = identifier(column.role, {"self", *taken, *names.values()}, "")
    return names


def _position(column: Column[Plain]) -> int:
    if column.role in SIZES:
        return SIZES.index(column.role)
    return len(SIZES) + (DEFAULTS.get(column.role) in column.values)  # parameters with a default come last
