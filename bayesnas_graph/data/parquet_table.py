"""Tables in Parquet files: `parquet:FILE?target=COLUMN`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.address import Address, parse_address
from bayesnas_graph.data.checked import reject
from bayesnas_graph.data.csv_table import LARGEST, MOST_VALUES
from bayesnas_graph.data.files import unreadable
from bayesnas_graph.data.model import Data
from bayesnas_graph.data.table import OPTIONS, choose_columns, table_data
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.diagnostics.reading import open_file


def load_parquet(spec: str) -> Data:
    """Load a table from a Parquet file. Raises NasError."""
    address = parse_address(spec, OPTIONS)
    check_packages("parquet", "reading Parquet files needs", "NAS507")
    address.check_file()
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        with open_file(address.path) as file:
            return _read(address, parquet.ParquetFile(file))
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        problem = str(error).partition("\n")[0]
        message = f"`{address.path}` cannot be read as Parquet: {problem}"
        raise NasError([Diagnostic("NAS503", message, help="check how the file was written")]) from None
    except OSError as error:
        unreadable(address.path, error)


def _read(address: Address, file: Any) -> Data:
    columns = choose_columns(address, file.schema_arrow.names)
    if file.metadata.num_rows * len(columns.features) > MOST_VALUES:
        reject(address.spec, f"has more than {MOST_VALUES:,} values", "use fewer rows or columns")
    table = file.read(columns=[columns.target, *columns.features])
    features = [_numbers(address, table.column(name), name) for name in columns.features]
    targets = _whole(address, table.column(columns.target), columns.target).to_pylist()
    return table_data(address, torch.stack(features, dim=1), list(map(str, targets)))


def _numbers(address: Address, column: Any, name: str) -> Tensor:
    """The values of a column of numbers."""
    array = _whole(address, column, name).to_numpy()
    if array.dtype.kind not in "biuf":
        help = "write categories as numbers, or choose columns with `features=a,b`"
        reject(address.spec, f"has values of type {column.type} in column `{name}`, which are not numbers", help)
    values = torch.from_numpy(np.array(array, dtype=np.float64))
    odd = ~(values.abs() <= LARGEST)
    if odd.any():
        row = int(odd.nonzero()[0])
        reject(address.spec, f"has `{values[row]}` in row {row}, column `{name}`", "look for missing values")
    return values


def _whole(address: Address, column: Any, name: str) -> Any:
    """The same column. Raises NasError if a value is missing."""
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        reject(address.spec, f"has no value in row {row}, column `{name}`", "fill it in, or leave the row out")
    return column
