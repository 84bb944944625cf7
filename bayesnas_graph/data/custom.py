"""Data from user code: `package.module:callable`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from bayesnas_graph.data.checked import error_text, reject, value_text
from bayesnas_graph.data.given import data_from
from bayesnas_graph.data.model import Data


def load_custom(spec: str) -> Data:
    """Call `package.module:callable`, which returns `Data`, or a dataset for training and one for testing."""
    return data_from(_function(spec), spec).data


def _function(spec: str) -> Callable[[], Any]:
    """The callable; what goes wrong while it is imported becomes a diagnostic."""
    module_name, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        help = "write `folder:PATH` for a folder"
        reject(spec, "is neither a data set nor of the form `package.module:callable`", help)
    try:
        function: Any = importlib.import_module(module_name)
        for part in path.split("."):
            function = getattr(function, part)
    except ModuleNotFoundError as error:
        help = "install it, or put its folder on PYTHONPATH"
        reject(spec, f"cannot be imported: no module `{error.name}`", help)
    except (Exception, SystemExit) as error:
        reject(spec, f"cannot be imported: {error_text(error)}", "fix the module, or the name after the colon")
    if not callable(function):
        reject(spec, f"is {value_text(function)}, which is not callable", "name a function that returns the data")
    checked: Callable[[], Any] = function
    return checked
