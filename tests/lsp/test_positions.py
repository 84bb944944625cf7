"""Positions of the protocol, also hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from bayesnas_graph.lsp.documents import open_document
from bayesnas_graph.lsp.positions import UTF8, UTF16, UTF32, Positions

TEXT = "let a = 1 // \N{GRINNING FACE} é\nlet b = 2\n"


@pytest.mark.parametrize(("units", "column"), [(UTF8, 17), (UTF16, 15), (UTF32, 14)])
def test_columns_are_counted_in_units(units: str, column: int) -> None:
    positions = Positions(TEXT, units)
    after_face = TEXT.index("\N{GRINNING FACE}") + 1
    assert positions.position(after_face) == Position(0, column)
    assert positions.offset(Position(0, column)) == after_face


def test_within_a_character_is_before_it() -> None:
    face = TEXT.index("\N{GRINNING FACE}")
    assert Positions(TEXT, UTF16).offset(Position(0, 14)) == face
    assert [Positions(TEXT, UTF8).offset(Position(0, column)) for column in range(13, 17)] == [face] * 4


@pytest.mark.parametrize(
    ("line", "column", "offset"),
    [(0, 10**9, TEXT.index("\n")), (1, 99, len(TEXT) - 1), (2, 0, len(TEXT)), (10**9, 0, len(TEXT))],
)
def test_positions_outside_the_text(line: int, column: int, offset: int) -> None:
    assert Positions(TEXT).offset(Position(line, column)) == offset


@given(st.text(st.characters(exclude_characters="\r")), st.sampled_from([UTF8, UTF16, UTF32]))
def test_every_offset_has_a_position(text: str, units: str) -> None:
    positions = Positions(text, units)
    assert [positions.offset(positions.position(i)) for i in range(len(text) + 1)] == list(range(len(text) + 1))


def test_line_ends_and_marks_do_not_move_columns() -> None:
    document = open_document("untitled:a", "\ufeffin x\r\nout x\rend")
    assert document.text == " in x\nout x\nend"


def test_text_that_is_not_unicode_is_refused() -> None:
    document = open_document("untitled:a", "let a = \ud800")
    assert [diagnostic.code for diagnostic in document.refused] == ["NAS011"]
