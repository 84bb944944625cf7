"""Why a switch was closed or kept, in a sentence made from the numbers that the run recorded.

The reasons are those of `bayes/decision.py`, as texts, because reading a run needs no torch. The numbers in a sentence
depend on what the strategy measures: the worth of a switch with its error, the variance of its prior, a factor that a
penalty shrinks, or a strength.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import e, pi, sqrt
from typing import Literal

from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.reading.history import Moment

NO_ENTROPY = 1 / (2 * pi * e)  # a variance at which the entropy of a prior is zero (`bayes/entropy.py`)
SURE = 1.6449  # standard errors below the upper end of a 95 % interval
UNKNOWN = 100  # standard errors from which on nothing is known about a worth

Evidence = Literal["worth", "prior", "factor", "strength"]


@dataclass(frozen=True)
class SwitchRecord:
    """What a run recorded about a switch."""

    evidence: Evidence  # what its strategy measures
    moments: Sequence[Moment] = ()  # until it was closed
    final: Final | None = None  # None while the search has not ended
    lambdas: Mapping[int, float] = field(default_factory=dict)  # at every update
    parameters: int = 0
    is_zero: bool = False  # it closes all candidates of its choice at once
    under_zero: bool = False  # whether the zero switch of its choice was closed, then or before
    size_limits: Sequence[str] = ()  # in words: `less than 20,000 parameters`
    most: int | None = None  # candidates that its choice may keep
    best: Mapping[int, tuple[str, Moment]] = field(default_factory=dict)  # the best candidate of its choice at updates


def explain(record: SwitchRecord) -> str:
    """Why the switch was closed or kept, or that it is still open."""
    last = record.moments[-1] if record.moments else None
    closing = last if last is not None and not last.keep else None
    final = record.final
    if final is None and closing is None:
        return _sentences(f"Open so far{_because(_support(record, last))}", _size(record, is_kept=True))
    if final is not None and final.keep:
        before = f", although update {closing.iteration} had closed it" if closing else ""
        why = KEPT[final.why](record, last) if final.why in KEPT else final.why
        return _sentences(f"Kept{before}: {why}", _size(record, is_kept=True))
    head = f"Closed at update {closing.iteration}" if closing else "Closed at the end"
    reason = closing.why if closing else final.why if final else ""
    why = CLOSED[reason](record, last) if reason in CLOSED else _because(reason)
    return _sentences(f"{head}{why}", _size(record, is_kept=False))


def _sentences(*parts: str) -> str:
    return " ".join(f"{part}." for part in parts if part)


def _because(text: str) -> str:
    return f": {text}" if text else ""


def _size(record: SwitchRecord, *, is_kept: bool) -> str:
    if not record.parameters:
        return ""
    count = f"{record.parameters:,} parameter{'s' * (record.parameters != 1)}"
    if is_kept:
        return f"All its candidates have {count}" if record.is_zero else f"It has {count}"
    return f"It saved {'up to ' if record.is_zero else ''}{count}"


# ---- numbers


def closes_below(intensity: float) -> float:
    """The worth below which a switch is off by itself.

    >>> round(closes_below(0.05), 3)
    0.329
    """
    return sqrt(intensity + NO_ENTROPY)


def at_most(moment: Moment) -> float | None:
    """What a switch is worth at most, with a probability of 95 %; None if that is not known."""
    if moment.worth is None or moment.error is None or moment.error >= UNKNOWN * max(1, abs(moment.worth)):
        return None
    return moment.worth + SURE * moment.error


def _support(record: SwitchRecord, moment: Moment | None) -> str:
    """What speaks for a switch that is open."""
    if moment is None:
        return ""
    gamma = "" if moment.gamma is None else short(moment.gamma)
    match record.evidence:
        case "worth":
            return _worth_of_open(record, moment)
        case "prior":
            return gamma and f"gamma {gamma}, above {short(NO_ENTROPY)}, where the entropy of its prior is zero"
        case "factor":
            return gamma and f"its factor is {gamma}"
        case _:
            return gamma and f"its strength is {gamma}"


def _worth_of_open(record: SwitchRecord, moment: Moment) -> str:
    highest, intensity = at_most(moment), record.lambdas.get(moment.iteration)
    if highest is None or moment.worth is None:
        return "its samples do not say yet what it is worth"
    worth = f"worth {short(moment.worth)}"
    if intensity is None:
        return f"{worth} (at most {short(highest)} with 95 %)"
    bound = f"the {short(closes_below(intensity))} that lambda {intensity:g} asks for"
    if moment.worth >= closes_below(intensity):
        return f"{worth}, above {bound}"
    measured = f"{worth} (at most {short(highest)} with 95 %)"
    if highest >= closes_below(intensity):
        return f"{measured}, which is not surely below {bound}"
    return f"{measured}, below {bound}, but an update closes only the clearest few"


def _lack(record: SwitchRecord, moment: Moment | None) -> str:
    """What speaks against a switch that is off by itself."""
    if moment is None:
        return "by itself it is off"
    match record.evidence:
        case "worth":
            highest, intensity = at_most(moment), record.lambdas.get(moment.iteration)
            if highest is not None and moment.worth is not None:
                measured = f"worth {short(moment.worth)} (at most {short(highest)} with 95 %)"
                if intensity is not None and highest <= closes_below(intensity):
                    bound = f"the {short(closes_below(intensity))} that lambda {intensity:g} asks for"
                    return f"{measured}, below {bound}"
                return f"{measured}, too little by itself"
            return "by itself it is off"
        case "prior":
            own = "" if moment.s is None else f" is {short(moment.s)},"
            return f"its own variance s{own} not above {short(NO_ENTROPY)}, where the entropy of its prior is zero"
        case "factor":
            return "the penalty shrank its factor to zero"
        case _:
            return "leaving out its whole choice was better" if record.is_zero else "by itself it is off"


def _score(record: SwitchRecord, moment: Moment | None) -> tuple[str, float] | None:
    """The number by which candidates of a choice are compared, with its name."""
    if moment is None:
        return None
    if record.evidence == "worth":
        return None if moment.worth is None else ("worth", moment.worth)
    names: dict[Evidence, str] = {"prior": "gamma", "factor": "factor"}
    return None if moment.gamma is None else (names.get(record.evidence, "strength"), moment.gamma)


def _rival(record: SwitchRecord, moment: Moment | None) -> str:
    """The best candidate of its choice, if that is better."""
    own = _score(record, moment)
    if moment is None or own is None or moment.iteration not in record.best:
        return ""
    name, other = record.best[moment.iteration]
    best = _score(record, other)
    if best is None or best[1] <= own[1]:
        return ""
    return f", and `{name}` is better ({own[0]} {short(best[1])} against {short(own[1])})"


def _was_worth(record: SwitchRecord, moment: Moment | None) -> str:
    score = _score(record, moment)
    return f" ({score[0]} {short(score[1])})" if score else ""


def short(value: float) -> str:
    """A number with as many digits as a sentence needs.

    >>> short(0.123), short(-2.5), short(0.0585), short(12345.6), short(-0.0001)
    ('0.12', '−2.5', '0.0585', '12,300', '−0.0001')
    """
    if 0.1 <= abs(value) < 1000:
        text = f"{abs(value):.2f}".rstrip("0").rstrip(".")
    else:
        text = f"{float(f'{abs(value):.3g}'):,g}"
    return f"−{text}" if value < 0 else text


# ---- reasons


Reason = Callable[[SwitchRecord, "Moment | None"], str]  # the moment is the last one


def _limit(record: SwitchRecord, moment: Moment | None) -> str:
    count = "a limited number" if record.most is None else f"only {record.most}"
    return f": its choice keeps {count} of its candidates{_rival(record, moment) or ', and others are better'}"


def _dead_end(record: SwitchRecord, _moment: Moment | None) -> str:
    if record.under_zero:
        return " with its choice: the zero switch in front of all its candidates is off"
    return " with its node: nothing that is open reads it (dead end)"


def _no_room(record: SwitchRecord, moment: Moment | None) -> str:
    had_to = f": the network had to have {_and(record.size_limits)}" if record.size_limits else " in the network"
    return f"{_was_worth(record, moment)}. There was no room for it{had_to}"


def _room(record: SwitchRecord, moment: Moment | None) -> str:
    allowed = f": it may have {_and(record.size_limits)}" if record.size_limits else ""
    return f"it would have gone{_was_worth(record, moment)}, but the network has room for it{allowed}"


def _best(record: SwitchRecord, moment: Moment | None) -> str:
    if record.is_zero:
        return f"its choice is used{_was_worth(record, moment)}"
    return f"the best of its choice{_was_worth(record, moment)}, or one of the best if several may stay"


def _and(parts: Sequence[str]) -> str:
    return " and ".join(parts)


def _says(text: str) -> Reason:
    return lambda *_: text


CLOSED: Mapping[str, Reason] = {
    "own switch off": lambda record, moment: _because(_lack(record, moment)),
    "its zero switch off": _says(" with its choice: the zero switch in front of all its candidates is off"),
    "nothing before it": _says(": too little flows into it, because what it reads is closed"),
    "undetermined": _says(": the data say nothing about it, and every output is reached without it"),
    "dead end": _dead_end,
    "others of its choice are better": _limit,
    "others into its node are better": _says(": its node keeps a limited number of inputs, and others are better"),
    "a requirement allows no more": _says(": a `require` of the space allows no more edges"),
    "no room for it": _no_room,
    "not in the architecture": _says(": it is not in the architecture that was given"),
    "not in the best finalist": _says(": the search would have kept it, but the best finalist does without it"),
}
KEPT: Mapping[str, Reason] = {
    "undetermined but needed": _says("the data say nothing about it, but an output depends on it"),
    "off but needed": _says("off by itself, but an output would be lost without it, and it reconnects that best"),
    "off but there is room": _room,
    "off but its choice needs it": _says("off by itself, but its choice must keep more, and it is the best left"),
    "off but required": _says("off by itself, but a `require` of the space needs it"),
    "best of its choice": _best,
    "in the architecture": _says("it is in the architecture that was given"),
    "in the best finalist": _says("the best finalist has it"),
    "kept": lambda record, moment: _support(record, moment) or "nothing speaks against it",
}
