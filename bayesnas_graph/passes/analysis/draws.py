"""Random networks of a space, uniform over those that are distinct and connected.

Where the networks of a component are numbered, a number is drawn. Elsewhere settings are drawn until one is a network:
every setting is equally likely, and every network has one setting. If that is too rare, or if few networks meet further
conditions, a Markov chain moves from network to network. It is uniform only in the long run, and only over the networks
that it can reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from math import comb, prod
from random import Random

from bayesnas_graph.passes.analysis.lanes import evaluate
from bayesnas_graph.passes.analysis.networks import Enumerated, Networks, subset
from bayesnas_graph.passes.analysis.skeleton import Component

LANES = 256  # settings drawn at once
MOST_SETTINGS = 20_000  # settings to draw for one network
LONG = 0.5  # probability that a move of the chain changes one choice more

Fits = Callable[[frozenset[str]], bool]


class Draws:
    """Draws networks, each as likely as any other."""

    def __init__(self, networks: Networks, random: Random) -> None:
        self.networks = networks
        self.random = random
        pairs = zip(networks.skeleton.components, networks.enumerated, strict=True)
        self._parts = [found or _Settings(networks, component, random) for component, found in pairs]

    def draw(self) -> frozenset[str] | None:
        """Return the switches of a network; None if too many settings were drawn in vain."""
        groups: set[str] = set()
        for part in self._parts:
            drawn = _numbered(part, self.random) if isinstance(part, Enumerated) else part.draw()
            if drawn is None:
                return None
            groups |= drawn
        return frozenset(groups)


def _numbered(found: Enumerated, random: Random) -> set[str]:
    return found.network(random.randrange(found.count))


class _Settings:
    """Draws settings of a component, all equally likely, and returns those that are networks."""

    def __init__(self, networks: Networks, component: Component, random: Random) -> None:
        self.skeleton = networks.skeleton
        self.component = component
        self.random = random
        self.units = _units(networks, component)
        self._ready: list[set[str]] = []

    def draw(self) -> set[str] | None:
        """Return the switches of a network; None if too many settings were drawn in vain."""
        tried = 0
        while not self._ready:
            if tried >= MOST_SETTINGS:
                return None
            self._ready = self._drawn()
            tried += LANES
        return self._ready.pop()

    def _drawn(self) -> list[set[str]]:
        wanted = {bundle: 0 for unit in self.units for bundle in unit.bundles}
        for lane in range(LANES):
            for unit in self.units:
                for bundle in unit.draw(self.random):
                    wanted[bundle] |= 1 << lane
        lanes = evaluate(self.component, self.skeleton.always, wanted, (1 << LANES) - 1)
        found = []
        for lane in range(LANES):
            if lanes.valid >> lane & 1:
                bundles = [self.skeleton.bundles[i] for i in self.component.bundles if lanes.on[i] >> lane & 1]
                some = (subset(bundle, self.random.randrange(bundle.ways)) for bundle in bundles)
                found.append(set[str]().union(*some))
        return found


class _Unit:
    """Bundles of which certain numbers are on, such as those of a choice: a set is as likely as it has ways."""

    def __init__(self, bundles: tuple[int, ...], ways: list[int], sizes: Collection[int]) -> None:
        self.bundles = bundles
        self.ways = dict(zip(bundles, ways, strict=True))
        self.sizes = sorted(size for size in sizes if size <= len(bundles))
        # For every place and number: the ways to have exactly that many of the bundles from there on.
        self.table = [[1] + [0] * self.sizes[-1]]
        for way in reversed(ways):
            after = self.table[-1]
            self.table.append([after[k] + (way * after[k - 1] if k else 0) for k in range(len(after))])
        self.table.reverse()

    def draw(self, random: Random) -> list[int]:
        """Return the bundles that are on."""
        return self._of_size(self._size(random, self.table[0]), random)

    def _size(self, random: Random, ways: Sequence[int]) -> int:
        number = random.randrange(sum(ways[size] for size in self.sizes))
        for size in self.sizes:
            if number < ways[size]:
                return size
            number -= ways[size]
        raise AssertionError("the numbers are those of the sizes")

    def _of_size(self, left: int, random: Random) -> list[int]:
        found = []
        for place, bundle in enumerate(self.bundles):
            if left and random.randrange(self.table[place][left]) >= self.table[place + 1][left]:
                left -= 1
                found.append(bundle)
        return found

    def propose(self, random: Random) -> list[int]:
        """Return bundles, each of which is as likely to be on as off if they are few; see `odds`."""
        size = random.choice(self.sizes)
        return sorted(random.sample(self.bundles, size))

    def odds(self, on: Collection[int]) -> Fraction:
        """How much more likely a set should be than `propose` makes it, up to a factor."""
        ways = prod(self.ways[bundle] for bundle in on)
        return Fraction(ways * comb(len(self.bundles), len(on)))


def _units(networks: Networks, component: Component) -> list[_Unit]:
    """What is drawn independently. A bundle with several limits is drawn alone, and the limits are checked later.

    The edges into a node that must have two inputs are drawn together: two of them, or none if the node is not used.
    """
    bundles = networks.skeleton.bundles
    alone = dict.fromkeys(networks.free(component))
    units = []
    for some, sizes in (*_limited(component), *_required(component)):
        if all(bundle in alone for bundle in some):
            units.append(_Unit(some, [bundles[i].ways for i in some], sizes))
            for bundle in some:
                del alone[bundle]
    return units + [_Unit((bundle,), [bundles[bundle].ways], (0, 1)) for bundle in alone]


def _limited(component: Component) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The bundles of every choice, and how many may be on. Those in several are left out."""
    times = Counter(bundle for limit in component.limits for bundle in limit.bundles)
    for limit in component.limits:
        if all(times[bundle] == 1 for bundle in limit.bundles):
            yield limit.bundles, range(limit.most + 1)


