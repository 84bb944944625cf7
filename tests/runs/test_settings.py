"""Settings: sources, precedence and errors."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.settings import LARGEST, Settings, assigned, configured, option, read_settings
from bayesnas_graph.runs.toml_keys import find


def in_file(folder: Path, text: str | bytes) -> Settings:
    path = folder / "net.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_settings(path)


def complaint(folder: Path, text: str | bytes, *words: str) -> str:
    """The message about a settings file and command-line settings."""
    with pytest.raises(NasError) as error:
        configured([in_file(folder, text), *map(assigned, words)])
    return "\n".join(render(d) for d in error.value.diagnostics).replace(f"{folder}/", "")


# ------------------------------------------------------------------------------------ what is wrong


def test_unknown(tmp_path: Path) -> None:
    assert complaint(tmp_path, "# a search\nbatch = 20\nbacth = 30\n") == (
        "error[NAS601]: unknown setting `bacth`\n"
        " --> net.toml:3:1\n"
        "  |\n"
        "3 | bacth = 30\n"
        "  | ^^^^^^^^^^ unknown\n"
        "  |\n"
        "  = help: did you mean `batch`?\n"
    )


def test_unknown_and_like_nothing(tmp_path: Path) -> None:
    assert complaint(tmp_path, "", "colour=red") == (
        "error[NAS601]: unknown setting `colour`\n"
        " --> the command line:1:1\n"
        "  |\n"
        "1 | colour=red\n"
        "  | ^^^^^^^^^^ unknown\n"
        "  |\n"
        "  = help: `bayesnas-graph search --settings` lists them\n"
    )


def test_wrong_kind(tmp_path: Path) -> None:
    assert complaint(tmp_path, 'seed = 3\nrate = "high"  # not rate = 1\n') == (
        "error[NAS601]: `rate` should be a number\n"
        " --> net.toml:2:1\n"
        "  |\n"
        '2 | rate = "high"  # not rate = 1\n'
        '  | ^^^^^^^^^^^^^ should be a number, got "high"\n'
        "  |\n"
        "  = help: `rate`: learning rate of the weights\n"
    )


def test_out_of_range(tmp_path: Path) -> None:
    assert complaint(tmp_path, "", "held_out=1.5") == (
        "error[NAS601]: `held_out` should be less than 1\n"
        " --> the command line:1:1\n"
        "  |\n"
        "1 | held_out=1.5\n"
        "  | ^^^^^^^^^^^^ should be less than 1, got 1.5\n"
        "  |\n"
        "  = help: `held_out`: fraction of the training set held out from weight training\n"
    )


def test_one_of_several(tmp_path: Path) -> None:
    assert complaint(tmp_path, "schedule = 'cosin'\n") == (
        "error[NAS601]: `schedule` should be `cosine`, `linear`, `step` or `constant`\n"
        " --> net.toml:1:1\n"
        "  |\n"
        "1 | schedule = 'cosin'\n"
        '  | ^^^^^^^^^^^^^^^^^^ should be `cosine`, `linear`, `step` or `constant`, got "cosin"\n'
        "  |\n"
        "  = help: `schedule`: learning-rate schedule\n"
    )


def test_a_table_where_a_value_belongs(tmp_path: Path) -> None:
    assert complaint(tmp_path, "batch = 20\n\n[momentum]\nstart = 0.9\n") == (
        "error[NAS601]: `momentum` should be a number\n"
        " --> net.toml:3:2\n"
        "  |\n"
        "3 | [momentum]\n"
        "  |  ^^^^^^^^ should be a number, got a table\n"
        "  |\n"
        "  = help: `momentum`: momentum of SGD\n"
    )


def test_a_value_where_a_table_belongs(tmp_path: Path) -> None:
    assert complaint(tmp_path, "parameters = 3\n").startswith("error[NAS601]: `parameters` should be a table\n")


def test_a_parameter_is_told_of_once(tmp_path: Path) -> None:
    assert complaint(tmp_path, "# width\n[parameters]\nwidth = [[8], 16]\n") == (
        "error[NAS601]: `parameters.width` should be a number, `true`, `false` or an array of these\n"
        " --> net.toml:3:1\n"
        "  |\n"
        "3 | width = [[8], 16]\n"
        "  | ^^^^^^^^^^^^^^^^^ should be a number, `true`, `false` or an array of these, got a list\n"
        "  |\n"
        "  = help: `parameters`: values of the network's parameters\n"
    )


def test_several_in_the_order_of_the_text(tmp_path: Path) -> None:
    said = complaint(tmp_path, "flip = 1\nseed = -1\nkeep = 0\nbatch = 2.5\nlambda = inf\n")
    assert [line for line in said.splitlines() if line.startswith("error")] == [
        "error[NAS601]: `flip` should be `true` or `false`",
        "error[NAS601]: `seed` should be greater than or equal to 0",
        "error[NAS601]: `keep` should be greater than or equal to 1",
        "error[NAS601]: `batch` should be a whole number",
        "error[NAS601]: `lambda` should be a finite number",
    ]


def test_settings_that_do_not_go_together(tmp_path: Path) -> None:
    assert complaint(tmp_path, "accumulate = 3\n") == (
        "error[NAS601]: `accumulate` is 3, which does not divide `batch`, 64\n"
    )


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("batch = 20\nrate 0.1\n", "2:6", "expected '=' after a key in a key/value pair"),
        ("batch =\n", "1:8", "invalid value"),
        ("rate = 0.1\r\nbatch = fisher\r\n", "2:9", "invalid value"),
        ("a = 'never closed", "1:17", "expected"),
        ("[parameters\n", "1:12", "expected ']' at the end of a table declaration"),
        ("batch = 1\nbatch = 2\n", "2:10", "cannot overwrite a value"),
    ],
)
def test_no_toml(text: str, place: str, reason: str, tmp_path: Path) -> None:
    said = complaint(tmp_path, text)
    head, arrow, *_, help = said.splitlines()
    assert head == "error[NAS601]: the settings file is not valid TOML"
    assert arrow == f" --> net.toml:{place}"
    assert reason in said.lower()
    assert help == "  = help: write one `key = value` per line, with texts in quotes"


def test_no_end_of_lists_in_lists(tmp_path: Path) -> None:
    assert complaint(tmp_path, "x = " + "[" * 5000).startswith("error[NAS601]: the settings file is not valid TOML\n")
    assert complaint(tmp_path, "", "x=" + "[" * 5000).startswith("error[NAS601]: unknown setting `x`\n")


def test_no_text(tmp_path: Path) -> None:
    assert complaint(tmp_path, b"rate = \xff\n") == ("error[NAS011]: cannot read `net.toml`: not UTF-8 text (byte 7)\n")
    assert configured([in_file(tmp_path, b"\xef\xbb\xbfbatch = 8")]).batch == 8, "a mark that some editors write"
    assert complaint(tmp_path, b"#" * (LARGEST + 1)) == ("error[NAS406]: cannot read `net.toml`: larger than 1 MiB\n")


def test_no_file(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "missing.toml", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(NasError) as error:
            read_settings(path)
        assert render(error.value.diagnostics[0]) == f"error[NAS011]: cannot read `{path}`: {reason}\n"


@pytest.mark.parametrize("word", ["batch", "=3", "", "a.b.c=1", "a b=1", "-s=1 2"])
def test_no_setting(word: str) -> None:
    if word == "-s=1 2":
        assert assigned(word).values == {"-s": "1 2"}, "which is then not known"
        return
    with pytest.raises(NasError) as error:
        assigned(word)
    assert error.value.diagnostics[0].message == f"`{word}` is not a setting"


def test_options_are_shown_as_they_are_written(tmp_path: Path) -> None:
    with pytest.raises(NasError) as error:
        configured([option("--batch", "batch", 0)])
    assert "1 | --batch 0\n  | ^^^^^^^^^ should be" in render(error.value.diagnostics[0])


@given(text=st.text(max_size=60) | st.from_regex(r"(batch|rate|\[parameters\]|[a\"'#{}=\[\].,\n 1]){1,20}"))
def test_any_text_gets_an_answer(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, newline="")
    for said in (answer(path), answer(text)):
        assert "Traceback" not in said


def answer(given: Path | str) -> str:
    try:
        return str(configured([read_settings(given) if isinstance(given, Path) else assigned(given)]))
    except NasError as error:
        return "".join(map(render, error.diagnostics))


# ----------------------------------------------------------------------------------- which one counts


def test_later_before_earlier(tmp_path: Path) -> None:
    recipe = in_file(tmp_path, "batch = 1\nrate = 1\nseed = 1\n[parameters]\nwidth = 1\ndepth = 1\n")
    file = in_file(tmp_path, "batch = 2\nrate = 2\nparameters = { width = 2 }\n")
    found = configured([recipe, file, assigned("batch=3"), assigned("parameters.kernel=3")])
    assert (found.batch, found.rate, found.seed) == (3, 2, 1)
    assert found.parameters == {"width": 2, "depth": 1, "kernel": 3}


def test_a_fault_that_is_overruled_is_none(tmp_path: Path) -> None:
    assert configured([in_file(tmp_path, "batch = 0\n"), assigned("batch=8")]).batch == 8


def test_the_one_that_counts_is_shown(tmp_path: Path) -> None:
    said = complaint(tmp_path, "[parameters]\nwidth = [[]]\n", "parameters.depth=3", "parameters.wide=[[]]")
    assert " --> net.toml:2:1\n" in said
    assert " --> the command line:1:1\n" in said
    assert "1 | parameters.wide=[[]]\n  | ^^^^^^^^^^^^^^^^^^^^ should be" in said


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("data=digits", "digits"),
        ("data = 'digits'", "digits"),
        ("data=folder:a=b", "folder:a=b"),
        ("data=[", "["),
        ("steps=10", 10),
        ("rate=1e-3", 0.001),
        ("flip=true", True),
        ("parameters={width = 3}", {"width": 3}),
        ("data=''", ""),
        ("rate=1979-05-27", date(1979, 5, 27)),
    ],
)
def test_values_on_the_command_line(word: str, value: Any) -> None:
    assert list(assigned(word).values.values()) == [value]


def test_all_settings_come_back() -> None:
    """A run resumes with the settings it stored."""
    found = configured([assigned("lambda=0.1"), assigned("steps=7"), assigned("parameters.width=2.5")])
    assert SearchConfig.model_validate(json.loads(json.dumps(found.to_plain()))) == found
    assert "warmup" not in found.to_plain()


# ------------------------------------------------------------------------------------ where a key is


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("batch = 1", "batch", "batch = 1"),
        ("# batch = 0\nbatch = 1  # batch = 2\n", "batch", "batch = 1"),
        ("a = 'batch = 0'\nbatch = 1", "batch", "batch = 1"),
        ('a = "\\"batch = 0"\nbatch = 1', "batch", "batch = 1"),
        ('a = """\nbatch = 0\n"""\nbatch = 1', "batch", "batch = 1"),
        ("a = '''\nbatch = 0'''\nbatch = 1", "batch", "batch = 1"),
        ('a = "# no comment"\nbatch = "# nor this"', "batch", 'batch = "# nor this"'),
        ("minibatch = 0\nbatch2 = 0\nbatch = 1", "batch", "batch = 1"),
        ("[parameters]\nbatch = 0\n", "batch", None),
        ("batch = 1\n[parameters]\nbatch = 0\n", "batch", "batch = 1"),
        ("batch = 1\n[parameters]\nbatch = 0\n", "parameters.batch", "batch = 0"),
        ("[other]\nwidth = 0\n[ parameters ] # here\n  width=1\n", "parameters.width", "width=1"),
        ("parameters.width = 1", "parameters.width", "parameters.width = 1"),
        ("parameters . \"width\" = 1", "parameters.width", "parameters . \"width\" = 1"),
        ("width = 0\nparameters = { depth = 2, width = 1 }", "parameters.width", "width = 1"),
        ("parameters = { depth = 'width = 0, width = 3', width = 1 }", "parameters.width", "width = 1"),
        ("parameters = { depth = 2 }", "parameters.width", None),
        ("'batch' = 1", "batch", "'batch' = 1"),
        ("[batch]\na = 1", "batch", "batch"),
        ("[batch.size]\na = 1", "batch", "batch.size"),
        ("batch.size = 1", "batch", "batch.size = 1"),
        ("rate = 1\r\nbatch = 1\r\n", "batch", "batch = 1"),
    ],
)  # fmt: skip
def test_where_a_key_is(text: str, path: str, found: str | None) -> None:
    span = Settings(Source("net.toml", text), {}).place(path.split("."))
    assert (span and span.text) == found
    assert (find(text, tuple(path.split("."))) is None) == (found is None)
