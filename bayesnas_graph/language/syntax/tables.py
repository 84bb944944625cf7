"""The parse tables of lark in a form that is fast to use.

lark looks up rules and their names by value at every step, in Python. Here the action of a state on a token is either
the next state or a reduction with all it needs. What is accepted and what is built are the same; errors are left to
lark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lark import Lark, Token
from lark.parse_tree_builder import ExpandSingleChild
from lark.parsers.lalr_analysis import Shift


class Reduction(NamedTuple):
    """The last values become one."""

    size: int
    build: Callable[[list[Any]], Any] | None  # None if a single value stays as it is
    origin: str


@dataclass(frozen=True, slots=True)
class Tables:
    """The actions of every state on tokens, and the states after reductions."""

    start: int
    end: int
    actions: dict[int, dict[str, int | Reduction]]
    gotos: dict[int, dict[str, int]]
    # The state that replaces the last one before a token, if a value only changes its rule: from name to expression.
    _renamed: dict[tuple[int, int, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, lark: Lark) -> Tables:
        """The tables of a grammar whose parser calls a transformer."""
        conf: Any = lark.parse_interactive("").parser_state.parse_conf
        reductions: dict[int, Reduction] = {}
        actions: dict[int, dict[str, int | Reduction]] = {}
        gotos: dict[int, dict[str, int]] = {}
        for state, row in conf.states.items():
            actions[state], gotos[state] = {}, {}
            for symbol, (action, argument) in row.items():
                if action is not Shift:
                    if id(argument) not in reductions:
                        build, size = conf.callbacks[argument], len(argument.expansion)
                        is_same = size == 1 and isinstance(build, ExpandSingleChild)
                        origin = str(argument.origin.name)
                        reductions[id(argument)] = Reduction(size, None if is_same else build, origin)
                    actions[state][str(symbol)] = reductions[id(argument)]
                else:
                    (actions if symbol.isupper() else gotos)[state][str(symbol)] = argument
        return cls(conf.start_state, conf.end_state, actions, gotos)

    def parse(self, tokens: Iterable[Token]) -> Any:
        """What the tokens build; None if they are not valid."""
        actions, gotos, renamed = self.actions, self.gotos, self._renamed
        states, values = [self.start], list[Any]()
        for token in (*tokens, None):
            kind = "$END" if token is None else token.type
            while True:
                action = actions[states[-1]].get(kind)
                if action is None:
                    return None
                if isinstance(action, int):
                    states.append(action)
                    values.append(token)
                    break
                size, build, origin = action
                if build is None:
                    key = states[-2], states[-1], kind
                    states[-1] = renamed[key] if key in renamed else self._rename(*key)
                else:
                    parts = values[len(values) - size :]
                    del states[len(states) - size :], values[len(values) - size :]
                    values.append(build(parts))
                    states.append(gotos[states[-1]][origin])
                if token is None and states[-1] == self.end:
                    return values[-1]
        raise AssertionError("the end is an error or ends the item")

    def _rename(self, below: int, state: int, kind: str) -> int:
        """The state after all reductions of one value to itself before a token of this kind, remembered."""
        key = below, state, kind
        action = self.actions[state].get(kind)
        while isinstance(action, Reduction) and action.build is None:
            state = self.gotos[below][action.origin]
            action = self.actions[state].get(kind)
        self._renamed[key] = state
        return state
