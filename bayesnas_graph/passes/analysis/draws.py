"""Random networks of a space, uniform over those that are distinct and connected.

Where the networks of a component are numbered, a number is drawn. Elsewhere settings are drawn until one is a network:
every setting is equally likely, and every network has one setting. If that is too rare, or if few networks meet further
conditions, a Markov chain moves from network to network. It is uniform only in the long run, and only over the networks
that it can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from bayesnas_graph.passes.analysis.lanes import evaluate
from bayesnas_graph.passes.analysis.networks import Enumerated, Networks, subset
from bayesnas_graph.passes.analysis.parts import Component
from bayesnas_graph.passes.analysis.units import Unit, units_of

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
        self.units = units_of(networks.skeleton, component)
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


class Chain:
    """Moves from network to network by drawing some choices again, and stays where the result is not a network."""

    def __init__(self, networks: Networks, start: frozenset[str], fits: Fits, random: Random) -> None:
        self.networks = networks
        self.fits = fits
        self.random = random
        self._kinds = list(zip(networks.skeleton.components, networks.enumerated, strict=True))
        self._state = [start & groups for groups in map(self._groups, networks.skeleton.components)]
        # What a move draws again: a whole component that is numbered, or bundles of another.
        self.moves: list[tuple[int, Unit | None]] = []
        for i, (component, found) in enumerate(self._kinds):
            if found is not None:
                self.moves.append((i, None))
                continue
            always = (bundle for bundle in component.bundles if bundle in networks.skeleton.always)
            units = [*units_of(networks.skeleton, component), *(Unit((bundle,), [1], (0, 1)) for bundle in always)]
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

    def _redrawn(self, state: frozenset[str], unit: Unit) -> tuple[frozenset[str], Fraction]:
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
        wanted = {
            b: int(not state.isdisjoint(skeleton.bundles[b].groups)) for b in self.networks.skeleton.free(component)
        }
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
