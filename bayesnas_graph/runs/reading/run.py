"""Reading the files of a run, even while it is writing or if they are damaged. Needs no torch."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesnas_graph.diagnostics import Diagnostic, NasError, reading
from bayesnas_graph.diagnostics.checksums import Changed, help_for
from bayesnas_graph.diagnostics.reading import LARGEST_JSON, read_file
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.runs.objectives import ACCURACY, Metric, as_rows, metric_in
from bayesnas_graph.runs.paths import RunPaths, not_a_run
from bayesnas_graph.runs.reading.comparison import Comparison, read_comparison
from bayesnas_graph.runs.reading.outline import Outline, OutlineSwitch

if TYPE_CHECKING:
    from bayesnas_graph.runs.manifest import Kind

Numbers = dict[str, float]

_METRICS = ("step", "loss", "accuracy", "seconds")  # required columns of a row
_UPDATES = ("iteration", "accuracy", "parameters", "flops", "lambda", "seconds")
_MANIFEST = {"space": str, "network": str, "begun": str, "config": dict}
_OPTIONAL = {"kind": str, "called": str, "file": str, "files": dict, "fingerprint": str, "versions": dict}
_RESULT = {"why": str, "parameters": int, "flops": int, "accuracy": float, "unmet": list}
_TRAINED = {"parameters": int, "flops": int, "accuracy": float}


@dataclass(frozen=True)
class RunRecord:
    """A run, as recorded in its folder. Anything not yet written is None or empty."""

    folder: Path
    manifest: dict[str, Any]
    running: bool | None  # None if unknown
    outline: Outline | None
    rows: tuple[Numbers, ...]  # of the log
    updates: tuple[Numbers, ...]
    closed: frozenset[str]  # switches
    checkpoint: int | None  # the step of the last one
    result: dict[str, Any] | None
    heard: datetime | None  # when the log was last written
    comparison: Comparison | None = None  # with random architectures
    warnings: tuple[Diagnostic, ...] = ()  # about files that cannot be read or have changed, if they were looked at
    metric: Metric = ACCURACY  # what rows and result call `accuracy`

    @property
    def state(self) -> Literal["running", "stopped", "finished", "unfinished"]:
        """Whether a process is working on the run."""
        if self.running:
            return "running"
        if self.result is not None:
            return "finished"
        return "stopped" if self.running is False else "unfinished"

    @property
    def kind(self) -> Kind:
        """The verb that started the run, and resumes it."""
        kind = self.manifest.get("kind")
        return "train" if kind == "train" else "compress" if kind == "compress" else "search"

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the run."""
        config: dict[str, Any] = self.manifest["config"]
        return config

    @property
    def begun(self) -> datetime | None:
        """When it was started."""
        try:
            return datetime.fromisoformat(self.manifest["begun"]).astimezone(UTC)
        except (ValueError, OverflowError):
            return None

    @property
    def step(self) -> int:
        """The last known step."""
        compared = self.comparison.done * self.comparison.steps if self.comparison else 0
        return max(int(self.rows[-1]["step"]) if self.rows else 0, self.checkpoint or 0) + compared

    @property
    def iteration(self) -> int:
        """The number of prior updates."""
        return int(self.updates[-1]["iteration"]) if self.updates else 0

    @property
    def epoch(self) -> int:
        """The number of finished epochs of a training or compression run."""
        last = self.rows[-1].get("epoch", 0.0) if self.rows else 0.0
        return int(last) if isfinite(last) else 0

    @property
    def epochs(self) -> int | None:
        """The number of epochs of a whole training run; for a compression run the maximum."""
        names = ("epochs", "loops", "loop_epochs", "fine_epochs") if "loops" in self.config else ("epochs",)
        numbers = [number for name in names if isinstance(number := self.config.get(name), int)]
        if len(numbers) < len(names):
            return None
        return numbers[0] + numbers[1] * numbers[2] + numbers[3] if len(numbers) > 1 else numbers[0]

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Parameters and multiply-adds of the current architecture."""
        last = self.result or (self.updates[-1] if self.updates else None)
        return None if last is None else (int(last["parameters"]), int(last["flops"]))

    @property
    def flops_text(self) -> str:
        """Multiply-adds of the current architecture; empty if there is none yet."""
        is_lower_bound = bool((self.result or {}).get("flops_at_least"))
        if self.result is None and self.outline is not None:
            is_lower_bound = self.outline.flops_at_least
        return "" if self.sizes is None else at_least(self.sizes[1], is_lower_bound)

    @property
    def switches(self) -> tuple[OutlineSwitch, ...]:
        """All switches, if known."""
        return self.outline.switches if self.outline else ()

    @property
    def alive(self) -> frozenset[str]:
        """The switches that are open."""
        return frozenset(switch.name for switch in self.switches) - self.closed

    @property
    def left(self) -> float | None:
        """Estimated seconds to the end, if the run is in progress."""
        if not (self.running and self.rows):
            return None
        if self.kind != "search":
            return None if self.epochs is None else max(0, self.epochs - self.epoch) * self.rows[-1]["seconds"]
        if self.outline is None:
            return None
        updates = max(0, self.outline.iterations - self.iteration)
        each = self.updates[-1]["seconds"] if self.updates else 0.0
        return max(0, self.outline.total_steps - self.step) * self.rows[-1]["seconds"] + updates * each


def read_run_record(paths: RunPaths) -> RunRecord:
    """Read a run folder. Raises NasError if it is not one."""
    manifest = read_object(paths.manifest_file, _MANIFEST)
    if manifest is None or not all(isinstance(manifest.get(key, kind()), kind) for key, kind in _OPTIONAL.items()):
        raise _no_run(paths)
    rows = tuple(read_numbers(paths.metrics, _METRICS))
    result = read_result(paths.result, _TRAINED if manifest.get("kind") in ("train", "compress") else _RESULT)
    record = RunRecord(
        folder=paths.path,
        manifest=manifest,
        running=is_locked(paths.lock),
        outline=_outline(paths.outline),
        rows=rows,
        updates=tuple(read_numbers(paths.updates, _UPDATES)),
        closed=frozenset(_closed(paths)),
        checkpoint=_last_step(paths.checkpoints),
        result=result,
        heard=_written(paths.comparison) or _written(paths.metrics),
        comparison=read_comparison(paths),
        metric=_metric(paths),
    )
    paths.check_there()
    return record


def _no_run(paths: RunPaths) -> NasError:
    if paths.manifest_file.exists():
        message, help = f"cannot read `{paths.manifest_file}`", "it is damaged, and no other file describes the run"
        try:
            reading.read_json(paths.manifest_file)
        except Changed as error:
            message, help = f"{message}: {error}", help_for(error) or help
        except (OSError, ValueError):
            pass
        return NasError([Diagnostic("NAS602", message, help=help)])
    inside = sorted(file.parent for file in paths.path.glob("*/run.json"))
    help = f"it contains runs, such as `{inside[0]}`" if inside else "give the folder written by `search`"
    return not_a_run(paths.path, help)


def is_locked(path: Path) -> bool | None:
    """Return whether a process holds a lock, by taking it for a moment; None if unknown."""
    from filelock import FileLock, Timeout

    if not path.exists():
        return False
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return None
    lock.release()
    return False


def _outline(path: Path) -> Outline | None:
    try:
        return Outline.from_json(read_file(path, LARGEST_JSON))
    except (OSError, ValueError):
        return None


def read_object(path: Path, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """Read a JSON object with values of these types; None if it is anything else."""
    try:
        content = reading.read_json(path)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and _has(content, kinds) else None


def read_result(path: Path, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """Read `result.json`, where the metric is called `accuracy`, whichever it is; None if it is anything else."""
    content = read_object(path, {})
    found = {} if content is None else as_rows(content, metric_in(content))
    return found if content is not None and _has(found, kinds) else None


def _metric(paths: RunPaths) -> Metric:
    """The metric of a run, as its tables and its result call it."""
    first: dict[str, str] = next(read_rows(paths.metrics), {})
    return metric_in({*first, *(read_object(paths.result, {}) or {})})


def _has(content: Mapping[str, Any], kinds: Mapping[str, type]) -> bool:
    return all(isinstance(content.get(key), kind) for key, kind in kinds.items())


def read_numbers(path: Path, needed: tuple[str, ...]) -> Iterator[Numbers]:
    """Read a table of numbers, where the metric is called `accuracy`, whichever it is. Malformed lines are skipped."""
    for row in read_rows(path):
        try:
            numbers = {key: float(value) for key, value in as_rows(row, metric_in(row)).items()}
        except ValueError:
            continue
        if all(isfinite(numbers.get(key, nan)) for key in needed):
            yield numbers


def _closed(paths: RunPaths) -> set[str]:
    """Return the switches that were closed by an update or by the final decision.

    The best finalist may have a switch that an update has closed, so the decision counts more.
    """
    by_updates = {row["switch"] for row in read_rows(paths.history) if row.get("keep") == "0" and "switch" in row}
    decision = read_object(paths.decision, {"verdicts": list}) or {"verdicts": []}
    kept, closed = (set(_decided(decision["verdicts"], keep=keep)) for keep in (True, False))
    return (by_updates - kept) | closed


def _decided(verdicts: list[object], *, keep: bool) -> Iterator[str]:
    for verdict in verdicts:
        if isinstance(verdict, dict) and verdict.get("keep") is keep and isinstance(verdict.get("name"), str):
            yield verdict["name"]


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the complete lines of a table."""
    try:
        text = read_file(path).decode(errors="replace")
    except OSError:
        return
    head: list[str] | None = None
    for line in text[: text.rfind("\n") + 1].split("\n"):
        try:
            cells = next(csv.reader([line]), [])
        except csv.Error:
            continue
        if head is None:
            head = cells
        elif len(cells) == len(head):
            yield dict(zip(head, cells, strict=True))


def _last_step(folder: Path) -> int | None:
    steps = [path.stem.removeprefix("step-") for path in folder.glob("step-*.pt")]
    return max((int(step) for step in steps if step.isdecimal()), default=None)


def _written(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
