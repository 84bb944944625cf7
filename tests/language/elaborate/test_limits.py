"""Programs that exceed a limit are rejected early and at the right place."""

from __future__ import annotations

import pytest

from bayesnas_graph.language.elaborate import Limits
from tests.helpers import body, check, codes

DOUBLING = "motif d0 { in x x -> out : relu } " + " ".join(
    f"motif d{i} {{ in x x -> out : d{i - 1} > d{i - 1} }}" for i in range(1, 65)
)
ENDLESS = "motif f(n) { in x x -> out : relu > f(n + 1) }"
SPREADING = "motif g(n, tag) { in x x -> out : g(n - 1, 2 * tag) x -> out : g(n - 1, 2 * tag + 1) }"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        (body("for i in 0..10^9 { x -> out : relu }"), "NAS403", "0..10^9"),
        (body("for i in 0..10^9 { for j in 0..10^9 { } }  x -> out"), "NAS403", "0..10^9"),
        (body("for i in 0..1000 { for j in 0..1000 { } } x -> out"), "NAS403", None),
        (body("let a = [i for i in 0..10^9] out x"), "NAS403", "0..10^9"),
        (body("let a = [i for i in 0..10^4 for j in 0..10^4] out x"), "NAS403", None),
        (body("node h[10^9] = x : relu out h[0]"), "NAS401", "h[10^9]"),
        (body("node h[i in 0..10^9] = x : relu out h[0]"), "NAS403", "0..10^9"),
        (body("node a[3000], b[3000] x -> a a -> b b -> out"), "NAS401", "a -> b"),
        (ENDLESS + body("x -> out : f(0)"), "NAS402", "f(n + 1)"),
        ("motif f { in x x -> out : relu > f } " + body("x -> out : f"), "NAS402", "f"),
        ("motif f { in x x -> out : g } motif g { in x x -> out : f } " + body("x -> out : f"), "NAS402", "f"),
        (SPREADING + body("x -> out : g(0, 1)"), "NAS405", "2 * tag"),
        (SPREADING.replace(": g", ": if n == 0 then relu else g") + body("x -> out : g(20, 1)"), "NAS403", None),
        (DOUBLING + body("x -> out : d64"), "NAS401", None),
        ("set s = s | { relu } " + body("x -> out : choose s"), "NAS402", "s"),
        ("let a = b let b = a " + body("x -> out : conv(a)"), "NAS402", None),
        (body("let a = 10^10^10 out x"), "NAS405", "10^10^10"),
        (body(f"let a = 1{'0' * 400} out x"), "NAS405", None),
        (body(f"let a = 1.{'3' * 400} out x"), "NAS405", None),
        (body(f"let a = {'(' * 70}1{')' * 70} out x"), "NAS404", None),
        (body(f"let a = {'- ' * 30_000}1 out x"), "NAS404", None),
        (body("let a = " + "if true then 1 else " * 5000 + "1 out x"), "NAS404", None),
        (body(f"let a = 2{'^1' * 30_000} out x"), "NAS404", None),
        (body(f"x -> out : relu{'()' * 30_000}"), "NAS404", None),
    ],
    ids=range(24),
)
def test_bombs(text: str, code: str, place: str | None) -> None:
    _, diagnostics = check(text)
    assert code in [diagnostic.code for diagnostic in diagnostics]
    assert len(diagnostics) <= 2
    assert diagnostics[0].primary is not None
    if place is not None:
        assert diagnostics[0].primary.span.text == place


def test_long_chains_and_sums_are_no_problem() -> None:
    assert codes(body(f"x -> out : {' > '.join(['relu'] * 5000)}")) == []
    assert codes(body(f"let a = {' + '.join(['1'] * 5000)} out x")) == []
    assert codes(body(" else ".join(["if false { }"] * 5000) + " else { x -> out : relu }")) == []


def test_limits_can_be_raised() -> None:
    text = ENDLESS.replace("relu > f(n + 1)", "if n > 250 then relu else f(n + 1)") + body("x -> out : f(0)")
    assert codes(text) == ["NAS402"]
    assert codes(text, Limits(depth=300)) == []
    text = body("for i in 0..1000 { for j in 0..1000 { } } x -> out")
    assert codes(text) == ["NAS403"]
    assert codes(text, Limits(steps=10_000_000)) == []


def test_doubling_is_counted_exactly() -> None:
    """A motif that is used twice in the same way is expanded once, so this is fast."""
    space, diagnostics = check(DOUBLING + body("x -> out : d64"), Limits(nodes=2**70, edges=2**70))
    assert not diagnostics
    assert space.networks[0].block.nodes == 2**64
