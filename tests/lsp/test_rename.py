"""Renaming, and the reasons why it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.lsp.documents import open_document
from bayesnas_graph.lsp.reading import read_document
from bayesnas_graph.lsp.rename import CannotRename, renamable, rename
from tests.lsp.cursors import URI, applied, opened


def renamed(marked: str, new: str) -> str:
    reading, position = opened(marked)
    edits = rename(reading, position, new).changes
    assert edits is not None
    return applied(reading.document, list(edits[URI]))


@pytest.mark.parametrize(
    "marked",
    [
        "motif @| { in x  out x }\nmotif c { in x  x -> out : @ > @ }",
        "motif m(@) { in x  x -> out : conv(@|) }\nmotif n { in x  x -> out : m(@ = 3) }",
        "let a = [@| for @ in 0..3 if @ > 1]",
        'import "std.nas" as @|\nmotif m { in x  x -> out : @.skip }',
        "motif @ { in x  out x }\nmotif broken { in x  x -> out : @| > conv(3, ",
    ],
)
def test_rename(marked: str) -> None:
    """The name is written as `@`."""
    assert renamed(marked.replace("@", "old"), "new") == marked.replace("@", "new").replace("|", "")


def test_a_name_that_hides_another_stays() -> None:
    before = "motif m { in x|  node y = x  for x in 0..3 { let z = x }  y -> out }"
    assert renamed(before, "new") == "motif m { in new  node y = new  for x in 0..3 { let z = x }  y -> out }"


@pytest.mark.parametrize(
    ("text", "new", "reason"),
    [
        ("motif m { in x  x -> out : re|lu }", "new", "`relu` is a primitive"),
        ("let a = ma|x(1, 2)", "new", "`max` is a function of the language"),
        ("motif m { in x  x -> out : conv(k| = 3) }", "new", "`k` is an argument of the primitive `conv`"),
        ('import "std.nas"\nmotif m { in x  x -> out : sk|ip }', "new", "`skip` is defined in the shipped library"),
        ('import "st|d.nas"', "new", "files are not renamed"),
        ("let a = nothin|g", "new", "`nothing` is not defined"),
        ("let a = | 1", "new", "there is no name here"),
        ("let a| = 1\nmotif m { in x\n node h = ) a\n", "new", "line 3 has a syntax error, and `a` in it"),
        ("let a| = 1", "motif", "`motif` is a reserved word"),
        ("let a| = 1", "2x", "names consist of letters, digits and `_`, and do not start with a digit"),
        ("let a| = 1\nlet b = 2", "b", "`b` is already used: `b` is defined twice"),
        ("let a| = 1", "relu", "`relu` is already used: `relu` is a primitive"),
        ("let a| = 1\nmotif m(w) { in x  x -> out : conv(a) }", "w", "`w` already stands for something else here"),
        (
            "motif m(w|) { in x  out x }\nmotif n(f) { in x  x -> out : f(w = 3) }",
            "v",
            "`w` on line 2 of example.nas may be this parameter: it is not known what is called",
        ),
    ],
)
def test_refused(text: str, new: str, reason: str) -> None:
    reading, position = opened(text)
    with pytest.raises(CannotRename) as error:
        rename(reading, position, new)
    assert str(error.value) == reason


def test_the_range_of_a_name() -> None:
    assert str(renamable(*opened("let long_na|me = 1"))) == "0:4-0:13"


def test_other_files_are_changed_too(tmp_path: Path) -> None:
    (tmp_path / "part.nas").write_text("motif part(w) { in x  x -> out : conv(w) }\n")
    part = read_document(open_document((tmp_path / "part.nas").as_uri(), (tmp_path / "part.nas").read_text()), {})
    main = open_document(
        (tmp_path / "main.nas").as_uri(), 'import "part.nas" as p\nmotif m { in x  x -> out : p.part(w = 3) }\n'
    )
    reading = read_document(main, {})
    position = reading.positions.position(main.text.index("part(w"))
    edits = rename(reading, position, "whole", lambda: [part]).changes
    assert edits is not None
    assert applied(part.document, list(edits[part.document.uri])).startswith("motif whole(w)")
    assert "p.whole(w = 3)" in applied(main, list(edits[main.uri]))
