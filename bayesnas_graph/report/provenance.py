"""Where a run comes from and what came of it, as texts: the space with its marks, the settings, the source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.passes import Disconnected, Misfit
from bayesnas_graph.report.again import command
from bayesnas_graph.report.highlight import Language
from bayesnas_graph.report.html import filled
from bayesnas_graph.report.listing import Listing, text_of
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story
from bayesnas_graph.report.survival import Marks, survival
from bayesnas_graph.runs.paths import RunPaths

if TYPE_CHECKING:
    from bayesnas_graph.runs.config import Group


@dataclass(frozen=True)
class Setting:
    """A setting of a run beside its default."""

    key: str
    value: str
    default: str
    description: str


def provenance(story: Story, key: str = "", *, allow_python: bool = False) -> tuple[Section, ...]:
    """The sections on the text of the space, on how the run was made, and on its source.

    `key` tells several runs of a page apart. What cannot be read, or must not be run, is missing, and the section
    says so.
    """
    return (
        _space_section(story, f"{key}space"),
        _making_section(story, f"{key}making"),
        _source_section(story, f"{key}source", allow_python=allow_python),
    )


# ------------------------------------------------------------------------- the space


def _space_section(story: Story, key: str) -> Section:
    marks, problem = _marks(story)
    if story.space is None:
        texts = list(_files(RunPaths(story.found.folder).space))
    else:
        texts = [(module.file.source.name, module.file.source.text) for module in story.space.modules]
    listings = [Listing.of(f"{key}-{number}", *text, "nas", marks) for number, text in enumerate(texts)]
    marked = any(listing.is_marked for listing in listings)
    return Section(
        key, "The text of the space", filled("provenance_space.html", listings=listings, problem=problem, marked=marked)
    )


def _marks(story: Story) -> tuple[Marks, str]:
    """The marks of all files, and why there are none where there should be some."""
    if story.graph is None:
        return {}, f"It is shown without marks: {_told(story.problems)}."
    if not story.graph.gates:
        return {}, ""
    if not story.final:
        return {}, "The search has come to no decision yet, so that no line is marked."
    try:
        return survival(story.graph, {name: final.why for name, final in story.final.items() if not final.keep}), ""
    except (Disconnected, Misfit) as error:
        return {}, f"The decision leaves no network, so that no line is marked: {error}."


def _files(folder: Path) -> Iterable[tuple[str, str]]:
    """The files of a space as they lie there, whatever they are."""
    for path in sorted(folder.rglob("*.nas")):
        text = text_of(path)
        if text is not None:
            yield str(path.relative_to(folder)), text


# ---------------------------------------------------------------------- how it was made


def _making_section(story: Story, key: str) -> Section:
    manifest, config, kind = story.found.manifest, story.found.config, _kind(story)
    settings = _settings(config, kind)
    told = manifest.get("versions")
    versions = {str(name): str(version) for name, version in told.items()} if isinstance(told, dict) else {}
    now = None if story.space is None else fingerprint(story.space.network.graph())
    body = filled(
        "provenance_making.html",
        key=key,
        verb=kind.verb,
        space=f"{manifest['space']}, network {manifest['network']}",
        data=_shown(config.get("data")),
        seed=_shown(config.get("seed")),
        begun=manifest["begun"],
        machine=versions.pop("machine", "—"),
        threads=_shown(manifest.get("threads")),
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        fingerprint=_shown(manifest.get("fingerprint")),
        now=now,
        problem=_told(story.problems) if now is None else "",
        own=[setting for setting in settings if setting.value != setting.default],
        others=[setting for setting in settings if setting.value == setting.default],
        command=list(command(story.found, kind)),
    )
    return Section(key, "How it was made", body)


def _kind(story: Story) -> type[Group]:
    """The settings that such a run has."""
    from bayesnas_graph.runs.config import Config
    from bayesnas_graph.train.compress.config import CompressConfig
    from bayesnas_graph.train.config import TrainConfig

    kinds: dict[str, type[Group]] = {"train": TrainConfig, "compress": CompressConfig}
    return kinds.get(story.kind, Config)


def _settings(config: Mapping[str, Any], kind: type[Group]) -> list[Setting]:
    """All settings in their order, those of tables one by one; then what no such run knows any more."""
    described = {field.alias or name: field.description or "" for name, field in kind.model_fields.items()}
    own, defaults = _flat(config), _flat(kind().to_plain())
    found: dict[str, Setting] = {}
    for name in [*described, *config]:
        keys = [key for key in dict.fromkeys([*own, *defaults]) if key == name or key.startswith(f"{name}.")]
        for key in keys or [name]:
            found[key] = Setting(key, own.get(key, "—"), defaults.get(key, "—"), described.get(name, ""))
    return list(found.values())


def _flat(settings: Mapping[str, Any], table: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{table}{key}.")
        else:
            found[f"{table}{key}"] = _shown(value)
    return found


def _shown(value: object) -> str:
    """A value of a file as a text."""
    return value if isinstance(value, str) else "—" if value is None else json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------ the source


def _source_section(story: Story, key: str, *, allow_python: bool) -> Section:
    texts: list[tuple[str, str, Language]] = []
    problem = ""
    try:
        texts = list(_sources(story, allow_python=allow_python))
    except NasError as error:
        problem = f"It is not shown: {_told(error.diagnostics)}."
    if not texts and not problem:
        problem = "There is none yet: the run has not come to its end."
    listings = [Listing.of(f"{key}-{number}", *text) for number, text in enumerate(texts)]
    body = filled("provenance_source.html", listings=listings, problem=problem)
    return Section(key, "The network as source", body)


def _sources(story: Story, *, allow_python: bool) -> Iterator[tuple[str, str, Language]]:
    """The network that a run ends with, in the language and as Python. Raises NasError if it cannot be had."""
    folder = story.found.folder
    files: list[tuple[str, Language]] = [("network.nas", "nas"), ("model.py", "python")]
    written = [(name, text, language) for name, language in files if (text := text_of(folder / name)) is not None]
    if story.kind in ("train", "compress") and written:
        yield from written
    elif story.space is None:
        raise NasError(story.problems)
    elif story.kind == "train":
        from bayesnas_graph.export import model_of_network

        network = story.space.network
        yield "model.py", model_of_network(network, story.found.manifest["space"]).program.text, "python"
    elif story.kind == "search" and RunPaths(folder).decision.exists():
        from bayesnas_graph.derive import of_run
        from bayesnas_graph.export import model_of

        architecture = of_run(folder, allow_python=allow_python)
        yield "network.nas", architecture.written.text, "nas"
        yield f"{story.space.network.name}.py", model_of(architecture).program.text, "python"


def _told(problems: Iterable[Diagnostic]) -> str:
    """The first of some problems in one line."""
    first = next(iter(problems), None)
    if first is None:
        return "it cannot be read"
    where = f" ({first.primary.span})" if first.primary is not None else ""
    return f"{first.message}{where}" + (f"; {first.help}" if first.help else "")
