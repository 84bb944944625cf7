"""Data given as Python objects: to a function of the API, or returned by `package.module:callable`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bayesnas_graph.data.checked import error_text, reject, value_text
from bayesnas_graph.data.hugging_face import is_hugging_face, splits_of
from bayesnas_graph.data.model import Data
from bayesnas_graph.data.pair import checked_data, data_of_parts
from bayesnas_graph.data.part import part_of


@dataclass(frozen=True, eq=False)
class Given:
    """Data, checked, and what they were given as."""

    data: Data
    kind: str
    notes: tuple[str, ...] = ()  # what a user should know


def data_from(value: object, spec: str) -> Given:
    """Return the data in an object: a pair of datasets, `Data`, or a function that returns one. Raises NasError."""
    verb = "is"
    if callable(value) and not hasattr(type(value), "__getitem__"):
        value, verb = _called(value, spec), "returned"
    if isinstance(value, Data):
        return Given(checked_data(value, spec), "Data")
    if is_hugging_face(value) and isinstance(value, Mapping):
        value = splits_of(value, spec)
    if not isinstance(value, tuple | list) or len(value) != 2:
        help = "give `(train, test)`, two datasets, or a `bayesnas_graph.data.Data`"
        reject(spec, f"{verb} {value_text(value)}", help)
    train, test = part_of(value[0], spec, "training"), part_of(value[1], spec, "testing")
    kind = train.kind if train.kind == test.kind else f"{train.kind} and {test.kind}"
    return Given(data_of_parts(train, test, spec), kind, (*train.notes, *test.notes))


def _called(function: Callable[[], Any], spec: str) -> Any:
    """Return what a function without arguments returns. Its exceptions become NasError."""
    try:
        return function()
    except (Exception, SystemExit) as error:
        reject(spec, f"failed: {error_text(error)}", "fix the function, which is called without arguments")
