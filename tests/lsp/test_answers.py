"""Hover, definitions, references, signatures, symbols, formatting, tokens and fixes, as functions of a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import format_source
from bayesnas_graph.lsp.code_actions import code_actions
from bayesnas_graph.lsp.documents import open_document, uri_of
from bayesnas_graph.lsp.formatting import formatting
from bayesnas_graph.lsp.hover import hover
from bayesnas_graph.lsp.networks import elaborate
from bayesnas_graph.lsp.places import definition, references
from bayesnas_graph.lsp.problems import problems
from bayesnas_graph.lsp.reading import read_document
from bayesnas_graph.lsp.signatures import signature_help
from bayesnas_graph.lsp.symbols import document_symbols
from bayesnas_graph.lsp.tokens import LEGEND, semantic_tokens
from tests.lsp.cursors import URI, applied, opened

NETWORK = """import "std.nas"

/// Twice as wide.
let double(w) = 2 * w

motif block(width, depth = 2) {
    in x
    node h = x : conv(width, 1)
    h -> out : sep_conv(3) * depth
}

network net(width = 8) : image(3, 16, 16) -> classes(10) {
    in x
    node a = x : block(width)
    node b = a : block(double(width), depth = 1)
    b -> out : global_avg_pool > linear(10)
}
"""


def at(place: str) -> str:
    """The text above with a cursor in the given place, where it is written."""
    plain = place.replace("|", "")
    assert NETWORK.count(plain) == 1, plain
    return NETWORK.replace(plain, place)


def hovered(marked: str) -> str:
    reading, position = opened(marked)
    answer = hover(reading, elaborate(reading), position)
    if answer is None:
        return ""
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("x : co|nv(width, 1)", ["conv(width = same", "A convolution", "3x16x16 -> 8x16x16, 24 parameters"]),
        ("a : blo|ck(double", ["motif block(width, depth = 2)", "8x16x16 -> 16x16x16"]),
        ("node a| = x", ["node a", "- 8x16x16"]),
        ("| h -> out", []),
        ("h| -> out", ["node h", "- 8x16x16", "- 16x16x16"]),
        ("dou|ble(width)", ["let double(w) = 2 * w", "Twice as wide."]),
        ("dep|th = 1", ["depth = 2", "A parameter of `block`"]),
        ("sep_|conv(3)", ["motif sep_conv(k = 3", "as in DARTS", "Defined in `<shipped>/std.nas`"]),
        ("cla|sses(10) {", ["classes(count)", "one score per class"]),
        ('"st|d.nas"', ['import "std.nas"', "The usual building blocks"]),
        ("net|(width = 8)", ["network net(width = 8) : image(3, 16, 16) -> classes(10)"]),
        ("line|ar(10)", ["16 -> 10, 170 parameters, 160 multiply-adds"]),
    ],
)  # fmt: skip
def test_hover(place: str, expected: list[str]) -> None:
    text = hovered(at(place))
    assert bool(text) == bool(expected)
    assert [part for part in expected if part not in text] == []


def test_shapes_before_an_error_are_known() -> None:
    body = "in x\n node h = x : conv(4) > bl|ock\n h -> out : linear(10)\n"
    motif = "motif block { in x  x -> out : max_pool(2, 2) }\n"
    assert "- 4x16x16 -> 4x8x8" in hovered(f"{motif}network net : image(3, 16, 16) -> classes(10) {{ {body} }}")
    moved = body.replace("bl|ock", "block").replace("h -> out", "h| -> out")
    assert "- 4x8x8" in hovered(f"{motif}network net : image(3, 16, 16) -> classes(10) {{ {moved} }}")


def test_hover_in_a_broken_definition() -> None:
    assert "A convolution" in hovered("motif m { in x\n x -> out : co|nv(16, \n node h = \n")
    assert hovered("motif m { in x  x -> out : unkn|own }") == ""


def test_text_from_a_file_has_no_links() -> None:
    text = hovered('/// See ![x](http://example.org/a.png) and <b>`code`</b>.\nlet a| = "```"\n')
    assert "![" not in text
    assert "\\!\\[x\\](http" in text
    assert "\\<b\\>`code`\\</b\\>" in text
    assert text.startswith('````nas\nlet a = "```"\n````\n')


def test_arguments_of_primitives_are_explained() -> None:
    text = hovered('motif m { in x  x -> out : conv(3, pad|ding = "same") }')
    assert 'An argument of `conv`: a whole number, at least 0, or `"same"`, or `"valid"`.' in text


def located(marked: str) -> str:
    reading, position = opened(marked)
    place = definition(reading, position)
    return f"{place.uri} {place.range.start}" if place else ""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("a : blo|ck(double", f"{URI} 5:6"),
        ("h| -> out", f"{URI} 7:9"),
        ("conv(wid|th, 1)", f"{URI} 5:12"),
        ("dep|th = 1", f"{URI} 5:19"),
        ("lin|ear(10)", ""),
    ],
)
def test_definition(place: str, expected: str) -> None:
    assert located(at(place)) == expected


def test_definition_in_the_library() -> None:
    library = uri_of(folder("spaces").resolve() / "std.nas")
    line = (
        (folder("spaces") / "std.nas")
        .read_text()
        .splitlines()
        .index("motif sep_conv(k = 3, stride = 1, affine = true) {")
    )
    assert located(at("sep_|conv(3)")) == f"{library} {line}:6"
    assert located(at('"st|d.nas"')) == f"{library} 0:0"
    assert located('import "std.nas" as std\nmotif m { in x  x -> out : std.sep_|conv() }').startswith(library)


def test_references() -> None:
    reading, position = opened(at("a : blo|ck(double"))
    assert [str(place.range.start) for place in references(reading, position)] == ["5:6", "13:17", "14:17"]
    assert len(references(reading, position, declaration=False)) == 2


def test_a_parameter_hides_the_name_outside() -> None:
    reading, position = opened(at("conv(wid|th, 1)"))
    assert [str(place.range.start) for place in references(reading, position)] == ["5:12", "7:22"]


def test_signature() -> None:
    reading, position = opened("motif m { in x  x -> out : conv(16, |")
    answer = signature_help(reading, position)
    assert answer is not None
    assert answer.signatures[0].label.startswith("conv(width = same, k = 3")
    assert answer.active_parameter == 1
    by_name = signature_help(*opened(at("depth = |1")))
    assert by_name is not None
    assert by_name.active_parameter == 1
    function = signature_help(*opened("let a = max(1, |2)"))
    assert function is not None
    assert function.signatures[0].label == "max(a, b, ...)"
    assert signature_help(*opened("let a = (1 + |2)")) is None
    assert signature_help(*opened(at("line|ar(10)"))) is None


def test_symbols_also_of_broken_definitions() -> None:
    reading, _ = opened(
        "set s = { conv(), \nlet f(a) = a\nmotif m {\n in x\n node h[3] = \n for i in 0..3 { let k = i }\n|"
    )
    found = document_symbols(reading)
    assert [(symbol.name, symbol.detail) for symbol in found] == [("s", "set"), ("f", "let"), ("m", "motif")]
    assert [child.name for child in found[-1].children or []] == ["x", "h", "k"]


def test_shared_operations() -> None:
    reading, position = opened("motif m {\n in x, y\n share tower = relu > conv(4)\n x, y -> out : to|wer\n}\n")
    (symbol,) = document_symbols(reading)
    assert [(child.name, child.detail) for child in symbol.children or []][-1] == ("tower", "share")
    found = hover(reading, elaborate(reading), position)
    assert found is not None
    assert "one set of weights" in found.contents.value  # type: ignore[union-attr]
    assert semantic_tokens(reading).data


@pytest.mark.parametrize("text", ["motif m{in x\nx->out:relu>bn}", "", NETWORK, "// \N{GRINNING FACE}   \nlet  a=1\n"])
def test_formatting(text: str) -> None:
    for units in ("utf-8", "utf-16", "utf-32"):
        document = open_document(URI, text)
        assert applied(document, formatting(document, units), units) == format_source(document.source, Report())


def test_broken_text_is_not_formatted() -> None:
    assert formatting(open_document(URI, "motif m { in  x")) == []


def test_tokens() -> None:
    reading, _ = opened(NETWORK + "/* two\nlines */ |")
    data = semantic_tokens(reading).data
    line = column = 0
    found: list[tuple[str, str, int]] = []
    lines = reading.document.text.split("\n")
    for i in range(0, len(data), 5):
        line, column = line + data[i], data[i + 1] + (0 if data[i] else column)
        text = lines[line][column : column + data[i + 2]]
        found.append((text, LEGEND.token_types[data[i + 3]], data[i + 4]))
    assert ("import", "keyword", 0) in found
    assert ("block", "class", 1) in found
    assert ("block", "class", 0) in found
    assert ("conv", "function", 2) in found
    assert ("depth", "parameter", 0) in found
    assert ("double", "function", 0) in found
    assert ("/* two", "comment", 0) in found
    assert ("lines */", "comment", 0) in found
    assert ("/// Twice as wide.", "comment", 8) in found


def test_fixes() -> None:
    chain = "convv(3) > sep_conv(3) > BatchNorm2d > conv(strid = 2)"
    reading, _ = opened(f"motif m {{ in x  x -> out : {chain} }}|")
    titles = [action.title for action in code_actions(reading, reading.positions.everything())]
    assert titles == ["replace by `conv`", "replace by `bn`", "replace by `stride`", 'import "std.nas"']
    first = code_actions(reading, reading.positions.everything())[0]
    assert first.edit is not None
    assert first.edit.changes is not None
    assert ": conv(3) > sep" in applied(reading.document, list(first.edit.changes[URI]))
    start = types.Position(0, 0)
    assert code_actions(reading, types.Range(start, start)) == []


def test_a_misspelt_file_is_replaced() -> None:
    reading, _ = opened('import "st.nas"|')
    (action,) = code_actions(reading, reading.positions.everything())
    assert action.title == 'replace by `"std.nas"`'


def test_a_problem_has_its_places_its_help_and_its_page() -> None:
    reading, _ = opened("motif m { in x  x -> out }\nmotif m { in y  y -> out }|")
    (shown,) = problems(reading, reading.diagnostics())
    assert (str(shown.range), shown.code, shown.source) == ("1:6-1:7", "NAS102", "bayesnas-graph")
    assert shown.message == "`m` is defined twice (defined again)\nhelp: rename one of them"
    assert [info.message for info in shown.related_information or []] == ["first defined here"]
    assert shown.code_description is not None
    assert Path(shown.code_description.href.removeprefix("file://")).read_text().startswith("# NAS102")


def test_problems_of_an_imported_file_are_at_the_import(tmp_path: Path) -> None:
    (tmp_path / "part.nas").write_text("motif bad { in x  x -> out : rellu }\n")
    document = open_document((tmp_path / "main.nas").as_uri(), 'import "std.nas"\nimport "part.nas" as part\n')
    reading = read_document(document, {})
    (shown,) = problems(reading, reading.diagnostics())
    assert str(shown.range) == "1:7-1:17"
    assert shown.message.startswith("in part.nas: unknown name `rellu`")
    related = (shown.related_information or [])[0]
    assert related.location.uri == (tmp_path / "part.nas").as_uri()
    assert str(related.location.range) == "0:29-0:34"


def test_problems_inside_the_library_are_at_their_use() -> None:
    text = 'import "std.nas"\nnetwork n : vector(3) -> vector(3) {\n    in x\n    x -> out : sep_conv(3)\n}|'
    reading, _ = opened(text)
    elaborate(reading)
    (shown,) = problems(reading, reading.diagnostics())
    assert str(shown.range.start) == "3:15"
    assert shown.message.startswith("in <shipped>/std.nas: ")


def test_text_that_is_not_saved_is_imported(tmp_path: Path) -> None:
    saved = tmp_path / "part.nas"
    saved.write_text("let old = 1\n")
    document = open_document((tmp_path / "main.nas").as_uri(), 'import "part.nas"\nlet a = new\n')
    assert [d.code for d in read_document(document, {}).diagnostics()] == ["NAS101"]
    texts = {saved.resolve(): Source("part.nas", "let new = 1\n")}
    assert read_document(document, texts).diagnostics() == ()


def test_files_that_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.nas").write_text('import "b.nas"\n')
    (tmp_path / "b.nas").write_text('import "a.nas"\n')
    reading = read_document(open_document((tmp_path / "a.nas").as_uri(), 'import "b.nas"\n'), {})
    assert [problem.code for problem in problems(reading, reading.diagnostics())] == ["NAS104"]


def test_python_is_refused() -> None:
    reading, _ = opened(
        'op shuffle(groups) from "torch.nn:ChannelShuffle"\n'
        "network n : image(4, 4, 4) -> image(4, 4, 4) { in x  x -> out : shuffle(2) }|"
    )
    elaborate(reading)
    assert [diagnostic.code for diagnostic in reading.diagnostics()] == ["NAS105"]
