"""The command that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.runs.config.groups import Group
from bayesnas_graph.runs.reading.run import RunRecord
from bayesnas_graph.runs.recipes import NO_RECIPE, named_recipes, recipe_of
from bayesnas_graph.runs.settings import assigned, read_settings
from bayesnas_graph.runs.sweep.folder import words


def repeat_command(run: RunRecord, kind: type[Group]) -> Iterator[str]:
    """The parts of a command that repeats a run. It sets every setting whose default may differ."""
    manifest, defaults = run.manifest, kind().to_plain()
    space = manifest["space"]
    advised = _advised(space, kind)
    settings = {key: value for key, value in run.config.items() if value != defaults.get(key) or key in advised}
    settings["threads"] = manifest.get("threads", 0)  # rounding of sums depends on the number of threads
    patterns = settings.pop("patterns", None)
    yield f"bayesnas-graph {kind.verb} {shlex.quote(space)}"
    if kind.verb == "search" and (recipe_of(Path(space)) or named_recipes(Path(space))):
        yield f"--recipe {NO_RECIPE}"
    for word in words(settings):
        yield f"-s {shlex.quote(_without_quotes(word))}"
    for layers, groups in patterns.items() if isinstance(patterns, dict) else ():
        yield f"--pattern {shlex.quote(f'{layers}={groups}')}"
    weights = run.folder / "stages" / "given.safetensors"
    if _is_text(space) and weights.is_file():  # a run folder has its own weights
        yield f"--weights {shlex.quote(str(weights))}"
    if "data_dir" in manifest:
        yield f"--data-dir {shlex.quote(str(manifest['data_dir']))}"
    if manifest.get("python_ops"):
        yield "--allow-python"


def _advised(space: str, kind: type[Group]) -> set[str]:
    """The settings of a compression run whose defaults come from the recipe of a network or from a run."""
    if kind.verb != "compress":
        return set()
    if not _is_text(space):
        from bayesnas_graph.train.compress.source import OF_DATA  # imports torch

        return set(OF_DATA)
    recipe = recipe_of(Path(space), kind.verb)
    with suppress(NasError):  # ignore a recipe that cannot be read
        return set(read_settings(recipe).values if recipe else ())
    return set()


def _is_text(space: str) -> bool:
    """Return whether the source is a file or a shipped space, not a run folder."""
    return space.endswith(".nas") or shipped_space(space) is not None


def _without_quotes(word: str) -> str:
    """`data="digits"` without quotes, if it means the same."""
    bare = word.replace('"', "")
    try:
        return bare if assigned(bare).values == assigned(word).values else word
    except NasError:
        return word
