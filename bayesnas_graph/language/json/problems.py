"""Errors in documents, with the path of the faulty value: `nodes[3].op.args.k`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest

Step = str | int
LONGEST = 60  # characters of a value that a message repeats


def fail(source_name: str, path: Sequence[Step], reason: str, help: str | None = None) -> NoReturn:
    """Raise NasError for a document."""
    where = f"{path_text(path)}: " if path else ""
    message = printable(f"cannot read `{source_name}`: {where}{reason}")
    raise NasError([Diagnostic("NAS011", message, help=help and printable(help))])


def path_text(path: Sequence[Step]) -> str:
    """The path of a value in a document, as text.

    >>> path_text(["nodes", 3, "op", "args", "k"])
    'nodes[3].op.args.k'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def shown(value: object) -> str:
    """A value of a document, short enough for a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def printable(text: str) -> str:
    """A text without control characters, which could move the cursor of a terminal.

    >>> printable("a" + chr(27) + "[2Jb") == "a" + chr(0xFFFD) + "[2Jb"
    True
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def fail_with(source_name: str, data: object, error: ValidationError) -> NoReturn:
    """Raise NasError for the first error of a document that does not match the schema."""
    first = error.errors(include_url=False)[0]
    path, holder = _resolve(data, first)
    if first["type"] == "missing":
        near = nearest(str(path[-1]), holder) if isinstance(holder, dict) else None
        fail(source_name, path, "is missing", f"found `{near}` instead" if near else None)
    if first["type"] == "extra_forbidden":
        fail(source_name, path, "is not part of the format")
    reason = first["msg"].replace("Input should", "should")
    fail(source_name, path, f"{reason[:1].lower()}{reason[1:]}, got {shown(holder)}")


def _resolve(data: object, error: Mapping[str, Any]) -> tuple[list[Step], object]:
    """The part of an error's location that exists in the data, and the value there."""
    path: list[Step] = []
    here: Any = data
    for step in error["loc"]:
        inside = isinstance(here, dict) and step in here
        inside |= isinstance(here, list) and isinstance(step, int) and step < len(here)
        if not inside:
            if error["type"] == "missing":
                path.append(step)
            break  # pydantic also names the alternative of a union that it tried
        path.append(step)
        here = here[step]
    return path, here
