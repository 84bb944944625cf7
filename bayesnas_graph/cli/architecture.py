"""The architecture that a verb works on: that of a search, or one that is given as a string."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bayesnas_graph.cli.options import size
from bayesnas_graph.cli.target import parameter_values
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture, Rule

_RULE = "Which switches stay"
_ELSEWHERE = "In another network"

Ranked = Literal["gamma", "relevance", "removal", "magnitude"]

Target = Annotated[Path, typer.Argument(metavar="RUN|FILE", help="The folder of a search, or a space.")]
PerEdge = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="The N best candidates of every choice.", rich_help_panel=_RULE)
]
PerNode = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The N best edges into every node, as DARTS does.", rich_help_panel=_RULE),
]
Budget = Annotated[
    list[str] | None,
    typer.Option(metavar="WHAT=SIZE", help="As much as fits: params=1.5M or flops=300M.", rich_help_panel=_RULE),
]
Rank = Annotated[Ranked, typer.Option(help="What the best are.", rich_help_panel=_RULE)]
String = Annotated[
    str | None,
    typer.Option(
        "--architecture",
        metavar="TEXT",
        help="A genotype of DARTS or a string of NAS-Bench-201, for a space; `@FILE` reads it from a file.",
        rich_help_panel=_RULE,
    ),
]
OtherSpace = Annotated[
    Path | None,
    typer.Option("--space", metavar="FILE", help="A space with the same cells.", rich_help_panel=_ELSEWHERE),
]
OtherNetwork = Annotated[
    str | None, typer.Option("--network", help="Which network the cells are put into.", rich_help_panel=_ELSEWHERE)
]
OtherParameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="A value for a parameter.", rich_help_panel=_ELSEWHERE),
]


@dataclass(frozen=True)
class Wanted:
    """What was said on the command line about an architecture."""

    target: Path
    per_edge: int | None = None
    per_node: int | None = None
    budget: tuple[str, ...] = ()
    rank: Ranked = "relevance"
    string: str | None = None
    space: Path | None = None
    network: str | None = None
    parameters: tuple[str, ...] = ()
    allow_python: bool = False

    @property
    def is_run(self) -> bool:
        """Whether the target is the folder of a run."""
        return self.target.is_dir()

    @property
    def is_fixed(self) -> bool:
        """Whether the target is a network, of which nothing is to be chosen."""
        return not self.is_run and self.string is None

    def rule(self) -> Rule:
        """The rule by which switches stay."""
        from bayesnas_graph.derive import Rule

        return Rule(self.per_edge, self.per_node, rank=self.rank, **dict(map(_budget, self.budget)))

    def architecture(self) -> Architecture:
        """The architecture. Raises NasError if there is none."""
        from bayesnas_graph.derive import of_string
        from bayesnas_graph.runs.opening import open_run
        from bayesnas_graph.runs.searched import architecture_of

        given = parameter_values(self.parameters)
        ruled = bool(self.per_edge or self.per_node or self.budget)
        if self.is_run and self.string is None:
            run = open_run(self.target, "search", allow_python=self.allow_python)
            return architecture_of(run, self.rule(), space=self.space, network=self.network, parameters=given)
        if self.string is None:
            help = "name the folder of a search, or say which with `--architecture`"
            raise NasError([Diagnostic("NAS602", f"`{self.target}` is not a run folder", help=help)])
        if self.is_run or ruled or self.space is not None:
            raise typer.BadParameter(
                "goes with a space, and says itself which switches stay", param_hint="--architecture"
            )
        text = _text(self.string)
        return of_string(self.target, text, network=self.network, parameters=given, allow_python=self.allow_python)


def _budget(text: str) -> tuple[str, int]:
    """`params=1.5M` as a name and a number."""
    name, _, most = text.partition("=")
    if name not in ("params", "flops"):
        raise typer.BadParameter(f"`{text}` is not of the form params=1.5M or flops=300M", param_hint="--budget")
    return name, size("--budget", most)


def _text(string: str) -> str:
    """What was given, or what the file holds that was."""
    if not string.startswith("@"):
        return string
    path = Path(string[1:])
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not UTF-8 text"
        raise NasError([Diagnostic("NAS011", f"cannot read `{path}`: {reason}")]) from None
