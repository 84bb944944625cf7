"""`--settings`: all settings of a verb in groups, with what differs from the default and where it was set."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.options import help_text
from bayesnas_graph.cli.terminal import bold, dim, text_width
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.wrapping import wrapped
from bayesnas_graph.runs.config.groups import Group
from bayesnas_graph.runs.settings import Settings

WIDTH = 100  # columns where the output is not a terminal
LONGEST_VALUE = 12  # columns of a value; the description of a longer one starts on the next line


@dataclass(frozen=True)
class SettingRow:
    """A setting, or an entry of one that is a table."""

    group: str
    key: str
    value: object
    default: object
    help: str
    origin: str  # where it was set; empty if it was not

    @property
    def differs(self) -> bool:
        """Whether the value is not the default."""
        return self.value != self.default


def show_settings(config: Group, layers: Sequence[Settings]) -> None:
    """Print all settings. Every key can be set with `-s`."""
    rows = list(_rows(config, layers))
    width = max(len(row.key) for row in rows)
    group = ""
    for row in rows:
        if row.group != group:
            echo(f"\n{bold(row.group)}")
            group = row.group
        for line in _lines(row, width):
            echo(line)
    if any(row.differs for row in rows):
        echo(dim("\n* differs from the default"))


def _lines(row: SettingRow, width: int) -> Iterator[str]:
    value, mark = _shown(row.value), "*" if row.differs else " "
    indent = width + LONGEST_VALUE + 6
    first, *others = wrapped(row.help, text_width(sys.stdout) or WIDTH, indent)
    head = f"{row.key:<{width}}  {bold(value) if row.differs else value}"
    if len(value) > LONGEST_VALUE:
        yield f"{head}  {mark}".rstrip()
        yield " " * indent + first
    else:
        yield f"{head}{' ' * (LONGEST_VALUE - len(value))}  {mark} {first}"
    yield from others
    if row.origin:
        default = f"default {_shown(row.default)}; " if row.differs and row.default is not None else ""
        yield " " * indent + dim(f"{default}set by {row.origin}")


def _rows(config: Group, layers: Sequence[Settings]) -> Iterator[SettingRow]:
    kind = type(config)
    for name, field in kind.model_fields.items():
        key, value, default = field.alias or name, getattr(config, name), field.get_default()
        group, help = _group(kind, name), help_text(field)
        if not isinstance(value, dict):
            yield SettingRow(group, key, value, default, help, _origin(layers, (name, key)))
        elif not value:
            yield SettingRow(group, key, None, default or None, help, _origin(layers, (name, key)))
        else:
            for entry, one in value.items():
                origin = _origin(layers, (name, key), entry)
                yield SettingRow(group, f"{key}.{entry}", one, default.get(entry), help, origin)


def _group(kind: type[Group], name: str) -> str:
    """Return the title of the group of a setting: the most general class that has it."""
    groups = [one for one in reversed(kind.__mro__) if issubclass(one, Group)]
    return next(group.title for group in groups if name in inspect.get_annotations(group))


def _origin(layers: Sequence[Settings], names: tuple[str, str], entry: str | None = None) -> str:
    """Return where a setting was set last."""
    for layer in reversed(layers):
        found = next((layer.values[name] for name in names if name in layer.values), None)
        if found is not None and (entry is None or (isinstance(found, Mapping) and entry in found)):
            return layer.flag or _shorter(layer.source.name)
    return ""


def _shorter(name: str) -> str:
    """Return the name of a settings file: only its last part if it is shipped."""
    path = Path(name)
    return path.name if path.parent == folder("spaces") else name


def _shown(value: object) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
