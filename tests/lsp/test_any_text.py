"""Any text gets an answer: beginnings of the shipped spaces with random changes, and every request in them."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.lsp.code_actions import code_actions
from bayesnas_graph.lsp.completion import completion
from bayesnas_graph.lsp.documents import open_document, uri_of
from bayesnas_graph.lsp.formatting import formatting
from bayesnas_graph.lsp.hover import hover
from bayesnas_graph.lsp.networks import elaborate
from bayesnas_graph.lsp.places import definition, references
from bayesnas_graph.lsp.problems import problems
from bayesnas_graph.lsp.reading import Reading, read_document
from bayesnas_graph.lsp.rename import CannotRename, rename
from bayesnas_graph.lsp.signatures import signature_help
from bayesnas_graph.lsp.symbols import document_symbols
from bayesnas_graph.lsp.tokens import semantic_tokens

SYMBOLS = ("(", ")", "{", "}", "[", "]", ",", ":", "=", "->", ">", ".", '"', "//", "/*", "\n", "\r\n", "x", "3", "")
WORDS = ("\nmotif ", "\nnetwork ", "\nlet ", " node ", " let ", " choose ", " in ", " for i in ")
STRANGE = ("\N{GRINNING FACE}", "\u2028", "\x0c", "\0", "é")
LARGEST = 2500  # characters of a text whose networks are elaborated here: large ones take long


@cache
def spaces() -> list[tuple[str, str]]:
    return [(uri_of(path), path.read_text(encoding="utf-8")) for path in shipped_spaces()]


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, str]:
    uri, text = draw(st.sampled_from(spaces()))
    text = text[: draw(st.integers(0, len(text)))]
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        text = text[:start] + draw(st.sampled_from((*SYMBOLS, *WORDS, *STRANGE))) + text[end:]
    return uri, text


def ask_everything(reading: Reading, position: types.Position) -> None:
    everything = reading.positions.everything()
    elaboration = elaborate(reading) if len(reading.document.text) <= LARGEST else None
    problems(reading, reading.diagnostics())
    hover(reading, elaboration, position)
    completion(reading.document, reading, position)
    signature_help(reading, position)
    definition(reading, position)
    references(reading, position)
    document_symbols(reading)
    semantic_tokens(reading)
    code_actions(reading, everything)
    formatting(reading.document)
    with suppress(CannotRename):
        rename(reading, position, "renamed")


@settings(max_examples=60, deadline=None)
@given(documents(), st.data())
def test_any_text_gets_an_answer(document: tuple[str, str], data: st.DataObject) -> None:
    uri, text = document
    reading = read_document(open_document(uri, text), {})
    offset = data.draw(st.integers(0, len(reading.document.text)))
    ask_everything(reading, reading.positions.position(offset))


@settings(max_examples=100, deadline=None)
@given(documents(), st.data())
def test_completion_between_two_versions(document: tuple[str, str], data: st.DataObject) -> None:
    """The last reading may be of a very different text."""
    uri, text = document
    before = read_document(open_document(uri, ""), {})
    line, column = data.draw(st.integers(0, 200)), data.draw(st.integers(0, 200))
    completion(open_document(uri, text), before, types.Position(line, column))


@given(st.text(max_size=60))
def test_random_text(text: str) -> None:
    reading = read_document(open_document("untitled:a", text), {})
    ask_everything(reading, reading.positions.position(len(text) // 2))
