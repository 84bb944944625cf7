"""Data from user code: `package.module:callable`."""

from __future__ import annotations

import importlib
from typing import Any

from bayesnas_graph.data.checked import error_text, reject, value_text
from bayesnas_graph.data.given import data_from
from bayesnas_graph.data.model import Data


def load_custom(spec: str) -> Data:
    """Call `package.module:callable`, which returns `Data`, or a dataset for training and one for testing."""
    module_name, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        help = "write `folder:PATH` for a folder"
        reject(spec, "is neither a data set nor of the form `package.module:callable`", help)
    return data_from(imported(spec, "name a function that returns the data"), spec).data


def imported(spec: str, help: str) -> Any:
    """Return `package.module:callable`. Raises NasError; `help` is for what cannot be called."""
    module_name, _, path = spec.partition(":")
    try:
        function: Any = importlib.import_module(module_name)
        for part in path.split("."):
            function = getattr(function, part)
    except ModuleNotFoundError as error:
        reject(spec, f"cannot be imported: no module `{error.name}`", "install it, or put its folder on PYTHONPATH")
    except (Exception, SystemExit) as error:
        reject(spec, f"cannot be imported: {error_text(error)}", "fix the module, or the name after the colon")
    if not callable(function):
        reject(spec, f"is {value_text(function)}, which is not callable", help)
    return function
