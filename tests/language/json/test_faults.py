"""Errors in a document are reported with their location."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json import from_json, read_graph, to_json
from tests.conftest import LONG
from tests.helpers import body, graph
from tests.language.json.test_document import TEXT, document

CANDIDATES = "{depthwise(3, dilation = 2) > bn(false), relu > conv(3)}"
FUSED = passes.run(
    graph(body(f"node y[4] = x : choose {CANDIDATES} out sum(y)")),
    (*passes.SWITCHES, *passes.FASTER),
    passes.Options(batch=1),
)
OLD = json.loads((Path(__file__).parent / "old" / "graph.json").read_text())
DOCUMENTS = [document(), json.loads(to_json(FUSED)), OLD]
GONE = object()
GATE = {"name": "g", "group": "g", "choice": "y", "label": "g", "kind": "candidate", "part": "n", "target": "y"}
SCOPE = {"name": "y", "kind": "choice", "role": "choice"}
Place = list[str | int]


def problem(data: object) -> str:
    with pytest.raises(NasError) as error:
        from_json(data if isinstance(data, str) else json.dumps(data), "g.json")
    (found,) = error.value.diagnostics
    assert found.code == "NAS011"
    assert render(found)
    return found.message.removeprefix("cannot read `g.json`: ") + (f" = {found.help}" if found.help else "")


def put(data: Any, path: Place, value: object) -> None:
    for step in path[:-1]:
        data = data[step]
    if value is GONE:
        del data[path[-1]]
    else:
        data[path[-1]] = copy.deepcopy(value)


def steps(path: str) -> Place:
    return [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("version", 5, "only versions 1 to 4 are supported, got 5"),
        ("version", True, "only versions 1 to 4 are supported, got true"),
        ("version", [], "only versions 1 to 4 are supported, got a list"),
        ("version", GONE, "is missing"),
        ("schema", GONE, "is missing"),
        ("schema", "other", 'should be "bayesnas-graph/graph", got "other"'),
        ("extra", 1, "is not part of the format"),
        ("outputs", GONE, "is missing"),
        ("outputs", [], "list should have at least 1 item"),
        ("outputs[0]", "concta", "unknown node `concta` = did you mean `concat`?"),
        ("nodes[1].name", 7, "should be a valid string, got 7"),
        ("nodes[1].name", "x", "duplicate node `x`"),
        ("nodes[1].shape", [3, 8, 9], "`conv` outputs 3x8x8 here, got 3x8x9"),
        ("nodes[1].shape[1]", 0, "should be greater than or equal to 1, got 0"),
        ("nodes[1].op.name", "cnv", "unknown operation `cnv` = did you mean `conv`?"),
        ("nodes[1].op.args.k", 0, "`k` of `conv` must be at least 1, this is 0"),
        ("nodes[1].op.args.k", 1.5, "should be a whole number, got 1.5"),
        ("nodes[1].op.args.k", True, "`k` of `conv` must be a number"),
        ("nodes[1].op.args.k", None, "cannot be null"),
        ("nodes[1].op.args.k", [1], "`k` of `conv` must be a number or an array of two, this has 1 element"),
        ("nodes[1].op.args.k", 10**30, "is too large"),
        ("nodes[1].op.args.bias", 1, "`bias` of `conv` must be true or false"),
        ("nodes[1].op.args.widht", 1, "`conv` has no argument `widht` = did you mean `width`?"),
        ("nodes[2].op.args.eps", 0.1, "is not exact: 0.1"),
        ("nodes[2].op.args.eps", "1/0", "should be a fraction such as `1/10`"),
        ("nodes[2].op.args.eps", "1e99", "should be a fraction"),
        ("nodes[2].op.args.eps", "9" * 19, "numerator or denominator is more than 10^18"),
        ("nodes[2].op.args.momentum", "3/2", "`momentum` of `bn` must be at most 1, this is 1.5"),
        ("edges[0].source", "z", "unknown node `z`"),
        ("edges[0].target", "z", "unknown node `z`"),
        ("edges[0].slot", -1, "should be greater than or equal to 0"),
        ("edges[5].slot", 0, "slot 0 of `concat` already has an edge"),
        ("edges[2].gate", 3, "should be a valid dictionary or instance of"),
        ("edges[2].gate", None, "is missing, and `choice` needs one on each of its inputs"),
        ("edges[0].gate", GATE, "`conv` takes no gates = only `choice`, `maybe` and `zero` take gates"),
        ("edges[2].gate.choice", GONE, "is missing"),
        ("edges[2].gate.choice", "z", "unknown node `z`"),
        ("edges[2].gate.choice", "concat", "should be `y`, where its edge leads, got `concat`"),
        ("edges[2].gate.kind", "zero", "should be `candidate` before `choice`, got `zero`"),
        ("edges[2].gate.kind", "on", "should be 'candidate', 'zero' or 'optional', got \"on\""),
        ("nodes[1].scope", "z", "unknown scope `z`"),
        ("nodes[4].scope", "y", "`concat` cannot be in `y` = names in it begin with `y.`"),
        ("nodes[1].behind", [""], "[0]: string should have at least 1 character"),
        ("scopes[0].parent", "z", "unknown scope `z`"),
        ("scopes[0].parent", "y", "`y` cannot be in `y` = names in it begin with `y.`"),
        ("nodes[1].replaces", [[]], "[0]: list should have at least 1 item"),
        ("nodes[1].replaces", [[""]], "[0][0]: string should have at least 1 character"),
        ("nodes[1].replaces", ["a"], "[0]: should be a valid list"),
        ("nodes[1].replaces", [["a"], ["b"]], "3 channels cannot be split into 2 equal parts"),
        ("nodes[1].replaces", [["a", "b", "a"]], "[0][2]: `a` is already replaced by `y.conv`"),
        ("scopes[0].name", "", "string should have at least 1 character"),
        ("scopes[0].kind", 'x"""', "string should match pattern"),
        ("scopes[0].role", "cel", """should be 'motif', 'cell', 'network', 'choice' or 'share', got "cel\""""),
        ("scopes[0].role", GONE, "is missing"),
        ("scopes[0].outputs", 0, "should be greater than or equal to 1"),
        ("scopes", [SCOPE, SCOPE], "[1].name: duplicate scope `y`"),
        ("nodes[0].place.line", 0, "should be greater than or equal to 1"),
    ],
)
def test_faults(path: str, value: object, reason: str) -> None:
    data = document()
    put(data, steps(path), value)
    assert problem(data).startswith(f"{path}{reason}" if reason.startswith("[") else f"{path}: {reason}")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nodes[1].op.args.k", 40, "nodes[1].shape: `conv` outputs 3x7x7 here, got 3x8x8"),
        ("nodes[1].op", ("pad_channels", {}), "nodes[1].op.args.width: is missing, and `pad_channels` has no default"),
        ("nodes[1].op", ("linear", {}), "nodes[1].op: `linear` needs a vector or a sequence, got an image of 3x8x8"),
        ("nodes[1].op", ("scale", {}), "nodes[1]: `scale` takes 2 inputs, but `y.conv` got 1"),
        ("nodes[1].op", ("input", {}), "nodes[1]: `input` takes 0 inputs"),
        ("nodes[1].op", ("python", {"called": "f"}), "nodes[1].op.args.target: is missing"),
        ("nodes[1].op", ("python", {"called": "f", "target": 1}), "nodes[1].op.args.target: should be a string"),
        ("edges[5].slot", 2, "nodes[4]: slot 1 of `concat` has no edge, but slot 2 has one = slots are"),
        ("edges[0].source", "concat", "edges[4]: the edges form a cycle: `concat` -> `y.conv` -> `y` -> `concat`"),
        ("edges[3].gate.name", "y.conv", "edges[3].gate.group: gate `y.conv` is already in group `y.conv`"),
        ("edges[0]", GONE, "nodes[1]: `conv` takes 1 input, but `y.conv` got 0"),
    ],
)
def test_faults_that_show_elsewhere(path: str, value: object, message: str) -> None:
    data = document()
    if isinstance(value, tuple):
        value = {"name": value[0], "args": value[1]}
    put(data, steps(path), value)
    assert problem(data).startswith(message)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (("zero", {}), "edges[0].gate: is missing, and `zero` needs one on each of its inputs"),
        (
            ("phases", {"step": 3}),
            "nodes[1].op: `phases` needs sides that are divisible by 3; the input of `y.conv` is 3x8x8",
        ),
        (("interleaved", {"step": 0}), "nodes[1].op.args.step: `step` of `interleaved` must be at least 1, this is 0"),
        (("subsampled", {}), "nodes[1].shape: `subsampled` outputs 3x4x4 here, got 3x8x8"),
        (("repeated", {}), "nodes[1].shape: `repeated` outputs 6x8x8 here, got 3x8x8"),
        (("part", {"index": 1, "count": 2}), "nodes[1].op: `part` 1 of 2 is not in 3 channels"),
        (("part", {"index": 0}), "nodes[1].op.args.count: is missing, and `part` has no default for it"),
        (("light_bn", {"affine": True}), "nodes[1].op.args.affine: `light_bn` has no weights, so it must be false"),
        (("relu_conv", {"width": 6}), "nodes[1].shape: `conv` outputs 6x8x8 here, got 3x8x8"),
        (("relu_depthwise", {"widht": 6}), "nodes[1].op.args.widht: `relu_depthwise` has no argument `widht`"),
    ],
)
def test_faults_of_what_the_compiler_writes(op: tuple[str, object], message: str) -> None:
    data = document()
    data["nodes"][1]["op"] = {"name": op[0], "args": op[1]}
    assert problem(data).startswith(message)


