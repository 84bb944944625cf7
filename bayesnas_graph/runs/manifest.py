"""The description of a run in `run.json`. Loads no torch."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.checksums import help_for, problem_of
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.paths import RunPaths, not_a_run

Kind = Literal["search", "train", "compress"]
RESTORE = "a run cannot be resumed without it: restore the file, or start another run"


class DataDescription(BaseModel):
    """What data from Python were, to know them again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str  # what they were given as
    train: int  # examples
    test: int
    shape: tuple[int, ...]
    classes: int
    labels: str  # checksum of a sample
    images: str | None = None  # checksum of the same sample; None if reading it twice gives different images
    notes: tuple[str, ...] = ()


class Manifest(BaseModel):
    """The description of a run of any kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    space: str  # as named on the command line
    called: str  # the name of its file in messages
    file: str  # its copy in the folder
    files: dict[str, str] = {}  # checksums of the copy and its imports
    network: str
    fingerprint: str
    python_ops: bool  # whether it may import Python code
    data_dir: str
    begun: str
    versions: dict[str, str]
    threads: int = Field(ge=1, le=1024)
    data: DataDescription | None = None  # if they were given in Python


class SearchManifest(Manifest):
    """The description of a search."""

    kind: Literal["search"] = "search"
    config: SearchConfig


class TrainManifest(Manifest):
    """The description of a training run."""

    kind: Literal["train"] = "train"
    config: TrainConfig


class CompressManifest(Manifest):
    """The description of a compression run."""

    kind: Literal["compress"] = "compress"
    config: CompressConfig


AnyConfig = SearchConfig | TrainConfig | CompressConfig
AnyManifest = SearchManifest | TrainManifest | CompressManifest
MANIFESTS: dict[str, type[AnyManifest]] = {
    "search": SearchManifest,
    "train": TrainManifest,
    "compress": CompressManifest,
}


def kind_of(path: Path) -> Kind | None:
    """Return the kind of run in a folder; None if it is not a run folder. A damaged run counts as a search."""
    with suppress(OSError, ValueError, AttributeError):
        return kind_in(read_json(path / "run.json"))
    return "search" if (path / "run.json").exists() else None


def kind_in(content: Any) -> Kind:
    """Return the kind of run that a `run.json` is about; a search if it does not say."""
    kind = content.get("kind", "search")
    return cast("Kind", kind) if isinstance(kind, str) and kind in MANIFESTS else "search"


def read_manifest(paths: RunPaths, expected: Kind | None = None) -> AnyManifest:
    """Read `run.json`. Raises NasError if this is not a run folder, or not of the expected kind."""
    verb = expected or "search"
    try:
        content = read_json(paths.manifest_file)
    except (FileNotFoundError, NotADirectoryError):
        help = f"give the folder written by `{verb}`, which contains `run.json`"
        raise not_a_run(paths.path, help) from None
    except OSError as error:
        _unreadable(paths, reason(error))
    except ValueError as error:
        _unreadable(paths, problem_of(error), help_for(error, RESTORE))
    try:
        return MANIFESTS[expected or kind_in(content)].model_validate(content)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    except AttributeError:  # not an object
        _unreadable(paths, "it is damaged")
    if any(fault["loc"] == ("kind",) for fault in faults):
        help = f"`bayesnas-graph status {paths.path}` shows what it is"
        raise NasError([Diagnostic("NAS602", f"`{paths.path}` was not written by `{verb}`", help=help)])
    where = ".".join(map(str, faults[0]["loc"]))
    _unreadable(paths, f"{where}: {faults[0]['msg'].lower()}" if where else "it is damaged")


def _unreadable(paths: RunPaths, problem: str, help: str | None = RESTORE) -> NoReturn:
    raise NasError([Diagnostic("NAS602", f"cannot read `{paths.manifest_file}`: {problem}", help=help)]) from None
