"""The result of a search: the architecture, its cost, and whether it has the requested size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesnas_graph.cli.console import labelled, target
from bayesnas_graph.cli.terminal import bold, dim
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.runs.objectives import Metric
from bayesnas_graph.runs.reading.outline import Outline, OutlineSwitch
from bayesnas_graph.runs.strategies import strategy_info

if TYPE_CHECKING:
    from bayesnas_graph.bayes import Decision
    from bayesnas_graph.runs.config.search import SearchConfig
    from bayesnas_graph.search.loop import SearchOutcome

MOST_CHOICES = 60  # listed; a space may have thousands


def outcome_lines(outline: Outline, outcome: SearchOutcome, missed: Container[str], metric: Metric) -> Iterator[str]:
    """Yield why the search ended, the architecture choice by choice, and its size beside that of all candidates."""
    kept = {verdict.name for verdict in outcome.decision.verdicts if verdict.keep}
    yield from ("", bold(outcome.why), "")
    yield from architecture_lines(outline.switches, kept)
    yield ""
    rows = [
        ("closed", reasons_text(outcome.decision)),
        ("parameters", f"{outcome.cost.parameters:,} of {outline.parameters:,}"),
        ("multiply-adds", f"{outcome.cost.flops_text} of {outline.flops_text}"),
        (metric.name, f"{bold(f'{outcome.accuracy:.4f}')} on the test set, with the weights of the search"),
        *(() if outcome.comparison is None else (("compared", outcome.comparison.text()),)),
        *(("target", target(text, met=text not in missed)) for text in outline.wanted),
    ]
    yield from (labelled(label, text) for label, text in rows)


def architecture_lines(switches: Iterable[OutlineSwitch], kept: Container[str]) -> Iterator[str]:
    """Yield the operations that every choice keeps."""
    parts: dict[str, dict[str, list[OutlineSwitch]]] = defaultdict(lambda: defaultdict(list))
    for switch in switches:
        parts[switch.part][switch.choice].append(switch)
    width = max((len(choice) for choices in parts.values() for choice in choices), default=0)
    room, choices_left = MOST_CHOICES, sum(map(len, parts.values()))
    for part, choices in parts.items():
        if room:
            yield bold(part)
        for choice, members in list(choices.items())[:room]:
            operations = [switch for switch in members if switch.kind == "candidate"] or members
            staying = [switch.operation for switch in operations if switch.name in kept]
            yield f"  {choice:<{width}}  {', '.join(staying) or dim('nothing')}"
            room, choices_left = room - 1, choices_left - 1
    if choices_left:
        yield dim(f"  and {choices_left:,} more choices, in decision.json")


def reasons_text(decision: Decision) -> str:
    """Return how many switches are closed, by reason."""
    reasons = Counter(str(verdict.why) for verdict in decision.verdicts if not verdict.keep)
    listed = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
    return f"{reasons.total():,} of {len(decision.verdicts):,} switches{f': {listed}' if listed else ''}"


def too_large(result: Mapping[str, Any], missed: Sequence[str], config: SearchConfig) -> Diagnostic | None:
    """Return a warning if an architecture does not have the requested size."""
    if not missed:
        return None
    requirements = " and ".join(f"`{text}`" for text in missed)
    flops = at_least(result["flops"], bool(result.get("flops_at_least")))
    size = f"{result['parameters']:,} parameters and takes {flops} multiply-adds"
    message, help = f"the architecture has {size}, not {requirements}", strategy_info(config.strategy).advice
    return Diagnostic("NAS608", message, help=help, severity="warning")
