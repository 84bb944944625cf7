"""A run with everything its page shows, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Loaded
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.opening import Run
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.damage import damage
from bayesnas_graph.runs.reading.decision import Final, read_final
from bayesnas_graph.runs.reading.history import Moment, read_history
from bayesnas_graph.runs.reading.outline import Outline, switches_of
from bayesnas_graph.runs.reading.run import RunRecord, read_run_record
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run and its results so far."""

    label: str  # distinguishes it from others on the page
    record: RunRecord
    space: Loaded | None  # None if it cannot be read
    graph: Graph | None  # of its network, with all switches
    problems: tuple[Diagnostic, ...] = ()  # why the space cannot be read
    history: Mapping[str, tuple[Moment, ...]] = field(default_factory=dict)
    final: Mapping[str, Final] = field(default_factory=dict)
    damage: tuple[Diagnostic, ...] = ()  # files that cannot be read

    @property
    def kind(self) -> str:
        """The kind of run: `search`, `train` or `compress`."""
        return str(self.record.manifest.get("kind", "search"))

    @property
    def measure(self) -> str:
        """The number that switches were judged by: gamma or strength."""
        return strategy_info(self.record.config.get("strategy", DEFAULT)).measure


def read_reported_run(path: Path, label: str | None = None, *, allow_python: bool = False) -> ReportedRun:
    """Read a run, if necessary without its space. Raises NasError if the folder is not a run."""
    paths = RunPaths(path)
    record = read_run_record(paths)
    label = label or path.name or str(path)
    read = (read_history(paths), read_final(paths), damage(record))
    try:
        run = Run(RunFolder(path), record.manifest, allow_python)
        space = run.space
    except NasError as error:
        return ReportedRun(label, record, None, None, error.diagnostics, *read)
    graph = run.switched()
    return ReportedRun(label, _with_outline(record, graph), space, graph, (), *read)


def _with_outline(record: RunRecord, graph: Graph) -> RunRecord:
    """A run with its outline, which older versions did not write for the API."""
    if record.outline is not None or not graph.gates:
        return record
    config, size = record.config, cost(graph)
    numbers = {"seed": 0, "warmup": 0, "steps": 1, "iterations": 1, "finish": 0}
    outline = Outline(
        space=record.manifest["space"],
        network=graph.name,
        data=str(config.get("data")),
        device=str(config.get("device")),
        **{key: config.get(key) or default for key, default in numbers.items()},
        switches=tuple(switches_of(graph)),
        parameters=size.parameters,
        flops=size.flops,
        flops_at_least=size.flops_at_least,
        wanted=(),
        strategy=config.get("strategy", DEFAULT),
    )
    return replace(record, outline=outline)
