"""The symbols of a search in a few words, for charts and tables."""

from __future__ import annotations

from collections.abc import Mapping

from bayesnas_graph.report.reasons import Evidence

_WORTH = {
    "worth": "the best value of its gate, from the slopes of the loss; 1 is an equal share of its node, 0 is useless"
}
_PRIOR = {
    "gamma": "variance of its prior, with what it depends on",
    "s": "variance of the switch by itself",
    "omega": "weight of the penalty on its gate",
    "entropy": "entropy of its prior; closed when it is not positive",
}
_GATE = {"w": "value of its gate, in each use"}
_CURVATURE = {"h": "curvature of the loss along its gate, in each use"}
_STRENGTHS: Mapping[Evidence, str] = {
    "factor": "factor on its output, which a penalty shrinks",
    "strength": "the number by which the strategy ranks candidates",
}


def symbols(evidence: Evidence) -> dict[str, str]:
    """What the numbers of a strategy mean."""
    if evidence in _STRENGTHS:
        return {"strength": _STRENGTHS[evidence], **_GATE}
    return {**(_WORTH if evidence == "worth" else {}), **_PRIOR, **_GATE, **_CURVATURE}
