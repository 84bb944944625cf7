"""The command that does again what a run has done."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.runs.reading.run import Traces

if TYPE_CHECKING:
    from bayesnas_graph.runs.config.groups import Group


def command(found: Traces, kind: type[Group]) -> Iterator[str]:
    """What would do the same again, in pieces. It names every setting that would otherwise be another."""
    from bayesnas_graph.runs.sweep.folder import words

    manifest, defaults = found.manifest, kind().to_plain()
    space = manifest["space"]
    advised = _advised(space, kind)
    told = {key: value for key, value in found.config.items() if value != defaults.get(key) or key in advised}
    told["threads"] = manifest.get("threads", 0)  # as many as there were: sums depend on how they are shared out
    patterns = told.pop("patterns", None)
    yield f"bayesnas-graph {kind.verb} {shlex.quote(space)}"
    for word in words(told):
        yield f"-s {shlex.quote(_bare(word))}"
    for layers, groups in patterns.items() if isinstance(patterns, dict) else ():
        yield f"--pattern {shlex.quote(f'{layers}={groups}')}"
    given = found.folder / "stages" / "given.safetensors"
    if _is_text(space) and given.is_file():  # a run has weights of its own
        yield f"--weights {shlex.quote(str(given))}"
    if "data_dir" in manifest:
        yield f"--data-dir {shlex.quote(str(manifest['data_dir']))}"
    if manifest.get("python_ops"):
        yield "--allow-python-ops"


def _advised(space: str, kind: type[Group]) -> set[str]:
    """The settings that are not by default what the program says, but what comes with a space or with a run."""
    from bayesnas_graph.runs.settings import read_settings, recipe_of
    from bayesnas_graph.train.compress.source import OF_DATA

    if kind.verb == "compress" and not _is_text(space):
        return set(OF_DATA)
    recipe = None if kind.verb == "train" else recipe_of(Path(space), kind.verb)
    with suppress(NasError):  # a recipe that cannot be read advises nobody
        return set(read_settings(recipe).values if recipe else ())
    return set()


def _is_text(space: str) -> bool:
    """Whether what was named is a file or a shipped space, and not the folder of a run."""
    return space.endswith(".nas") or shipped_space(space) is not None


def _bare(word: str) -> str:
    """`data="digits"` without its quotes, where it means the same."""
    from bayesnas_graph.runs.settings import assigned

    bare = word.replace('"', "")
    try:
        return bare if assigned(bare).values == assigned(word).values else word
    except NasError:
        return word
