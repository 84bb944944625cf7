"""Several threads can parse at once, and the process state is restored."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from threading import Barrier

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.syntax import ast, parse
from bayesnas_graph.language.syntax.deep_stack import DEEPEST_STACK, deep_stack
from tests.helpers import body

THREADS = 8


def text(number: int) -> str:
    """A file with many nodes, whose spans would point into another file if threads shared a source."""
    chain = " > ".join(["relu", "tanh"] * (20 + number))
    return "\n".join(f"motif m{number}_{i} {{ in x  x -> out : {chain} }}" for i in range(20))


def spans(value: object) -> Iterator[Span]:
    """All spans of a tree."""
    if isinstance(value, Span):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from spans(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from spans(getattr(value, field.name))


def test_parsing() -> None:
    sources = [Source(f"file {i}", text(i)) for i in range(THREADS)]
    alone = [parse(source, Report()) for source in sources]
    start = Barrier(THREADS)

    def read(i: int) -> ast.File:
        start.wait()
        return parse(sources[i], Report())

    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(read, range(THREADS)))
    for source, one, other in zip(sources, alone, together, strict=True):
        assert one.definitions == other.definitions
        assert {span.source for span in spans(tuple(other.definitions))} == {source}


def test_checking() -> None:
    texts = [body(f"node h[{i + 2}] = x : choose {{ relu, conv(3) > bn }} h -> out") for i in range(THREADS)]

    def graph(text: str) -> str:
        (network,) = Checker(Report()).text(Source("t", text)).networks
        return str(network.graph())

    alone = list(map(graph, texts))
    limit = sys.getrecursionlimit()
    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(graph, texts)) == alone
    assert sys.getrecursionlimit() == limit
    assert gc.isenabled()


def test_the_process_is_restored_when_the_last_thread_leaves() -> None:
    """The first to enter leaves first: the second still has its deep stack, and nothing stays changed after it."""
    limit = sys.getrecursionlimit()
    first, second = deep_stack(), deep_stack()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= DEEPEST_STACK
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == limit
    assert gc.isenabled()
