"""The comparison with random architectures: was the search worth it?

Architectures of the same budget are drawn at random. They and the one that the search has found are trained from
scratch, all in the same way (`trial.py`), and measured on the test set. `comparison.json` is written after each.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bayesnas_graph import passes
from bayesnas_graph.derive.sample import random_networks
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.checksums import problem_of
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.loop import EXPLOSION, Interrupted
from bayesnas_graph.runs.reading.comparison import NEAR, Among, Compared, Comparison, parse_comparison
from bayesnas_graph.runs.seeds import mixed
from bayesnas_graph.runs.watching import Watcher
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.trial import Trial


@dataclass(frozen=True)
class _Notes(Watcher):
    """Passes on what is unusual in a trial, and nothing else: its start is not that of a search."""

    watcher: SearchWatcher

    def noted(self, text: str) -> None:
        self.watcher.noted(text)


@dataclass(frozen=True)
class Comparing:
    """A comparison in progress. Every architecture is a piece of work that can be interrupted and resumed."""

    problem: Problem
    device: Device
    folder: RunFolder
    fingerprint: str
    watcher: SearchWatcher
    stop: Callable[[], bool]

    def run(self, off: frozenset[str], steps_before: int) -> Comparison | None:
        """Train what is not trained yet; None if there is no other architecture. Raises Interrupted or NasError.

        `off` are the switches that are closed in the architecture that was found, after this many steps.
        """
        processes = self.device.processes
        comparison = processes.broadcast(self._begun(off) if processes.first else None)
        assert comparison is not None, "the first process has read or drawn it"
        if len(comparison.networks) == 1:
            self.watcher.noted("there is no other architecture of the same budget to compare with")
            return None
        if len(comparison.networks) <= comparison.wanted:
            found = len(comparison.networks) - 1
            self.watcher.noted(f"only {found} of {comparison.wanted} random architectures were found")
        self._write(comparison)
        self.watcher.comparing(comparison)
        for number, network in enumerate(comparison.networks):
            if network.is_done:
                continue
            try:
                network = self._trained(network, number)
            except Interrupted as interrupted:
                done = number * comparison.steps + interrupted.step
                raise Interrupted(steps_before + done) from None
            comparison = comparison.replaced(number, network)
            self._write(comparison)
            self.watcher.trial_ended(comparison, number)
        if processes.first:
            shutil.rmtree(self.folder.trials, ignore_errors=True)
        return comparison

    def _trained(self, network: Compared, number: int) -> Compared:
        checkpoints = SearchCheckpoints(self._room_for(network), self.problem.config.keep, self.fingerprint)

        def logged(row: StepRow) -> None:
            self.watcher.trial_logged(number, row)

        trial = Trial(
            self.problem, self.device, checkpoints, _Notes(self.watcher), self.stop, off=network.off, logged=logged
        )
        try:
            loss, accuracy = trial.run()
        except NasError as error:
            if error.diagnostics[0].code != EXPLOSION:
                raise
            self.watcher.noted(f"architecture {number + 1} is left out: {error.diagnostics[0].message}")
            return network.model_copy(update={"failed": True})
        return network.model_copy(update={"loss": loss, "accuracy": accuracy})

    def _room_for(self, network: Compared) -> Path:
        """Return the folder for the checkpoints of an architecture."""
        name = sha256("\n".join(network.off).encode()).hexdigest()[:16]
        if self.device.processes.first:
            self.folder.make(self.folder.trials)
        return self.folder.trials / name

    def _write(self, comparison: Comparison) -> None:
        if self.device.processes.first:
            self.folder.write_json(self.folder.comparison, comparison.to_plain())

    def _begun(self, off: frozenset[str]) -> Comparison:
        """Return the comparison as far as it is in the folder, or a new one."""
        wanted, problem = self.problem.config.compare_random, self.problem
        own = tuple(sorted(off))
        before = self._read()
        if before is not None and not self._fits(before, own):
            before = None
        if before is not None and before.wanted == wanted:
            return before
        done = {network.off: network for network in before.networks} if before is not None else {}
        among, drawn = draw(problem, off, wanted)
        networks = tuple(done.get(one, _compared(problem, one)) for one in (own, *drawn))
        steps, kind = problem.finalist_steps, problem.objective.kind
        return Comparison(wanted=wanted, among=among, steps=steps, networks=networks, predicts=kind)

    def _fits(self, comparison: Comparison, own: tuple[str, ...]) -> bool:
        """Return whether a comparison can be one of this run: the file may say anything."""
        networks = comparison.networks
        if networks[0].off != own or comparison.steps != self.problem.finalist_steps:
            return False
        return len({network.off for network in networks}) == len(networks) and all(map(self._is_sound, networks))

    def _is_sound(self, network: Compared) -> bool:
        """Return whether an architecture is one of this space."""
        if not self.problem.graph.switches.keys() >= set(network.off):
            return False
        try:
            return _compared(self.problem, network.off).parameters == network.parameters
        except (passes.Disconnected, passes.Misfit):
            return False

    def _read(self) -> Comparison | None:
        try:
            return parse_comparison(read_json(self.folder.comparison))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            problem = problem_of(error)
            self.watcher.noted(f"cannot read `{self.folder.comparison}`: {problem}; the comparison begins again")
            return None


def draw(problem: Problem, off: frozenset[str], count: int) -> tuple[Among, list[tuple[str, ...]]]:
    """Draw other architectures of the budget of the one that was found, by the switches that they close.

    If nothing is required, they have about as many parameters; if there are none, any.
    """
    options = passes.Options(mode=problem.config.mode)
    space = passes.run(problem.written, (passes.infer_shapes, passes.group_switches), options)
    found = frozenset(gate.group for gate in passes.prune(problem.graph, off).gates) & space.switches.keys()
    seed = mixed(problem.config.seed, "comparison")

    def others(budgets: list[Budget]) -> list[frozenset[str]]:
        drawn = random_networks(space, budgets, count + 1, seed, found)  # one more, in case it is the one found
        return [on for on in drawn if on != found][:count]

    required = [*problem.budgets, *_targets(problem)]
    among: Among = "requirements" if required else "size"
    drawn = others(required or _of_size(cost(passes.prune(problem.graph, off)).parameters))
    if not required and len(drawn) < count:
        among, drawn = "any", others([])
    return among, [_closed(problem, on, space.switches.keys() - on) for on in drawn]


def _closed(problem: Problem, on: frozenset[str], off: frozenset[str] | set[str]) -> tuple[str, ...]:
    """Return all switches that are off if these are, with the zero switches of choices without candidates."""
    left = {gate.group for gate in passes.prune(problem.graph, frozenset(off)).gates}
    assert on <= left, "what is drawn has no dead ends"
    return tuple(sorted(problem.graph.switches.keys() - left))


def _targets(problem: Problem) -> list[Budget]:
    config = problem.config
    sizes = {"params": config.target_params, "flops": config.target_flops}
    return [_budget(quantity, "<=", size) for quantity, size in sizes.items() if size is not None]


def _of_size(parameters: int) -> list[Budget]:
    least, most = round(parameters * (1 - NEAR)), round(parameters * (1 + NEAR))
    return [_budget("params", ">=", least), _budget("params", "<=", most)]


def _budget(quantity: str, comparison: str, bound: int) -> Budget:
    return Budget(quantity, comparison, bound, Span(Source("the settings", ""), 0, 0))


def _compared(problem: Problem, off: tuple[str, ...]) -> Compared:
    size = cost(passes.prune(problem.graph, frozenset(off)))
    return Compared(off=off, parameters=size.parameters, flops=size.flops)