def test_what_two_nodes_replace() -> None:
    data = document()
    data["nodes"][1]["replaces"] = [["a"], ["b"], ["c"]]
    data["nodes"][2]["replaces"] = [["d", "b"]]
    assert problem(data) == "nodes[2].replaces[0][1]: `b` is already replaced by `y.conv`"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"a": None}, "values.a: should be a number, a string, true or false, or an array of these, got null"),
        ({"a": [1, [2]]}, "values.a[1]: should be a number, a string, true or false, or an array of these"),
        ({"a": 'x"'}, "values.a: has a quote, a line break or an invalid character"),
        ({"a": ["\ud800"]}, "values.a[0]: has a quote, a line break or an invalid character"),
        ({"a": 10**30}, "values.a: is too large"),
        ({"a b": 1}, "values.a b: is not the name of an argument"),
        ([], "values: should be an object, got a list"),
    ],
)
def test_faults_of_python_operations(values: object, reason: str) -> None:
    data = document()
    args = {"called": "f", "target": "m:F", "values": values}
    data["nodes"][1]["op"] = {"name": "python", "args": args}
    assert problem(data).startswith(f"nodes[1].op.args.{reason}")
    args["valeus"] = args.pop("values")
    assert problem(data).startswith("nodes[1].op.args.valeus: `python` has no argument `valeus`")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON, line 1, column 1: expecting value"),
        ("{\n  'a'", "not valid JSON, line 2, column 3: expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "expected an object, got a list"),
        ("[NaN]", "not valid JSON: `NaN` is not a number"),
        ("1" * 5000, "not valid JSON: exceeds the limit"),
        ('{"a": 1, "a": 2}', 'not valid JSON: the key "a" appears twice in one object'),
        ('{"schema": "\x1b[2J"}', "not valid JSON, line 1"),
    ],
)
def test_texts_that_are_no_documents(text: str, message: str) -> None:
    assert problem(text).startswith(message)


