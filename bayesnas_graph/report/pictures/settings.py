"""The arguments of operations and motifs, as the boxes of a picture show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bayesnas_graph.ir import Op
from bayesnas_graph.language.elaborate.block import Block
from bayesnas_graph.language.elaborate.number_choices import Chosen
from bayesnas_graph.language.elaborate.values import OptionSet, Selection, Use, Value, show
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.report.pictures.words import shortened, value_text

ROOM, LONGEST = 22, 28  # characters in a line of a box, and of a single argument in it
MOST_LINES = 4
MOST_LISTED = 2  # different values that are listed; of more, only the range is shown


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument, with its values in all the uses that one box stands for."""

    name: str
    values: tuple[int | str | bool, ...]  # without repetitions
    shown: bool = True  # not if it has its default

    @property
    def certain(self) -> bool:
        """Whether it is a single number or name, not a flag and not different from use to use."""
        return self.shown and len(self.values) == 1 and not isinstance(self.values[0], bool)

    def __str__(self) -> str:
        """The text in a box.

        >>> print(Setting("k", (3,)), Setting("k", (3, 5)), Setting("width", (64, 128, 256)), sep="; ")
        k 3; k 3 or 5; width 64 to 256
        >>> print(Setting("affine", (True,)), Setting("affine", (True, False)), sep="; ")
        affine; affine or not
        """
        if len(self.values) == 2 and all(isinstance(value, bool) for value in self.values):
            return shortened(self.name, LONGEST - len(" or not")) + " or not"
        if self.values[0] is True and len(self.values) == 1:
            return shortened(self.name, LONGEST)
        numbers = [value for value in self.values if type(value) is int]
        if len(self.values) <= MOST_LISTED:
            text = " or ".join(map(_word, self.values))
        elif len(numbers) == len(self.values):
            text = f"{min(numbers)} to {max(numbers)}"
        else:
            text = f"{_word(self.values[0])} or …"
        return shortened(f"{self.name} {text}", LONGEST)


Settings = tuple[Setting, ...]


def settings_of(op: Op) -> Settings:
    """The arguments of an operation."""
    changed = op.changed()
    return tuple(
        Setting(name, (_plain(value),), name in changed or name in op.always_shown)
        for name, value in op.settings().items()
    )


def settings_of_motif(block: Block) -> Settings:
    """The arguments of a motif. Those that equal a default which is a plain number are not shown, nor is a plain no."""
    defaults = {parameter.name.name: parameter.default for parameter in block.definition.parameters}
    settings = []
    for name, value in block.arguments:
        default = defaults.get(name)
        is_default = isinstance(default, ast.Number | ast.Boolean) and default.value == value
        is_no = value is False and default is None
        settings.append(Setting(name, (_brief(value),), not is_default and not is_no))
    return tuple(settings)


def merged_settings(alike: Sequence[Settings]) -> Settings:
    """The arguments of several uses that are drawn as one box."""
    by_name: dict[str, list[Setting]] = {}
    for setting in (setting for settings in alike for setting in settings):
        by_name.setdefault(setting.name, []).append(setting)
    merged = []
    for name, same in by_name.items():
        values = tuple(dict.fromkeys(value for setting in same for value in setting.values))
        merged.append(Setting(name, values, any(setting.shown for setting in same)))
    return tuple(merged)


def settings_lines(settings: Iterable[Setting]) -> tuple[str, ...]:
    """The arguments in lines of a box. If there are too many, the last line is an ellipsis."""
    lines: list[str] = []
    for part in (str(setting) for setting in settings if setting.shown):
        if lines and len(lines[-1]) + len(part) + 2 <= ROOM:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return tuple(lines) if len(lines) <= MOST_LINES else (*lines[: MOST_LINES - 1], "…")


def _brief(value: Value) -> int | str | bool:
    """A value for a box. Choices and sets are too long for it: only their size is shown."""
    match value:
        case int():
            return value
        case Use():
            return value.function.definition.name.name
        case Chosen():
            return f"choice of {len(set(value.values))}"
        case Selection():
            return f"choice of {len(value.candidates)}"
        case OptionSet():
            return f"set of {len(value.items)}"
        case _:
            return value_text(value)


def _plain(value: object) -> int | str | bool:
    match value:
        case int():
            return value
        case Fraction():
            return show(value)
        case tuple():
            return "x".join(map(str, value))
        case None:
            return "same"
        case _:
            return str(value)


def _word(value: int | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
