"""Tables in CSV files: `csv:FILE?target=COLUMN`."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any, NoReturn

import torch

from bayesnas_graph.data.address import Address, parse_address
from bayesnas_graph.data.files import unreadable
from bayesnas_graph.data.model import Data
from bayesnas_graph.data.table import OPTIONS, choose_columns, table_data
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import open_file

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
LARGEST = 3e38  # of a number; a tensor can hold it
MOST_VALUES = 2**30  # of features in a file


def load_csv(spec: str) -> Data:
    """Load a table from a CSV file whose first line names the columns. Raises NasError."""
    address = parse_address(spec, OPTIONS)
    address.check_file()
    try:
        with open_file(address.path) as file, TextIOWrapper(file, "utf-8-sig", newline="") as text:
            return _read(address, csv.reader(text, strict=True))
    except OSError as error:
        unreadable(address.path, error)
    except UnicodeDecodeError:
        help = "save the file as UTF-8"
        raise NasError([Diagnostic("NAS503", f"`{address.path}` is not UTF-8 text", help=help)]) from None


def _read(address: Address, reader: Any) -> Data:
    rows = _rows(address, reader)
    _, names = next(rows, (0, []))
    if not names:
        _reject(address, "is empty", "start it with a line of column names")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        _reject(address, "does not separate its columns with commas", "save the table with commas")
    columns = choose_columns(address, names)
    target, places = names.index(columns.target), [names.index(name) for name in columns.features]
    values, targets = array("d"), []
    for line, row in rows:
        if len(row) != len(names):
            what = f"has {len(row)} values in line {line}, but {len(names)} columns"
            _reject(address, what, "give one value for each column, and put texts with commas in quotes")
        targets.append(_present(address, row[target].strip(), line, columns.target))
        values.extend(_number(address, row[place].strip(), line, names[place]) for place in places)
        if len(values) > MOST_VALUES:
            _reject(address, f"has more than {MOST_VALUES:,} values", "use fewer rows or columns")
    features = torch.frombuffer(values, dtype=torch.float64).clone() if values else torch.empty(0)
    return table_data(address, features.view(-1, len(places)), targets)


def _rows(address: Address, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, each with its number."""
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            _reject(address, f"is not CSV in line {reader.line_num}: {error}", "look for quotes that are not closed")
        if row is None:
            return
        if row:
            yield reader.line_num, row


def _present(address: Address, text: str, line: int, column: str) -> str:
    if text.lower() in MISSING:
        _reject(address, f"has no value in line {line}, column `{column}`", "fill it in, or delete the line")
    return text


def _number(address: Address, text: str, line: int, column: str) -> float:
    try:
        value = float(_present(address, text, line, column))
    except ValueError:
        help = "write categories as numbers, or choose columns with `features=a,b`"
        _reject(address, f"has `{text[:40]}` in line {line}, column `{column}`, which is not a number", help)
    if not abs(value) <= LARGEST:
        _reject(address, f"has `{text[:40]}` in line {line}, column `{column}`, which is too large", "check the value")
    return value


def _reject(address: Address, problem: str, help: str) -> NoReturn:
    raise NasError([Diagnostic("NAS505", f"`{address.path}` {problem}", help=help)])
