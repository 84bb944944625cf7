"""Random architectures of a network: connected, distinct, and meeting what the network requires."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from random import Random

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.language.notations import write_architecture
from bayesnas_graph.language.notations.switch_names import SwitchNames
from bayesnas_graph.passes.analysis.draws import Chain, Draws
from bayesnas_graph.passes.analysis.extremes import extremes
from bayesnas_graph.passes.analysis.networks import Networks
from bayesnas_graph.passes.analysis.prices import Measure, Prices
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune

MOST_NUMBERS = 2**20  # networks that are gone through in random order
MOST_VISITED = 10_000_000  # nodes visited to find out whether networks meet the requirements: less than a minute
TRIES = 1000  # draws for every network, at most
MOVES = 20  # moves of the chain between two networks, at least

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
_MEASURES: Mapping[str, Measure] = {"params": "parameters", "flops": "flops", "memory": "stored_values"}
BYTES = 4  # of a stored value


@dataclass(frozen=True)
class Drawn:
    """A random architecture."""

    switches: tuple[str, ...]  # the names of those that are on, in the order of the space
    parameters: int
    flops: int  # multiply-adds
    string: str | None  # in the notation of the space, if there is one

    @property
    def name(self) -> str:
        """A short name: the same for the same switches."""
        return sha256("\n".join(self.switches).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Sample:
    """Random architectures of a network."""

    drawn: tuple[Drawn, ...]
    is_uniform: bool  # exactly; otherwise they come from a Markov chain
    is_all: bool  # whether the space has no others

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[Drawn]:
        return iter(self.drawn)


def sample(network: Network, count: int, seed: int = 0, *, with_replacement: bool = False) -> Sample:
    """Draw architectures of a network, uniformly over its distinct connected networks that meet its requirements.

    Fewer are returned if there are not so many, or if the rest is too hard to find. Raises NasError if none is found.
    """
    graph = network.graph()
    sampler = _Sampler(graph, network.budgets, Random(seed))
    kept, is_all = sampler.uniform(count, with_replacement=with_replacement)
    is_uniform = is_all or len(kept) == count
    if not is_uniform:
        walked = sampler.walked(count, with_replacement=with_replacement)
        is_uniform = len(walked) < len(kept)  # the chain has found fewer
        kept = kept if is_uniform else walked
    if not kept:
        raise NasError([sampler.nothing(network.name)])
    return Sample(tuple(map(sampler.described, kept)), is_uniform, is_all)


def random_networks(
    graph: Graph, budgets: Sequence[Budget], count: int, seed: int, start: frozenset[str]
) -> list[frozenset[str]]:
    """Draw networks of a graph without zero switches that meet some requirements, by their switches.

    Uniformly where that is possible; otherwise a Markov chain begins at `start`, if that meets the requirements, or at
    the smallest or the largest network. Fewer are returned if there are not so many, or if they are too hard to find.
    """
    sampler = _Sampler(graph, budgets, Random(seed))
    kept, is_all = sampler.uniform(count, with_replacement=False)
    if is_all or len(kept) == count:
        return kept
    walked = sampler.walked(count, with_replacement=False, first=start)
    return kept if len(walked) < len(kept) else walked


class _Sampler:
    def __init__(self, graph: Graph, budgets: Sequence[Budget], random: Random) -> None:
        self.graph = graph
        self.budgets = budgets
        self.random = random
        self.networks = Networks(graph)
        self.names = SwitchNames.of(graph)
        needed: dict[Measure, None] = {"parameters": None, "flops": None}
        needed.update(dict.fromkeys(_MEASURES[budget.quantity] for budget in budgets))
        self.prices = {measure: Prices(graph, measure) for measure in needed}
        self.checks = bool(budgets) or self.networks.may_misfit

    @property
    def visited(self) -> int:
        """Nodes visited so far."""
        return sum(prices.visited for prices in self.prices.values())

    def fits(self, on: frozenset[str]) -> bool:
        """Return whether shapes match and all requirements are met."""
        if self.networks.may_misfit and self.prices["parameters"].of(on) is None:
            return False
        return all(self._meets(budget, on) for budget in self.budgets)

    def _meets(self, budget: Budget, on: frozenset[str]) -> bool:
        spent = self.prices[_MEASURES[budget.quantity]].of(on)
        if spent is None:
            return False
        return _COMPARE[budget.comparison](spent * (BYTES if budget.quantity == "memory" else 1), budget.bound)

    def uniform(self, count: int, *, with_replacement: bool) -> tuple[list[frozenset[str]], bool]:
        """Draw until there are enough, and say whether there are no others."""
        found: dict[frozenset[str], int] = {}
        kept: list[frozenset[str]] = []
        stop = self.visited + MOST_VISITED
        is_listed = self.networks.is_enumerated and self.networks.bound <= MOST_NUMBERS and not with_replacement
        for tried, on in enumerate(self._listed() if is_listed else self._endless()):
            if on is None or (tried >= TRIES * count and not is_listed) or self.visited > stop:
                return kept, False
            if (with_replacement or on not in found) and (not self.checks or self.fits(on)):
                found[on] = len(kept)
                kept.append(on)
            if len(kept) == count:
                return kept, False
        return kept, True

    def _listed(self) -> Iterator[frozenset[str] | None]:
        """All networks in random order."""
        return map(self.networks.network, self.random.sample(range(self.networks.bound), self.networks.bound))

    def _endless(self) -> Iterator[frozenset[str] | None]:
        draws = Draws(self.networks, self.random)
        while True:
            yield draws.draw()

    def walked(
        self, count: int, *, with_replacement: bool, first: frozenset[str] | None = None
    ) -> list[frozenset[str]]:
        """Networks that a Markov chain visits, from the given one, or from the smallest or the largest."""
        starts = chain([] if first is None else [first], self._ends())
        start = next((on for on in starts if self.fits(on)), None)
        if start is None:
            return []
        walk = Chain(self.networks, start, self.fits, self.random)
        between = max(MOVES, len(walk.moves))
        kept: list[frozenset[str]] = []
        found: set[frozenset[str]] = set()
        stop = self.visited + MOST_VISITED
        for _ in range(TRIES * count):
            for _ in range(between):
                walk.move()
                if not self.checks:
                    stop -= len(self.graph)
            if walk.network not in found or with_replacement:
                found.add(walk.network)
                kept.append(walk.network)
            if len(kept) == count or self.visited > stop:
                break
        return kept

    def _ends(self) -> Iterator[frozenset[str]]:
        """The smallest and the largest architectures, by the switches that are left of them."""
        ends = extremes(self.graph)
        for costs in (ends.parameters, ends.flops):
            for end in (costs.smallest, costs.largest):
                try:
                    yield frozenset(gate.group for gate in prune(self.graph, end.off).gates)
                except (Disconnected, Misfit):
                    continue

    def nothing(self, name: str) -> Diagnostic:
        """Report that nothing was found."""
        if not self.budgets:
            return Diagnostic("NAS705", f"no connected architecture of network `{name}` was found")
        wanted = " and ".join(f"`{budget}`" for budget in self.budgets)
        ends = extremes(self.graph)
        sizes = f"{ends.parameters.smallest.cost:,} parameters and {ends.flops.smallest.cost:,} multiply-adds"
        label = Label(self.budgets[0].span, "required here")
        help = f"the smallest that is known has {sizes}: change what the network requires"
        return Diagnostic("NAS705", f"no architecture of network `{name}` with {wanted} was found", label, help=help)

    def described(self, on: frozenset[str]) -> Drawn:
        """Return an architecture with its names and sizes."""
        parameters, flops = self.prices["parameters"].of(on), self.prices["flops"].of(on)
        assert parameters is not None, "only networks are drawn"
        assert flops is not None, "only networks are drawn"
        try:
            string = write_architecture(on, self.graph)
        except NasError:  # the notation cannot express it
            string = None
        names = tuple(self.names.shown(group, self.graph) for group in self.graph.switches if group in on)
        return Drawn(names, parameters, flops, string)
