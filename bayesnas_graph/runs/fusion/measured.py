"""The answers of a run: for all siblings it has met, whether they are faster fused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bayesnas_graph import passes
from bayesnas_graph.diagnostics.memory import is_out_of_memory
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import FusionSite, Options
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.fusion.cache import cache_file, cache_folder, document, read_times, write_times
from bayesnas_graph.runs.fusion.timing import Conditions, Times, time_site
from bayesnas_graph.runs.processes import Processes

Answers = dict[str, bool]  # by the key of a site

_BEFORE = passes.FASTER[: passes.FASTER.index(passes.fuse_siblings)]


class MeasuredFusion:
    """Answers that were timed on the device of a run.

    Answers grow while a run goes on, because pruning makes new sites, but none ever changes. They come from the run
    folder first: a resumed run compiles the same programs, whatever has happened to the cache. Only the first process
    looks and times; all have its answers.
    """

    def __init__(self, processes: Processes, folder: RunFolder | None = None) -> None:
        self._processes = processes
        self._folder = folder
        self._answers: dict[Conditions, Answers] = {}

    def answers(self, graph: Graph, options: Options, conditions: Conditions) -> tuple[tuple[str, bool], ...]:
        """Return the answers so far, after timing what is new in this graph. All processes have to call this."""
        known = self._answers.setdefault(conditions, {})
        sites = passes.fusion_sites(passes.run(graph, _BEFORE, options))
        new = [site for site in sites if site.key not in known]
        if new:
            found = self._find(new, conditions) if self._processes.first else {}
            known.update(self._processes.broadcast(found))
        return tuple(sorted(known.items()))

    def _find(self, sites: Iterable[FusionSite], conditions: Conditions) -> Answers:
        """Look sites up in the run folder and the cache, and time the others. A site that does not fit is left out."""
        about, path = conditions.about, cache_file(cache_folder(), conditions.about)
        cached, recorded = read_times(path, about), self._recorded(about)
        used: dict[str, Times] = {}
        fresh: dict[str, Times] = {}
        answers: Answers = {}
        for site in sites:
            key = conditions.key(site.key)
            times = recorded.get(key) or cached.get(key) or _timed(site, conditions)
            if times is None:
                continue
            used[key], answers[site.key] = times, times.is_faster_fused
            if key not in cached:
                fresh[key] = times
        if fresh:
            write_times(path, about, read_times(path, about) | fresh)
        if self._folder is not None and not used.keys() <= recorded.keys():
            self._folder.write_json(self._folder.fusion, document(about, recorded | used))
        return answers

    def _recorded(self, about: dict[str, str]) -> dict[str, Times]:
        return {} if self._folder is None else read_times(Path(self._folder.fusion), about)


def _timed(site: FusionSite, conditions: Conditions) -> Times | None:
    try:
        return time_site(site.graph, conditions)
    except (MemoryError, RuntimeError) as error:
        if is_out_of_memory(error):
            return None
        raise
