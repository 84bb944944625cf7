"""Every code that a diagnostic may carry, with a title of a few words.

A code is stable: it is never given a second meaning, and a code that is no longer raised is not
used again. Each has a page `docs/errors/<code>.md`, which `bayesnas-graph explain` shows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A stable name for one kind of problem."""

    name: str
    title: str


CODES: dict[str, Code] = {
    code.name: code
    for code in (
        # 0xx: the text is not a program
        Code("NAS001", "unexpected text"),
        Code("NAS002", "bracket never closed"),
        Code("NAS003", "missing colon"),
        Code("NAS004", "`=` instead of `:`"),
        Code("NAS005", "stray comma"),
        Code("NAS006", "comment never closed"),
        Code("NAS007", "string never closed"),
        Code("NAS008", "character outside the language"),
        Code("NAS009", "closing bracket without an opening one"),
        Code("NAS010", "reserved word used as a name"),
        Code("NAS011", "file cannot be read"),
        Code("NAS012", "file cannot be written"),
        # 1xx: names and files
        Code("NAS101", "unknown name"),
        Code("NAS102", "name defined twice"),
        Code("NAS103", "imported file not found"),
        Code("NAS104", "imports form a cycle"),
        Code("NAS105", "Python operation not allowed"),
        Code("NAS106", "Python operation cannot be used"),
        Code("NAS107", "unknown network"),
        # 2xx: values and shapes
        Code("NAS201", "joined values have different shapes"),
        Code("NAS202", "wrong arguments"),
        Code("NAS203", "wrong kind of value"),
        Code("NAS204", "whole number needed"),
        Code("NAS205", "value out of range"),
        Code("NAS206", "assertion failed"),
        Code("NAS207", "index out of range"),
        Code("NAS208", "arithmetic without a result"),
        Code("NAS209", "candidates of a choice have different shapes"),
        Code("NAS210", "wrong number of inputs or outputs"),
        Code("NAS211", "operation cannot take this shape"),
        Code("NAS212", "network output differs from its declaration"),
        Code("NAS213", "budget that cannot be used"),
        # 3xx: the graph
        Code("NAS301", "cycle"),
        Code("NAS302", "nothing flows into a node"),
        Code("NAS303", "node leads nowhere"),
        Code("NAS304", "empty choice"),
        Code("NAS305", "no output"),
        Code("NAS306", "input never used"),
        Code("NAS307", "candidate given twice"),
        # 4xx: limits
        Code("NAS401", "too many nodes or edges"),
        Code("NAS402", "recursion without end"),
        Code("NAS403", "evaluation takes too long"),
        Code("NAS404", "text nested too deeply"),
        Code("NAS405", "number too large"),
        Code("NAS406", "file too large"),
        # 5xx: data
        Code("NAS501", "unknown data set"),
        Code("NAS502", "data files missing"),
        Code("NAS503", "data file damaged"),
        Code("NAS504", "data do not fit the network"),
        Code("NAS505", "data of the user's cannot be used"),
        Code("NAS506", "download failed"),
        Code("NAS507", "package for data missing"),
        # 6xx: searches
        Code("NAS601", "setting that cannot be used"),
        Code("NAS602", "run folder that cannot be used"),
        Code("NAS603", "checkpoint that cannot be read"),
        Code("NAS604", "run of another space"),
        Code("NAS605", "loss exploded"),
        Code("NAS606", "nothing to search"),
        Code("NAS607", "penalty too weak to close anything"),
        Code("NAS608", "architecture larger than asked for"),
        Code("NAS609", "device or package missing"),
        Code("NAS610", "network that cannot be trained"),
        Code("NAS611", "weights that do not fit"),
        Code("NAS612", "architecture that falls apart"),
        Code("NAS613", "architecture that does not fit together"),
        Code("NAS614", "no architecture within the budget"),
        Code("NAS615", "switch that nothing was decided about"),
        Code("NAS616", "weights that there are not"),
        Code("NAS617", "exported file computes something else"),
        Code("NAS618", "format that cannot be written"),
        Code("NAS620", "pattern or layer that there is not"),
        Code("NAS621", "penalty that closes every way"),
        # 7xx: architectures
        Code("NAS701", "architecture string that cannot be read"),
        Code("NAS702", "architecture string for another space"),
    )
}
