"""Files that are not what they seem: pipes, devices, links, and documents that are too deep or too large."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics.reading import parse_json, read_file
from tests.cli.conftest import Run, run

__all__ = ["run"]

DIGITS = "9" * 5_000  # Python converts no more than 4,300
SPACE = "network net : image(1, 8, 8) -> classes(10) { in x  x -> out : global_avg_pool > linear(10) }\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nas").write_text(SPACE)
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.nas")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "loop.nas").symlink_to("loop.nas")
    (tmp_path / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    for name in ("run", "sweep"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_bytes((tmp_path / "deep.json").read_bytes())
    (tmp_path / "long.toml").write_text(f"steps = {DIGITS}\n")
    (tmp_path / "deep.toml").write_text("steps = " + "[" * 10_000 + "]" * 10_000)
    (tmp_path / "secret.nas").write_text('import "/etc/passwd"\n' + SPACE)
    (tmp_path / "link.nas").symlink_to("/etc/passwd")
    (tmp_path / "linked.nas").write_text('import "link.nas"\n' + SPACE)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("check", "pipe"), "cannot read `pipe`: not a regular file"),
        (("check", "pipe.nas"), "cannot read `pipe.nas`: not a regular file"),
        (("check", "/dev/zero"), "cannot read `/dev/zero`: not a regular file"),
        (("check", "/proc/self/environ"), "cannot read `/proc/self/environ`: not a regular file"),
        (("check", "loop.nas"), "cannot read `loop.nas`"),
        (("fmt", "pipe.nas"), "cannot read `pipe.nas`: not a regular file"),
        (("eval", "net.nas", "--weights", "pipe"), "cannot read `pipe`: not a regular file"),
        (("search", "net.nas", "--config", "pipe"), "cannot read `pipe`: not a regular file"),
        (("search", "net.nas", "--config", "long.toml"), "a number is too long"),
        (("search", "net.nas", "--config", "deep.toml"), "the settings file is not valid TOML"),
        (("diff", "pipe", "net.nas"), "cannot read `pipe`: not a regular file"),
        (("diff", "deep.json", "deep.json"), "cannot read `deep.json`: nested too deeply"),
        (("status", "run"), "cannot read `run/run.json`"),
        (("report", "run"), "cannot read `run/run.json`"),
        (("derive", "run"), "cannot read `run/run.json`: it is damaged"),
        (("eval", "run"), "cannot read `run/run.json`: it is damaged"),
        (("search", "--resume", "sweep"), "cannot read `sweep/sweep.json`"),
        (("check", "secret.nas"), "cannot import `/etc/passwd`"),
        (("check", "linked.nas"), "cannot import `link.nas`"),
        (("export", "net.nas", "-o", "."), "cannot write `.`: it is a folder"),
        (("export", "net.nas", "-o", "/"), "cannot write `/`: it is a folder"),
        (("export", "net.nas", "-o", "/dev/full"), "cannot write `/dev/full`: not a regular file"),
        (("search", "net.nas", "-s", f"steps={DIGITS}"), "`steps` should be a whole number"),
        (("search", "net.nas", "-s", f"warmup={10**16}"), "`warmup` should be less than 10^15"),
        (("search", "net.nas", "-s", "threads=99999999"), "`threads` should be less than or equal to 256"),
        (("search", "net.nas", "--target-params", DIGITS), "is not a size such as 20K"),
        (("stats", "net.nas", "-p", f"width={DIGITS}"), "is not a number"),
        (("stats", "net.nas", "-p", "width=1e999999999"), "is not a number"),
        (("stats", "net.nas", "-p", f"width=[[{DIGITS}]]"), "is not a number"),
        (("stats", "net.nas", "-p", f"width=[{'1, ' * 10_000}1]"), "has no parameter `width`"),
    ],
)
def test_a_message_at_once(run: Run, folder: Path, words: tuple[str, ...], expected: str) -> None:
    result = run(*words)
    assert result.code in (1, 2)
    assert expected in " ".join(result.err.replace("│", " ").split()) or expected in result.err
    assert "root:" not in result.err, "no lines of other files are shown"
    assert len(result.err) < 2_000


def test_a_literal_with_thousands_of_digits(run: Run, folder: Path) -> None:
    (folder / "digits.nas").write_text(SPACE.replace("linear(10)", f"linear({DIGITS}) > linear(10)"))
    result = run("check", "digits.nas")
    assert result.code == 1
    assert "error[NAS405]: number too large" in result.err


def test_a_run_that_names_a_file_elsewhere(run: Run, folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    names = {"space": "s", "called": "s", "file": "../../net.nas", "network": "net", "begun": ""}
    about = {"kind": "search", "config": {}, **names}
    (folder / "elsewhere" / "run.json").write_text(json.dumps(about))
    result = run("draw", "elsewhere", "-o", "picture.svg", "--space")
    assert result.code == 1
    assert "is not in its copy of the space" in result.err


def test_reading(folder: Path) -> None:
    assert read_file(folder / "net.nas").decode() == SPACE
    with pytest.raises(OSError, match="larger than 0 MiB"):
        read_file(folder / "net.nas", 10)
    with pytest.raises(IsADirectoryError):
        read_file(folder)
    with pytest.raises(OSError, match="symbolic links"):
        read_file(folder / "loop")
    for text in ("NaN", "[Infinity]", "{", DIGITS, "[" * 100_000):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)
