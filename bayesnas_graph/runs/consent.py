"""Consent to Python code: only the user names code to run, on the command line or in Python.

Code that a file names, a settings file or a run folder from someone else, runs only with `--allow-python`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError

FILE_KINDS = frozenset({"csv", "folder", "hf", "npz", "parquet"})  # of data that are named as `KIND:PATH`
USES = {"data": "data", "augment": "augmentation"}  # settings that can name code, and what it is called for


def names_code(data: object) -> bool:
    """Return whether a data set is `package.module:callable`, which is imported and called.

    >>> names_code("mine.data:load"), names_code("folder:images"), names_code("digits")
    (True, False, False)
    """
    return isinstance(data, str) and ":" in data and data.partition(":")[0] not in FILE_KINDS


def settings_name_code(settings: Mapping[str, object]) -> bool:
    """Return whether any setting names code.

    >>> settings_name_code({"data": "digits", "augment": "mine:blur"}), settings_name_code({"data": "digits"})
    (True, False)
    """
    return bool(_code_in(settings))


def check_consent(
    settings: Mapping[str, object], file: object, label: Label | None = None, *, allow_python: bool
) -> None:
    """Raise NasError if the settings of a file name code, and the user did not allow it."""
    for use, code in _code_in(settings).items():
        if not allow_python:
            message = f"`{file}` names Python code as its {use}, which would be imported and run"
            help = f"if you trust the code, add `--allow-python`: it calls `{code}`"
            raise NasError([Diagnostic("NAS105", message, label, help=help)])


def _code_in(settings: Mapping[str, object]) -> dict[str, object]:
    """The code that settings name, by its use."""
    named = {use: settings.get(key) for key, use in USES.items()}
    return {use: code for use, code in named.items() if code is not None and (use != "data" or names_code(code))}
