"""`ops`: operations and functions, with signatures and documentation."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Annotated

import typer

from bayesnas_graph.cli.rich_output import show_table
from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.library import library
from bayesnas_graph.language.elaborate.other_names import other_name
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True)
class VocabularyEntry:
    """An operation or a function."""

    name: str
    kind: str  # primitive, library or function
    signature: str
    doc: str


def ops(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Operation to show (default: all).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the operations: primitives, the library `std.nas`, and functions."""
    entries = vocabulary()
    if name is not None:
        names = [entry.name for entry in entries]
        if name not in names:
            help = other_name(name, names.__contains__) or did_you_mean(name, names)
            raise NasError([Diagnostic("NAS101", f"unknown operation `{name}`", help=help)])
        entries = [entry for entry in entries if entry.name == name]
    if as_json:
        typer.echo(json_text([vars(entry) for entry in entries]))
        return
    titles = {"primitive": "Primitives", "library": 'Library: import "std.nas"', "function": "Functions"}
    shown = False
    for kind, title in titles.items():
        chosen = [entry for entry in entries if entry.kind == kind]
        if chosen:
            if shown:
                typer.echo()
            show_table(((entry.signature, entry.doc.replace("\n", " ")) for entry in chosen), title)
            shown = True


def vocabulary() -> list[VocabularyEntry]:
    """Return all operations and functions, in the order of their definitions."""
    primitives = [VocabularyEntry(n, "primitive", _signature(cls), _doc(cls)) for n, cls in PRIMITIVES.items()]
    motifs = [d for d in library().own.values() if not isinstance(d, ast.Let)]
    written = [VocabularyEntry(d.name.name, "library", definition_signature(d), d.doc) for d in motifs]
    functions = [VocabularyEntry(n, "function", signature, doc) for n, (signature, doc) in BUILTINS.items()]
    return primitives + written + functions


def _doc(cls: type[Op]) -> str:
    return " ".join((cls.__doc__ or "").split())


def _signature(cls: type[Op]) -> str:
    shown = []
    for field in fields(cls):
        absent = field.metadata["argument"].absent
        if absent is not None:
            shown.append(f"{field.name} = {absent}")
        else:
            shown.append(field.name if field.default is MISSING else f"{field.name} = {_decimal(field.default)}")
    return f"{cls.name}({', '.join(shown)})" if shown else cls.name


def _decimal(value: object) -> str:
    if isinstance(value, bool | int):
        return show(value)
    return f"{float(value):f}".rstrip("0").rstrip(".")  # type: ignore[arg-type]  # a Fraction: arguments have no other kind


def definition_signature(definition: ast.Definition) -> str:
    """Return the signature of a definition, with its defaults as written."""
    shown = [p.span.text for p in definition.parameters or ()]
    return f"{definition.name.name}({', '.join(shown)})" if shown else definition.name.name
