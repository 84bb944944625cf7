"""The switches in `outline.json`."""

from __future__ import annotations

import json

from bayesnas_graph import passes
from bayesnas_graph.runs.reading.outline import Outline, switches_of
from tests.helpers import body, graph


def outline(text: str) -> Outline:
    switches = tuple(switches_of(passes.insert_zero_identity(graph(text))))
    return Outline("s", "n", "digits", "cpu", 0, 0, 1, 1, 0, switches, 10, 100, ())


def test_kinds_are_written_only_where_the_operation_does_not_say_them() -> None:
    """A candidate that is itself optional is labelled `optional`, like the switch of an optional operation."""
    found = outline(body("node y = x : choose { relu, optional tanh } y -> out : optional bn"))
    written = json.loads(found.to_json())["switches"]
    kinds = {switch.text: switch.kind for switch in found.switches}
    assert kinds == {
        "n y.optional.inner: optional": "optional",
        "n y: relu": "candidate",
        "n y: optional": "candidate",
        "n y: zero": "zero",
        "n optional: optional": "optional",
    }
    assert [switch["name"] for switch in written if "kind" in switch] == ["y.optional"]
    assert Outline.from_json(found.to_json()) == found


def test_an_outline_of_an_older_version_is_read() -> None:
    found = outline(body("node y = x : choose { relu, tanh } y -> out : optional bn"))
    older = json.loads(found.to_json())
    assert all(set(switch) == {"name", "part", "choice", "operation"} for switch in older["switches"])
    assert Outline.from_json(json.dumps(older).encode()) == found
