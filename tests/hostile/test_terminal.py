"""Runs in a terminal that is closed: each saves its state and ends as after Ctrl-C, though nobody reads its output."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.helpers import mostly_long
from tests.hostile.outputs import NET, SPACE

__all__ = ["run"]

LONG = ("--data", "shapes", "--batch", "8", "-o", "run", "-s", "threads=1")
COMMANDS = {
    "search": ("search", "space.nas", "--steps", "100000", "-s", "log_steps=1", *LONG),
    "train": ("train", "net.nas", "--epochs", "100000", "-s", "cutout=0", *LONG),
    "compress": ("compress", "net.nas", "--epochs", "100000", *LONG),
    "sweep": ("search", "space.nas", "--steps", "100000", "-s", "log_steps=1", "--seeds", "2", "--jobs", "1", *LONG),
}


def take_terminal() -> None:
    """Become the first process of a session, with standard input as its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def has_started(folder: Path) -> bool:
    return any(path.read_text().count("\n") > 1 for path in folder.rglob("metrics.csv"))


@pytest.mark.parametrize("display", ["live", "plain"])
@pytest.mark.parametrize("verb", mostly_long(COMMANDS, "search", "train"))
def test_the_terminal_closes(
    verb: str, display: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nas").write_text(NET)
    (tmp_path / "space.nas").write_text(SPACE)
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bayesnas_graph", *COMMANDS[verb], "--display", display],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        preexec_fn=take_terminal,
        env={**os.environ, "TERM": "xterm", "PYTHONUTF8": "1"},
    )
    os.close(inner)
    shown = b""
    while not has_started(tmp_path / "run"):
        assert process.poll() is None, shown.decode()
        if select.select([terminal], [], [], 0.05)[0]:
            shown += os.read(terminal, 65536)
    os.close(terminal)
    assert process.wait() == 130
    path = "run/seed=0" if verb == "sweep" else "run"
    found = run("status", path, "--json").out
    assert '"state": "stopped"' in found
    assert list((tmp_path / path / "checkpoints").rglob("step-*.pt"))
    assert not list(tmp_path.rglob("*.part"))
