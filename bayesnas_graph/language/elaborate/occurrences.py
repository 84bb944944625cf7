"""Where names are written in a file, and what each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.syntax import ast

Role = Literal[
    "definition",  # at the top of a file
    "parameter",  # of a definition or a function
    "input",
    "node",
    "let",  # in a body
    "share",  # an operation with one set of weights
    "variable",  # of a loop or a comprehension
    "file",  # an import, and its name after `as`
    "primitive",
    "function",  # of the language
    "argument",  # of a primitive
    "candidate",  # the name of a candidate in a set
]


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a name stands for. Two of them are the same thing if they are declared at the same place."""

    name: str
    role: Role
    span: Span | None = None  # of the name where it is declared; None if it is part of the language
    # What is defined, for a definition or a `let`; what has it, for a parameter.
    definition: ast.Definition | None = field(default=None, compare=False, repr=False)
    module: Module | None = field(default=None, compare=False, repr=False)  # the imported file
    owner: str = ""  # the primitive that has this argument


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text."""

    span: Span
    name: str
    declaration: Declaration | None  # None if it is unknown


@dataclass(frozen=True, slots=True)
class NamesInScope:
    """The names declared in a part of the text. They can be used after their declaration."""

    span: Span
    names: Mapping[str, Declaration]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The names of a file, collected by `check_names`."""

    names: list[Occurrence] = field(default_factory=list)
    scopes: list[NamesInScope] = field(default_factory=list)


def defined_as(definition: ast.Definition) -> Declaration:
    """What the name of a definition stands for."""
    return Declaration(definition.name.name, "definition", definition.name.span, definition)


def alias_of(alias: ast.Identifier, module: Module) -> Declaration:
    """What the name after `as` stands for."""
    return Declaration(alias.name, "file", alias.span, module=module)


def parameter_of(called: Declaration, name: str) -> Declaration | None:
    """The parameter with this name of something that is called; None if it is unknown."""
    if called.role == "primitive":
        return Declaration(name, "argument", owner=called.name) if name in PRIMITIVES[called.name].arguments() else None
    if called.definition is None or called.role == "parameter":
        return None
    for parameter in called.definition.parameters or ():
        if parameter.name.name == name:
            return Declaration(name, "parameter", parameter.name.span, called.definition)
    return None
