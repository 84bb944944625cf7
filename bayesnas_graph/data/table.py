"""Tables: numbers in columns, and a column of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from torch import Tensor

from bayesnas_graph.data.address import Address, names_in
from bayesnas_graph.data.checked import reject
from bayesnas_graph.data.labels import classes_of, rows_for_testing
from bayesnas_graph.data.model import Data, InMemory
from bayesnas_graph.data.pair import data_of_parts
from bayesnas_graph.data.part import GivenPart
from bayesnas_graph.diagnostics import did_you_mean

OPTIONS = ("target", "test", "features")


@dataclass(frozen=True)
class ChosenColumns:
    """The columns of a table that are used, by name."""

    target: str
    features: tuple[str, ...]


def choose_columns(address: Address, names: Sequence[str]) -> ChosenColumns:
    """Return the columns that an address names; all others are features if it names none. Raises NasError."""
    spec, listed = address.spec, ", ".join(f"`{name}`" for name in names)
    double = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if double is not None:
        reject(spec, f"has two columns called `{double}`", "rename one of them")
    if "target" not in address.options:
        help = f"name the column of classes, as in `{spec}{'&' if '?' in spec else '?'}target={names[-1]}`"
        reject(spec, "does not name its target", f"{help}; the columns are {listed}")
    target = unquote(address.options["target"])
    features = address.options.get("features")
    chosen = [name for name in names if name != target] if features is None else names_in(features)
    for name in (target, *chosen):
        if name not in names:
            reject(spec, f"has no column `{name}`", did_you_mean(name, names) or f"the columns are {listed}")
    if target in chosen:
        reject(spec, f"has its target `{target}` among its features", "leave it out of `features`")
    if not chosen:
        reject(spec, "has no column besides its target", "separate columns with commas")
    return ChosenColumns(target, tuple(chosen))


def table_data(address: Address, features: Tensor, targets: Sequence[str]) -> Data:
    """Return the data in a table: rows of features, and a class for each. Raises NasError."""
    spec = address.spec
    if not len(features):
        reject(spec, "has no rows", "give a row for each example")
    labels, names = classes_of(targets, spec)
    test = rows_for_testing(labels, address.test_share)
    if not test.any() or test.all():
        reject(spec, f"has {len(labels):,} rows, too few for training and testing", "give more, or change `test`")
    images = features.float()[:, :, None, None]
    train, tests = (InMemory(images[rows], labels[rows]) for rows in (~test, test))
    return data_of_parts(
        GivenPart(train, "training", "table", names), GivenPart(tests, "testing", "table", names), spec
    )
