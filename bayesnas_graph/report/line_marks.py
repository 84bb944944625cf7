"""Marks for the lines of a space: how much of what each line builds is in the derived network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.syntax.grammar import load_grammar
from bayesnas_graph.passes import prune

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
    """Something built from a span of the text."""

    span: Span
    name: str
    is_switch: bool
    is_left: bool


def mark_lines(graph: Graph, closed: Mapping[str, str]) -> Marks:
    """The marks of all lines that build something, given the closed switches and the reason for each.

    A candidate counts on its own line and on the line of its choice. The use of a motif counts on the line of the use,
    and the contents of the motif on their own lines, since other uses may keep them. Zero switches do not count.
    Raises Disconnected or Misfit if the open switches do not form a network.
    """
    pruned = prune(graph, closed)
    marks: dict[tuple[str, int], LineMark] = {}
    by_source: dict[Source, list[_Built]] = defaultdict(list)
    for built in (*_switches(graph, pruned), *_operations(graph, pruned), *_uses(graph, pruned)):
        by_source[built.span.source].append(built)
    for source, all_built in by_source.items():
        for line, here in _by_line(source, all_built).items():
            marks[source.name, line] = _mark(here, closed)
    return marks


def _switches(graph: Graph, pruned: Graph) -> Iterator[_Built]:
    open_gates = {gate.name for gate in pruned.gates}
    for edge in graph.edges:
        if edge.gate is None or graph[edge.target].op.is_zero_switch:
            continue
        for span in {edge.span, edge.gate.span} - {None}:
            assert span is not None
            yield _Built(span, edge.gate.group, True, edge.gate.name in open_gates)


def _operations(graph: Graph, pruned: Graph) -> Iterator[_Built]:
    for node in graph:
        if node.span is not None and not (node.op.is_input or node.op.is_gated):
            yield _Built(node.span, node.name, False, node.name in pruned.nx)


def _uses(graph: Graph, pruned: Graph) -> Iterator[_Built]:
    """The uses of motifs, except those without nodes, which only pass on their input."""
    present, staying = _inhabited(graph), _inhabited(pruned)
    for scope in graph.scopes:
        if scope.span is not None and scope.role != "choice" and scope.name in present:
            yield _Built(scope.span, scope.name, False, scope.name in staying)


def _inhabited(graph: Graph) -> set[str]:
    return {scope.name for node in graph for scope in graph.enclosing(node.name)}


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


def _mark(here: Sequence[_Built], closed: Mapping[str, str]) -> LineMark:
    switches, operations = _left(b for b in here if b.is_switch), _left(b for b in here if not b.is_switch)
    everything = [*switches.values(), *operations.values()]
    state: State = "kept" if all(everything) else "partly" if any(everything) else "gone"
    counted, nouns = (switches, ("switch", "switches")) if switches else (operations, ("operation", "operations"))
    kept, of = sum(counted.values()), len(counted)
    head = f"{kept} of {of} {nouns[of != 1]} left"
    return LineMark(state, kept, of, (head, *_by_candidate(here, of), *_named(counted, closed)))


def _left(all_built: Iterable[_Built]) -> dict[str, bool]:
    """For each name, whether anything of that name is left."""
    by_name: dict[str, bool] = {}
    for built in all_built:
        by_name[built.name] = by_name.get(built.name, False) or built.is_left
    return by_name


def _by_candidate(here: Sequence[_Built], of: int) -> Iterator[str]:
    """The count of each candidate, if a line has several."""
    by_span: dict[Span, list[_Built]] = defaultdict(list)
    for built in here:
        if built.is_switch:
            by_span[built.span].append(built)
    for span, behind in by_span.items():
        switches = _left(behind)
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
