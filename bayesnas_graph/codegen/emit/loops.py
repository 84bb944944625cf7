"""Finds items that repeat, to be printed as a loop: each round uses the next unit of a list.

    s.3 = Normal(s.1, s.2)
    s.4 = Normal(s.2, s.3)         start from s.1, s.2, and for each of s.3, s.4, s.5:
    s.5 = Normal(s.3, s.4)             old, new = new, Normal(old, new)

The rounds are consecutive in the unit. They differ only in the unit that they use and in gates, which are consecutive.
Nothing else may read what they compute, except the last results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, Weigh, results
from bayesnas_graph.ir import Expression

MAX_ROUND = 4  # items
MIN_CHAIN = 2  # uses
MIN_ROUNDS = 3  # of a loop
MAX_BACK = 2  # how many rounds back a loop may read

Alike = Callable[[Item, Item], bool]
Round = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Rounds that are alike. The body is the first round, reading `state` for the results of earlier rounds."""

    uses: tuple[UnitUse, ...]
    body: Round
    state: tuple[str, ...]  # results of the last rounds, the oldest first
    start: tuple[str, ...]  # their values before the first round
    results: tuple[str, ...]  # their names after the last round
    carried: tuple[str, ...]  # the name of the result of each round
    fixed: tuple[str, ...] = ()  # read by every round from outside
    gate: int | None = None  # of the first round

    @property
    def name(self) -> str:
        """The name of the list, which no node has."""
        return f"{self.uses[0].name}:"

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*dict.fromkeys(self.start), *self.fixed, *self.fixed)  # fixed values are read repeatedly

    @property
    def is_chain(self) -> bool:
        """Whether a round is one use that reads only the result of the one before."""
        return len(self.body) == 1 and self.body[0].inputs == self.state and len(self.state) == 1


@dataclass(frozen=True, slots=True)
class _Back:
    """The result of an earlier round."""

    rounds: int


def rolled(unit: Unit, alike: Alike) -> Iterator[Item | Repeat]:
    """The items of a unit, with repetitions as one. `alike` says whether one item can replace another."""
    search = _Search(unit, alike)
    position = 0
    while position < len(unit.items):
        longest = max(search.at(position), key=lambda repeat: len(repeat.uses) * len(repeat.body), default=None)
        yield unit.items[position] if longest is None else longest
        position += 1 if longest is None else len(longest.uses) * len(longest.body)


