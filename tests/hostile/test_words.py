"""Words on the command line that are empty, or cannot be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from tests.cli.conftest import Result, Run, run
from tests.hostile.outputs import FILES, FOLDERS, RUNS, SHORT, contents, folder, searched

__all__ = ["folder", "run", "searched"]

COMMANDS = [
    ("new", ""),
    ("new", "x", "--from", ""),
    ("check", ""),
    ("fmt", "net.nas", ""),
    ("stats", "net.nas", "--network", ""),
    ("stats", "net.nas", "-p", ""),
    ("draw", "net.nas", "--cell", ""),
    ("draw", "net.nas", "--format", ""),
    ("diff", "net.nas", ""),
    ("explain", ""),
    ("ops", ""),
    ("spaces", ""),
    ("status", ""),
    ("report", "run", ""),
    ("report", "run", "--figures", ""),
    ("derive", ""),
    ("derive", "run", "--space", ""),
    ("derive", "net.nas", "--architecture", ""),
    ("eval", ""),
    ("eval", "net.nas", "--weights", ""),
    ("search", "space.nas", "--recipe", ""),
    ("search", "space.nas", "--data", ""),
    ("search", "space.nas", "--data-dir", ""),
    ("search", "space.nas", "--config", ""),
    ("search", "space.nas", "--sweep", ""),
    ("search", "--resume", ""),
    ("search", "space.nas", "-s", ""),
    ("train", "net.nas", "--network", ""),
    ("compress", "net.nas", "--pattern", ""),
    ("data", "get", ""),
    ("data", "list", "--data-dir", ""),
    *((*words, "") for words in FILES.values()),
    *((*words, "") for words, _ in FOLDERS.values()),
    *((*words, "") for words in RUNS.values()),
]


def shown(result: Result) -> str:
    """The error message on one line, without the frame around it."""
    return " ".join(result.err.replace("│", " ").split())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_empty_word(run: Run, folder: Path, words: tuple[str, ...]) -> None:
    before = contents(folder)
    result = run(*words)
    assert result.code == 2
    assert f"the argument after `{words[-2]}` is empty" in shown(result)
    assert contents(folder) == before


@pytest.mark.parametrize("word", ["--network=", "--data=", "--recipe=", "--output=", "--set="])
def test_an_option_without_a_value(run: Run, folder: Path, word: str) -> None:
    result = run("search", "space.nas", word)
    assert (result.code, f"`{word}` has no value" in shown(result)) == (2, True)


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("data=", "`data` has no value"),
        ("network= ", "`network` has no value"),
        ("parameters.width=", "`parameters.width` has no value"),
        ('data=""', "`data` should be a text that is not empty"),
        ("network=''", "`network` should be a text that is not empty"),
    ],
)
def test_a_setting_without_a_value(run: Run, folder: Path, word: str, problem: str) -> None:
    result = run("search", "space.nas", "-s", word, "-o", "out")
    assert (result.code, f"error[NAS601]: {problem}\n" in result.err) == (1, True)
    assert not (folder / "out").exists()


def test_settings_of_files_and_of_python(run: Run, folder: Path) -> None:
    (folder / "empty.toml").write_text('data = ""\n')
    result = run("search", "space.nas", "--config", "empty.toml")
    assert "error[NAS601]: `data` should be a text that is not empty\n" in result.err
    with pytest.raises(NasError, match="`network` should be a text that is not empty"):
        api.search("space.nas", network="", **SHORT)


@pytest.mark.parametrize("name", [".", "..", "/", "a/", "a/.", ".nas", "a/.nas"])
def test_no_name_for_a_space(run: Run, folder: Path, name: str) -> None:
    before = contents(folder)
    result = run("new", name)
    assert (result.code, f"`{name}` is not the name of a file" in shown(result)) == (2, True)
    assert contents(folder) == before


CONTROL = {
    "a\nb": r"a\nb",
    "a\x1b[2Jb": r"a\x1b[2Jb",
    "a\x7fb": r"a\x7fb",
    "a\udcffb": r"a\udcffb",
    "a\u2028b": r"a\u2028b",
}


@pytest.mark.parametrize("name", CONTROL, ids=CONTROL.values())
@pytest.mark.parametrize("verb", [*FILES, *FOLDERS, *RUNS])
def test_a_name_that_cannot_be_shown(run: Run, folder: Path, verb: str, name: str) -> None:
    words = FOLDERS[verb][0] if verb in FOLDERS else {**FILES, **RUNS}[verb]
    before = contents(folder)
    result = run(*words, name)
    assert result.code == 1
    assert "error[NAS012]: cannot write `" in result.err
    assert CONTROL[name] in result.err
    assert name not in result.err
    assert "the name has control characters, or is not UTF-8\n" in result.err
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["größe", "名前\u3000二", "a b", "👩\u200d🔬", "it's"])
def test_names_in_any_language(run: Run, folder: Path, name: str) -> None:
    assert run("new", name).code == 0
    assert run("check", f"{name}.nas").code == 0
