"""Options that are made from the fields of the settings."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.cli.main import VERBS
from bayesnas_graph.cli.options import help_text
from bayesnas_graph.cli.settings_list import _group
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.config.groups import Flag, Group
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import EvalConfig, TrainConfig
from tests.cli.conftest import Run, settings
from tests.conftest import ROOT

KINDS: list[type[Group]] = [SearchConfig, TrainConfig, CompressConfig, EvalConfig]
COMMON = "--network --data --batch --seed --device --precision --deterministic"
FLAGS = {
    "search": "--iterations --steps --warmup --finalists --compare-random --lambda --lambda-zero --curvature "
    "--dependency --zero --mode --gauge --unit --strategy --target-params --target-flops --memory-limit "
    "--recompute --compile",
    "train": "--epochs --rate --drop-path --auxiliary --memory-limit --recompute --compile",
    "compress": "--epochs --loops --fine-epochs --lambda --target-operations --target-params --rival --memory-limit "
    "--recompute --compile",
    "eval": "--pad",
}


def flags(kind: type[Group]) -> dict[str, tuple[str, str]]:
    """The key and help text of every option."""
    marked = {n: f for n, f in kind.model_fields.items() if any(isinstance(mark, Flag) for mark in f.metadata)}
    return {f"--{(f.alias or n).replace('_', '-')}": (f.alias or n, help_text(f)) for n, f in marked.items()}


def words(text: str) -> str:
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("kind", KINDS)
def test_every_flag_is_in_the_help(kind: type[Group], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = run(kind.verb, "--help").out
    assert flags(kind).keys() == {*COMMON.split(), *FLAGS[kind.verb].split()}
    for flag, (_, help) in flags(kind).items():
        (line,) = [line for line in shown.splitlines() if line.split()[1:2] == [flag]]
        assert help in words(line)


@pytest.mark.parametrize(
    ("verb", "arguments", "key", "value"),
    [
        ("search", ["--lambda", "0.5"], "lambda", "0.5"),
        ("search", ["--target-params", "1.5M"], "target_params", "1500000"),
        ("search", ["--compile"], "compile", "true"),
        ("search", ["--seed", "3", "-s", "seed=4"], "seed", "3"),
        ("search", ["-p", "width=8"], "parameters.width", "8"),
        ("train", ["--drop-path", "0.1"], "drop_path", "0.1"),
        ("train", ["--data", "digits"], "data", "digits"),
        ("compress", ["--rival"], "rival", "true"),
        ("compress", ["--target-operations", "20K"], "target_operations", "20000"),
    ],
)
def test_a_flag_sets_its_setting(verb: str, arguments: list[str], key: str, value: str, run: Run) -> None:
    assert settings(run(verb, *arguments, "--settings").out)[key] == value


def test_settings_are_listed_with_their_descriptions(run: Run) -> None:
    assert "Random seed." in run("search", "--settings").out
    assert "Floating-point precision: fp32, bf16 or fp16." in run("train", "--settings").out


@pytest.mark.parametrize(
    ("arguments", "message", "text"),
    [
        (["--device", "tpu"], "`device` should be `auto`, `cpu`, `cuda` or `mps`", "--device tpu"),
        (["--strategy", "luck"], "`strategy` should be `bayes`", "--strategy luck"),
        (["--lambda", "-1"], "`lambda` should be greater than 0", "--lambda -1.0"),
    ],
)
def test_a_wrong_value_is_a_diagnostic(arguments: list[Any], message: str, text: str, run: Run) -> None:
    result = run("search", "quickstart", *arguments)
    assert result.code == 1
    assert f"error[NAS601]: {message}" in result.err
    assert text in result.err


@pytest.mark.pinned
@pytest.mark.parametrize("verb", [verb for verbs in VERBS.values() for verb in verbs])
def test_help_fits_a_terminal(verb: str, run: Run, monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = "".join(f"{line.rstrip()}\n" for line in run(verb, "--help").out.strip().splitlines())
    path = ROOT / "tests" / "golden" / "help" / f"{verb}.txt"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown)
    assert shown == path.read_text()
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


@pytest.mark.pinned
def test_the_main_page(run: Run, monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = "".join(f"{line.rstrip()}\n" for line in run("--help").out.strip().splitlines())
    path = ROOT / "tests" / "golden" / "help" / "bayesnas-graph.txt"
    if update_golden:
        path.write_text(shown)
    assert shown == path.read_text()
    assert max(map(len, shown.splitlines())) <= 80
    assert len(VERBS) == 4


def test_every_verb_is_listed_once() -> None:
    listed = [verb for verbs in VERBS.values() for verb in verbs]
    assert len(listed) == len(set(listed))


def test_settings_are_grouped_and_show_where_they_were_set(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("rate = 0.5\nmomentum = 0.9\n")
    words = ("--config", "own.toml", "--lambda", "0.1", "-s", "steps=7", "-p", "width=4")
    shown = run("search", "quickstart", *words, "--settings").out
    lines = shown.splitlines()
    assert lines[:3] == ["settings from quickstart.toml", "", "Network and data"]

    def after(start: str) -> tuple[str, str]:
        number = next(i for i, line in enumerate(lines) if line.startswith(start))
        return re.sub(" {2,}", "  ", lines[number]), lines[number + 1].strip()

    assert after("rate ") == ("rate  0.5  * Learning rate of the weights.", "default 0.05; set by own.toml")
    assert after("momentum ") == ("momentum  0.9  Momentum of SGD.", "set by own.toml"), "set to the default"
    assert after("lambda ")[1] == "default 0.05; set by --lambda"
    assert after("batch ")[1] == "default 64; set by quickstart.toml"
    assert after("steps ")[1] == "set by -s", "no default"
    assert after("parameters.width ")[0] == "parameters.width  4  * Values of the network's parameters."
    assert after("parameters.width ")[1] == "set by -p"
    assert lines[-1] == "* differs from the default"
    assert "differs" not in run("train", "--settings").out


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_is_in_a_group_with_a_title(kind: type[Group]) -> None:
    titles = [_group(kind, name) for name in kind.model_fields]
    assert all(titles)
    assert len(set(titles)) == sum(a != b for a, b in pairwise(["", *titles])), "groups are not mixed"


@pytest.mark.parametrize("verb", ["search", "train", "compress"])
def test_settings_fit_a_terminal(verb: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "80")):
        monkeypatch.setenv(name, value)
    assert max(map(len, run(verb, "lenet300", "--settings").out.splitlines())) <= 80
