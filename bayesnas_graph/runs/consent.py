"""Consent to Python code: only the user names code to run, on the command line or in Python.

Code that a file names, a settings file or a run folder from someone else, runs only with `--allow-python`.
"""

from __future__ import annotations

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError

FILE_KINDS = frozenset({"csv", "folder", "hf", "npz", "parquet"})  # of data that are named as `KIND:PATH`


def names_code(data: object) -> bool:
    """Return whether a data set is `package.module:callable`, which is imported and called.

    >>> names_code("mine.data:load"), names_code("folder:images"), names_code("digits")
    (True, False, False)
    """
    return isinstance(data, str) and ":" in data and data.partition(":")[0] not in FILE_KINDS


def check_consent(data: object, file: object, label: Label | None = None, *, allow_python: bool) -> None:
    """Raise NasError if a file names code as its data, and the user did not allow it."""
    if names_code(data) and not allow_python:
        message = f"`{file}` names Python code as its data, which would be imported and run"
        help = f"if you trust the code, add `--allow-python`: it calls `{data}`"
        raise NasError([Diagnostic("NAS105", message, label, help=help)])
