"""Definitions: motifs, cells, sets and Python operations, made from Python functions and classes."""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Concatenate, Generic, ParamSpec

from bayesnas_graph.builder.body import Body, Line
from bayesnas_graph.builder.pieces import Named, Needs, Operation, Piece, Set, call, check_name, piece

P = ParamSpec("P")


@dataclass(frozen=True)
class DefinitionText:
    """A definition in the language: its lines, and the other definitions that it uses."""

    lines: tuple[Line, ...]
    needs: tuple[Named, ...]


class Definition(Named):
    """A definition in the language, made from a function or class."""

    def __init__(self, made_from: Callable[..., object], name: str | None, signature: inspect.Signature) -> None:
        self.name = made_from.__name__ if name is None else name
        self.made_from = made_from
        self.signature = signature
        check_name(self.name)

    @property
    @abstractmethod
    def written(self) -> DefinitionText:
        """Its text. A function runs once, when this is first needed, so that definitions may use one another."""

    @property
    def doc(self) -> tuple[Line, ...]:
        """Its documentation, as comments."""
        return comment("///", self.made_from.__doc__ or "")

    @property
    def origin(self) -> str:
        """Where it is defined in Python."""
        code = getattr(self.made_from, "__code__", None)
        return f"{Path(code.co_filename).name}:{code.co_firstlineno}" if isinstance(code, CodeType) else ""

    def use(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Piece:
        """It with these arguments. Raises TypeError, as Python does, if they do not fit its parameters."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"`{self.name}`: {error}") from None
        own = piece(self)
        return call(Piece, own, *args, **kwargs) if args or kwargs else own

    def traced(self, function: Callable[..., object], body: Body) -> tuple[object, Piece]:
        """Call a function with its parameters; return its result, and the parameters as they are declared."""
        result = function(**{name: body.parameter(name) for name in self.signature.parameters})
        return result, declared(self.signature)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class MotifDefinition(Definition, Generic[P]):
    """A motif or cell: called with its parameters, it is an operation."""

    def __init__(self, role: str, function: Callable[Concatenate[Body, P], None], name: str | None) -> None:
        super().__init__(function, name, signature_of(function, skip=1))
        self.role = role

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Operation:
        return self.use(args, kwargs).as_a(Operation)

    @cached_property
    def written(self) -> DefinitionText:
        body, parameters = recorded(self)
        return braced(self, f"{self.role} {self.name}{parameters.text}", body, parameters)


class NamedSet(Definition, Generic[P]):
    """A set with a name: called with its parameters, it is a set."""

    def __init__(self, function: Callable[P, Set], name: str | None) -> None:
        super().__init__(function, name, signature_of(function))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Set:
        return self.use(args, kwargs).as_a(Set)

    @cached_property
    def written(self) -> DefinitionText:
        body = Body(self.name)
        value, parameters = self.traced(self.made_from, body)
        if not isinstance(value, Set):
            raise TypeError(f"`{self.name}` should return a set, such as `set_of(...)`, not {value!r}")
        line = Line(f"set {self.name}{parameters.text} = {value.text}", self.origin)
        return DefinitionText((*self.doc, line), (*parameters.needs.definitions, *body.needs(value)))


class PythonClass(Definition, Generic[P]):
    """A module class of PyTorch as an operation."""

    def __init__(self, cls: Callable[P, object], name: str | None) -> None:
        self.target = f"{cls.__module__}:{cls.__qualname__}"
        if "<" in self.target:
            raise ValueError(f"`{self.target}` cannot be imported: define the class at the top of a module")
        super().__init__(cls, name or _snake(cls.__name__), signature_of(cls))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Operation:
        return self.use(args, kwargs).as_a(Operation)

    @cached_property
    def written(self) -> DefinitionText:
        parameters = declared(self.signature)
        return DefinitionText((Line(f'op {self.name}{parameters.text} from "{self.target}"', self.origin),), ())


def motif(function: Callable[Concatenate[Body, P], None], *, name: str | None = None) -> MotifDefinition[P]:
    """Make a motif from a function that records its body. Each use has its own weights and switches."""
    return MotifDefinition("motif", function, name)


def cell(function: Callable[Concatenate[Body, P], None], *, name: str | None = None) -> MotifDefinition[P]:
    """Make a cell from a function that records its body. All its uses share their switches."""
    return MotifDefinition("cell", function, name)


def named_set(function: Callable[P, Set], *, name: str | None = None) -> NamedSet[P]:
    """Make a set with a name from a function that returns it."""
    return NamedSet(function, name)


def python_op(cls: Callable[P, object], *, name: str | None = None) -> PythonClass[P]:
    """Make an operation from a module class of PyTorch. Loading the space then needs `allow_python=True`."""
    return PythonClass(cls, name)


# -------------------------------------------------------------------------------------- texts


def recorded(definition: Definition) -> tuple[Body, Piece]:
    """The statements of a motif, cell or network, and its parameters as they are declared."""
    body = Body(definition.name)
    _, parameters = definition.traced(lambda **given: definition.made_from(body, **given), body)
    return body, parameters


def braced(definition: Definition, head: str, body: Body, parameters: Piece) -> DefinitionText:
    """A definition with a body."""
    lines = (*definition.doc, Line(f"{head} {{", definition.origin), *body.lines, Line("}"))
    return DefinitionText(lines, (*parameters.needs.definitions, *body.needs()))


def signature_of(function: Callable[..., object], skip: int = 0) -> inspect.Signature:
    """The parameters of a function without the first few. Defaults that the language cannot have are left out."""
    found = list(inspect.signature(function).parameters.values())[skip:]
    for parameter in found:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"`{parameter}` of `{function.__name__}` cannot be a parameter in the language")
    return inspect.Signature([one for one in found if one.default is one.empty or _is_value(one.default)])


def declared(signature: inspect.Signature) -> Piece:
    """Parameters as they are declared: `(width, k = 3)`."""
    shown, defaults = [], []
    for name, parameter in signature.parameters.items():
        check_name(name)
        if parameter.default is parameter.empty:
            shown.append(name)
        else:
            defaults.append(piece(parameter.default))
            shown.append(f"{name} = {defaults[-1].text}")
    return Piece(f"({', '.join(shown)})" if shown else "", needs=Needs.of(defaults))


def comment(mark: str, text: str) -> tuple[Line, ...]:
    """A text as comments."""
    return tuple(Line(f"{mark} {line}".rstrip()) for line in inspect.cleandoc(text).splitlines())


def _is_value(value: object) -> bool:
    try:
        piece(value)
    except (TypeError, ValueError):
        return False
    return True


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