@pytest.mark.parametrize("name", ["\x1b[2J", "\ud800", "a\nb"])
def test_messages_cannot_move_the_cursor(name: str) -> None:
    data = document()
    data["nodes"][1]["op"]["name"] = name
    assert problem(data).isprintable()


def test_a_misspelt_field() -> None:
    data = document()
    data["nodes"][0]["nmae"] = data["nodes"][0].pop("name")
    assert problem(data) == "nodes[0].name: is missing = found `nmae` instead"


def test_files(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_bytes(b"\xef\xbb\xbf" + to_json(graph(TEXT)).encode())
    assert read_graph(tmp_path / "g.json", "g.json") == graph(TEXT)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    (tmp_path / "folder.json").mkdir()
    for name, reason in (("gg.json", "file not found"), ("bytes.json", "not UTF-8"), ("folder.json", "a folder")):
        with pytest.raises(NasError, match=reason):
            read_graph(tmp_path / name, name)


JUNK = st.sampled_from(
    [None, True, 0, 1, -1, 3, 10**20, 1.5, "", "x", "y", "1/2", "concat", [], [1], {}, {"name": "relu", "args": {}}]
)


def spots(data: object, path: Place) -> list[Place]:
    """The paths of all values in a document."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    found = [path] if path else []
    for key, value in inside:
        found += spots(value, [*path, key])
    return found


def answer(text: str) -> Graph | None:
    """The graph, or None if the reader reported an error."""
    try:
        return from_json(text, "any.json")
    except NasError as error:
        for diagnostic in error.diagnostics:
            render(diagnostic)
        return None


@settings(max_examples=400 * LONG)
@given(st.data(), st.randoms(use_true_random=False))
def test_a_spoiled_document_gets_an_answer(draw: st.DataObject, random: Random) -> None:
    data = copy.deepcopy(random.choice(DOCUMENTS))
    for _ in range(random.randint(1, 3)):
        put(data, random.choice(spots(data, [])), GONE if random.random() < 0.4 else draw.draw(JUNK))
    found = answer(json.dumps(data))
    assert found is None or from_json(to_json(found), "again") == found


ANY = st.recursive(JUNK, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(json.dumps)


@given(st.text() | ANY)
def test_any_text_gets_an_answer(text: str) -> None:
    assert answer(text) is None
