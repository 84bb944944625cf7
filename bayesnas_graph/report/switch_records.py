"""What a run recorded about each of its switches, put together from its files for `reasons.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.passes.analysis import cost_by_switch, limits
from bayesnas_graph.report.reasons import Evidence, SwitchRecord
from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch, switches_of
from bayesnas_graph.runs.reading.run import RunRecord
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info

History = Mapping[str, Sequence[Moment]]

_AT_MOST = {"<": "less than", "<=": "at most"}
_QUANTITIES = {"params": "parameters", "flops": "multiply-adds", "memory": "bytes of memory"}


def switch_records(
    run: RunRecord, graph: Graph, history: History, final: Mapping[str, Final], budgets: Sequence[Budget] = ()
) -> dict[str, SwitchRecord]:
    """The records of all switches of a graph, by name."""
    evidence, costs = evidence_of(run, history), cost_by_switch(graph)
    switches = list(switches_of(graph))
    best = _best_by_choice(switches, history, evidence)
    most = {name: limit.most for limit in limits(graph) if limit.is_strict for name in limit.groups}
    words = tuple(size_limits(run.config, budgets))
    by_kind = {is_zero: intensities(run, is_zero=is_zero) for is_zero in (False, True)}
    end = 1 + max((moment.iteration for moments in history.values() for moment in moments), default=0)
    closed = _closed_at(switches, history, final, end)
    zeros = {(switch.part, switch.choice): closed[switch.name] for switch in switches if switch.is_zero}
    return {
        switch.name: SwitchRecord(
            evidence=evidence,
            moments=history.get(switch.name, ()),
            final=final.get(switch.name),
            lambdas=by_kind[switch.is_zero],
            parameters=costs[switch.name].parameters,
            is_zero=switch.is_zero,
            under_zero=not switch.is_zero
            and zeros.get((switch.part, switch.choice), inf) <= min(end, closed[switch.name]),
            size_limits=words,
            most=most.get(switch.name),
            best=best.get((switch.part, switch.choice), {}),
        )
        for switch in switches
    }


def _closed_at(
    switches: Iterable[OutlineSwitch], history: History, final: Mapping[str, Final], end: int
) -> dict[str, float]:
    """The update that closed each switch: `end` if only the decision did, infinity if it is open."""
    at = {name: moment.iteration for name, moments in history.items() for moment in moments if not moment.keep}
    left = {name: inf if decided.keep else end for name, decided in final.items()}
    return {
        switch.name: inf if left.get(switch.name) == inf else at.get(switch.name, left.get(switch.name, inf))
        for switch in switches
    }


def evidence_of(run: RunRecord, history: History) -> Evidence:
    """What the strategy of a run measures. Runs of older versions may have no worth in their tables."""
    info = strategy_info(run.config.get("strategy", DEFAULT))
    if info.measure == "gamma":
        return "worth" if any(moment.error for moments in history.values() for moment in moments) else "prior"
    return "factor" if info.penalised else "strength"


def intensities(run: RunRecord, *, is_zero: bool) -> dict[int, float]:
    """The strength of the penalty on operations or on zero switches at every update."""
    base, zero = run.config.get("lambda"), run.config.get("lambda_zero")
    ratio = zero / base if is_zero and isinstance(zero, int | float) and base else 1
    return {int(update["iteration"]): update["lambda"] * ratio for update in run.updates}


def size_limits(config: Mapping[str, Any], budgets: Iterable[Budget]) -> Iterator[str]:
    """The limits on the size of the derived network, in words."""
    for budget in budgets:
        if budget.comparison in _AT_MOST and budget.quantity in _QUANTITIES:
            yield f"{_AT_MOST[budget.comparison]} {budget.bound:,} {_QUANTITIES[budget.quantity]}"
    for key, quantity in (("target_params", "params"), ("target_flops", "flops")):
        if isinstance(config.get(key), int):
            yield f"at most {config[key]:,} {_QUANTITIES[quantity]}"


def _best_by_choice(
    switches: Iterable[OutlineSwitch], history: History, evidence: Evidence
) -> dict[tuple[str, str], dict[int, tuple[str, Moment]]]:
    """The best candidate of every choice at every update."""

    def score(moment: Moment) -> float | None:
        return moment.worth if evidence == "worth" else moment.gamma

    best: dict[tuple[str, str], dict[int, tuple[str, Moment]]] = defaultdict(dict)
    for switch in switches:
        if switch.is_zero:
            continue
        at = best[switch.part, switch.choice]
        for moment in history.get(switch.name, ()):
            mine, other = score(moment), at.get(moment.iteration)
            if mine is not None and (other is None or mine > (score(other[1]) or 0)):
                at[moment.iteration] = (switch.operation, moment)
    return best
