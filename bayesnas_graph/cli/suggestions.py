"""Values that a shell can complete. Nothing here loads torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer
from pydantic.fields import FieldInfo

from bayesnas_graph.diagnostics import CODES
from bayesnas_graph.diagnostics.resources import shipped_spaces

Suggestions = list[tuple[str, str]]  # values, each with a description


def spaces(incomplete: str) -> Suggestions:
    """Return shipped spaces, local `.nas` files, and folders."""
    return [*shipped(incomplete), *_files(incomplete, ".nas")]


def shipped(incomplete: str) -> Suggestions:
    """Return shipped spaces."""
    return _starting(incomplete, ((path.stem, "shipped space") for path in shipped_spaces()))


def codes(incomplete: str) -> Suggestions:
    """Return error codes, in the case in which they are typed."""
    return _starting(incomplete, ((_cased(code.name, incomplete), code.title) for code in CODES.values()))


def operations(incomplete: str) -> Suggestions:
    """Return operations and functions."""
    from bayesnas_graph.language.elaborate.vocabulary import vocabulary

    return _starting(incomplete, ((entry.name, entry.kind) for entry in vocabulary()))


def recipes(ctx: typer.Context, incomplete: str) -> Suggestions:
    """Return the recipes of the space that is on the command line."""
    from bayesnas_graph.runs.recipes import NO_RECIPE, named_recipes

    file = ctx.params.get("file")
    names = () if file is None else named_recipes(Path(file))
    return _starting(incomplete, [*((name, f"recipe of {file}") for name in names), (NO_RECIPE, "use no recipe")])


def keys(fields: Iterable[tuple[str, FieldInfo]]) -> Callable[[str], Suggestions]:
    """Return a function that completes `KEY=` for `-s`."""
    known = [(f"{key}=", field.description or "") for key, field in fields]
    return lambda incomplete: _starting(incomplete, known)


def choices(names: Iterable[str]) -> Callable[[str], Suggestions]:
    """Return a function that completes one of several names."""
    known = [(name, "") for name in names]
    return lambda incomplete: _starting(incomplete, known)


def _starting(incomplete: str, known: Iterable[tuple[str, str]]) -> Suggestions:
    return [(value, help) for value, help in known if value.startswith(incomplete)]


def _cased(name: str, like: str) -> str:
    return name.lower() if like and like == like.lower() else name


def _files(incomplete: str, ending: str) -> Suggestions:
    """Return the files with an ending, and the folders, that a typed path may become."""
    before, slash, start = incomplete.rpartition("/")
    folder = Path(f"{before}{slash}" or ".")
    try:
        inside = sorted(path for path in folder.iterdir() if path.name.startswith(start))
    except OSError:
        return []
    shown = [path for path in inside if start.startswith(".") or not path.name.startswith(".")]
    folders = [(f"{before}{slash}{path.name}/", "folder") for path in shown if path.is_dir()]
    return [(f"{before}{slash}{path.name}", "file") for path in shown if path.suffix == ending] + folders
