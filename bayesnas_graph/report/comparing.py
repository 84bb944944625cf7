"""Runs side by side: what they have come to, in which settings they differ, and what their architectures share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bayesnas_graph.report import training
from bayesnas_graph.report.parts import Table, section
from bayesnas_graph.report.searching import curves_section
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.outline import Switch
from bayesnas_graph.runs.reading.run import Traces

MOST = 12  # runs whose overlap is told pair by pair

Runs = Mapping[str, Traces]


def sections(runs: Runs) -> tuple[Section, ...]:
    """Runs of any kinds. What a run does not have, it leaves empty; the curves of compressions stand with them."""
    searches, trainings = (
        {run: found for run, found in runs.items() if kind_of(found) == kind} for kind in ("search", "train")
    )
    return (
        section("comparison", "Side by side", tables=[_results(runs), _settings(runs)]),
        *agreements(searches),
        *([curves_section(searches)] if searches else []),
        *([training.section(trainings)] if trainings else []),
    )


def kind_of(found: Traces) -> str:
    """What began a run: `search`, `train` or `compress`."""
    return str(found.manifest.get("kind", "search"))


def _results(runs: Runs) -> Table:
    head = ("run", "kind", "state", "accuracy", "weights", "multiply-adds", "open switches", "updates", "steps")
    rows = []
    for run, found in runs.items():
        accuracy = found.result and f"{found.result['accuracy']:.4f}"
        sizes = [f"{size:,}" for size in found.sizes or ()] or ["", ""]
        alive = f"{len(found.alive):,} of {len(found.switches):,}" if found.switches else ""
        updates = f"{found.iteration:,}" if found.updates else ""
        rows.append((run, kind_of(found), found.state, accuracy or "", *sizes, alive, updates, f"{found.step:,}"))
    return Table(head, tuple(rows), words=("kind", "state"), title="Results").without_gaps()


def _settings(runs: Runs) -> Table:
    """The settings that are not the same in all runs of a kind that has them."""
    settings = {run: dict(_flat(_asked(found))) for run, found in runs.items()}
    known: dict[str, set[str]] = {}  # the kinds of runs that have a setting, which some of them may leave out
    for run, some in settings.items():
        for key in some:
            known.setdefault(key, set()).add(kind_of(runs[run]))
    rows = []
    for key, kinds in known.items():
        if len({settings[run].get(key) for run, found in runs.items() if kind_of(found) in kinds}) > 1:
            rows.append((key, *(some.get(key, "") for some in settings.values())))
    table = Table(("setting", *runs), tuple(rows), title="Settings that differ")
    return table.turned() if len(runs) > len(rows) > 0 else table


def _asked(found: Traces) -> dict[str, Any]:
    """What a run was to do. The fingerprint tells spaces of one name apart."""
    manifest = found.manifest
    fingerprint = str(manifest.get("fingerprint", ""))[:16]
    return {"space": manifest["space"], "network": manifest["network"], "fingerprint": fingerprint, **found.config}


def _flat(settings: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, str]]:
    """Keys as they are written on the command line, and what they are set to.

    >>> dict(_flat({"rate": 0.1, "parameters": {"width": 8}}))
    {'rate': '0.1', 'parameters.width': '8'}
    """
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{table}{key}.")
        else:
            yield f"{table}{key}", value if isinstance(value, str) else json.dumps(value)


def agreements(searches: Runs) -> Iterator[Section]:
    """For each space that two searches or more have in common, what they keep."""
    spaces: dict[tuple[Switch, ...], dict[str, frozenset[str]]] = {}
    for run, found in searches.items():
        candidates = tuple(switch for switch in found.switches if switch.operation != "zero")
        kept = frozenset(switch.name for switch in candidates) - found.closed
        if candidates:
            spaces.setdefault(candidates, {})[run] = kept
    shared = [(candidates, own) for candidates, own in spaces.items() if len(own) > 1]
    for number, (candidates, own) in enumerate(shared, 1):
        key = "agreement" if number == 1 else f"agreement-{number}"
        yield _agreement(key, candidates, own, [run for run in own if searches[run].result is None])


def _agreement(
    key: str, candidates: tuple[Switch, ...], kept: Mapping[str, frozenset[str]], unfinished: list[str]
) -> Section:
    from bayesnas_graph.runs.sweep.comparison import overlap

    everywhere = frozenset.intersection(*kept.values())
    somewhere = frozenset.union(*kept.values())
    notes = [
        f"Of {len(candidates):,} candidates {len(everywhere):,} are kept by all {len(kept):,} runs, "
        f"{len(somewhere - everywhere):,} by some of them, and {len(candidates) - len(somewhere):,} by none. "
        f"Two runs have {overlap(list(kept.values())):.2f} of what one of them keeps in common, on average."
    ]
    if unfinished:
        notes.append(f"Not finished, so that more may be closed: {', '.join(unfinished)}.")
    by_all = [switch for switch in candidates if switch.name in everywhere]
    by_some = [switch for switch in candidates if switch.name in somewhere - everywhere]
    place = ("cell", "choice", "operation")
    tables = [
        _overlaps(kept),
        Table(place, tuple(map(_placed, by_all)), place, f"Kept by all: {len(by_all):,}", folded=True),
        Table(
            (*place, *kept),
            tuple(
                (*_placed(switch), *("kept" if switch.name in own else "" for own in kept.values()))
                for switch in by_some
            ),
            (*place, *kept),
            f"Kept by some: {len(by_some):,}",
            folded=True,
        ),
    ]
    return section(key, "What the architectures share", notes=notes, tables=tables)


def _placed(switch: Switch) -> tuple[str, str, str]:
    return switch.part, switch.choice, switch.operation


def _overlaps(kept: Mapping[str, frozenset[str]]) -> Table:
    """Of every two runs, the part of the candidates that either keeps that both keep."""
    from bayesnas_graph.runs.sweep.comparison import overlap

    if not 2 < len(kept) <= MOST:
        return Table((), ())
    rows = [(run, *(f"{overlap([own, other]):.2f}" for other in kept.values())) for run, own in kept.items()]
    return Table(("overlap", *kept), tuple(rows), title="Overlap of every two")
