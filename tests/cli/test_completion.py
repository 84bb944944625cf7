"""Shell completion: the scripts, and the answers to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayesnas_graph.cli.completion import SCRIPTS
from bayesnas_graph.cli.main import COMPLETE, VERBS
from bayesnas_graph.diagnostics import CODES
from tests.cli.conftest import Run
from tests.conftest import SPACES


@pytest.fixture
def complete(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """Completes words in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(COMPLETE, "1")

    def values(*words: str) -> list[str]:
        result = run(*words)
        assert (result.code, result.err) == (0, "")
        return [line.partition("\t")[0] for line in result.out.splitlines()]

    return values


def test_verbs(complete: object) -> None:
    assert callable(complete)
    assert complete("") == [verb for verbs in VERBS.values() for verb in verbs]
    assert complete("se") == ["search"]
    assert "--version" in complete("--")
    assert complete("nonsense", "") == []
    assert complete("data", "") == ["list", "get"]
    assert complete("data", "get", "--mir") == ["--mirror"]


def test_options_and_their_values(complete: object) -> None:
    assert callable(complete)
    assert complete("search", "--target-p") == ["--target-params"]
    assert complete("search", "--target-params", "1M", "--target-p") == [], "given already"
    assert complete("search", "darts", "--strategy", "da") == ["darts"]
    assert complete("search", "--device", "") == ["auto", "cpu", "cuda", "mps"]
    assert complete("search", "-s", "lambda_") == ["lambda_zero=", "lambda_growth="]
    assert complete("train", "-s", "lambda") == []
    assert complete("stats", "darts", "--network", "") == [], "any text"
    assert complete("compile", "darts", "--mode", "prox") == ["proxy", "proxyless"]


def test_spaces_files_and_recipes(complete: object) -> None:
    assert callable(complete)
    assert complete("stats", "") == [path.stem for path in SPACES]
    Path("mine.nas").touch()
    Path("mine.toml").touch()
    Path("more").mkdir()
    Path("more/inner.nas").touch()
    assert complete("check", "m") == ["mobilenet_v2", "mobilenet_v3", "mine.nas", "more/"]
    assert complete("check", "darts", "more/") == ["more/inner.nas"], "as many as there are"
    assert complete("stats", "darts", "") == [], "only one"
    assert complete("search", "darts", "--recipe", "") == ["paper", "quick", "none"]
    assert complete("new", "x", "--from", "quick") == ["quickstart"]
    assert complete("new", "") == []


def test_codes_and_operations(complete: object) -> None:
    assert callable(complete)
    assert complete("explain", "") == list(CODES)
    assert complete("explain", "nas70") == [code.lower() for code in CODES if code.startswith("NAS70")]
    assert "sep_conv" in complete("ops", "sep")


def test_descriptions(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPLETE, "1")
    assert run("explain", "NAS101").out == f"NAS101\t{CODES['NAS101'].title}\n"
    assert "search\tSearch a space for an architecture.\n" in run("").out


def test_it_loads_no_torch() -> None:
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import main\n"
        "for words in (['search', '--s'], ['stats', ''], ['search', 'darts', '--recipe', ''], ['ops', '']):\n"
        "    sys.argv[1:] = words\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "assert 'torch' not in sys.modules\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, COMPLETE: "1"}, capture_output=True, text=True
    )
    assert "--seed\t" in shown.stdout


@pytest.mark.parametrize("shell", SCRIPTS)
def test_scripts_are_printed_and_installed(
    shell: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run("--show-completion", shell).out == SCRIPTS[shell]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    result = run("--install-completion", shell)
    path = Path(result.out.splitlines()[0].removeprefix("wrote "))
    assert path.is_relative_to(tmp_path)
    assert path.read_text() == SCRIPTS[shell]
    assert ("compinit" in result.out) == (shell == "zsh")


def test_no_other_shell(run: Run) -> None:
    assert run("--show-completion", "tcsh").code == 2


def program(folder: Path) -> str:
    """A search path with the program on it."""
    (folder / "bayesnas-graph").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bayesnas_graph "$@"\n')
    (folder / "bayesnas-graph").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash(tmp_path: Path) -> None:
    lines = [
        "COMP_WORDS=(bayesnas-graph explain nas70); COMP_CWORD=2; _bayesnas_graph; echo ${COMPREPLY[@]}",
        "COMP_WORDS=(bayesnas-graph new x --from d); COMP_CWORD=4; _bayesnas_graph; echo ${COMPREPLY[@]}",
    ]
    script = "\n".join([SCRIPTS["bash"], *lines])
    shown = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": program(tmp_path)}, capture_output=True, text=True
    )
    first, second = shown.stdout.splitlines()
    assert first.split() == [code.lower() for code in CODES if code.startswith("NAS70")]
    assert second.split() == [path.stem for path in SPACES if path.stem.startswith("d")]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish(tmp_path: Path) -> None:
    script = SCRIPTS["fish"] + "\ncomplete -C 'bayesnas-graph explain NAS101'\n"
    environment = {**os.environ, "PATH": program(tmp_path), "HOME": str(tmp_path)}
    shown = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True)
    assert shown.stdout == f"NAS101\t{CODES['NAS101'].title}\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_reads_the_script(tmp_path: Path) -> None:
    (tmp_path / "_bayesnas-graph").write_text(SCRIPTS["zsh"])
    subprocess.run(["zsh", "-n", "_bayesnas-graph"], cwd=tmp_path, check=True)
