"""The vocabulary of the language: operations and functions, with signatures and documentation."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Literal

from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.ir.ops.plugins import plugin_op
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.library import library
from bayesnas_graph.language.elaborate.other_names import other_name
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True)
class VocabularyEntry:
    """An operation or a function."""

    name: str
    kind: Literal["primitive", "library", "function"]
    signature: str
    doc: str


def vocabulary() -> list[VocabularyEntry]:
    """Return all operations and functions, in the order of their definitions."""
    primitives = [
        VocabularyEntry(n, "primitive", primitive_text(cls), primitive_doc(cls)) for n, cls in PRIMITIVES.items()
    ]
    motifs = [d for d in library().own.values() if not isinstance(d, ast.Let)]
    written = [VocabularyEntry(d.name.name, "library", definition_signature(d), d.doc) for d in motifs]
    functions = [VocabularyEntry(n, "function", signature, doc) for n, (signature, doc) in BUILTINS.items()]
    return primitives + written + functions


def entries_named(name: str) -> list[VocabularyEntry]:
    """Return the operations and functions of this name, also that of a plug-in. Raises NasError if there are none."""
    entries, plugin = vocabulary(), plugin_op(name)
    if plugin is not None:
        entries.append(VocabularyEntry(plugin.name, "primitive", primitive_text(plugin), primitive_doc(plugin)))
    found = [entry for entry in entries if entry.name == name]
    if not found:
        names = [entry.name for entry in entries]
        other = other_name(name, names.__contains__)
        help = other.help if other else did_you_mean(name, names)
        raise NasError([Diagnostic("NAS101", f"unknown operation `{name}`", help=help)])
    return found


def primitive_doc(cls: type[Op]) -> str:
    """Return the documentation of a primitive, in one line."""
    return " ".join((cls.__doc__ or "").split())


def primitive_text(cls: type[Op]) -> str:
    """Return the signature of a primitive, with its defaults."""
    return _called(cls.name, primitive_parameters(cls))


def primitive_parameters(cls: type[Op]) -> list[str]:
    """Return the arguments of a primitive, with their defaults."""
    shown = []
    for field in fields(cls):
        absent = field.metadata["argument"].absent
        if absent is not None:
            shown.append(f"{field.name} = {absent}")
        else:
            shown.append(field.name if field.default is MISSING else f"{field.name} = {show(field.default)}")
    return shown


def definition_signature(definition: ast.Definition) -> str:
    """Return the signature of a definition, with its defaults as written."""
    return _called(definition.name.name, definition_parameters(definition))


def definition_parameters(definition: ast.Definition) -> list[str]:
    """Return the parameters of a definition, with their defaults as written."""
    return [parameter.span.text for parameter in definition.parameters or ()]


def _called(name: str, parameters: list[str]) -> str:
    return f"{name}({', '.join(parameters)})" if parameters else name
