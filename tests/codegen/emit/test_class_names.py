"""Classes of one motif have names that tell them apart."""

from __future__ import annotations

import ast
import re

import pytest

from tests.codegen.emit.test_source import source
from tests.helpers import body

DEEP = """
motif m(n, k = 3) {
    in x
    node h[i in 0..n] = if i == 0 then x else h[i - 1] : conv(3, k) > bn
    x, h[n - 1] -> out
}
"""


def classes(text: str) -> list[str]:
    return re.findall(r"^class (\w+)", text, re.MULTILINE)


def test_one_argument_is_enough_if_it_is_different_everywhere() -> None:
    text = source(DEEP + body("x -> out : m(1, 5) > m(2, 5) > m(3, 7)"))
    assert classes(text) == ["MN1", "MN2", "MN3", "N"]
    assert '"""The motif `m` with n = 2."""' in text


def test_two_arguments_where_one_is_not_enough() -> None:
    first, last = "(if a == 1 then conv(3) > bn else bn > conv(3))", "(if b == 1 then relu > bn else bn)"
    motif = f"motif m(a, b) {{ in x x -> out : {first} > {last} }}"
    text = source(motif + body("x -> out : m(1, 1) > m(1, 2) > m(2, 1) > m(2, 2)"))
    assert classes(text) == ["MA1B1", "MA1B2", "MA2B1", "MA2B2", "N"]
    assert '"""The motif `m` with a = 1 and b = 2."""' in text


def test_one_class_has_a_plain_name() -> None:
    text = source(DEEP + body("x -> out : m(2) > m(2, 5)"))
    assert classes(text) == ["M", "N"]
    assert '"""The motif `m`."""' in text


def test_an_argument_that_is_known_for_all_classes_comes_first() -> None:
    """`k` would do too, but the uses with n = 2 differ in it."""
    text = source(DEEP + body("x -> out : m(k = 3, n = 1) > m(2, 5) > m(2, 7)"))
    assert classes(text) == ["MN1", "MN2", "N"]


def test_arguments_that_do_not_help_are_left_out() -> None:
    """What makes the difference is the shape of the input, so classes are numbered."""
    motif = "motif m { in x x -> out : if channels(x) == 3 then conv(4) > bn else conv(3) > relu }"
    assert classes(source(motif + body("x -> out : m > m"))) == ["M", "M2", "N"]


def test_names_that_collide_are_numbered() -> None:
    """`m` with n = 1 would be called as the motif `m_n1` is."""
    other = "motif m_n1 { in x x -> out : conv(3) > relu > bn }"
    text = source(DEEP + other + body("x -> out : m_n1 > m(1) > m(2)"))
    names = classes(text)
    assert len(set(names)) == len(names) == 4
    assert {"MN1", "MN2"} <= set(names)


def test_motifs_as_arguments() -> None:
    motif = "motif m(first) { in x x -> out : first > bn > relu }"
    firsts = "motif a { in x x -> out : conv(3) > relu } motif b(k) { in x x -> out : relu > conv(3, k) }"
    text = source(motif + firsts + body("x -> out : m(a) > m(b(3)) > m(b(5))"))
    assert classes(text) == ["A", "MFirstA", "B", "MFirstB", "N"]


@pytest.mark.parametrize(
    "value", ["-3", "1/3", "123456789012345678", "true", "other", "with(3)", "relu", "[1, 2]", "{ relu, tanh }"]
)
def test_any_argument_makes_a_name(value: str) -> None:
    motif = "motif m(p, n) { in x x -> out : if n == 1 then conv(3) > relu else relu > conv(3) }"
    other = "motif other { in x x -> out : relu > relu } motif with(n) { in x x -> out : relu }"
    text = source(motif + other + body(f"x -> out : m({value}, 1) > m(2, 2)"))
    names = classes(text)
    assert len(set(names)) == 3
    assert all(name.isidentifier() for name in names)
    ast.parse(text)


def test_numbers_and_booleans_are_not_confused() -> None:
    motif = "motif m(p) { in x x -> out : if p == 1 then conv(3) > relu else relu > conv(3) }"
    flag = "motif flag(p) { in x x -> out : if p then conv(3) > relu else relu > conv(3) }"
    text = source(motif + flag + body("x -> out : m(1) > m(0) > flag(true) > flag(false)"))
    assert classes(text) == ["MP1", "MP0", "FlagP", "Flag", "N"]
