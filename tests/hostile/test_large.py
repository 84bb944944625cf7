"""Networks, batches and settings that are too large, and a machine that lacks something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.codegen.emit import build, emit, memory
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.memory import available_memory, is_out_of_memory
from tests.cli.conftest import Run, run
from tests.conftest import ROOT

__all__ = ["run"]

LARGE = """
network fixed(width = 1000000) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : flatten > linear(width) > linear(width) > linear(10)
}

network open(width = 1000000) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : flatten > linear(width) > choose { linear(width), relu > linear(width) } > linear(10)
}

network wide(side = 1000000) : image(3, side, side) -> classes(10) {
    in x
    x -> out : conv(4) > global_avg_pool > linear(10)
}
"""
SMALL = "network net : image(1, 8, 8) -> classes(10) { in x  x -> out : conv(4) > global_avg_pool > linear(10) }\n"
MANY = str(10**15)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.nas").write_text(LARGE)
    (tmp_path / "net.nas").write_text(SMALL)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("eval", "large.nas"), "the weights of network `fixed` need 3.6 TiB, but"),
        (("export", "large.nas", "--onnx", "net.onnx"), "the weights of network `fixed` need 3.6 TiB, but"),
        (("export", "large.nas", "--torchscript", "net.pt"), "the weights of network `fixed` need 3.6 TiB, but"),
        (("train", "large.nas", "--data", "digits"), "need 3.6 TiB, and training them 10.9 TiB, but"),
        (("compress", "large.nas", "--data", "digits"), "need 3.6 TiB, and training them 10.9 TiB, but"),
        (("search", "large.nas", "--network", "open", "--data", "digits"), "`open` need 7.3 TiB, and training them"),
        (("eval", "large.nas", "--network", "wide"), "4x1000000x1000000 numbers for a single sample: 14.6 TiB, but"),
        (("train", "large.nas", "--network", "wide", "--data", "shapes"), "for a single sample: 14.6 TiB, but"),
    ],
)
def test_networks_of_terabytes(run: Run, here: Path, words: tuple[str, ...], expected: str) -> None:
    result = run(*words)
    assert result.code == 1
    assert "error[NAS407]" in result.err
    assert expected in result.err
    assert "batch" not in result.err
    assert not (here / "runs").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("check", "large.nas"),
        ("stats", "large.nas"),
        ("draw", "large.nas", "-o", "net.svg"),
        ("compile", "large.nas", "-o", "compiled"),
        ("export", "large.nas", "-o", "net.py"),
    ],
)
def test_what_needs_no_weights(run: Run, here: Path, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize("verb", ["search", "train", "compress"])
def test_activations_that_do_not_fit(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Each value fits, but not all that the backward pass needs."""
    monkeypatch.setattr("bayesnas_graph.runs.memory.available_memory", lambda: 2**10)
    (here / "net.nas").write_text(SMALL.replace("conv(4)", "conv(4) > relu > conv(4) > relu > optional (conv(4) > bn)"))
    if verb != "search":
        (here / "net.nas").write_text(SMALL.replace("conv(4)", "conv(4) > relu > conv(4) > relu > conv(4) > bn"))
    words = (verb, "net.nas", "--data", "digits", "-s", "cutout=0")
    monkeypatch.setattr(memory, "check_weights", lambda *_: None)
    result = run(*words)
    assert result.code == 1
    assert "error[NAS407]: training network `net` on a single sample needs " in result.err
    assert "of memory are available" in result.err
    assert not (here / "runs").exists()


