"""Options that choose an architecture: the result of a search, or one that is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.network_options import AllowPython, parameter_values
from bayesnas_graph.cli.options import size
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.ir.literals import Ranking
from bayesnas_graph.language.elaborate.limits import LARGEST_FILE
from bayesnas_graph.runs.paths import not_a_run

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture

_RULE, _ELSEWHERE = "Which switches stay", "In another network"

GivenText = Annotated[
    str | None,
    typer.Option(
        "--architecture",
        metavar="TEXT",
        help="Names of switches, DARTS genotype or NAS-Bench-201 string, for a space; `@FILE` reads it from a file.",
        rich_help_panel=_RULE,
    ),
]
GivenSwitches = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="SWITCH,...",
        help="Keep exactly these switches of a space; may be repeated.",
        rich_help_panel=_RULE,
    ),
]


@dataclass(frozen=True)
class ArchitectureOptions:
    """Options that choose an architecture."""

    target: Annotated[
        Path,
        typer.Argument(metavar="RUN|FILE", help="Folder of a search, or a space.", autocompletion=suggestions.spaces),
    ]
    keep_per_edge: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Keep the N best candidates per edge.", rich_help_panel=_RULE),
    ] = None
    keep_per_node: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Keep the N best edges per node, as DARTS does.", rich_help_panel=_RULE),
    ] = None
    budget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=SIZE", help="Keep as much as fits: params=1.5M or flops=300M.", rich_help_panel=_RULE
        ),
    ] = None
    rank: Annotated[
        Ranking,
        typer.Option(metavar="SCORE", help="Ranking by gamma, relevance, removal or magnitude.", rich_help_panel=_RULE),
    ] = "relevance"
    architecture: GivenText = None
    keep: GivenSwitches = None
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Space with the same cells.", rich_help_panel=_ELSEWHERE)
    ] = None
    network: Annotated[str | None, typer.Option(help="Network to put the cells into.", rich_help_panel=_ELSEWHERE)] = (
        None
    )
    param: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--param",
            metavar="NAME=VALUE",
            help="Value of a network parameter; may be repeated.",
            rich_help_panel=_ELSEWHERE,
        ),
    ] = None
    allow_python: AllowPython = False

    @property
    def is_run(self) -> bool:
        """Whether the target is a run folder."""
        return self.target.is_dir()

    @property
    def is_fixed(self) -> bool:
        """Whether the target is a network without choices."""
        return not self.is_run and not self.is_given

    @property
    def is_given(self) -> bool:
        """Whether the architecture is given, not found by a search."""
        return self.architecture is not None or bool(self.keep)

    @property
    def has_rule(self) -> bool:
        """Whether options select the switches to keep."""
        return bool(self.keep_per_edge or self.keep_per_node or self.budget)

    def load(self) -> Architecture:
        """Return the architecture. Raises NasError if there is none."""
        if not self.is_given and not self.is_run:
            help = "pass a search run folder, or an architecture with `--architecture` or `--keep`"
            raise not_a_run(self.target, help)
        if self.is_given and (self.is_run or self.has_rule or self.space is not None):
            hint = "--architecture" if self.architecture is not None else "--keep"
            raise typer.BadParameter("takes a space, and no options that select switches", param_hint=hint)
        budgets = dict(map(_budget, self.budget or ()))
        return api.derive(
            self.target,
            keep_per_edge=self.keep_per_edge,
            keep_per_node=self.keep_per_node,
            rank=self.rank,
            architecture=given_architecture(self.architecture, self.keep),
            space=self.space,
            network=self.network,
            parameters=parameter_values(self.param or ()),
            allow_python=self.allow_python,
            params=budgets.get("params"),
            flops=budgets.get("flops"),
        )


def _budget(text: str) -> tuple[str, int]:
    """Return the name and number in `params=1.5M`."""
    name, _, most = text.partition("=")
    if name not in ("params", "flops"):
        raise typer.BadParameter(f"`{text}` is not of the form params=1.5M or flops=300M", param_hint="--budget")
    return name, size("--budget", most)


def given_architecture(text: str | None, switches: list[str] | None) -> str | list[str] | None:
    """Return the architecture that one of two options gives: a text, or names of switches. Raises NasError."""
    if text is not None and switches:
        raise typer.BadParameter("give the architecture once: with `--keep` or `--architecture`", param_hint="--keep")
    names = [name for some in switches or () for name in some.split(",") if name.strip()]
    if switches and not names:
        raise typer.BadParameter("names no switch", param_hint="--keep")
    return names or None if text is None else _text(text)


def _text(string: str) -> str:
    """Return the text, or the contents of the file that it names."""
    if not string.startswith("@"):
        return string
    path = Path(string[1:])
    try:
        return read_file(path, LARGEST_FILE).decode()
    except (OSError, UnicodeDecodeError) as error:
        problem = reason(error) if isinstance(error, OSError) else "not UTF-8 text"
        raise NasError([Diagnostic("NAS011", f"cannot read `{path}`: {problem}")]) from None
