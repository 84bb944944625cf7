"""The text of the space with its marks, the settings of a run, and the source of the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.passes import Disconnected, Misfit
from bayesnas_graph.report.highlight import Language
from bayesnas_graph.report.line_marks import Marks, mark_lines
from bayesnas_graph.report.listing import Listing, file_text, sign_of
from bayesnas_graph.report.moving_marks import changes, marks_by_moment
from bayesnas_graph.report.repeat_command import repeat_command
from bayesnas_graph.report.reported_run import ReportedRun
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.setting_values import flat_settings, setting_text
from bayesnas_graph.report.templates import render_template
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.config.groups import Group
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.paths import RunPaths


@dataclass(frozen=True)
class Setting:
    """A setting of a run and its default."""

    key: str
    value: str
    default: str
    description: str


def provenance(run: ReportedRun, key: str = "", *, allow_python: bool = False) -> tuple[Section, ...]:
    """The sections on the text of the space, on the settings, and on the source; `key` is the prefix of their anchors.

    A section says so if something cannot be read or must not be executed.
    """
    return (
        _space_section(run, f"{key}space"),
        _settings_section(run, f"{key}making"),
        _source_section(run, f"{key}source", allow_python=allow_python),
    )


def _space_section(run: ReportedRun, key: str) -> Section:
    marks, problem = _marks(run)
    if run.space is None:
        texts = list(_files(RunPaths(run.record.folder).space))
    else:
        texts = [(module.file.source.name, module.file.source.text) for module in run.space.modules]
    moments = marks_by_moment(run) if marks else []
    widest = max((len(sign_of(mark)) for moment in moments for mark in moment.values()), default=0)
    listings = [Listing.of(f"{key}-{number}", *text, "nas", marks, widest) for number, text in enumerate(texts)]
    body = render_template(
        "provenance_space.html",
        listings=listings,
        problem=problem,
        marked=any(listing.is_marked for listing in listings),
        moving=len(moments) > 1,
    )
    title = "Source of the search space" if run.kind == "search" else "Source of the network"
    moving = {listing.key: changes(listing.title, moments) for listing in listings}
    return Section(key, title, body, data={"marks": moving} if moments else {})


def _marks(run: ReportedRun) -> tuple[Marks, str]:
    """The marks of all files, and the reason if they are missing."""
    if run.graph is None:
        return {}, f"The lines are not marked: {_first_problem(run.problems)}."
    if not run.graph.gates:
        return {}, ""
    problem = ""
    closed = {name: final.why for name, final in run.final.items() if not final.keep}
    if not run.final:
        if not run.history:
            return {}, "The lines are not marked because the search has not finished."
        problem = "Marks show what is left so far, because the search has not finished."
        last = {name: moments[-1] for name, moments in run.history.items()}
        closed = {name: moment.why for name, moment in last.items() if not moment.keep}
    try:
        return mark_lines(run.graph, closed), problem
    except (Disconnected, Misfit) as error:
        return {}, f"The lines are not marked because the decision leaves no network: {error}."


def _files(folder: Path) -> Iterable[tuple[str, str]]:
    """The files of a space, which may not be valid."""
    for path in sorted(folder.rglob("*.nas")):
        text = file_text(path)
        if text is not None:
            yield str(path.relative_to(folder)), text


def _settings_section(run: ReportedRun, key: str) -> Section:
    manifest, config, kind = run.record.manifest, run.record.config, _kind(run)
    settings = _settings(config, kind)
    recorded = manifest.get("versions")
    versions = {str(name): str(version) for name, version in recorded.items()} if isinstance(recorded, dict) else {}
    now = None if run.space is None else fingerprint(run.space.network.graph())
    body = render_template(
        "provenance_settings.html",
        key=key,
        verb=kind.verb,
        space=f"{manifest['space']}, network {manifest['network']}",
        data=setting_text(config.get("data")),
        seed=setting_text(config.get("seed")),
        begun=manifest["begun"],
        machine=versions.pop("machine", "—"),
        threads=setting_text(manifest.get("threads")),
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        fingerprint=setting_text(manifest.get("fingerprint")),
        now=now,
        problem=_first_problem(run.problems) if now is None else "",
        own=[setting for setting in settings if setting.value != setting.default],
        others=[setting for setting in settings if setting.value == setting.default],
        command=list(repeat_command(run.record, kind)),
    )
    return Section(key, "Settings and command", body)


def _kind(run: ReportedRun) -> type[Group]:
    """The settings class of a run."""
    kinds: dict[str, type[Group]] = {"train": TrainConfig, "compress": CompressConfig}
    return kinds.get(run.kind, SearchConfig)


def _settings(config: Mapping[str, Any], kind: type[Group]) -> list[Setting]:
    """All settings in order, tables expanded, followed by settings that no longer exist."""
    described = {field.alias or name: field.description or "" for name, field in kind.model_fields.items()}
    values, defaults = flat_settings(config), flat_settings(kind().to_plain())
    settings: dict[str, Setting] = {}
    for name in [*described, *config]:
        keys = [key for key in dict.fromkeys([*values, *defaults]) if key == name or key.startswith(f"{name}.")]
        for key in keys or [name]:
            settings[key] = Setting(key, values.get(key, "—"), defaults.get(key, "—"), described.get(name, ""))
    return list(settings.values())


def _source_section(run: ReportedRun, key: str, *, allow_python: bool) -> Section:
    texts: list[tuple[str, str, Language]] = []
    problem = ""
    try:
        texts = list(_sources(run, allow_python=allow_python))
    except NasError as error:
        problem = f"The source cannot be shown: {_first_problem(error.diagnostics)}."
    if not texts and not problem:
        problem = "There is no source yet because the run has not finished."
    listings = [Listing.of(f"{key}-{number}", *text) for number, text in enumerate(texts)]
    body = render_template("provenance_source.html", listings=listings, problem=problem)
    return Section(key, "Resulting network", body)


def _sources(run: ReportedRun, *, allow_python: bool) -> Iterator[tuple[str, str, Language]]:
    """The resulting network of a run, as `.nas` and Python. Raises NasError."""
    folder = run.record.folder
    files: list[tuple[str, Language]] = [("network.nas", "nas"), ("model.py", "python")]
    written = [(name, text, language) for name, language in files if (text := file_text(folder / name)) is not None]
    if run.kind in ("train", "compress") and written:
        yield from written
    elif run.space is None:
        raise NasError(run.problems)
    elif run.kind == "train":
        from bayesnas_graph.codegen.export import model_of  # imports torch

        network = run.space.network
        yield "model.py", model_of(network, run.record.manifest["space"]).program.text, "python"
    elif run.kind == "search" and RunPaths(folder).decision.exists():
        from bayesnas_graph.runs.searched import architecture_of  # imports torch

        architecture = architecture_of(open_run(folder, "search", allow_python=allow_python))
        yield "network.nas", architecture.written.text, "nas"
        yield f"{run.space.network.name}.py", architecture.model().program.text, "python"


def _first_problem(problems: Iterable[Diagnostic]) -> str:
    """The first problem in one line."""
    first = next(iter(problems), None)
    if first is None:
        return "the space cannot be read"
    where = f" ({first.primary.span})" if first.primary is not None else ""
    return f"{first.message}{where}" + (f"; {first.help}" if first.help else "")
