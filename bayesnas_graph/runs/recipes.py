"""Recipes: settings files beside a space. Loads no torch, unless there may be a GPU to find.

`NAME.toml` has settings of `search` for `NAME.nas`. `NAME.VERB.toml` has those of another verb, such as
`lenet5.compress.toml`. Any other `NAME.RECIPE.toml` is one of several recipes for `search`, such as `darts.quick.toml`.
Without a file for it, the recipe `quick` is `NAME.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Text

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings

ON_CUDA, ELSEWHERE = "paper", "quick"  # the recipes used by default
NO_RECIPE = "none"  # asks for no recipe
OTHER_VERBS = ("train", "compress")  # verbs whose settings files have their name


@dataclass(frozen=True)
class Recipe:
    """A settings file, and why it was chosen if the user did not name it."""

    path: Path
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.path.name}, {self.reason}" if self.reason else self.path.name


def recipe_of(file: Path, verb: str = "search") -> Path | None:
    """Return the settings file without a recipe name for a space and a verb, or None."""
    space = _space(file)
    if space is None:
        return None
    path = space.with_name(f"{space.stem}.toml" if verb == "search" else f"{space.stem}.{verb}.toml")
    return path if path.is_file() else None


def named_recipes(file: Path) -> dict[str, Path]:
    """Return the recipes of a space for `search` by name, sorted."""
    space = _space(file)
    if space is None:
        return {}
    found = {}
    for path in sorted(space.parent.iterdir()):
        match = re.fullmatch(rf"{re.escape(space.stem)}\.([\w-]+)\.toml", path.name)
        if match is None or match[1] in (NO_RECIPE, *OTHER_VERBS) or not path.is_file():
            continue
        if not path.with_suffix(".nas").is_file():  # `a.b.toml` belongs to `a.b.nas` if that exists, not to `a.nas`
            found[match[1]] = path
    unnamed = recipe_of(file)
    if unnamed is not None:
        found.setdefault(ELSEWHERE, unnamed)
    return dict(sorted(found.items()))


def settings_files(file: Path) -> tuple[Path, ...]:
    """Return all settings files of a space, of any verb."""
    unnamed = (recipe_of(file, verb) for verb in ("search", *OTHER_VERBS))
    files = (*(path for path in unnamed if path is not None), *named_recipes(file).values())
    return tuple(dict.fromkeys(files))


def choose_recipe(file: Path | Text, name: str | None = None, device: str = "auto") -> Recipe | None:
    """Return the recipe of a space with this name, or None for `none`. Raises NasError if there is no such recipe.

    Without a name, it is `SPACE.toml` or, if there is none, `paper` on CUDA and `quick` elsewhere. A text has none.
    """
    if name == NO_RECIPE or (name is None and isinstance(file, Text)):
        return None
    if isinstance(file, Text):
        help = "recipes are files beside the file of a space"
        raise NasError([Diagnostic("NAS601", f"`{file}` is a text, which has no recipe `{name}`", help=help)])
    if name is not None:
        return Recipe(_named(file, name))
    unnamed = recipe_of(file)
    if unnamed is not None:
        return Recipe(unnamed)
    known = named_recipes(file)
    if not {ON_CUDA, ELSEWHERE} & known.keys():
        return None
    on_cuda = _is_cuda(device)
    path = known.get(ON_CUDA if on_cuda else ELSEWHERE)
    return None if path is None else Recipe(path, f"because the device is {'' if on_cuda else 'not '}CUDA")


def device_of(settings: Iterable[Settings]) -> str:
    """Return the device that settings name, before they are checked; the last one counts."""
    return str(([one.values["device"] for one in settings if "device" in one.values] or ["auto"])[-1])


def _space(file: Path) -> Path | None:
    return file if file.is_file() else shipped_space(str(file))


def _named(file: Path, name: str) -> Path:
    known = named_recipes(file)
    if name in known:
        return known[name]
    if _space(file) is None and not file.exists():
        raise NasError([Diagnostic("NAS011", f"cannot read `{file}`: file not found")])
    if not known:
        help = f"omit `--recipe`; a recipe is a file `{file.stem}.NAME.toml` beside the space"
        raise NasError([Diagnostic("NAS601", f"`{file}` has no named recipes, but got `--recipe {name}`", help=help)])
    match, names = nearest(name, known), ", ".join(f"`{one}`" for one in known)
    help = f"did you mean `{match}`? available: {names}" if match else f"available: {names}"
    raise NasError([Diagnostic("NAS601", f"`{file}` has no recipe `{name}`", help=help)])


def _is_cuda(device: str) -> bool:
    if device != "auto":
        return device == "cuda"
    from bayesnas_graph.runs.device import find_device  # loads torch

    return find_device(device).type == "cuda"
