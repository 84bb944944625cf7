"""`lsp`: a language server for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesnas_graph.diagnostics.packages import check_packages


def lsp(
    allow_python: Annotated[
        bool, typer.Option("--allow-python", help="Import the Python code named by files.")
    ] = False,
) -> None:
    """Run a language server on standard input and output, for editors.

    An editor starts it; `docs/editors` says how.
    """
    check_packages("lsp", "the language server needs")
    from bayesnas_graph.lsp.server import serve

    serve(allow_python=allow_python)
