"""Flipped bits in the files of a run are noticed: no verb gives a different result without saying so."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from tests.cli.conftest import Result, Run, run
from tests.helpers import mostly_long
from tests.hostile.small_runs import KINDS, Reading, is_read, readings

__all__ = ["run"]

FLIPS = 1  # per file, in the fast test
LONG_FLIPS = 16

# The files of every kind of run, apart from checkpoints and stages, which have folders of their own.
ALL = [f"{kind}{end}" for kind in KINDS for end in ("", "-cut")]
Expected = dict[tuple[str, str], Any]


@pytest.fixture(scope="session")
def expected() -> Expected:
    """What verbs come to with intact runs, as far as they are known."""
    return {}


def files_of(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path) for path in found if path.name != "lock"]


def flipped(content: bytes, where: random.Random) -> tuple[bytes, str]:
    """Some bytes with one bit flipped, and which."""
    position, bit = where.randrange(len(content)), where.randrange(8)
    changed = bytearray(content)
    changed[position] ^= 1 << bit
    return bytes(changed), f"bit {bit} of byte {position}"


def in_a_copy(run: Run, folder: Path, reading: Reading, file: str = "", content: bytes = b"") -> tuple[Result, Any]:
    """What a verb comes to in a copy of a run, in the working directory, which is empty before and after.

    A damaged checkpoint that was neither read nor written has no part in it.
    """
    here = Path.cwd()
    shutil.copytree(folder, here / "run")
    if file:
        (here / "run" / file).write_bytes(content)
    try:
        result = reading.run(run)
        if file.endswith(".pt") and (here / "run" / file).is_file() and (here / "run" / file).read_bytes() == content:
            (here / "run" / file).unlink()
        return result, reading.left(here, result) if result.code == 0 else None
    finally:
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def check_flips(run: Run, runs: Path, kind: str, expected: Expected, flips: int) -> None:
    folder = runs / kind
    for name, reading in readings(kind).items():
        if (kind, name) not in expected:
            result, outcome = in_a_copy(run, folder, reading)
            assert result.code == 0, result.err
            assert "NAS60" not in result.err
            expected[kind, name] = outcome
        for file in files_of(folder):
            for seed in range(flips if is_read(file, name, kind) else 0):
                content, which = flipped((folder / file).read_bytes(), random.Random(f"{kind} {file} {seed}"))
                result, outcome = in_a_copy(run, folder, reading, file, content)
                about = f"{' '.join(reading.words)} with {which} of {file} flipped\n{result.err}{result.out[-2000:]}"
                assert result.code in (0, 1), about
                assert result.code == 0 or "error[NAS" in result.err, about
                # A table of a run that has not finished has no checksum, and is shown as it is.
                shown_only = kind.endswith("-cut") and file.endswith(".csv")
                if result.code == 0 and "warning[NAS602]" not in result.err and not shown_only:
                    same = expected[kind, name]
                    if name == "resume" and file.endswith(".pt") and file not in outcome:
                        same = {key: value for key, value in same.items() if key != file}
                    assert outcome == same, about


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", mostly_long(ALL, "search", "train-cut"))
def test_flipped_bits(run: Run, here: Path, small_runs: Path, kind: str, expected: Expected) -> None:
    check_flips(run, small_runs, kind, expected, FLIPS)


@pytest.mark.long
@pytest.mark.parametrize("kind", ALL)
def test_many_flipped_bits(run: Run, here: Path, small_runs: Path, kind: str, expected: Expected) -> None:
    check_flips(run, small_runs, kind, expected, LONG_FLIPS)


def as_before(folder: Path) -> None:
    """Remove all checksums from a run, which older versions did not write."""
    (folder / "checksums.json").unlink(missing_ok=True)
    for path in folder.rglob("*.json"):
        content = json.loads(path.read_text())
        if isinstance(content, dict) and path.name != "architecture.json":
            path.write_text(json.dumps({key: content[key] for key in content.keys() - {"checksum", "files"}}))
    for path in folder.rglob("*.pt"):
        path.write_bytes(path.read_bytes()[:-72])
    for path in folder.rglob("*.safetensors"):
        save_file(load_file(path), path, {"fingerprint": "as it was"})


@pytest.mark.parametrize("kind", ALL)
def test_runs_without_checksums(run: Run, here: Path, small_runs: Path, kind: str) -> None:
    for name, reading in readings(kind).items():
        shutil.copytree(small_runs / kind, here / "run")
        as_before(here / "run")
        result = reading.run(run)
        assert (result.code, "NAS60" in result.err) == (0, False), f"{name}\n{result.err}"
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
