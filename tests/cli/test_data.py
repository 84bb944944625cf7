"""The command `data`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bayesnas_graph import api
from bayesnas_graph.data.catalogue import ORIGINS, Archive, DownloadSource
from tests.cli.conftest import Run
from tests.conftest import ROOT
from tests.data.files import write_mnist
from tests.data.server import Server, serving
from tests.data.test_download import CONTENT, FILE, md5

PROGRAM = [sys.executable, "-m", "bayesnas_graph", "data", "get", "fashion-mnist"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with serving() as running:
        yield running


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYESNAS_DATA", raising=False)
    return tmp_path


def test_list(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mnist(here / "data" / "mnist")
    result = run("data", "list")
    assert (result.code, result.err) == (0, "")
    rows = {line.split()[0]: line for line in result.out.splitlines()}
    assert list(rows) == [
        "digits", "shapes", "mnist", "fashion-mnist", "cifar10", "cifar100",
        "folder:PATH", "csv:FILE", "parquet:FILE", "npz:FILE", "hf:NAME", "package.module:callable",
    ]  # fmt: skip
    assert "1x28x28" in rows["mnist"]
    assert rows["mnist"].endswith("in data/mnist")
    assert rows["cifar100"].endswith("100 classes  not in data: bayesnas-graph data get cifar100")
    assert rows["digits"].endswith("which is installed")
    assert "in elsewhere/FashionMNIST/raw" not in result.out
    write_mnist(here / "elsewhere" / "FashionMNIST" / "raw")
    monkeypatch.setenv("BAYESNAS_DATA", "elsewhere")
    assert "in elsewhere/FashionMNIST/raw" in run("data", "list").out
    assert "in data/mnist" in run("data", "list", "--data-dir", "data").out


def test_list_without_scikit_learn(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesnas_graph.data.available.find_spec", lambda _: None)
    assert "scikit-learn, which is not installed" in run("data", "list").out


def test_get(run: Run, here: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive("numbers.gz", len(FILE), md5(FILE), (("numbers", len(CONTENT)),))
    monkeypatch.setitem(ORIGINS, "mnist", DownloadSource("mnist", f"{server.address}/", "mnist", (archive,)))
    server.files["numbers.gz"] = FILE
    result = run("data", "get", "mnist")
    assert (result.code, result.out) == (0, "wrote data/mnist/numbers.gz\n")
    assert result.err == f"downloading numbers.gz, {len(FILE) / 2**20:.1f} MiB\n"
    assert (here / "data" / "mnist" / "numbers.gz").read_bytes() == FILE
    again = run("data", "get", "mnist")
    assert (again.code, again.out, again.err) == (0, "already downloaded: data/mnist/numbers.gz\n", "")
    seen: list[tuple[str, int, int]] = []
    assert api.data_get("mnist", "other", watch=lambda *now: seen.append(now)) == (Path("other/mnist/numbers.gz"),)
    assert seen[-1] == ("numbers.gz", len(FILE), len(FILE))
    assert api.data_get("mnist", "other") == (Path("other/mnist/numbers.gz"),)


def test_get_what_is_wrong(run: Run, here: Path, server: Server) -> None:
    server.files |= {archive.name: b"other" for archive in ORIGINS["mnist"].archives}
    result = run("data", "get", "mnist", "--mirror", server.address)
    assert result.code == 1
    assert "error[NAS506]" in result.err
    assert "the file on the server has 5 bytes instead of 9,912,422" in result.err
    assert "--mirror" in result.err
    assert list((here / "data" / "mnist").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minst", "did you mean `mnist`?"),
        ("digits", "nothing to download for `digits`"),
        ("folder:x", "unknown data set `folder:x`"),
    ],
)
def test_get_unknown_data(run: Run, here: Path, name: str, message: str) -> None:
    result = run("data", "get", name)
    assert result.code == 1
    assert "error[NAS501]" in result.err
    assert message in result.err


def test_interrupt(here: Path, server: Server) -> None:
    """The partial download is kept and resumed."""
    archive = ORIGINS["fashion-mnist"].archives[0]
    server.files[archive.name] = bytes(
        archive.size
    )  # half of it fills no buffers: when that is sent, most of it has arrived
    server.manner = "waits"
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which a shell in the background has turned off
    process = subprocess.Popen(
        [*PROGRAM, "--mirror", server.address],
        stderr=subprocess.PIPE, text=True, preexec_fn=heed, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline().startswith("downloading ")
    server.halfway.wait()
    process.send_signal(signal.SIGINT)
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    assert errors == "interrupted; run the same command again to resume\n"
    assert [path.name for path in (here / "data" / "fashion-mnist").iterdir()] == [f"{archive.name}.part"]


def test_a_bar_on_a_terminal(run: Run, here: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files = {archive.name: bytes(archive.size) for archive in ORIGINS["mnist"].archives}
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    result = run("data", "get", "mnist", "--mirror", server.address)
    assert result.code == 1
    assert "train-images" in result.err
    assert "━" in result.err
    assert "wrong checksum" in " ".join(result.err.split()), "the message is wrapped"