def test_activations_of_drawn_networks(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strategy that computes only what it draws needs less than the whole network, unless choices are compiled."""
    monkeypatch.setattr("bayesnas_graph.runs.memory.available_memory", lambda: 2**20)
    (here / "net.nas").write_text(SMALL.replace("conv(4)", "conv(4) > relu > optional (conv(4) > relu > conv(4) > bn)"))
    short = [word for setting in ("cutout=0", "warmup=1", "iterations=1", "steps=1") for word in ("-s", setting)]
    words = ("search", "net.nas", "--data", "digits", "--batch", "512", *short, "-s", "finish=0")
    parts = "a batch of 512 needs 3.1 MiB: computed in 4 parts"
    assert parts in run(*words).out
    assert parts in run(*words, "--strategy", "gdas", "--compile").out
    drawn = run(*words, "--strategy", "gdas")
    assert drawn.code == 0
    assert "memory  " not in drawn.out


def test_weights_that_cannot_be_allocated(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is unknown how much memory there is, torch finds out."""
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    with pytest.raises(NasError, match=r"the weights of network `Fixed` need 3.6 TiB, which could not be allocated"):
        build(emit(api.load(here / "large.nas").graph()))


def test_memory() -> None:
    free = available_memory()
    assert free is None or 2**20 < free < 2**50
    with pytest.raises(RuntimeError) as error:
        torch.empty(2**62, dtype=torch.uint8)
    assert is_out_of_memory(error.value)
    assert not is_out_of_memory(RuntimeError("size mismatch"))


def test_memory_that_runs_out_anywhere(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesnas_graph.data.digits.np.rint", lambda _: torch.empty(2**62, dtype=torch.uint8))
    result = run("search", "net.nas", "--data", "digits")
    assert result.code == 1
    assert "error[NAS407]: there is not enough memory" in result.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-s", f"batch={MANY}"), "a batch of 1000000000000000 is larger than the 1200 samples"),
        (("--batch", MANY), "a batch of 1000000000000000 is larger than the 1200 samples"),
        (("-s", f"pad={MANY}"), "`pad` should be less than or equal to 10000"),
        (("-s", f"crop={MANY}"), "`crop` should be less than or equal to 10000"),
        (("-s", f"cutout={MANY}"), "`cutout` should be less than or equal to 10000"),
        (("-s", f"workers={MANY}"), "`workers` should be less than or equal to 256"),
        (("-s", f"draws={MANY}"), "`draws` should be less than or equal to 10000"),
        (("-s", f"samples={MANY}"), "`samples` should be less than or equal to 1000000"),
        (("--finalists", MANY), "`finalists` should be less than or equal to 10000"),
        (("--seeds", MANY), "the grid has 1,000,000,000,000,000 runs"),
        (("--seeds", "2", "--jobs", MANY), "less than or equal to 1024"),
    ],
)
def test_absurd_settings(run: Run, here: Path, words: tuple[str, ...], expected: str) -> None:
    result = run("search", "net.nas", "--data", "digits", *words)
    assert result.code in (1, 2)
    assert expected in result.err


# ---------------------------------------------------------------------------------------- without torch

BLOCK = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
"""
WITHOUT = [
    ("--help",),
    ("search", "--help"),
    ("check", "net.nas"),
    ("fmt", "net.nas"),
    ("stats", "net.nas"),
    ("draw", "net.nas", "-o", "net.svg"),
    ("diff", "net.nas", "net.nas"),
    ("compile", "net.nas", "-o", "compiled"),
    ("new", "other"),
    ("spaces", "darts"),
    ("ops", "conv"),
    ("explain", "NAS609"),
    ("search", "net.nas", "--settings"),
]
WITH = [
    ("search", "net.nas", "--data", "digits"),
    ("train", "net.nas", "--data", "digits"),
    ("compress", "net.nas", "--data", "digits"),
    ("eval", "net.nas"),
    ("export", "net.nas"),
    ("data", "list"),
]


def without_torch(here: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    (here / "block").mkdir()
    (here / "block" / "sitecustomize.py").write_text(BLOCK)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here / "block"), str(ROOT)])}
    command = [sys.executable, "-m", "bayesnas_graph", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("words", WITHOUT, ids=" ".join)
def test_verbs_that_need_no_torch(here: Path, words: tuple[str, ...]) -> None:
    done = without_torch(here, words)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", WITH, ids=" ".join)
def test_verbs_that_need_torch(here: Path, words: tuple[str, ...]) -> None:
    done = without_torch(here, words)
    assert done.returncode == 1
    assert done.stderr == (
        "error[NAS609]: this needs the package `torch`, which is not installed\n"
        " = help: install it with `pip install torch`\n\n"
    )
