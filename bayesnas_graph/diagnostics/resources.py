"""Locations of the grammar, the shipped spaces and the error pages.

They are inside the package in a wheel, and beside it in a checkout or an editable install.
"""

from __future__ import annotations

from pathlib import Path

from bayesnas_graph.diagnostics.model import Diagnostic, NasError
from bayesnas_graph.diagnostics.suggest import nearest

_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """The folder `grammars`, `spaces`, `errors` or `runtime` of this installation."""
    inside = _PACKAGE / name
    if inside.is_dir():
        return inside
    return _PACKAGE.parent / {"errors": "docs/errors"}.get(name, name)


def shipped_spaces() -> tuple[Path, ...]:
    """The shipped `.nas` files, sorted by name."""
    return tuple(sorted(folder("spaces").glob("*.nas")))


def shipped_space(name: str) -> Path | None:
    """The shipped space of this name, with or without `.nas`."""
    path = folder("spaces") / (name if name.endswith(".nas") else f"{name}.nas")
    return path if path in shipped_spaces() else None


def unknown_space(name: str) -> NasError:
    """Return the error for a name that is not a shipped space."""
    known = [path.stem for path in shipped_spaces()]
    match = nearest(name.removesuffix(".nas"), known)
    help = f"did you mean `{match}`?" if match else f"shipped spaces: {', '.join(known)}"
    return NasError([Diagnostic("NAS011", f"no shipped space named `{name}`", help=help)])
