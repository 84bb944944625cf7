"""Options made from fields: of settings, and of dataclasses that group options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.network_options import Parameters
from bayesnas_graph.diagnostics.plugins import installed_plugins, state_of
from bayesnas_graph.runs.config.groups import Flag, Group
from bayesnas_graph.runs.settings import Settings, assigned, option, read_settings

Verb = Callable[..., None]

DataDir = Annotated[
    Path | None, typer.Option(envvar="BAYESNAS_DATA", metavar="DIR", help="Folder of data-set files (default: `data`).")
]
ConfigFile = Annotated[Path | None, typer.Option(metavar="TOML", help="Settings file.")]


def settings_options(kind: type[Group], *, files: bool = True) -> Callable[[Verb], Verb]:
    """Replace the parameter `settings: list[Settings]` of a verb by options, from which its value is collected.

    There is one option for every field of `kind` with a `Flag`, `-p`, and if `files` is true `--config` and `-s`.
    """
    flags = {name: field for name, field in kind.model_fields.items() if _flag(field) is not None}
    options: dict[str, Any] = {name: _option_type(_key(name, field), field) for name, field in flags.items()}
    options["param"] = Parameters
    if files:
        options |= {"config": ConfigFile, "assignment": _assignments(kind)}

    def collect(chosen: Mapping[str, Any]) -> list[Settings]:
        settings = [] if chosen.get("config") is None else [read_settings(chosen["config"])]
        settings += [assigned(text) for text in chosen.get("assignment") or []]
        settings += [assigned(f"parameters.{text}", "-p") for text in chosen["param"] or []]
        given_flags = {name: field for name, field in flags.items() if chosen[name] is not None}
        return settings + [_setting(_key(name, field), field, chosen[name]) for name, field in given_flags.items()]

    return _replace_parameter("settings", [_parameter(name, option, None) for name, option in options.items()], collect)


def _assignments(kind: type[Group]) -> Any:
    keys = suggestions.keys((_key(name, field), field) for name, field in kind.model_fields.items())
    help = "Any setting; `--settings` lists them."
    declared = typer.Option("-s", "--set", metavar="KEY=VALUE", help=help, autocompletion=keys)
    return Annotated[list[str] | None, declared]


def option_group(name: str, kind: type[Any]) -> Callable[[Verb], Verb]:
    """Replace a parameter of a verb by options, one for every field of its dataclass."""
    types = get_type_hints(kind, include_extras=True)
    parameters = [_parameter(field.name, types[field.name], field.default) for field in fields(kind)]
    return _replace_parameter(name, parameters, lambda chosen: kind(**chosen))


def _replace_parameter(
    name: str, parameters: Sequence[inspect.Parameter], collect: Callable[[Mapping[str, Any]], Any]
) -> Callable[[Verb], Verb]:
    """Replace a parameter of a function by others, from which its value is collected."""

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def with_options(**values: Any) -> None:
            chosen = {parameter.name: values.pop(parameter.name) for parameter in parameters}
            verb(**{name: collect(chosen)}, **values)

        signature = inspect.signature(verb, eval_str=True)
        shown: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            shown += parameters if parameter.name == name else [parameter.replace(kind=parameter.KEYWORD_ONLY)]
        with_options.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        return with_options

    return decorate


def help_text(field: FieldInfo) -> str:
    """Return the description of a setting as a sentence, with its choices where it has some.

    >>> from bayesnas_graph.runs.config.groups import MachineSettings
    >>> help_text(MachineSettings.model_fields["precision"])
    'Floating-point precision: fp32, bf16 or fp16.'
    """
    text, choices = field.description or "", choices_of(field)
    if choices and not any(f"`{choice}`" in text for choice in choices):
        text += f": {', '.join(choices[:-1])} or {choices[-1]}"
    flag = _flag(field)
    if flag is not None and flag.plugins is not None:
        added = [f"{one.name} ({state_of(one, flag.choices)})" for one in installed_plugins(flag.plugins)]
        text += "".join(f", {one}" for one in added)
    return f"{text[:1].upper()}{text[1:]}."


def choices_of(field: FieldInfo) -> tuple[str, ...]:
    """Return the values of a setting that has only a few."""
    plain = _plain_type(field.annotation)
    return get_args(plain) if get_origin(plain) is Literal else ()


def size(flag: str, text: str) -> int:
    """Return a number such as `20K`, `3.5M` or `600000`, written as in budgets of the language.

    >>> size("--target-params", "3.5M"), size("--target-params", "20_000")
    (3500000, 20000)
    """
    match = re.fullmatch(r"(\d[\d_]{0,30}(?:\.\d{1,30})?)([KMG]?)", text)
    if not match:
        raise typer.BadParameter(f"`{text[:40]}` is not a size such as 20K or 3.5M", param_hint=flag)
    return round(float(match[1].replace("_", "")) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[match[2]])


def _flag(field: FieldInfo) -> Flag | None:
    return next((mark for mark in field.metadata if isinstance(mark, Flag)), None)


def _key(name: str, field: FieldInfo) -> str:
    """Return the name of a setting in a settings file."""
    return field.alias or name


def _name_of(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _setting(key: str, field: FieldInfo, value: Any) -> Settings:
    flag, name = _flag(field), _name_of(key)
    return option(name, key, size(name, value) if flag and flag.size else value)


def _option_type(key: str, field: FieldInfo) -> Any:
    """Return the annotation that typer makes an option from."""
    flag, plain, known = _flag(field), _plain_type(field.annotation), choices_of(field)
    assert flag is not None, "only settings with a flag are options"
    # Choices are checked with all other settings, which points at the mistake.
    kind = str if flag.size or known else plain
    metavar = "SIZE" if flag.size else None
    declared = typer.Option(
        _name_of(key),
        help=help_text(field),
        metavar=metavar,
        rich_help_panel=flag.panel,
        autocompletion=suggestions.choices(flag.choices or known) if flag.choices or known else None,
    )
    return Annotated[kind | None, declared]


def _plain_type(annotation: Any) -> Any:
    """Return the type of a setting without `Annotated` and `None`."""
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    if get_origin(annotation) in (None, Literal):
        return annotation
    return next(_plain_type(one) for one in get_args(annotation) if one is not NoneType)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    value = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation)
