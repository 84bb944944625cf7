"""Options that all verbs have that train something."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

RUN, PLACE = "The run", "Where it runs"  # headings of the help

DataName = Annotated[str | None, typer.Option(help="The data; `bayesnas-graph data list` shows what there is.")]
DataDir = Annotated[
    Path | None, typer.Option(envvar="BAYESNAS_DATA", help="Where files of data sets are; `data` if left out.")
]
ConfigFile = Annotated[Path | None, typer.Option(metavar="TOML", help="A file of settings.")]
Assignments = Annotated[
    list[str] | None, typer.Option("-s", "--set", metavar="KEY=VALUE", help="Any setting; `--settings` lists them.")
]
ListSettings = Annotated[bool, typer.Option("--settings", help="List all settings with their values and leave.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="A new folder for the run.", rich_help_panel=RUN),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="RUN", help="Go on with a run from its last checkpoint.", rich_help_panel=RUN)
]
Batch = Annotated[int | None, typer.Option(help="Samples in a step.", rich_help_panel=RUN)]
Seed = Annotated[int | None, typer.Option(help="Of everything that is random.", rich_help_panel=RUN)]
Display = Annotated[
    Literal["auto", "live", "plain"], typer.Option(help="Live on a terminal, or lines alone.", rich_help_panel=RUN)
]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=PLACE)]
Precision = Annotated[str | None, typer.Option(help="fp32, bf16 or fp16.", rich_help_panel=PLACE)]
ChannelsLast = Annotated[
    bool | None, typer.Option("--channels-last", help="Keep channels innermost in memory.", rich_help_panel=PLACE)
]
Compile = Annotated[bool | None, typer.Option("--compile", help="Use torch.compile.", rich_help_panel=PLACE)]
Deterministic = Annotated[
    bool | None,
    typer.Option("--deterministic", help="Refuse operations that differ from run to run.", rich_help_panel=PLACE),
]
