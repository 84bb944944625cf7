"""Networks that are already loaded, where a function takes a file: its text, and the settings that name the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.reading import real_path
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Module, Network, Text, read
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.runs.config.groups import DataSettings

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings

S = TypeVar("S", bound=DataSettings)
OWN = ("network", "parameters")  # settings that a loaded network has already


def source_of(network: Network) -> Path | Text:
    """Return the file or the text that a network was loaded from. Raises NasError if a file has changed since."""
    module = network.module
    if module is None:
        raise TypeError(f"{network!r} has no text: load it from a file or a text")
    for one in _modules(module, set()):
        if one.path is not None and one.path.exists() and _text(one.path) != one.file.source.text:
            message = f"`{one.file.source.name}` has changed since `{network.name}` was loaded"
            raise NasError([Diagnostic("NAS011", message, help="load the network again")])
    path, source = module.path, module.file.source
    if path is None or not path.exists():
        return Text(source.text, source.name, None if path is None else path.parent, source.origins)
    as_given, shipped = Path(source.name), Path(path.stem)
    if real_path(as_given) == path:
        return as_given
    return shipped if shipped_space(path.stem) == path and not shipped.exists() else path


def _modules(module: Module, seen: set[Module]) -> Iterator[Module]:
    """Yield a module and all that it imports, each once."""
    if module not in seen:
        seen.add(module)
        yield module
        for imported, _ in module.files:
            yield from _modules(imported, seen)


def _text(path: Path) -> str | None:
    source = read(path, str(path), Report())
    return None if source is None else source.text


def own_settings(network: Network) -> dict[str, Any]:
    """Return the settings that load a network again."""
    return {"network": network.name, "parameters": {name: _plain(value) for name, value in network.given}}


def _plain(value: Argument) -> Any:
    """Return a value as in a settings file."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Fraction) else value


def check_own(source: object, settings: Mapping[str, Any]) -> None:
    """Raise TypeError for settings that a loaded network has already."""
    taken = [name for name in OWN if name in settings]
    if isinstance(source, Network) and taken:
        raise TypeError(f"a network that is loaded has its own `{taken[0]}`: load another one, or pass the file")


def of_network(config: S, source: object) -> S:
    """Return settings for a network, if it is loaded: the network and parameters of a recipe are dropped."""
    return config.model_copy(update=own_settings(source)) if isinstance(source, Network) else config


def layers_of_network(layers: list[Settings], source: object) -> list[Settings]:
    """Do as `of_network` with settings that have not been merged."""
    from bayesnas_graph.runs.settings import from_values

    if not isinstance(source, Network):
        return layers
    others = [
        replace(one, values={key: value for key, value in one.values.items() if key not in OWN}) for one in layers
    ]
    return [*others, from_values(own_settings(source))]
