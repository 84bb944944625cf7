"""Is the body of a motif a sound graph? No cycles, every node fed, every node of use."""

from __future__ import annotations

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.values import Place, written
from bayesnas_graph.language.elaborate.wiring import Application, Wiring

Sources = dict[Place, dict[Place, Application]]  # for every place, what it reads and by which operation


def check_structure(wiring: Wiring, report: Report) -> list[Diagnostic]:
    """What is wrong: cycles, nodes that nothing flows into, dead ends. Unused inputs are only warned about."""
    sources: Sources = {place: {} for place in (*wiring.inputs, *wiring.places)}
    for application in wiring.applications:
        for target in application.outputs:
            for source in application.inputs:
                sources[target].setdefault(source, application)
    problems = [*_cycle(sources), *_unfed(wiring)] or _useless(wiring, sources)
    for diagnostic in problems:
        report.add(diagnostic)
    return [diagnostic for diagnostic in problems if diagnostic.severity == "error"]


def _cycle(sources: Sources) -> list[Diagnostic]:
    """The first cycle found, told whole."""
    backwards = _find_cycle(sources)
    if not backwards:
        return []
    steps = [(source, target) for target, source in zip(backwards, [*backwards[1:], backwards[0]], strict=True)][::-1]
    route = " -> ".join([*(written(source) for source, _ in steps), written(steps[0][0])])
    spans: dict[Span, list[str]] = {}
    for source, target in steps:
        spans.setdefault(sources[target][source].span, []).append(f"`{written(source)}` to `{written(target)}`")
    labels = [Label(span, ", ".join(texts)) for span, texts in spans.items()]
    help = "a node cannot depend on itself: remove one of the edges"
    return [Diagnostic("NAS301", f"cycle: {route}", labels[0], tuple(labels[1:]), help)]


def _find_cycle(sources: Sources) -> list[Place]:
    """Places of which each reads the next and the last reads the first; empty if there are none."""
    done: set[Place] = set()
    for start in sources:
        path: dict[Place, None] = {}  # in the order of the walk
        waiting = [(start, iter(sources[start]))] if start not in done else []
        path.update({start: None} if waiting else {})
        while waiting:
            place, rest = waiting[-1]
            source = next((s for s in rest if s not in done), None)
            if source is None:
                waiting.pop()
                path.pop(place)
                done.add(place)
            elif source in path:
                walked = list(path)
                return walked[walked.index(source) :]
            else:
                path[source] = None
                waiting.append((source, iter(sources[source])))
    return []


def _unfed(wiring: Wiring) -> list[Diagnostic]:
    fed = {place for application in wiring.applications for place in application.outputs}
    return [
        Diagnostic(
            "NAS302",
            f"nothing flows into `{written(place)}`",
            Label(place.span, "no edge leads here"),
            help=f"lead an edge to it, `x -> {written(place)} : ...`, or remove it",
        )
        for place in wiring.places
        if place not in fed
    ]


def _useless(wiring: Wiring, sources: Sources) -> list[Diagnostic]:
    useful, waiting = set(wiring.outputs), list(wiring.outputs)
    while waiting:
        before = [source for source in sources[waiting.pop()] if source not in useful]
        useful.update(before)
        waiting.extend(before)
    found = [
        Diagnostic(
            "NAS303",
            f"`{written(place)}` leads nowhere",
            Label(place.span, "no output depends on it"),
            help="lead it to the output, or remove it",
        )
        for place in wiring.places
        if place not in useful
    ]
    for place in wiring.inputs:
        if place not in useful:
            label = Label(place.span, "no output depends on it")
            found.append(Diagnostic("NAS306", f"input `{written(place)}` is never used", label, severity="warning"))
    return found
