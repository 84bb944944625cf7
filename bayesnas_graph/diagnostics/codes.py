"""All diagnostic codes, with short titles.

Codes are stable: a code is never reused with another meaning. Each has a page `docs/errors/<code>.md`, which
`bayesnas-graph explain` shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A stable name for one kind of problem."""

    name: str
    title: str


CODES: Mapping[str, Code] = {
    code.name: code
    for code in (
        # 0xx: syntax and files
        Code("NAS001", "unexpected text"),
        Code("NAS002", "unclosed bracket"),
        Code("NAS003", "missing colon"),
        Code("NAS004", "`=` instead of `:`"),
        Code("NAS005", "stray comma"),
        Code("NAS006", "unclosed comment"),
        Code("NAS007", "unclosed string"),
        Code("NAS008", "invalid character"),
        Code("NAS009", "unmatched closing bracket"),
        Code("NAS010", "reserved word used as a name"),
        Code("NAS011", "cannot read file"),
        Code("NAS012", "cannot write file"),
        # 1xx: names and imports
        Code("NAS101", "unknown name"),
        Code("NAS102", "name defined twice"),
        Code("NAS103", "imported file not found"),
        Code("NAS104", "import cycle"),
        Code("NAS105", "Python code not allowed"),
        Code("NAS106", "invalid Python operation"),
        Code("NAS107", "unknown network"),
        Code("NAS108", "multiply-adds that cannot be counted"),
        # 2xx: values and shapes
        Code("NAS201", "joined values have different shapes"),
        Code("NAS202", "wrong arguments"),
        Code("NAS203", "wrong type of value"),
        Code("NAS204", "whole number expected"),
        Code("NAS205", "value out of range"),
        Code("NAS206", "assertion failed"),
        Code("NAS207", "index out of range"),
        Code("NAS208", "undefined arithmetic result"),
        Code("NAS209", "candidates of a choice have different shapes"),
        Code("NAS210", "wrong number of inputs or outputs"),
        Code("NAS211", "operation does not accept this shape"),
        Code("NAS212", "network output does not match its declaration"),
        Code("NAS213", "invalid budget"),
        Code("NAS214", "invalid condition on edges"),
        Code("NAS215", "number that cannot be chosen"),
        Code("NAS216", "operation that cannot have a chosen width"),
        Code("NAS217", "even window without padding"),
        Code("NAS218", "array of the wrong length"),
        # 3xx: the graph
        Code("NAS301", "cycle in the graph"),
        Code("NAS302", "node without input"),
        Code("NAS303", "unused node"),
        Code("NAS304", "empty choice"),
        Code("NAS305", "no output"),
        Code("NAS306", "unused input"),
        Code("NAS307", "duplicate candidate"),
        Code("NAS308", "requirement that cannot be met"),
        Code("NAS309", "join on separate edges"),
        Code("NAS310", "uses of shared weights that do not agree"),
        Code("NAS311", "shared weights that are never used"),
        Code("NAS312", "kernels that cannot share their weights"),
        # 4xx: limits
        Code("NAS401", "too many nodes or edges"),
        Code("NAS402", "recursion too deep"),
        Code("NAS403", "evaluation takes too long"),
        Code("NAS404", "nesting too deep"),
        Code("NAS405", "number too large"),
        Code("NAS406", "file too large"),
        Code("NAS407", "not enough memory"),
        # 5xx: data
        Code("NAS501", "unknown data set"),
        Code("NAS502", "missing data files"),
        Code("NAS503", "damaged data file"),
        Code("NAS504", "data does not fit the network"),
        Code("NAS505", "invalid user data"),
        Code("NAS506", "download failed"),
        Code("NAS507", "missing package for data"),
        Code("NAS508", "images without differences"),
        Code("NAS509", "doubtful data"),
        Code("NAS510", "data from Python needed"),
        # 6xx: searches, training, export
        Code("NAS601", "invalid setting"),
        Code("NAS602", "unusable run folder"),
        Code("NAS603", "unreadable checkpoint"),
        Code("NAS604", "run belongs to another space"),
        Code("NAS605", "loss exploded"),
        Code("NAS606", "nothing to search"),
        Code("NAS607", "penalty too weak to close a switch"),
        Code("NAS608", "architecture exceeds the target"),
        Code("NAS609", "missing device or package"),
        Code("NAS610", "network cannot be trained"),
        Code("NAS611", "weights do not fit the network"),
        Code("NAS612", "disconnected architecture"),
        Code("NAS613", "inconsistent widths"),
        Code("NAS614", "no architecture within the budget"),
        Code("NAS615", "undecided switch"),
        Code("NAS616", "no weights available"),
        Code("NAS617", "exported file gives different results"),
        Code("NAS618", "network cannot be exported"),
        Code("NAS620", "unknown pattern or layer"),
        Code("NAS621", "penalty disconnects the network"),
        Code("NAS622", "weights that are not finite"),
        Code("NAS623", "architecture breaks a rule of its space"),
        # 7xx: given architectures
        Code("NAS701", "invalid architecture string"),
        Code("NAS702", "architecture string for another space"),
        Code("NAS703", "unknown switch"),
        Code("NAS704", "ambiguous name of a switch"),
        Code("NAS705", "no architecture found"),
        # 8xx: training loops of one's own, and plug-ins
        Code("NAS801", "batch that does not fit the loss"),
        Code("NAS802", "state of other switches"),
        Code("NAS803", "plug-in that cannot be used"),
    )
}
