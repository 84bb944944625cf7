"""A disk that is full: a message, no file that is half written, and no claim that something was."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.hostile.outputs import FILES, FOLDERS, contents, folder, searched

__all__ = ["folder", "run", "searched"]

MESSY = "motif   m{in x x->out:relu}\n"
QUICK = [verb for verb in FILES if verb != "export --onnx"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("verb", [*QUICK, *FOLDERS])
def test_the_old_file_stays(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str, number: int) -> None:
    words = (*FILES[verb], "old") if verb in FILES else (*FOLDERS[verb][0], ".")
    file = "old.nas" if verb == "new" else "old" if verb in FILES else FOLDERS[verb][1]
    (folder / file).write_text("old\n")
    (folder / "other.py").write_text("old\n")
    before = contents(folder)

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    result = run(*words, "--force")
    assert result.code == 1
    assert "error[NAS012]: cannot write `" in result.err
    assert os.strerror(number).lower() in result.err
    assert "= help: free some disk space" in result.err
    assert "wrote" not in result.out
    assert contents(folder) == before


def test_fmt_does_not_say_that_it_wrote(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.nas").write_text(MESSY)
    (folder / "b.nas").write_text(MESSY)
    real, calls = os.fsync, []

    def full_at_first(file: int) -> None:
        calls.append(file)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(os, "fsync", full_at_first)
    result = run("fmt", "a.nas", "b.nas")
    assert (result.code, result.out) == (1, "b.nas: reformatted\n")
    assert "error[NAS012]: cannot write" in result.err
    assert "= help: free some disk space; the file is unchanged" in result.err
    assert (folder / "a.nas").read_text() == MESSY
    assert (folder / "b.nas").read_text() != MESSY


@pytest.mark.parametrize(
    "words",
    [
        ("fmt", "messy.nas"),
        ("export", "net.nas", "-o", "messy.nas", "--force"),
        ("compile", "net.nas", "-o", "out"),
        ("new", "another"),
    ],
)
def test_a_limit_of_the_system(folder: Path, words: tuple[str, ...]) -> None:
    """No file may be larger than a hundred bytes, which every write call notices."""
    (folder / "messy.nas").write_text("// a comment that is longer than the limit" * 9 + "\n" + MESSY)
    before = contents(folder)
    result = subprocess.run(
        [sys.executable, "-m", "bayesnas_graph", *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1, result.stderr
    assert "error[NAS012]: cannot write `" in result.stderr
    assert "file too large" in result.stderr
    assert "reformatted" not in result.stdout
    assert "wrote" not in result.stdout
    assert contents(folder) == before
