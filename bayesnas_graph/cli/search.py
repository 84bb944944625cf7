"""`search`: the search for an architecture in a space."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnas_graph import api
from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import labelled, say
from bayesnas_graph.cli.options import option_group, settings_options
from bayesnas_graph.cli.run_options import Loggers, RunOptions, exit_when_interrupted
from bayesnas_graph.cli.sweep import SweepOptions, continue_sweep, start_sweep
from bayesnas_graph.cli.terminal import loading
from bayesnas_graph.runs.config.groups import RUN
from bayesnas_graph.runs.config.search import LATER, SearchConfig
from bayesnas_graph.runs.reading.sweep import is_sweep
from bayesnas_graph.runs.recipes import Recipe, choose_recipe, device_of
from bayesnas_graph.runs.settings import Settings, merged, read_settings, setter


@settings_options(SearchConfig)
@option_group("options", RunOptions)
@option_group("sweep", SweepOptions)
def search(
    *,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="File or shipped space.", autocompletion=suggestions.spaces)
    ] = None,
    settings: list[Settings],
    recipe_name: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="Recipe of the space, such as quick or paper (none: use no recipe).",
            autocompletion=suggestions.recipes,
        ),
    ] = None,
    options: RunOptions,
    loggers: Loggers = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="The same as --logger tensorboard.", rich_help_panel=RUN)
    ] = False,
    sweep: SweepOptions,
) -> None:
    """Search a space: train all candidates together, and close the switches that the data do not need."""
    sweep.check(options.resume)
    options.check(new_only=recipe_name is not None)
    names = [*(loggers or ()), *(["tensorboard"] if tensorboard else [])]
    passed_on = tuple(option for name in names for option in ("--logger", name))
    if options.resume is not None and is_sweep(options.resume):
        continue_sweep(options.resume, file, settings, sweep, options, passed_on)
        return
    recipe = None
    if file is not None and options.resume is None:
        recipe = choose_recipe(file, recipe_name, device_of(settings))
    elif recipe_name is not None:
        raise typer.BadParameter("pass the space of the recipe", param_hint="FILE")
    settings = [*([] if recipe is None else [read_settings(recipe.path)]), *settings]
    if recipe is not None and options.list_settings:
        typer.echo(f"settings from {recipe}")
    later: dict[str, Any] = {}
    if options.resume is not None:
        config_later = merged([one for one in settings if one.values.keys() <= LATER], SearchConfig)
        later = config_later.model_dump(include=config_later.model_fields_set)
        settings = [one for one in settings if not one.values.keys() <= LATER]
    config = options.config("search", SearchConfig, file, settings)
    if sweep.wanted and config is not None and file is not None:
        start_sweep(file, settings, sweep, options, recipe, passed_on)
        return
    _announce(file, options.resume, recipe)
    for label, text in [] if config is None else _from_files(config, settings):
        say(labelled(label, text))
    with loading():
        from bayesnas_graph.cli.display.search_view import SearchView

    view = SearchView(live=options.live)
    with exit_when_interrupted():
        api.search(
            None if config is None else file,
            output=options.output,
            resume=options.resume,
            data_dir=options.data_dir,
            allow_python=options.allow_python,
            watch=view,
            loggers=names,
            config=config,
            **later,
        )


def _from_files(config: SearchConfig, settings: Sequence[Settings]) -> Iterator[tuple[str, str]]:
    """Yield the data, the network and its parameters as far as files have set them, with the names of the files."""
    if os.environ.get("RANK", "0") != "0":
        return
    for key, value in (("data", config.data), ("network", config.network)):
        source = setter(settings, [key])
        if source is not None and source.origin == "file":
            yield key, f"{value} (from {Path(source.source.name).name})"
    parameters: dict[str, list[str]] = {}
    for name, argument in config.parameters.items():
        source = setter(settings, ["parameters", name])
        if source is not None and source.origin == "file":
            parameters.setdefault(Path(source.source.name).name, []).append(f"{name} = {json.dumps(argument)}")
    yield from (("parameters", f"{', '.join(texts)} (from {name})") for name, texts in parameters.items())


def _announce(file: Path | None, resumed: Path | None, recipe: Recipe | None) -> None:
    """Print the first line of a search at once: loading torch takes seconds. Of several processes, one prints it."""
    if os.environ.get("RANK", "0") == "0":
        begun = f"searching {file}" if recipe is None else f"settings from {recipe}"
        say(f"resuming {resumed}" if resumed is not None else begun)
