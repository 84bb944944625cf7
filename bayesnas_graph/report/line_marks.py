"""Marks for the lines of a space: how much of what each line builds is left, in the derived network or before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.syntax.grammar import load_grammar
from bayesnas_graph.passes import Disconnected, Misfit, prune

State = Literal["kept", "partly", "gone"]
MAX_NAMES = 24  # in the notes of a line
MAX_CANDIDATE = 60  # characters of a candidate in the notes


@dataclass(frozen=True)
class LineMark:
    """The mark of a line. It counts switches, or operations if the line has no switches."""

    state: State | None  # None if nothing is built from the line
    kept: int = 0
    of: int = 0
    notes: tuple[str, ...] = ()


UNMARKED = LineMark(None)
Marks = Mapping[tuple[str, int], LineMark]  # by file name and line number


@dataclass(frozen=True, slots=True)
class _Built:
    """Something built from a span of the text. It is left as long as the graph has its part."""

    span: Span
    name: str
    part: tuple[Literal["gate", "node", "scope"], str]

    @property
    def is_switch(self) -> bool:
        return self.part[0] == "gate"


_Left = Collection[tuple[str, str]]  # the parts of a graph
_Lines = Mapping[tuple[str, int], Sequence[_Built]]  # by file name and line number


def mark_lines(graph: Graph, closed: Mapping[str, str]) -> Marks:
    """The marks of all lines that build something, given the closed switches and the reason for each.

    A candidate counts on its own line and on the line of its choice. The use of a motif counts on the line of the use,
    and the contents of the motif on their own lines, since other uses may keep them. Zero switches do not count.
    Raises Disconnected or Misfit if the open switches do not form a network.
    """
    left = _parts(prune(graph, closed))
    return {line: _mark(here, left, closed) for line, here in _built_by_line(graph).items()}


def mark_lines_over_time(graph: Graph, closed: Sequence[Collection[str]]) -> list[Marks]:
    """The marks, without notes, as more and more switches are closed: one result for each set of closed switches.

    Where the open switches do not form a network, the marks are those of the last ones that did.
    """
    lines = _built_by_line(graph)
    marks: list[Marks] = []
    left, before = _parts(graph), frozenset[str]()
    for off in map(frozenset, closed):
        if off != before or not marks:
            with suppress(Disconnected, Misfit):
                left = _parts(prune(graph, off))
            marks.append({line: _count(here, left) for line, here in lines.items()})
        else:
            marks.append(marks[-1])
        before = off
    return marks


def _parts(graph: Graph) -> _Left:
    """The gates, nodes and inhabited scopes of a graph."""
    gates = (("gate", gate.name) for gate in graph.gates)
    scopes = (("scope", scope.name) for node in graph for scope in graph.enclosing(node.name))
    return {*gates, *(("node", node.name) for node in graph), *scopes}


def _built_by_line(graph: Graph) -> _Lines:
    by_source: dict[Source, list[_Built]] = defaultdict(list)
    for built in (*_switches(graph), *_operations(graph), *_uses(graph)):
        by_source[built.span.source].append(built)
    return {
        (source.name, line): here
        for source, all_built in by_source.items()
        for line, here in _by_line(source, all_built).items()
    }


def _switches(graph: Graph) -> Iterator[_Built]:
    for edge in graph.edges:
        if edge.gate is None or graph[edge.target].op.is_zero_switch:
            continue
        for span in {edge.span, edge.gate.span} - {None}:
            assert span is not None
            yield _Built(span, edge.gate.group, ("gate", edge.gate.name))


def _operations(graph: Graph) -> Iterator[_Built]:
    for node in graph:
        if node.span is not None and not (node.op.is_input or node.op.is_gated):
            yield _Built(node.span, node.name, ("node", node.name))


def _uses(graph: Graph) -> Iterator[_Built]:
    """The uses of motifs, except those without nodes, which only pass on their input."""
    present = _parts(graph)
    for scope in graph.scopes:
        if scope.span is not None and scope.role != "choice" and ("scope", scope.name) in present:
            yield _Built(scope.span, scope.name, ("scope", scope.name))


def _by_line(source: Source, all_built: Iterable[_Built]) -> dict[int, list[_Built]]:
    """Return the origin of each line's mark: all parts that begin on it, or else the innermost one that spans it."""
    beginning: dict[int, list[_Built]] = defaultdict(list)
    reaching: dict[int, list[_Built]] = {}
    code_lines = _code_lines(source)
    for built in sorted(all_built, key=lambda built: built.span.start):
        first, _ = source.position(built.span.start)
        last, _ = source.position(max(built.span.start, built.span.end - 1))
        beginning[first].append(built)
        for line in range(first + 1, last + 1):
            around = reaching.get(line, [])
            same = around and around[0].span.start == built.span.start
            reaching[line] = [*around, built] if same else [built]
    return {**{line: built for line, built in reaching.items() if line in code_lines}, **beginning}


def _code_lines(source: Source) -> set[int]:
    """The lines with more than space and comments."""
    return {token.line or 0 for token in load_grammar().lark.lex(source.text)}


def _mark(here: Sequence[_Built], left: _Left, closed: Mapping[str, str]) -> LineMark:
    mark = _count(here, left)
    switches = _states((built for built in here if built.is_switch), left)
    counted = switches or _states(here, left)
    nouns = ("switch", "switches") if switches else ("operation", "operations")
    head = f"{mark.kept} of {mark.of} {nouns[mark.of != 1]} left"
    return replace(mark, notes=(head, *_by_candidate(here, left, mark.of), *_named(counted, closed)))


def _count(here: Sequence[_Built], left: _Left) -> LineMark:
    """A mark without notes."""
    switches = _states((built for built in here if built.is_switch), left)
    operations = _states((built for built in here if not built.is_switch), left)
    everything = [*switches.values(), *operations.values()]
    state: State = "kept" if all(everything) else "partly" if any(everything) else "gone"
    counted = switches or operations
    return LineMark(state, sum(counted.values()), len(counted))


def _states(all_built: Iterable[_Built], left: _Left) -> dict[str, bool]:
    """For each name, whether anything of that name is left."""
    by_name: dict[str, bool] = {}
    for built in all_built:
        by_name[built.name] = by_name.get(built.name, False) or built.part in left
    return by_name


def _by_candidate(here: Sequence[_Built], left: _Left, of: int) -> Iterator[str]:
    """The count of each candidate, if a line has several."""
    by_span: dict[Span, list[_Built]] = defaultdict(list)
    for built in here:
        if built.is_switch:
            by_span[built.span].append(built)
    for span, behind in by_span.items():
        switches = _states(behind, left)
        if len(switches) < of:
            yield f"{_short(span.text)}: {sum(switches.values())} of {len(switches)}"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_CANDIDATE else f"{words[: MAX_CANDIDATE - 3]}..."


def _named(counted: Mapping[str, bool], closed: Mapping[str, str]) -> Iterator[str]:
    """Names with their states, those that are left first."""
    names = sorted(counted, key=lambda name: not counted[name])
    for name in names[:MAX_NAMES]:
        why = "" if counted[name] else closed.get(name, "leads nowhere")
        yield f"+ {name}" if counted[name] else f"− {name}: {why}"
    if len(names) > MAX_NAMES:
        yield f"and {len(names) - MAX_NAMES} more"
