"""Settings from files and from the command line, each with its location for error messages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from errno import EFBIG
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, Report, did_you_mean
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.runs.config.groups import Group
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.consent import USES, check_consent
from bayesnas_graph.runs.toml_keys import find

LARGEST = 2**20  # bytes of a settings file
LONGEST_SHOWN = 60  # characters of a value in a message
COMMAND_LINE = "the command line"

C = TypeVar("C", bound=Group)


@dataclass(frozen=True, eq=False)
class Settings:
    """Values by key, and the text they were read from."""

    source: Source
    values: Mapping[str, Any]
    origin: Literal["file", "command line", "Python"] = field(default="file", kw_only=True)
    flag: str = field(default="", kw_only=True)  # on the command line: the option

    @property
    def on_command_line(self) -> bool:
        """Whether the text is from the command line."""
        return self.origin == "command line"

    def place(self, path: Sequence[str | int]) -> Span | None:
        """Return the span that sets a key, or of the table that contains it."""
        extent = find(self.source.text, tuple(map(str, path)))
        return extent and Span(self.source, *extent)


def read_settings(path: Path) -> Settings:
    """Read a TOML file of settings. Raises NasError."""
    try:
        content = read_file(path, LARGEST)
        source = Source(str(path), content.decode("utf-8-sig"))
    except OSError as error:
        code = "NAS406" if error.errno == EFBIG else "NAS011"
        raise _unreadable(code, path, reason(error)) from None
    except UnicodeDecodeError as error:
        raise _unreadable("NAS011", path, f"not UTF-8 text (byte {error.start})") from None
    try:
        return Settings(source, tomllib.loads(source.text))
    except tomllib.TOMLDecodeError as error:
        raise NasError([_not_toml(source, str(error))]) from None
    except (ValueError, RecursionError):
        raise NasError([_not_toml(source, "a number is too long, or tables are nested too deeply")]) from None


def assigned(text: str, flag: str = "-s") -> Settings:
    """Parse `key=value` from the command line. A value that is not TOML is text: `data=digits` needs no quotes."""
    source = Source(COMMAND_LINE, text)
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not re.fullmatch(r"[\w-]+(\.[\w-]+)?", key):
        label = Label(Span(source, 0, len(text)), "should be `key=value`")
        raise NasError([Diagnostic("NAS601", f"`{text}` is not a setting", label)])
    if not value:
        label = Label(Span(source, 0, len(text)), "nothing after `=`")
        help = "omit a setting to leave it at its default"
        raise NasError([Diagnostic("NAS601", f"`{key}` has no value", label, help=help)])
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):  # not TOML, or a number with thousands of digits
        parsed = value
    table, _, name = key.rpartition(".")
    values = {table: {name: parsed}} if table else {name: parsed}
    return Settings(source, values, origin="command line", flag=flag)


def option(flag: str, key: str, value: object) -> Settings:
    """Return a command-line option as a setting."""
    return Settings(Source(COMMAND_LINE, f"{flag} {value}"), {key: value}, origin="command line", flag=flag)


def from_values(values: Mapping[str, Any]) -> Settings:
    """Return settings from Python values."""
    return Settings(Source("<settings>", ""), values, origin="Python")


def setter(settings: Sequence[Settings], path: Sequence[str]) -> Settings | None:
    """Return the settings that decide a value: the last that have it; None if it has its default."""
    return next((one for one in reversed(settings) if _has(one.values, path)), None)


def configured(settings: Iterable[Settings], *, allow_python: bool = False) -> SearchConfig:
    """Merge settings into the configuration of a search. Raises NasError."""
    return merged(settings, SearchConfig, allow_python=allow_python)


def merged(settings: Iterable[Settings], kind: type[C], *, allow_python: bool = False) -> C:
    """Merge settings into a configuration; later ones override earlier ones.

    Raises NasError if they are not valid, or if a file names Python code that the user did not allow.
    """
    layers = list(settings)
    for key in USES:
        layer = setter(layers, [key])
        if layer is not None and layer.origin == "file":
            label = _label(layer.place([key]), "named here")
            check_consent({key: layer.values[key]}, layer.source.name, label, allow_python=allow_python)
    values: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.values.items():
            both = isinstance(value, dict) and isinstance(values.get(key), dict)
            values[key] = values[key] | value if both else value
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        report = Report()  # drops duplicates: a value that fits none of several types has an error for each
        for fault in error.errors(include_url=False):
            report.add(_wrong(dict(fault), layers, kind))
        raise NasError(report.diagnostics) from None


def _wrong(fault: dict[str, Any], layers: list[Settings], kind: type[Group]) -> Diagnostic:
    path = fault["loc"][:2]  # the rest names the type that was tried
    if not path:
        return Diagnostic("NAS601", str(fault["ctx"]["error"]) if "ctx" in fault else fault["msg"])
    key = ".".join(map(str, path))
    origin = setter(layers, path)
    span = None if origin is None else origin.place(path) or Span(origin.source, 0, len(origin.source.text))
    known = {field.alias or name: field for name, field in kind.model_fields.items()}
    if fault["type"] == "extra_forbidden":
        help = did_you_mean(key, known) or f"`bayesnas-graph {kind.verb} --settings` lists them"
        return Diagnostic("NAS601", f"unknown setting `{key}`", _label(span, "unknown"), help=help)
    reason = _fault_reason(fault) if len(path) == 1 else "should be a number, `true`, `false` or an array of these"
    label = _label(span, f"{reason}, got {_shown(fault['input'])}")
    field = known.get(path[0])
    return Diagnostic("NAS601", f"`{key}` {reason}", label, help=field and f"`{path[0]}`: {field.description}")


def _label(span: Span | None, text: str) -> Label | None:
    return None if span is None else Label(span, text)


def _has(values: Any, path: Sequence[str | int]) -> bool:
    for step in path:
        if not isinstance(values, Mapping) or step not in values:
            return False
        values = values[step]
    return True


_KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "string_type": "a text",
    "dict_type": "a table",
    "string_too_short": "a text that is not empty",
}


def _fault_reason(fault: dict[str, Any]) -> str:
    if fault["type"] in _KINDS:
        return f"should be {_KINDS[fault['type']]}"
    return str(fault["msg"]).removeprefix("Value error, ").replace("Input should", "should").replace("'", "`")


def _shown(value: object) -> str:
    """Return a value in TOML, if it is short."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = json.dumps(value) if isinstance(value, bool | str) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _not_toml(source: Source, reason: str) -> Diagnostic:
    position = re.search(r"\(at line (\d+), column (\d+)\)", reason)
    end = len(source.text)
    lines = source.text.split("\n")[: int(position[1]) - 1] if position else []
    offset = min(sum(len(line) + 1 for line in lines) + int(position[2]) - 1, end) if position else end
    text = reason.partition(" (at")[0]
    label = Label(Span(source, max(0, min(offset, end - 1)), offset + 1), text[:1].lower() + text[1:])
    help = "write one `key = value` per line, with texts in quotes"
    return Diagnostic("NAS601", "the settings file is not valid TOML", label, help=help)


def _unreadable(code: str, path: Path, reason: str) -> NasError:
    return NasError([Diagnostic(code, f"cannot read `{path}`: {reason}")])
