"""From the decision of a search to a network without choices."""

from bayesnas_graph.derive.architecture import Architecture, Origin, given_architecture
from bayesnas_graph.derive.derived import Derived, about, derive, given
from bayesnas_graph.derive.explain import ExplainedLine, as_text, explained
from bayesnas_graph.derive.rules import Rule
from bayesnas_graph.derive.text import Written, written

__all__ = [
    "Architecture",
    "Derived",
    "ExplainedLine",
    "Origin",
    "Rule",
    "Written",
    "about",
    "as_text",
    "derive",
    "explained",
    "given",
    "given_architecture",
    "written",
]
