"""The program: its verbs, each loaded when it is called, and what is printed when one fails."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from bayesnas_graph import __version__
from bayesnas_graph.cli.console import discard_output, show_diagnostics
from bayesnas_graph.cli.terminal import use_color
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import is_out_of_memory

Shell = Literal["bash", "zsh", "fish"]  # whose completion scripts there are
COMPLETE = "_BAYESNAS_GRAPH_COMPLETE"  # set by completion scripts

# Verb `x` is the function `x` in `cli/x.py`. `--help` lists the verbs in this order.
VERBS = {
    "Write a space": {
        "new": "Write a new space to start from.",
        "check": "Check spaces for errors.",
        "fmt": "Format spaces.",
        "ops": "List the operations that a space can use.",
        "explain": "Explain an error code.",
        "lsp": "Run a language server for editors.",
    },
    "Look at spaces and runs": {
        "spaces": "List the shipped spaces, or describe a space.",
        "stats": "Count the architectures of a space and their costs.",
        "sample": "Draw random architectures of a space.",
        "draw": "Draw a space, or the result of a run.",
        "diff": "Compare two spaces.",
        "status": "Show the progress of a run or a sweep.",
        "report": "Write a report on runs as an HTML page.",
    },
    "Search and train": {
        "data": "List data sets, or download one.",
        "search": "Search a space for an architecture.",
        "train": "Train a network without choices.",
        "compress": "Remove the parts of a network that it can do without.",
    },
    "Ship the network": {
        "derive": "Write the architecture found by a search as a network.",
        "eval": "Measure accuracy, size and latency of a network.",
        "export": "Export a network as Python source or to other formats.",
        "compile": "Compile a space to a graph, Python source and a picture.",
    },
}


class Verb(TyperCommand):
    """A verb whose module is imported when it is called, so that `--help` and the other verbs start fast."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if not extra.get("resilient_parsing"):
            _check_words([str(info_name), *args])
        if {"-h", "--help"} & {*args}:
            _color_help()
        return self.loaded().make_context(info_name, args, parent, **extra)

    def loaded(self) -> Any:
        """Import the verb, and return the command with its options."""
        verb = getattr(import_module(f"bayesnas_graph.cli.{self.name}"), str(self.name))
        if not isinstance(verb, typer.Typer):
            function, verb = verb, typer.Typer(add_completion=False)
            verb.command(self.name)(function)
        return typer.main.get_command(verb)


def _check_words(words: Sequence[str]) -> None:
    """Raise BadParameter for an empty word, which would mean the current folder, or nothing at all."""
    for before, word in pairwise(words):
        if not word:
            raise typer.BadParameter(f"the argument after `{before}` is empty")
        if word.startswith("--") and word.find("=") == len(word) - 1:
            raise typer.BadParameter(f"`{word}` has no value")


class Verbs(TyperGroup):
    """All verbs."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for panel, verbs in VERBS.items():
            for name, summary in verbs.items():
                self.add_command(Verb(name, help=summary, rich_help_panel=panel))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _color_help()
        super().format_help(ctx, formatter)


def _color_help() -> None:
    """Let typer, which prints help with rich, use colours where everything else does."""
    from typer import rich_utils

    color = use_color(sys.stdout)
    rich_utils.COLOR_SYSTEM, rich_utils.FORCE_TERMINAL = ("standard", True) if color else (None, None)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesnas-graph {__version__}")
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    if shell is not None:
        from bayesnas_graph.cli.completion import SCRIPTS

        typer.echo(SCRIPTS[shell], nl=False)
        raise typer.Exit


def _install_completion(shell: str | None) -> None:
    if shell is not None:
        from bayesnas_graph.cli.completion import install

        install(shell)
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
    _show: Annotated[
        Shell | None,
        typer.Option(
            "--show-completion",
            help="Print a completion script.",
            callback=_show_completion,
            is_eager=True,
        ),
    ] = None,
    _install: Annotated[
        Shell | None,
        typer.Option(
            "--install-completion",
            help="Install a completion script.",
            callback=_install_completion,
            is_eager=True,
        ),
    ] = None,
) -> None:
    """Neural-architecture search spaces as text, and their compiler."""


def main() -> None:
    """Run the program. Errors are printed as messages, never as tracebacks."""
    _let_threads_sleep()
    try:
        if COMPLETE in os.environ:
            from bayesnas_graph.cli.completion import answer

            answer(typer.main.get_command(app), sys.argv[1:])
            sys.exit(0)
        app(prog_name="bayesnas-graph")
    except NasError as error:
        show_diagnostics(error.diagnostics)
        sys.exit(1)
    except KeyboardInterrupt:
        _print_error("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        discard_output()
        sys.exit(1)
    except OSError as error:
        discard_output()
        where = f"`{error.filename}`: " if error.filename else ""
        _print_error(f"error: {where}{error.strerror or error}")
        sys.exit(1)
    except Exception as error:
        shortage = _shortage(error)
        if shortage is not None:
            show_diagnostics([shortage])
            sys.exit(1)
        _print_error(
            f"error: this is a bug in bayesnas-graph, not in your file; see the traceback in {_save_traceback()}"
        )
        sys.exit(70)


def _let_threads_sleep() -> None:
    """Let torch's threads sleep while they wait for each other, unless the user has said what they do.

    They would spin, and on a busy machine take the processor from the thread that they wait for. OpenMP reads this when
    torch is loaded, which is later.
    """
    if not any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")):
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"


def _shortage(error: Exception) -> Diagnostic | None:
    """What this machine lacks, if that is the reason of an error: memory or a package."""
    if is_out_of_memory(error):
        help = "use a smaller network, smaller images or a smaller batch"
        return Diagnostic("NAS407", "there is not enough memory", help=help)
    package = error.name.partition(".")[0] if isinstance(error, ImportError) and error.name else "bayesnas_graph"
    if package == "bayesnas_graph":
        return None
    if isinstance(error, ModuleNotFoundError):
        message = f"this needs the package `{package}`, which is not installed"
        return Diagnostic("NAS609", message, help=f"install it with `pip install {package}`")
    message = f"the package `{package}` cannot be imported: {str(error).partition(chr(10))[0]}"
    return Diagnostic("NAS609", message, help=f"install it again with `pip install --force-reinstall {package}`")


def _print_error(text: str) -> None:
    with suppress(OSError):  # the stream may be closed
        sys.stderr.write(f"{text}\n")


def _save_traceback() -> str:
    with tempfile.NamedTemporaryFile("w", prefix="bayesnas-graph-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name
