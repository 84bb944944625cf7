"""What a search has found, beside random architectures that were trained in the same way."""

from __future__ import annotations

from collections.abc import Iterator

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.report.charts.metric import of_metric
from bayesnas_graph.report.charts.random_architectures import Trained, random_architectures
from bayesnas_graph.report.section import Section, build_section
from bayesnas_graph.runs.reading.comparison import Compared, Comparison, Standing


def random_section(comparison: Comparison | None) -> Iterator[Section]:
    """Yield the section, if architectures are compared."""
    if comparison is None:
        return
    found, *others = map(_trained, comparison.networks)
    measured = [other for other in others if other is not None]
    charts = [random_architectures(found, measured)] if found is not None and measured else []
    charts = [of_metric(chart, comparison.metric) for chart in charts]
    notes = [verdict(comparison), _how(comparison)]
    yield build_section("random", "Against random architectures", notes=notes, charts=charts)


def verdict(comparison: Comparison) -> str:
    """Return whether the search was worth it, in a sentence."""
    of = comparison.standing
    if of is None:
        return f"There is nothing to compare yet: {comparison.text()}."
    others = f"{counted(len(of.others), 'random architecture')} {comparison.kind}"
    metric = comparison.metric
    low, high = metric.text(min(of.others), unit=False), metric.text(max(of.others))
    spread = metric.text(of.mean) if len(of.others) == 1 else f"{metric.text(of.mean)} on average, {low} to {high}"
    return f"{_how_good(of)}: {metric.text(of.found)}, against {spread}, for {others}."


def _how_good(of: Standing) -> str:
    count, ahead = len(of.others), of.at_least_as_good
    if not ahead:
        return "The architecture that the search has found is more accurate than every random one"
    if of.found <= of.mean:
        return "The search did not find anything better than chance would"
    share = f"{ahead} of {count} random ones {'is' if ahead == 1 else 'are'} at least as accurate"
    return f"The architecture that the search has found is above the average, but {share}"


def _how(comparison: Comparison) -> str:
    left = len(comparison.networks) - comparison.done
    failed = sum(network.failed for network in comparison.networks)
    parts = [
        f"Each was trained from scratch for {counted(comparison.steps, 'step')}, with equal data, schedule and seed.",
        "With one training each, small differences may be chance.",
        f"{counted(left, 'architecture')} {'is' if left == 1 else 'are'} still to be trained." if left else "",
        f"{counted(failed, 'architecture')} could not be trained, because the loss exploded." if failed else "",
    ]
    return " ".join(filter(None, parts))


def _trained(network: Compared) -> Trained | None:
    if network.accuracy is None:
        return None
    return Trained(network.parameters, network.flops, network.accuracy)
