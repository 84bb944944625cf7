"""The kept and dropped switches of every line of the space, with reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bayesnas_graph.bayes import Decision, Verdict, Why
from bayesnas_graph.ir import Graph


@dataclass(frozen=True)
class ExplainedLine:
    """The switches of one line."""

    file: str
    number: int  # 0 for switches without a line
    text: str
    kept: tuple[Verdict, ...]
    dropped: tuple[tuple[Why, tuple[Verdict, ...]], ...]  # by reason


def explained(graph: Graph, decision: Decision) -> list[ExplainedLine]:
    """Return every line with switches, in order. Zero switches count with their candidates."""
    spans = [edge.switch_span for edge in graph.edges if edge.gate is not None]
    texts = {(span.source.name, span.source.position(span.start)[0]): span.source for span in spans if span is not None}
    lines: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for verdict in decision.verdicts:
        if not graph.switches[verdict.name].is_zero:
            place = verdict.places[0] if verdict.places else None
            lines[(place.file, place.line) if place else ("", 0)].append(verdict)
    explained_lines = []
    for (file, number), verdicts in sorted(lines.items()):
        source = texts.get((file, number))
        text = source.text.splitlines()[number - 1].strip() if source is not None else ""
        dropped: dict[Why, list[Verdict]] = defaultdict(list)
        for verdict in verdicts:
            if not verdict.keep:
                dropped[verdict.why].append(verdict)
        kept = tuple(verdict for verdict in verdicts if verdict.keep)
        explained_lines.append(
            ExplainedLine(file, number, text, kept, tuple((why, tuple(all_)) for why, all_ in dropped.items()))
        )
    return explained_lines


def as_text(
    graph: Graph,
    lines: list[ExplainedLine],
    measure: str = "gamma",
    *,
    most: int | None = None,
    name: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield the lines as text: kept switches with their measure, dropped ones by reason, `most` of each with names.

    `name` may change how a switch is named.
    """
    names = {group: name(gate.text) for group, gate in graph.switches.items()}
    for line in lines:
        yield f"{line.file}:{line.number}  {line.text}" if line.number else "switches without a line"
        for verdict in line.kept:
            note = "" if verdict.why in (Why.KEPT, Why.GIVEN) else f", {verdict.why}"
            yield f"  + {names[verdict.name]}  {measure} {verdict.gamma:.3g}{note}"
        for why, verdicts in line.dropped:
            more = f" and {len(verdicts) - most:,} more" if most is not None and len(verdicts) > most else ""
            yield f"  - {len(verdicts)} {why}: {', '.join(names[verdict.name] for verdict in verdicts[:most])}{more}"
