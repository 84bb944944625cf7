"""Genotype texts in any layout are read without being executed; errors are located."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Diagnostic, NasError, render
from bayesnas_graph.language.notations import Genotype, parse_genotype
from bayesnas_graph.language.notations.problems import LONGEST_TEXT
from tests.language.notations.shipped import DARTS_V2

V2 = parse_genotype(DARTS_V2)
REST = "range(2, 6), [], range(2, 6))"


def wrong(text: str) -> Diagnostic:
    with pytest.raises(NasError) as error:
        parse_genotype(text)
    (found,) = error.value.diagnostics
    assert found.code == "NAS701"
    assert found.primary is not None
    assert found.help
    assert render(found)
    return found


@pytest.mark.parametrize(
    "text",
    [
        f"DARTS_V2 = {DARTS_V2}",
        f"\n\tgenotype=\n  {DARTS_V2}\n\n",
        DARTS_V2.replace("'", '"'),
        DARTS_V2.replace("[", "(").replace("]", ")"),
        re.sub(r"\(('\w+', \d)\)", r"[\1]", DARTS_V2),
        DARTS_V2.replace("range(2, 6)", "[2, 3, 4, 5]"),
        DARTS_V2.replace("range(2, 6)", "(2, 3, 4, 5,)"),
        re.sub(r"\w+=", "", DARTS_V2),
        DARTS_V2.replace("normal=", "").replace("normal_concat=", ""),
        DARTS_V2.replace(", ", ",\n    "),
        DARTS_V2.replace(", ", ",\r\n"),
        DARTS_V2.replace(", ", ",\r"),
        DARTS_V2.replace(" ", ""),
        DARTS_V2.replace(")]", "),]"),
    ],
)
def test_what_people_print(text: str) -> None:
    assert text != DARTS_V2
    assert parse_genotype(text) == V2


def test_arguments_in_any_order() -> None:
    found = parse_genotype("Genotype(reduce_concat=[3], reduce=[('b', 1)], normal_concat=range(2), normal=[('a', 0)])")
    assert (found.normal, found.normal_concat) == ((("a", 0),), (0, 1))
    assert (found.reduce, found.reduce_concat) == ((("b", 1),), (3,))


@pytest.mark.parametrize(
    ("text", "at", "label"),
    [
        (DARTS_V2[:-1], "(", "never closed"),
        (DARTS_V2 + ")", ")", "no matching opening bracket"),
        ("Genotype([)", ")", "no matching opening bracket"),
        ("Genotype", "Genotype", "expected `Genotype(...)`"),
        ("Genotipe([], [], [], [])", "Genotipe([], [], [], [])", "expected `Genotype(...)`"),
        ("", "", "not valid here"),
        ("x = ", "", "not valid here"),
        (f"Genotype([('a' 0)], {REST}", "'a' 0", "not valid here"),
        ("A = Genotype([],\n  norml_concat=[], reduce=[])", "norml_concat=[]", "unknown argument `norml_concat`"),
        ("Genotype([], [], [], [], [0])", "[0]", "expected at most 4 arguments"),
        ("Genotype([], [], [], reduce=[0])", "reduce=[0]", "`reduce` is given twice"),
        ("B = Genotype([], [])", "Genotype([], [])", "`reduce` is missing"),
        (f"Genotype(x, {REST}", "x", "expected a list"),
        (f"Genotype([\n\n  'a', 0], {REST}", "'a'", "expected a pair such as `('sep_conv_3x3', 0)`"),
        (f"Genotype([('a', 0, 1)], {REST}", "('a', 0, 1)", "expected a pair such as `('sep_conv_3x3', 0)`"),
        (f"Genotype([(a, 0)], {REST}", "a", "expected the name of an operation in quotes"),
        (f'Genotype([("it\'s", 0)], {REST}', '"it\'s"', "expected the name of an operation in quotes"),
        (f"Genotype([(f'a', 0)], {REST}", "f'a'", "expected the name of an operation in quotes"),
        (f"Genotype([(b'a', 0)], {REST}", "b'a'", "expected the name of an operation in quotes"),
        (f"Genotype([('a', '0')], {REST}", "'0'", "expected a number"),
        (f"Genotype([('a', True)], {REST}", "True", "expected a number"),
        (f"Genotype([('a', 1000)], {REST}", "1000", "should be at most 999"),
        (f"Genotype([('a', -1)], {REST}", "-", "not part of a genotype"),
        (f"Genotype([('a', 0x1)], {REST}", "0x", "not part of a genotype"),
        (f"Genotype([('a', 1)if 1else[]], {REST}", "1e", "not part of a genotype"),
        (f"Genotype([('é', 0)], {REST}", "é", "not part of a genotype"),
        (f"Genotype([('\\d', 0)], {REST}", "\\", "not part of a genotype"),
        (f"Genotype([('a\0', 0)], {REST}", "\0", "not part of a genotype"),
        ("Genotype([], range(2, 1001), [], [])", "1001", "should be at most 1000"),
        ("Genotype([], range(2, 6, 1), [], [])", "range(2, 6, 1)", "expected a range such as `range(2, 6)`"),
        ("Genotype([], range(), [], [])", "range()", "expected a range such as `range(2, 6)`"),
        ("Genotype([], list(2), [], [])", "list(2)", "expected a list"),
    ],
)
def test_the_place_is_shown(text: str, at: str, label: str) -> None:
    found = wrong(text)
    assert found.primary is not None
    assert (found.primary.span.text, found.primary.text) == (at, label)


def test_a_misspelt_argument() -> None:
    assert wrong("Genotype(norml=[])").help == "did you mean `normal`?"


def test_as_it_is_printed() -> None:
    text = DARTS_V2.replace("('skip_connect', 0), ('d", "\n('skip_connect', zero), ('d")
    assert render(wrong(f"MINE = {text}")) == (
        "error[NAS701]: not a genotype\n"
        " --> architecture:2:18\n"
        "  |\n"
        "2 | ('skip_connect', zero), ('dil_conv_3x3', 2)], normal_concat=range(2, 6), reduce=[('max_pool_3x3', 0), "
        "('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3'…\n"
        "  |                  ^^^^ expected a number\n"
        "  |\n"
        "  = help: a genotype looks like `Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=range(2, 6), "
        "reduce=..., reduce_concat=...)`\n"
    )


# ---------------------------------------------------------------------------------- bad intent


@pytest.mark.parametrize(
    "text",
    [
        "__import__('pathlib').Path('bad').touch()",
        "open('bad', 'w')",
        f"Genotype([(open('bad', 'w'), 0)], {REST}",
        f"Genotype([(\"', 0)]) or open('bad', 'w') or ('\", 0)], {REST}",
        f"Genotype([('a', open('bad', 'w'))], {REST}",
        f"Genotype(open('bad', 'w'), {REST}",
        f"Genotype([], range(open('bad', 'w')), {REST}",
        "Genotype([x for x in open('bad', 'w')], [], [], [])",
        "Genotype(open('bad', 'w') and [], [], [], [])",
        "open('bad', 'w') = Genotype([], [], [], [])",
    ],
)
def test_nothing_is_executed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong(text)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + ")" * 5000,
        "Genotype(" + "[" * 4000 + "]" * 4000 + ")",
        "Genotype" + "()" * 4000,
        "a" + "[a]" * 3000,
        "not " * 2400 + "a",
        "a if a else " * 800 + "a",
        "a = " * 2400 + "a",
        "'" + "a" * 9000,
        f"Genotype([('a', {'9' * 9000})], {REST}",
        "Genotype([('a', 9" + "0" * 4000 + f")], {REST}",
        "Genotype([], range(99999999999999999999999), [], [])",
    ],
    ids=lambda text: text[:12],
)
def test_large_things_are_harmless(text: str) -> None:
    assert len(text) <= LONGEST_TEXT
    wrong(text)


def test_long_texts_are_not_looked_at() -> None:
    assert wrong(DARTS_V2 + " " * LONGEST_TEXT).message == "the architecture is too long"
    assert parse_genotype(DARTS_V2.ljust(LONGEST_TEXT)) == V2


PIECES = st.sampled_from(
    [*"()[],='\"2\n \r\0\\é\ud800#*", "Genotype", "range", "normal", "reduce", "0x", "'''", ":=", "f'{", "not ", " if "]
)


def answer(text: str) -> Genotype | NasError:
    """The result or the diagnostic."""
    try:
        return parse_genotype(text)
    except NasError as error:
        return error


@given(st.text() | st.lists(PIECES, max_size=40).map("".join))
def test_any_text_gets_an_answer(text: str) -> None:
    found = answer(text)
    assert isinstance(found, Genotype) or render(found.diagnostics[0])


@given(st.integers(0, len(DARTS_V2)), st.integers(0, 9), PIECES | st.text(max_size=3))
def test_any_change_gets_an_answer(place: int, length: int, piece: str) -> None:
    found = answer(DARTS_V2[:place] + piece + DARTS_V2[place + length :])
    assert isinstance(found, Genotype) or render(found.diagnostics[0])
