"""What completion offers, in complete and incomplete text."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from bayesnas_graph.language.syntax import reserved_words
from bayesnas_graph.lsp.completion import completion
from bayesnas_graph.lsp.documents import open_document
from bayesnas_graph.lsp.reading import read_document
from tests.lsp.cursors import applied, opened


def labels(marked: str) -> list[str]:
    reading, position = opened(marked)
    items = completion(reading.document, reading, position)
    return [item.label for item in sorted(items, key=lambda item: item.sort_text or item.label)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("|", {"cell", "import", "let", "motif", "network", "op", "set"}),
        ("motif m { in x  out x }\nmo|", {"cell", "import", "let", "motif", "network", "op", "set"}),
        ("motif m { |", {"assert", "for", "if", "in", "let", "node", "out", "require", "share"}),
        ("motif m { in x  x -> o|", {"out"}),
        ("motif m { in x  x -> out : | }", {"choose", "optional", "if", "not", "true", "false"}),
        ("set s = { conv() f| }", {"for", "and", "or"}),
        ("motif |", set()),
        ("motif m { node | }", set()),
        ("import |", set()),
    ],
)
def test_keywords_are_those_that_can_be_read_next(text: str, words: set[str]) -> None:
    assert set(labels(text)) & reserved_words() == words


def test_names_in_scope_come_first() -> None:
    found = labels("motif m(w) {\n in x\n node h = x\n for i in 0..3 {\n  let k = 3\n  x -> h : | } node later }")
    assert found[:5] == ["h", "i", "k", "w", "x"]
    assert {"conv", "sum", "channels", "m", "sep_conv"} <= set(found)
    assert "later" not in found


def test_values_of_a_loop_are_not_a_declaration() -> None:
    assert "n" in labels("motif m(n) { in x\n for i in |")
    assert "n" not in labels("motif m(n) { in |")


def test_after_a_comment_and_a_string() -> None:
    assert "conv" in labels("motif m { in x  x -> out : /* closed */ |")
    assert "and" in labels('let a = "closed" |')


def test_names_of_a_loop_end_with_it() -> None:
    assert not {"i", "k"} & set(labels("motif m { in x\n for i in 0..3 { let k = i }\n x -> out : | }"))


def test_arguments_of_a_call_that_is_not_closed() -> None:
    assert labels("motif m { in x  x -> out : conv(16, |")[:3] == ["bias =", "dilation =", "groups ="]
    found = labels("motif b(width, depth = 2) { in x  out x }\nmotif m { in x  x -> out : b(3, depth = 4, |) }")
    assert found[0] == "width ="
    assert "depth =" not in found


def test_words_that_an_argument_accepts() -> None:
    assert labels('motif m { in x  x -> out : conv(3, padding = "|") }') == ["same", "valid"]
    assert labels('motif m { in x  x -> out : conv(3, padding = "s|') == ["same", "valid"]
    assert labels('motif m { in x  x -> out : conv(3, stride = "|") }') == []


def test_members_of_an_import() -> None:
    found = labels('import "nasbench201.nas" as bench\nmotif m { in x  x -> out : bench.s| }')
    assert {"stage", "skeleton"} <= set(found)
    assert "conv" not in found


def test_budgets() -> None:
    assert {"params", "flops", "memory", "edges", "inputs", "edge"} <= set(labels("motif m { require | }"))


@pytest.mark.parametrize("text", ["// conv|\n", "/// co|", "/* co| */", "/* co|", "let a = 12|"])
def test_nothing_in_comments_and_numbers(text: str) -> None:
    assert labels(text) == []


def test_files_after_import(tmp_path: Path) -> None:
    (tmp_path / "mine.nas").write_text("let a = 1\n")
    document = open_document((tmp_path / "new.nas").as_uri(), 'import "')
    reading = read_document(document, {})
    found = {item.label: item for item in completion(document, reading, reading.positions.position(8))}
    assert {"mine.nas", "std.nas"} <= found.keys()
    written, position = opened('import "st.|')
    (item,) = [item for item in completion(written.document, written, position) if item.label == "std.nas"]
    assert isinstance(item.text_edit, types.TextEdit)
    assert applied(written.document, [item.text_edit]) == 'import "std.nas'


USE = "motif m { in x  x -> out : sep_c| }\n"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("//! A file.\n\n/// A motif.\n" + USE, '//! A file.\n\nimport "std.nas"\n\n/// A motif.\n'),
        ('import "lenet5.nas" as a\n' + USE, 'import "lenet5.nas" as a\nimport "std.nas"\nmotif m'),
        (
            'import "a.nas" as a\nimport "b.nas"\n' + USE,
            'import "a.nas" as a\nimport "b.nas"\nimport "std.nas"\nmotif m',
        ),
        ("x -> out : |", None),
    ],
)
def test_names_of_the_library_bring_their_import(text: str, result: str | None) -> None:
    reading, position = opened(text)
    items = [item for item in completion(reading.document, reading, position) if item.label == "sep_conv"]
    if result is None:
        assert not items
    else:
        assert applied(reading.document, list(items[0].additional_text_edits or [])).startswith(result)


def test_an_older_reading_is_enough() -> None:
    """The definition being written is read on its own; the rest of the file is as it was."""
    before, _ = opened("motif old(a) { in x  out x }|")
    after, position = opened("motif old(a) { in x  out x }\nmotif new(b) { in y  y -> out : |")
    assert {"old", "b", "y"} <= {item.label for item in completion(after.document, before, position)}