def _required(component: Component) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The bundles of edges that a rule counts, and how many may be on, if every edge has one bundle."""
    for rule in component.rules:
        edges = [term.closed_by for term in rule.terms]
        if all(term.counts_if_kept for term in rule.terms) and all(len(edge) == 1 for edge in edges):
            some = tuple(dict.fromkeys(edge[0] for edge in edges))
            if len(some) == len(edges):
                yield some, {0, *range(rule.least, rule.most + 1)}


class Chain:
    """Moves from network to network by drawing some choices again, and stays where the result is not a network."""

    def __init__(self, networks: Networks, start: frozenset[str], fits: Fits, random: Random) -> None:
        self.networks = networks
        self.fits = fits
        self.random = random
        self._kinds = list(zip(networks.skeleton.components, networks.enumerated, strict=True))
        self._state = [start & groups for groups in map(self._groups, networks.skeleton.components)]
        # What a move draws again: a whole component that is numbered, or bundles of another.
        self.moves: list[tuple[int, _Unit | None]] = []
        for i, (component, found) in enumerate(self._kinds):
            if found is not None:
                self.moves.append((i, None))
                continue
            always = (bundle for bundle in component.bundles if bundle in networks.skeleton.always)
            units = [*_units(networks, component), *(_Unit((bundle,), [1], (0, 1)) for bundle in always)]
            self.moves += [(i, unit) for unit in units]

    def _groups(self, component: Component) -> frozenset[str]:
        bundles = self.networks.skeleton.bundles
        return frozenset(group for i in component.bundles for group in bundles[i].groups)

    @property
    def network(self) -> frozenset[str]:
        """The switches of the current network."""
        return frozenset[str]().union(*self._state)

    def move(self) -> None:
        """Propose another network, and go there if it is one and fits."""
        count = 1
        while count < len(self.moves) and self.random.random() < LONG:
            count += 1
        before, odds = list(self._state), Fraction(1)
        touched = set()
        for i, unit in self.random.sample(self.moves, count):
            found = self._kinds[i][1]
            if unit is None:
                assert found is not None, "bundles are drawn again only where there are no numbers"
                self._state[i] = frozenset(_numbered(found, self.random))
            else:
                self._state[i], better = self._redrawn(self._state[i], unit)
                odds *= better
                touched.add(i)
        for i in sorted(touched):
            odds *= self._completed(i)
        if before == self._state:
            return
        if self.random.random() >= odds or not self.fits(self.network):
            self._state = before

    def _redrawn(self, state: frozenset[str], unit: _Unit) -> tuple[frozenset[str], Fraction]:
        """A state with other bundles of a unit; for a choice that must have some, with others if it has any.

        Also returns by how much the proposal underestimates it, compared with the state before.
        """
        bundles, always = self.networks.skeleton.bundles, self.networks.skeleton.always
        without = state.difference(*(bundles[i].groups for i in unit.bundles))
        before = [i for i in unit.bundles if not state.isdisjoint(bundles[i].groups)]
        on = unit.propose(self.random) if always.isdisjoint(unit.bundles) else before
        some = (subset(bundles[i], self.random.randrange(bundles[i].ways)) for i in on)
        return without.union(*some), unit.odds(on) / unit.odds(before)

    def _completed(self, i: int) -> Fraction:
        """Draw candidates of choices that must have some and are now used, and remove those that are not.

        Returns how likely to accept the result: 0 if it is not a network. It is less likely where candidates were
        removed, because they would have to be drawn again on the way back.
        """
        skeleton, component, state = self.networks.skeleton, self._kinds[i][0], self._state[i]
        wanted = {b: int(not state.isdisjoint(skeleton.bundles[b].groups)) for b in self.networks.free(component)}
        lanes = evaluate(component, skeleton.always, wanted, 1)
        if not lanes.valid:
            return Fraction(0)
        odds = Fraction(1)
        for bundle in (bundle for bundle in component.bundles if bundle in skeleton.always):
            groups, ways = skeleton.bundles[bundle].groups, skeleton.bundles[bundle].ways
            has = not state.isdisjoint(groups)
            if lanes.on[bundle] and not has:
                state |= subset(skeleton.bundles[bundle], self.random.randrange(ways))
                odds *= ways
            elif has and not lanes.on[bundle]:
                state -= frozenset(groups)
                odds /= ways
        self._state[i] = state
        return odds
