"""Families of random texts, and what must hold for every text."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import Report, as_json, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker, Limits, Space
from bayesnas_graph.language.syntax import format_source
from tests.conftest import SPACES
from tests.language.syntax.test_format import tokens
from tests.programs import Program, mutate
from tests.sharing import Sharing

# Small, so that the many cases take little time each; reaching a limit is a diagnostic like any other.
LIMITS = Limits(nodes=20_000, edges=80_000, depth=60, steps=20_000)
LARGEST_COMPILED = 60  # nodes of a network


def any_text(random: Random) -> str:
    """A text of any characters, more often of those that mean something."""
    alphabets = ("{}[]()<>=:,.-+*/^|;#\"'\n", "abchinoutx_ 0139", "\x00\r\t\u2028é\U0001f600")
    count = random.randint(0, 60)
    return "".join(
        random.choice(random.choice(alphabets)) if random.random() < 0.8 else chr(random.randrange(0xD800))
        for _ in range(count)
    )


FAMILIES: dict[str, Callable[[Random], str]] = {
    "sound": lambda random: Program(random, 0).text(),
    "faulty": lambda random: Program(random, 0.15).text(),
    "sharing values": lambda random: Sharing(random).text(),
    "damaged spaces": lambda random: mutate(random.choice(SPACES).read_text(), random),
    "any text": any_text,
}


def answer(text: str) -> tuple[Space, Report]:
    """Check and format a text, and render all diagnostics."""
    assert_formats(text)
    return checked(text)


def checked(text: str) -> tuple[Space, Report]:
    """Check a text, and render all diagnostics."""
    report = Report()
    source = Source("fuzz.nas", text)
    space = Checker(report, LIMITS).text(source)
    for diagnostic in report.diagnostics:
        assert render(diagnostic)
        assert as_json(diagnostic)
    assert report.has_errors or len(space.networks) == len(space.module.networks)
    return space, report


def assert_formats(text: str) -> None:
    """Formatting fails exactly if parsing does, is idempotent, and keeps every token."""
    report = Report()
    once = format_source(Source("once", text), report)
    if once is None:
        assert report.has_errors
        return
    assert not report.has_errors
    assert format_source(Source("twice", once), Report()) == once
    assert tokens(once) == tokens(text)


def compile_networks(space: Space) -> int:
    """Compile the small networks of a sound space to Python, and return how many there were."""
    small = [network for network in space.networks if network.block.nodes <= LARGEST_COMPILED]
    for network in small:
        graph = passes.run(network.graph(), (*passes.SWITCHES, *passes.FASTER))
        compile(emit(graph).text, "fuzz.py", "exec")
    return len(small)
