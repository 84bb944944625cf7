"""The program: its verbs, and what happens when one of them cannot go on."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import Annotated

import typer

from bayesnas_graph import __version__
from bayesnas_graph.cli.check import check
from bayesnas_graph.cli.compile import compile as compile_
from bayesnas_graph.cli.compress import compress
from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.data import data
from bayesnas_graph.cli.derive import derive
from bayesnas_graph.cli.diff import diff
from bayesnas_graph.cli.draw import draw
from bayesnas_graph.cli.eval import eval as eval_
from bayesnas_graph.cli.explain import explain
from bayesnas_graph.cli.export import export
from bayesnas_graph.cli.fmt import fmt
from bayesnas_graph.cli.new import new
from bayesnas_graph.cli.ops import ops
from bayesnas_graph.cli.report import report
from bayesnas_graph.cli.search import search
from bayesnas_graph.cli.spaces import spaces
from bayesnas_graph.cli.stats import stats
from bayesnas_graph.cli.status import status
from bayesnas_graph.cli.train import train
from bayesnas_graph.diagnostics import NasError

app = typer.Typer(
    help="Neural-architecture search spaces as text, and their compiler.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
    check,
    fmt,
    stats,
    draw,
    compile_,
    diff,
    explain,
    ops,
    new,
    spaces,
    search,
    status,
    derive,
    export,
    train,
    compress,
    eval_,
    report,
):
    app.command()(verb)
app.add_typer(data, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesnas-graph {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Neural-architecture search spaces as text, and their compiler."""


def main() -> None:
    """Run the program. Whatever goes wrong, a person reads a sentence and not a traceback."""
    try:
        app(prog_name="bayesnas-graph")
    except NasError as error:
        show_diagnostics(error.diagnostics)
        sys.exit(1)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        _abandon_output()
        sys.exit(1)
    except MemoryError:
        _say("error: out of memory")
        sys.exit(1)
    except OSError as error:
        _abandon_output()
        where = f"`{error.filename}`: " if error.filename else ""
        _say(f"error: {where}{error.strerror or error}")
        sys.exit(1)
    except Exception:
        _say(f"error: this is a fault of bayesnas-graph, not of your file; its trace is in {_keep_trace()}")
        sys.exit(70)


def _say(text: str) -> None:
    with suppress(OSError):  # nobody can hear
        sys.stderr.write(f"{text}\n")


def _abandon_output() -> None:
    """Keep the interpreter from flushing to a closed pipe or a full disk when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _keep_trace() -> str:
    with tempfile.NamedTemporaryFile("w", prefix="bayesnas-graph-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name
