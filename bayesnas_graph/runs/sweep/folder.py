"""A sweep folder: the request, the runs, and their state."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.checksums import help_for, problem_of
from bayesnas_graph.diagnostics.reading import LARGEST_JSON, read_file, read_json
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.objectives import ACCURACY, Metric, as_rows, metric_in
from bayesnas_graph.runs.paths import folder_gone, is_gone
from bayesnas_graph.runs.reading.outline import Outline
from bayesnas_graph.runs.settings import Settings
from bayesnas_graph.runs.sweep.grid import Point, axis, points

TAIL = 4096  # bytes read from the end of a log
LONGEST = 200  # characters of an error in a table

State = Literal["waiting", "running", "done", "failed", "stopped"]


class SweepRequest(BaseModel):
    """The requested sweep, as recorded in `sweep.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    space: str  # as named on the command line
    file: str  # its copy in the folder
    files: dict[str, str] = {}  # checksums of the copy and its imports
    python_ops: bool
    data_dir: str
    settings: dict[str, Any]  # shared by all runs, without defaults
    sweep: list[str]  # `key=a,b,c`, as on the command line
    seeds: int = Field(ge=1)
    begun: str
    versions: dict[str, str]

    def points(self) -> tuple[Point, ...]:
        """Return the whole grid. Raises NasError. Nothing is loaded, so it may name Python code as its data."""
        settings = [Settings(Source("sweep.json", ""), self.settings)]
        return points(settings, [axis(text) for text in self.sweep], self.seeds, allow_python=True)


class RunResult(BaseModel):
    """The result of a run, from its `result.json`."""

    model_config = ConfigDict(frozen=True)

    parameters: int
    flops: int
    accuracy: float  # or another metric
    kept: int
    switches: int
    metric: Metric = ACCURACY

    @staticmethod
    def of(content: Any) -> RunResult:
        """Return what a `result.json` says. Raises ValueError or TypeError if it is not one."""
        metric = metric_in(content)
        return RunResult.model_validate(as_rows(content, metric) | {"metric": metric})


@dataclass(frozen=True)
class SweepRun:
    """A point of the grid, and the state of its run."""

    point: Point
    state: State = "waiting"
    result: RunResult | None = None
    architecture: frozenset[str] = frozenset()  # the kept candidates
    error: str = ""  # the first line of its error message
    resubmitted: int = 0  # times that it was started again because its node died


@dataclass(frozen=True)
class SweepFolder:
    """The files of a sweep."""

    path: Path

    @property
    def own(self) -> RunFolder:
        """The folder itself, which is locked and written like a run folder."""
        return RunFolder(self.path)

    @property
    def request_file(self) -> Path:
        """The requested sweep."""
        return self.path / "sweep.json"

    @property
    def table(self) -> Path:
        """A row for each run."""
        return self.path / "table.csv"

    @property
    def summary(self) -> Path:
        """A row for each point of the grid."""
        return self.path / "table.md"

    def run(self, point: Point) -> RunFolder:
        """Return the run folder of a point."""
        return RunFolder(self.path / point.name)

    def log(self, point: Point) -> Path:
        """Return the log of a run."""
        return self.path / f"{point.name}.log"

    def request(self) -> SweepRequest:
        """Read the request. Raises NasError if this is not a sweep folder."""
        try:
            return SweepRequest.model_validate(read_json(self.request_file))
        except FileNotFoundError:
            help = "give the folder written by `search --sweep`, which contains `sweep.json`"
            problem = "does not exist" if is_gone(self.path) else "is not a sweep folder"
            raise NasError([Diagnostic("NAS602", f"`{self.path}` {problem}", help=help)]) from None
        except OSError as error:
            raise NasError([Diagnostic("NAS602", f"cannot read `{self.request_file}`: {reason(error)}")]) from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f"{part}: " for part in first["loc"])
            message = f"cannot read `{self.request_file}`: {where}{first['msg'].lower()}"
            raise NasError([Diagnostic("NAS602", message)]) from None
        except ValueError as error:
            message = f"cannot read `{self.request_file}`: {problem_of(error)}"
            raise NasError([Diagnostic("NAS602", message, help=help_for(error))]) from None

    def check_there(self) -> None:
        """Raise NasError if the folder was removed. A search that was just started may have created it again."""
        if is_gone(self.request_file):
            raise folder_gone(self.path)

    def make_room(self, point: Point) -> None:
        """Remove the remains of a run that was killed before it had a `run.json`."""
        run = self.run(point)
        if run.path.is_dir() and not run.manifest_file.exists():
            shutil.rmtree(run.path)


def run_of(folder: SweepFolder, point: Point) -> SweepRun:
    """Return the state of a point from its folder: done or waiting."""
    run = folder.run(point)
    try:
        result = RunResult.of(read_json(run.result))
        verdicts = read_json(run.decision)["verdicts"]
        kept = frozenset(str(verdict["name"]) for verdict in verdicts if verdict["keep"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # incomplete: resuming the run writes them again
        return SweepRun(point)
    return SweepRun(point, "done", result, kept - _zeros(run))


def _zeros(run: RunFolder) -> frozenset[str]:
    """Return the zero switches of a run."""
    try:
        switches = Outline.from_json(read_file(run.outline, LARGEST_JSON)).switches
    except (OSError, ValueError):
        return frozenset()
    return frozenset(switch.name for switch in switches if switch.is_zero)


def arguments(
    folder: SweepFolder, request: SweepRequest, point: Point, data_dir: Path | None, threads: int
) -> Iterator[str]:
    """Yield the command that starts or resumes a run."""
    run, sweep = folder.run(point), folder.path.absolute()
    yield "search"
    if run.manifest_file.is_file():
        yield from ("--resume", str(sweep / point.name))
    else:
        yield from (str(sweep / folder.own.space.name / request.file), "-o", str(sweep / point.name))
        settings = {**request.settings, "threads": point.config.threads or threads, "seed": point.seed}
        for word in (*words(settings), *(f"{key}={value}" for key, value in point.values)):
            yield from ("-s", word)
    yield from ("--data-dir", str(data_dir.absolute() if data_dir else request.data_dir), "--display", "plain")
    if request.python_ops or settings_name_code(dict(point.config)):  # the sweep was allowed to
        yield "--allow-python"


def words(settings: Mapping[str, Any], table: str = "") -> Iterator[str]:
    """Yield settings in the form of the command line. Values are TOML, written as JSON, which is compatible here."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from words(value, f"{key}.")
        else:
            written = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")  # TOML requires it to be escaped
            yield f"{table}{key}={written}"


def last_line(log: Path) -> str:
    """Return the last line of output of a run; empty if there is none."""
    last = next((line for line in reversed(_tail(log)) if line.strip()), "")
    return "" if last.startswith("$ ") else last.strip()


def first_error(log: Path) -> str:
    """Return the error message of a failed run. A log contains each command after a `$`, and its output."""
    lines = _tail(log, 16 * TAIL)
    command = max((i for i, line in enumerate(lines) if line.startswith("$ ")), default=-1)
    printed = [line.strip() for line in lines[command + 1 :] if line.strip()]
    error = next((line for line in printed if line.startswith("error")), printed[-1] if printed else "no output")
    return error if len(error) <= LONGEST else f"{error[:LONGEST]} ..."


def _tail(log: Path, most: int = TAIL) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - most))
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
