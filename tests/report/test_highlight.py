"""Code as HTML: the text is complete and escaped."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Keyword

from bayesnas_graph.language.syntax import reserved_words
from bayesnas_graph.report.highlight import MAX_COLOURED, Language, highlight_lines
from tests.conftest import ROOT, SPACES
from tests.programs import programs

TAG = re.compile(r'<span class="[a-z]">|</span>')
LANGUAGES: tuple[Language, ...] = ("nas", "python", "text")


def shown(text: str, language: Language) -> str:
    """The visible text; the only markup is for colours."""
    lines = [TAG.sub("", line) for line in highlight_lines(text, language)]
    assert not any("<" in line or ">" in line for line in lines)
    return unescape("\n".join(lines))


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_every_shipped_space_is_there_line_by_line(path: Path) -> None:
    text = path.read_text()
    assert shown(text, "nas") == text


@given(programs(0.1))
def test_invalid_programs_are_highlighted_too(text: str) -> None:
    assert shown(text, "nas") == text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])), st.sampled_from(LANGUAGES))
def test_any_text_is_there(text: str, language: Language) -> None:
    assert shown(text, language) == text


@given(st.text(alphabet="<>&\"'/scriptx \n\x00\x1b\x7f\x85\u202e\u2066\u200b\ufeff\ud800"), st.sampled_from(LANGUAGES))
def test_nothing_hidden_and_no_markup_gets_through(text: str, language: Language) -> None:
    found = shown(text, language)
    assert len(found) == len(text)
    assert not set(found) & set("\x00\x1b\x7f\x85\u202e\u2066\u200b\ufeff\ud800")
    found.encode()


def test_all_keywords_of_the_language_are_keywords() -> None:
    for word in sorted(reserved_words()):
        (line,) = highlight_lines(word, "nas")
        assert line == f'<span class="{"n" if word in ("true", "false") else "k"}">{word}</span>'


def test_words_have_their_classes() -> None:
    text = '/// doc\nimport "std.nas" // why\nx -> out : conv(3) # y'
    assert [str(line) for line in highlight_lines(text, "nas")] == [
        '<span class="d">/// doc</span>',
        '<span class="k">import</span> <span class="s">&#34;std.nas&#34;</span> <span class="c">// why</span>',
        'x -&gt; <span class="k">out</span> : <span class="f">conv</span>(<span class="n">3</span>) '
        '<span class="e">#</span> y',
    ]
    assert [str(line) for line in highlight_lines("def f():\n\treturn 'a'", "python")] == [
        '<span class="k">def</span> <span class="f">f</span>():',
        '\t<span class="k">return</span> <span class="s">&#39;a&#39;</span>',
    ]


def test_a_comment_over_several_lines_is_closed_on_each() -> None:
    lines = highlight_lines("/* a\nb */ in", "nas")
    assert [str(line) for line in lines] == [
        '<span class="c">/* a</span>',
        '<span class="c">b */</span> <span class="k">in</span>',
    ]


def test_a_text_that_is_very_long_has_no_colours() -> None:
    text = "in x " * (MAX_COLOURED // 5 + 1)
    assert [str(line) for line in highlight_lines(text, "nas")] == [text]


def test_other_programs_find_the_lexer() -> None:
    """By an entry point, which an installed package has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (place,) = project["entry-points"]["pygments.lexers"].values()
    module, _, name = place.partition(":")
    lexer = getattr(import_module(module), name)
    assert lexer.aliases == ["nas"]
    assert (Keyword, "network") in list(lexer().get_tokens("network net"))
