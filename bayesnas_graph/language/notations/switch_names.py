"""Architectures as lists of switches, by the names of the space.

Commands show a switch as `block h[1] <- entry: sep_conv_3`; its id is `block:h.1.entry.sep_conv_3`. Both are accepted,
and so are the id of one of its uses, and the displayed name without its first word if that is clear.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, did_you_mean
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations.problems import shown, string_source, unreadable

SHOWN = 4  # names listed in a message
MOST_PROBLEMS = 10  # names reported at once: a suggestion takes time in proportion to the number of switches
KEYS = ("switches", "keep")  # of a JSON object that lists switches
FORM = 'write a list of switches, `{"switches": [...]}` as `sample` prints, or the `decision.json` of `derive`'
_COMMENT = re.compile(r"\s*(#|//)")


@dataclass(frozen=True)
class SwitchNames:
    """The switches of a graph by all their names."""

    ids: Mapping[str, str]  # of a switch, or of one of its uses -> the switch
    texts: Mapping[str, tuple[str, ...]]  # displayed name, with or without its part -> switches

    @staticmethod
    def of(graph: Graph) -> SwitchNames:
        """Return the names of all switches of a graph."""
        texts: dict[str, dict[str, None]] = defaultdict(dict)
        for group, gate in graph.switches.items():
            for text in (gate.text, f"{gate.place}: {gate.operation}"):
                texts[_squeezed(text)][group] = None
        ids = {gate.name: gate.group for gate in graph.gates} | {group: group for group in graph.switches}
        return SwitchNames(ids, {text: tuple(groups) for text, groups in texts.items()})

    def find(self, name: str) -> tuple[str, ...]:
        """Return the switches that a name may mean."""
        id = name.strip()
        return (self.ids[id],) if id in self.ids else self.texts.get(_squeezed(name), ())

    def shown(self, group: str, graph: Graph) -> str:
        """Return the displayed name of a switch, or its id if the name is ambiguous."""
        text = graph.switches[group].text
        return text if self.find(text) == (group,) else group

    def suggested(self, name: str) -> str | None:
        """Return a help text with the nearest name, if one is near."""
        return did_you_mean(_squeezed(name), self.texts) or did_you_mean(name.strip(), self.ids)


def groups_named(names: Iterable[tuple[str, Span | None]], graph: Graph) -> frozenset[str]:
    """Return the groups to keep for these names, including the zero switches of their choices. Raises NasError.

    Unknown and ambiguous names are reported together, each at its span.
    """
    known = SwitchNames.of(graph)
    found: set[str] = set()
    problems: list[Diagnostic] = []
    for name, span in names:
        groups = known.find(name)
        if len(groups) == 1:
            found |= set(groups)
        else:
            problems.append(_problem(name, span, groups, graph, known))
        if len(problems) == MOST_PROBLEMS:
            break
    if problems:
        raise NasError(problems)
    return with_zeros(found, graph)


def with_zeros(kept: Collection[str], graph: Graph) -> frozenset[str]:
    """Return these groups, with the zero switch of every choice that keeps a candidate."""
    used = {gate.choice for gate in graph.gates if gate.group in kept and not gate.is_zero}
    return frozenset(kept) | {gate.group for gate in graph.gates if gate.is_zero and gate.choice in used}


def _problem(name: str, span: Span | None, groups: tuple[str, ...], graph: Graph, known: SwitchNames) -> Diagnostic:
    if groups:
        ids = ", ".join(shown(group) for group in groups[:SHOWN])
        more = f" and {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
        message = f"{shown(name)} may be any of {len(groups)} switches of network {shown(graph.name)}"
        return Diagnostic("NAS704", message, _label(span, "ambiguous"), help=f"use an id: {ids}{more}")
    message = f"network {shown(graph.name)} has no switch {shown(name)}"
    some = ", ".join(shown(gate.text) for gate in list(graph.switches.values())[:SHOWN])
    listing = f"it has {some}" + (", ..." if len(graph.switches) > SHOWN else "") if some else "it has no switches"
    help = known.suggested(name) or listing
    return Diagnostic("NAS703", message, _label(span, "no such switch"), help=help)


def _label(span: Span | None, text: str) -> Label | None:
    return None if span is None else Label(span, text)


def _squeezed(name: str) -> str:
    """Return a displayed name with spaces where `Gate.text` has them.

    >>> _squeezed("  block  h[1] <- entry:relu ")
    'block h[1] <- entry: relu'
    """
    return " ".join(name.replace(":", ": ").split())


def is_json(text: str) -> bool:
    """Return whether a text is meant as JSON."""
    return text.lstrip()[:1] in ("[", "{")


def is_list(text: str, graph: Graph) -> bool:
    """Return whether a line of a text is the name of a switch, or the first nearly is, or all are comments."""
    known = SwitchNames.of(graph)
    lines = [line for line, _ in _lines(text)]
    if not lines:
        return bool(text.strip())
    return any(known.find(line) for line in lines) or (bool(lines) and known.suggested(lines[0]) is not None)


def groups_of(text: str, graph: Graph) -> frozenset[str]:
    """Return the groups to keep for a list of switches, as lines or as JSON. Raises NasError."""
    if is_json(text):
        return groups_named(((name, None) for name in _in_json(text)), graph)
    source = string_source(text, None)
    lines = _lines(source.text)
    return groups_named(((line, Span(source, start, start + len(line))) for line, start in lines), graph)


def _lines(text: str) -> Iterable[tuple[str, int]]:
    """The lines of a text that are not empty or comments, with their offsets."""
    start = 0
    for line in text.split("\n"):
        if line.strip() and not _COMMENT.match(line):
            yield line.strip(), start + len(line) - len(line.lstrip())
        start += len(line) + 1


def _in_json(text: str) -> list[str]:
    """The names in a list, in an object that has one, or in a decision. Raises NasError."""
    source = string_source(text, None)
    try:
        content = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        start = min(getattr(error, "pos", 0), max(len(source.text) - 1, 0))
        label = getattr(error, "msg", "nested too deeply").lower()
        unreadable(Span(source, start, start + 1), "this is not JSON", label, FORM)
    if isinstance(content, dict):
        if isinstance(verdicts := content.get("verdicts"), list):
            content = [v.get("name") for v in verdicts if isinstance(v, dict) and v.get("keep") is True]
        else:
            content = next((content[key] for key in KEYS if key in content), None)
    if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
        everything = Span(source, 0, len(source.text))
        unreadable(everything, "there is no list of switches in the architecture", "expected names of switches", FORM)
    return content
