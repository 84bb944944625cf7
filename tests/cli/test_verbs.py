"""Every command, through the command line."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import CODES
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.syntax import reserved_words
from tests.cli.conftest import Run
from tests.conftest import ROOT

GOOD = "network n : vector(4) -> classes(2) {\n    in x\n    x -> out : linear(2)\n}\n"
BAD = GOOD.replace("linear", "lienar")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.nas").write_text(GOOD)
    (tmp_path / "bad.nas").write_text(BAD)
    return tmp_path


# ------------------------------------------------------------------------------------- check


def test_check(run: Run, here: Path) -> None:
    result = run("check", "good.nas")
    assert (result.code, result.err) == (0, "")
    assert result.out == "good.nas: ok, network n: 1 operation, 1 edge, no choices, a fixed network\n"


def test_check_tells_of_every_file(run: Run, here: Path) -> None:
    (here / "worse.nas").write_text("motif m {")
    result = run("check", "bad.nas", "good.nas", "worse.nas", "absent.nas")
    assert result.code == 1
    assert "good.nas: ok" in result.out
    assert "bad.nas: ok" not in result.out
    for text in ("NAS101", "did you mean `linear`?", "NAS002", "cannot read `absent.nas`", "3 errors"):
        assert text in result.err


def test_check_json(run: Run, here: Path) -> None:
    result = run("check", "--json", "good.nas", "bad.nas")
    assert result.code == 1
    answer = json.loads(result.out)
    assert answer["version"] == 1
    assert not answer["ok"]
    (diagnostic,) = answer["diagnostics"]
    assert diagnostic["code"] == "NAS101"
    assert diagnostic["help"] == "did you mean `linear`?"
    place = {key: diagnostic["primary"][key] for key in ("file", "line", "column", "end_line", "end_column")}
    assert place == {"file": "bad.nas", "line": 3, "column": 16, "end_line": 3, "end_column": 22}
    assert [n["name"] for n in answer["files"][0]["networks"]] == ["n"]


def test_check_json_of_a_clean_file(run: Run, here: Path) -> None:
    result = run("check", "--json", "good.nas")
    assert result.code == 0
    assert json.loads(result.out)["ok"]


def test_check_reads_standard_input(run: Run) -> None:
    assert run("check", "-", stdin=GOOD).code == 0
    assert "<stdin>:3:16" in run("check", "-", stdin=BAD).err


def test_check_knows_shipped_spaces_and_folders(run: Run, here: Path) -> None:
    assert "<shipped>/darts.nas: ok, network search" in run("check", "darts").out
    (here / "bad.nas").unlink()
    assert run("check", here).code == 0
    (here / "empty").mkdir()
    assert "no `.nas` file" in run("check", "empty").err


def test_check_warns_without_failing(run: Run, here: Path) -> None:
    (here / "w.nas").write_text("network n : vector(2), vector(2) -> vector(2) { in x, y out x }")
    result = run("check", "w.nas")
    assert result.code == 0
    assert "warning[NAS306]" in result.err


def test_check_limits(run: Run, here: Path) -> None:
    (here / "big.nas").write_text(GOOD.replace("linear(2)", "relu > relu > linear(2)"))
    assert "NAS401" in run("check", "big.nas", "--max-nodes", "2").err
    assert "NAS403" in run("check", "big.nas", "--max-steps", "2").err
    assert run("check", "big.nas", "--max-nodes", "0").code == 2


def test_python_operations(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "mine.py").write_text(
        "import pathlib, torch\npathlib.Path('ran').touch()\nclass Half(torch.nn.Linear):\n"
        "    def __init__(self, width):\n        super().__init__(4, width)\n"
    )
    (here / "p.nas").write_text('op half(width) from "mine:Half"\n' + GOOD.replace("linear(2)", "half(2)"))
    monkeypatch.syspath_prepend(here)
    result = run("check", "p.nas")
    assert result.code == 1
    assert "NAS105" in result.err
    assert not (here / "ran").exists(), "a stranger's file must not run code"
    assert run("check", "p.nas", "--allow-python").code == 0
    assert (here / "ran").exists()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00m", b"\x00" * 10, b"", b"\xef\xbb\xbflet a = 1\r\n"])
def test_check_reads_any_bytes(run: Run, here: Path, content: bytes) -> None:
    (here / "odd.nas").write_bytes(content)
    assert run("check", "odd.nas").code in (0, 1)


def test_check_rejects_special_files(run: Run, here: Path) -> None:
    os.mkfifo(here / "pipe.nas")
    result = run("check", "pipe.nas")
    assert "not a regular file" in result.err
    (here / "i.nas").write_text('import "pipe.nas"\n')
    assert run("check", "i.nas").code == 1
    assert "cannot read `/dev/zero`" in run("check", "/dev/zero").err


def test_check_import_cycle(run: Run, here: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (here / f"{name}.nas").write_text(f'import "{other}.nas"\n')
    result = run("check", "a.nas")
    assert "imports form a cycle: a.nas -> b.nas -> c.nas -> a.nas" in result.err
    assert result.err.count("error[") == 1


def test_check_imports_relative_to_the_importing_file(run: Run, here: Path) -> None:
    (here / "lib").mkdir()
    (here / "lib" / "ops.nas").write_text('import "deep.nas" as deep\nset s = { deep.act }\n')
    (here / "lib" / "deep.nas").write_text("motif act { in x x -> out : relu }\n")
    (here / "main.nas").write_text('import "lib/ops.nas"\n' + GOOD.replace("linear", "choose s > linear"))
    assert run("check", "main.nas").code == 0


# --------------------------------------------------------------------------------------- fmt

MESSY = "// kept\nmotif   m{in x x->out:relu}"
TIDY = "// kept\nmotif m {\n    in x\n    x -> out : relu\n}\n"


def test_fmt(run: Run, here: Path) -> None:
    file = here / "m.nas"
    file.write_text(MESSY)
    file.chmod(0o640)
    result = run("fmt", "m.nas", "good.nas")
    assert (result.code, result.out) == (0, "m.nas: reformatted\n")
    assert file.read_text() == TIDY
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert run("fmt", "m.nas").out == ""
    assert [p.name for p in here.iterdir() if p.name.startswith(".")] == []


def test_fmt_check_and_diff_change_nothing(run: Run, here: Path) -> None:
    (here / "m.nas").write_text(MESSY)
    result = run("fmt", "--check", "m.nas", "good.nas")
    assert (result.code, result.out) == (1, "m.nas: would be reformatted\n1 file already formatted\n")
    result = run("fmt", "--diff", "m.nas")
    assert result.code == 1
    assert "-motif   m{in x x->out:relu}" in result.out
    assert "+    x -> out : relu" in result.out
    assert (here / "m.nas").read_text() == MESSY
    assert run("fmt", "--check", "good.nas").code == 0
    assert run("fmt", "--diff", "good.nas").out == ""


def test_fmt_standard_input(run: Run) -> None:
    assert run("fmt", "-", stdin=MESSY).out == TIDY


def test_fmt_leaves_a_file_with_mistakes_alone(run: Run, here: Path) -> None:
    (here / "m.nas").write_text("motif m {")
    result = run("fmt", "m.nas")
    assert result.code == 1
    assert "NAS002" in result.err
    assert (here / "m.nas").read_text() == "motif m {"


def test_fmt_keeps_the_file_if_it_cannot_write(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "m.nas").write_text(MESSY)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = run("fmt", "m.nas")
    assert result.code == 1
    assert "NAS012" in result.err
    assert "no space left on device" in result.err
    assert result.out == ""
    assert (here / "m.nas").read_text() == MESSY
    assert sorted(p.name for p in here.iterdir()) == ["bad.nas", "good.nas", "m.nas"]


def test_fmt_writes_through_a_link(run: Run, here: Path) -> None:
    (here / "m.nas").write_text(MESSY)
    (here / "link.nas").symlink_to("m.nas")
    run("fmt", "link.nas")
    assert (here / "link.nas").is_symlink()
    assert (here / "m.nas").read_text() == TIDY


# ----------------------------------------------------------------------- explain, ops, spaces


@pytest.mark.parametrize("code", CODES)
def test_explain(run: Run, code: str) -> None:
    result = run("explain", code.lower())
    assert result.code == 0
    assert result.out.startswith(f"# {code}: {CODES[code].title}\n")


def test_explain_lists_and_suggests(run: Run) -> None:
    assert len(run("explain").out.splitlines()) == len(CODES)
    assert run("explain", "201").out.startswith("# NAS201")
    result = run("explain", "NAS999")
    assert result.code == 1
    assert "unknown error code `NAS999`" in result.err


def test_ops(run: Run) -> None:
    result = run("ops")
    assert result.code == 0
    for name in [*PRIMITIVES, "sep_conv", "floor"]:
        assert name in result.out
    assert "conv(width = same, k = 3, stride = 1" in run("ops", "conv").out
    assert "did you mean `sep_conv`?" in run("ops", "sep_cov").err
    assert "it is called `sep_conv` here" in run("ops", "SepConv").err
    entries = json.loads(run("ops", "--json").out)
    assert {"name", "kind", "signature", "doc"} == set(entries[0])
    assert all(entry["doc"] for entry in entries)


def test_spaces(run: Run, here: Path) -> None:
    result = run("spaces")
    assert result.code == 0
    for name in ("darts", "quickstart", "lenet5"):
        assert name in result.out
    result = run("spaces", "quickstart")
    for text in ("network digits", "inputs      image(1, 8, 8)", "width = 8", "requires    params < 20,000", "cell"):
        assert text in result.out
    assert "\nrecipes\n  quickstart.toml        Settings for searching quickstart.nas" in result.out
    assert "\n  quickstart.paper.toml  The same as without" in result.out
    assert re.findall(r"^  (darts\S+toml)  \w", run("spaces", "darts").out, re.MULTILINE) == [
        "darts.paper.toml",
        "darts.quick.toml",
    ]
    assert "recipes" not in run("spaces", "good.nas").out
    assert run("spaces", "--text", "lenet5").out.startswith("//!")
    assert Path(run("spaces", "--path", "lenet5").out.strip()).is_file()
    assert "network n" in run("spaces", "good.nas").out
    assert run("spaces", "bad.nas").code == 1
    assert "did you mean `darts`?" in run("spaces", "dats").err


# --------------------------------------------------------------------------------------- new


@pytest.mark.parametrize("name", ["mine", "my-space.nas", "3d", "relu", "motif", "block", "a b"])
def test_new(run: Run, here: Path, name: str) -> None:
    result = run("new", name)
    assert result.code == 0
    file = here / (name if name.endswith(".nas") else f"{name}.nas")
    checked = run("check", file)
    assert (checked.code, checked.err) == (0, "")
    assert run("fmt", "--check", file).code == 0
    assert "choices" in checked.out


def test_new_never_overwrites(run: Run, here: Path) -> None:
    result = run("new", "good")
    assert result.code == 1
    assert "already exists" in result.err
    assert (here / "good.nas").read_text() == GOOD
    assert run("new", "a/new/folder").code == 0
    assert run("new", "x" * 300).code == 1


def test_new_from_a_shipped_space(run: Run, here: Path) -> None:
    assert run("new", "mine", "--from", "nasbench201").code == 0
    assert run("check", "mine.nas").code == 0
    assert run("new", "other", "--from", "nasbench").code == 1
    assert (here / "mine.toml").read_text() == (ROOT / "spaces" / "nasbench201.toml").read_text()


def test_new_copies_recipes(run: Run, here: Path) -> None:
    result = run("new", "cells", "--from", "darts")
    assert result.out == (
        "wrote cells.paper.toml and cells.quick.toml\nwrote cells.nas; next: bayesnas-graph check cells.nas\n"
    )
    assert "settings from cells.paper.toml\n" in run("search", "cells.nas", "--recipe", "paper", "--settings").out
    (here / "other.quick.toml").write_text("# mine\n")
    result = run("new", "other", "--from", "darts")
    assert (result.code, result.err.splitlines()[0]) == (1, "error[NAS012]: `other.quick.toml` already exists")
    assert not (here / "other.nas").exists()
    assert not (here / "other.paper.toml").exists()


# ------------------------------------------------------------------------------------ program


def test_usage(run: Run) -> None:
    assert run("--version").out == "bayesnas-graph 0.1.0\n"
    assert run("chekc").code == 2
    assert run("check").code == 2
    assert "check" in run("--help").out


def test_internal_errors(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bayesnas_graph.cli.spaces._list", broken)
    result = run("spaces")
    assert result.code == 70
    assert "Traceback" not in result.err
    trace = Path(result.err.split()[-1])
    assert "boom" in trace.read_text()
    trace.unlink()


def test_reserved_words_are_those_of_the_grammar() -> None:
    assert {"motif", "cell", "network", "choose", "true"} <= reserved_words()