class _Search:
    def __init__(self, unit: Unit, alike: Alike) -> None:
        self.items = unit.items
        self.alike = alike
        self.maker = {name: i for i, item in enumerate(unit.items) for name in results(item)}
        self.readers: dict[str, list[int]] = defaultdict(list)
        for i, item in enumerate(unit.items):
            for name in item.inputs:
                self.readers[name].append(i)
        for name in unit.outputs:
            self.readers[name].append(len(unit.items))

    def at(self, start: int) -> Iterator[Repeat]:
        """The longest repetition from an item on, for every length of a round."""
        for size in range(1, MAX_ROUND + 1):
            rounds = self._rounds(start, size)
            for count in range(len(rounds), MIN_CHAIN - 1, -1):
                repeat = self._repeat(start, rounds[:count])
                if repeat is not None:
                    yield repeat
                    break

    def _rounds(self, start: int, size: int) -> list[Round]:
        """The rounds from an item on that are alike, whatever they read."""
        ends = range(start + size, len(self.items) + 1, size)
        rounds: list[Round] = []
        for body in (self.items[end - size : end] for end in ends):
            if not _can_repeat(body):
                break
            if rounds and not all(_same_form(a, b) and self.alike(a, b) for a, b in zip(rounds[-1], body, strict=True)):
                break
            rounds.append(body)
        return rounds

    def _repeat(self, start: int, rounds: list[Round]) -> Repeat | None:
        """Rounds as a repetition, if they read and are read as the rounds of a loop must be."""
        first, size = rounds[0], len(rounds[0])
        reads = [
            [self._source(name, k, start, size) for item in body for name in item.inputs]
            for k, body in enumerate(rounds)
        ]
        before = _before(reads)
        carried = [results(body[-1])[0] for body in rounds]
        last = carried[-len(before) :]
        if not before or not self._is_private(start, start + size * len(rounds), set(last)):
            return None
        uses = tuple(item for body in rounds for item in body if isinstance(item, UnitUse))
        state = tuple(f"{uses[0].name}:{i}" for i in range(len(before)))
        fixed = sorted({source for source in reads[-1] if isinstance(source, str)})
        gates = [item.gates[0] for item in first if isinstance(item, Weigh)]
        repeat = Repeat(
            uses=uses,
            body=_body(first, iter(reads[-1]), state),
            state=state,
            start=tuple(before),
            results=tuple(last),
            carried=tuple(carried),
            fixed=tuple(fixed),
            gate=gates[0] if gates else None,
        )
        return repeat if len(rounds) >= (MIN_CHAIN if repeat.is_chain else MIN_ROUNDS) else None

    def _source(self, name: str, k: int, start: int, size: int) -> object:
        """Where round `k` gets a value from: its name if outside, its position in the round, or an earlier round."""
        maker = self.maker.get(name, -1)
        if maker < start:
            return name
        made_in, place = divmod(maker - start, size)
        if made_in == k:
            return place
        return _Back(k - made_in) if place == size - 1 else None

    def _is_private(self, start: int, end: int, exempt: set[str]) -> bool:
        """Return whether only these items read what they compute, except some results."""
        results_inside = {name for item in self.items[start:end] for name in results(item)} - exempt
        return all(start <= reader < end for name in results_inside for reader in self.readers[name])


def _before(reads: list[list[object]]) -> list[str]:
    """The values that the first rounds read where later ones read results, the oldest first.

    Empty if the rounds do not all read in the same way, or read no results.
    """
    values: dict[int, str] = {}  # rounds before the first -> value
    for k, sources in enumerate(reads):
        for source, expected in zip(sources, reads[-1], strict=True):
            if isinstance(expected, _Back) and expected.rounds > k:
                if not isinstance(source, str) or values.setdefault(expected.rounds - k, source) != source:
                    return []
            elif source is None or source != expected:
                return []
    return [values[i] for i in sorted(values, reverse=True)] if max(values, default=0) <= MAX_BACK else []


def _body(first: Round, sources: Iterator[object], state: tuple[str, ...]) -> Round:
    """The first round, reading the state instead of results."""

    def read(name: str) -> str:
        source = next(sources)
        return state[-source.rounds] if isinstance(source, _Back) else name

    return tuple(replace(item, inputs=tuple(map(read, item.inputs))) for item in first)


def _can_repeat(body: Round) -> bool:
    """Return whether a round has exactly one use, at most one gate, and otherwise only expressions.

    A list of modules has each of them once, so none shares its weights.
    """
    uses = [item for item in body if isinstance(item, UnitUse)]
    gates = [item for item in body if isinstance(item, Weigh)]
    plain = [item for item in body if isinstance(item, OpUse) and isinstance(item.call, Expression)]
    simple = all(len(use.results) == 1 and not use.weights for use in uses) and all(
        len(gate.gates) == 1 for gate in gates
    )
    return len(uses) == 1 and len(gates) <= 1 and len(uses) + len(gates) + len(plain) == len(body) and simple


def _same_form(before: Item, after: Item) -> bool:
    """Return whether two items could be the same item of two rounds."""
    if type(before) is not type(after) or len(before.inputs) != len(after.inputs):
        return False
    match before, after:
        case UnitUse(), UnitUse():
            return len(before.results) == len(after.results)
        case Weigh(), Weigh():
            return after.gates == tuple(gate + 1 for gate in before.gates) and before.zero is after.zero is None
        case OpUse(), OpUse():
            return isinstance(after.call, Expression)
        case _:
            return False
