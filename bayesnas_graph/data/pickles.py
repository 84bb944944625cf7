"""Reading a pickle of plain values and byte arrays without executing any of it.

Python's own unpickler imports and calls what a pickle names. Here a pickle is a list of opcodes: the few that plain
values need act on a stack of plain values, and all others are refused. Three names are known, those of the functions
that make an array; they are not imported or called either.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

ARRAYS = frozenset({"numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct"})
ARRAY_TYPES = frozenset({"numpy ndarray"})
NUMBER_TYPES = frozenset({"numpy dtype"})
ENCODERS = frozenset({"_codecs encode"})  # bytes in pickles that Python 3 wrote for Python 2
KNOWN = ARRAYS | ARRAY_TYPES | NUMBER_TYPES | ENCODERS


class NotPlain(ValueError):
    """Raised for a pickle that is damaged, or that holds anything but plain values and byte arrays."""


@dataclass(frozen=True)
class _Name:
    """A name of Python code in a pickle. It is never looked up."""

    text: str


@dataclass(frozen=True)
class _NumberType:
    """The type of numbers in an array: bytes."""


@dataclass(eq=False)
class _Array:
    """An array, whose content comes after it."""

    values: Bytes | None = None


def read_pickle(content: bytes) -> dict[str, Any]:
    """Return the dictionary in a pickle: texts, bytes, numbers, lists, tuples, dictionaries and byte arrays.

    Texts of Python 2 are bytes, except for keys. Raises NotPlain.

    >>> import pickle
    >>> read_pickle(pickle.dumps({"labels": [3, 1]}))
    {'labels': [3, 1]}
    >>> read_pickle(pickle.dumps({"labels": print}))
    Traceback (most recent call last):
    bayesnas_graph.data.pickles.NotPlain: it names `builtins.print`, which is neither imported nor called
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "STOP":
                (result,) = machine.stack
                break
            machine.run(opcode.name, argument)
    except NotPlain:
        raise
    except Exception as error:  # of any type, depending on what is damaged
        raise NotPlain(f"it is damaged: {str(error)[:100]}") from None
    if not isinstance(result, dict):
        raise NotPlain("it holds no dictionary")
    return {key: _finished(value) for key, value in result.items()}


def _finished(value: object) -> object:
    if isinstance(value, _Array):
        if value.values is None:
            raise NotPlain("it has an array without content")
        return value.values
    return value


@dataclass
class _Machine:
    """The stack and the memo of a pickle that is being read."""

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)  # places in the stack
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self, name: str, argument: Any) -> None:
        """Act as one opcode says. Raises NotPlain for those that plain values do not need."""
        if name in _VALUES:
            self.stack.append(_VALUES[name](argument))
        elif name in _ACTIONS:
            _ACTIONS[name](self, argument)
        elif name not in _IGNORED:
            raise NotPlain(f"it uses `{name}`, which plain values do not need")

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise NotPlain("it is damaged: a value is missing")
        return self.stack.pop()

    def mark(self) -> None:
        self.marks.append(len(self.stack))

    def pop_to_mark(self) -> list[Any]:
        """Remove the values after the last mark, and the mark."""
        place = self.marks.pop()
        values = self.stack[place:]
        del self.stack[place:]
        return values

    def pop_some(self, count: int) -> None:
        """Replace some values by a tuple of them."""
        values = [self.pop() for _ in range(count)]
        self.stack.append(tuple(reversed(values)))

    def keep(self, number: int) -> None:
        self.memo[number] = self.stack[-1]

    def extend(self, values: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            raise NotPlain("it is damaged: something is appended to what is not a list")
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            raise NotPlain("it is damaged: keys and values do not match")
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[_text(key)] = value

    def name(self, text: str) -> None:
        if text not in KNOWN:
            raise NotPlain(f"it names `{text.replace(' ', '.')[:100]}`, which is neither imported nor called")
        self.stack.append(_Name(text))

    def reduce(self) -> None:
        """Make an array, the type of its numbers, or bytes."""
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, _Name) or not isinstance(arguments, tuple):
            raise NotPlain("it calls what is not a function")
        if function.text in ARRAYS:
            self.stack.append(_Array())
        elif function.text in NUMBER_TYPES and arguments and arguments[0] in ("u1", b"u1"):
            self.stack.append(_NumberType())
        elif function.text in ENCODERS and len(arguments) == 2 and isinstance(arguments[0], str):
            self.stack.append(arguments[0].encode("latin-1"))
        else:
            raise NotPlain("it has an array of other numbers than bytes")

    def build(self) -> None:
        """Fill an array."""
        state, target = self.pop(), self.stack[-1]
        if isinstance(target, _Array):
            target.values = _array(state)
        elif not isinstance(target, _NumberType):
            raise NotPlain("it changes what is not an array")


def _array(state: Any) -> Bytes:
    _, shape, kind, fortran, content = state
    if not isinstance(kind, _NumberType) or not isinstance(content, bytes):
        raise NotPlain("it has an array of other numbers than bytes")
    if not isinstance(shape, tuple) or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise NotPlain("it has an array without a shape")
    if prod(shape) != len(content):
        raise NotPlain(f"it has an array of {prod(shape):,} bytes with {len(content):,} bytes in it")
    return np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")


def _text(key: object) -> str:
    if isinstance(key, bytes):
        return key.decode("latin-1")
    if not isinstance(key, str):
        raise NotPlain("it has a key that is not a text")
    return key


def _global_from_stack(machine: _Machine) -> None:
    name, module = machine.pop(), machine.pop()
    machine.name(f"{_text(module)} {_text(name)}")


def _keep_next(machine: _Machine) -> None:
    machine.keep(len(machine.memo))


_IGNORED = frozenset({"PROTO", "FRAME"})
_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_DICT": lambda _: {},
    "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (),
    **dict.fromkeys(("INT", "BININT", "BININT1", "BININT2", "LONG1"), int),
    **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE"), str),
    **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES"), bytes),
    **dict.fromkeys(("BINSTRING", "SHORT_BINSTRING"), lambda text: text.encode("latin-1")),
}
_ACTIONS: Mapping[str, Callable[[_Machine, Any], Any]] = {
    "MARK": lambda machine, _: machine.mark(),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.pop_to_mark())),
    "TUPLE1": lambda machine, _: machine.pop_some(1),
    "TUPLE2": lambda machine, _: machine.pop_some(2),
    "TUPLE3": lambda machine, _: machine.pop_some(3),
    "APPEND": lambda machine, _: machine.extend([machine.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.pop_to_mark()),
    "SETITEM": lambda machine, _: machine.set_items([machine.pop(), machine.pop()][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.pop_to_mark()),
    "GLOBAL": lambda machine, text: machine.name(text),
    "STACK_GLOBAL": lambda machine, _: _global_from_stack(machine),
    "REDUCE": lambda machine, _: machine.reduce(),
    "BUILD": lambda machine, _: machine.build(),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda machine, number: machine.keep(number)),
    "MEMOIZE": lambda machine, _: _keep_next(machine),
    **dict.fromkeys(
        ("GET", "BINGET", "LONG_BINGET"), lambda machine, number: machine.stack.append(machine.memo[number])
    ),
}
