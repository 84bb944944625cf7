"""What verbs write: only regular files, each named once, and no file of somebody else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write
from bayesnas_graph.diagnostics.outputs import write_outputs
from tests.cli.conftest import Run, run
from tests.hostile.outputs import FILES, FOLDERS, RUNS, contents, folder, searched

__all__ = ["folder", "run", "searched"]

MINE = "written by hand\n"


def file_of(verb: str, name: str) -> str:
    """The file that a verb writes if it is given a name."""
    return f"{name}.nas" if verb == "new" else name


# ------------------------------------------------------------------------------------ existing files


@pytest.mark.parametrize("verb", FILES)
def test_a_file_is_replaced_only_on_request(run: Run, folder: Path, verb: str) -> None:
    path = folder / file_of(verb, "mine")
    path.write_text(MINE)
    path.chmod(0o640)
    before = contents(folder)
    result = run(*FILES[verb], "mine")
    assert result.code == 1
    assert f"error[NAS012]: `{path.name}` already exists\n" in result.err
    assert "= help: choose another name, or replace it with `--force`" in result.err
    assert contents(folder) == before, "nothing else is written either"
    if verb == "export --onnx":
        return  # takes seconds, and is written like the others
    forced = run(*FILES[verb], "mine", "--force")
    assert (forced.code, f"wrote {path.name}" in forced.out) == (0, True), forced.err
    assert path.read_bytes() != before[path.name]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("verb", FOLDERS)
def test_a_file_in_a_folder_is_replaced_only_on_request(run: Run, folder: Path, verb: str) -> None:
    words, name = FOLDERS[verb]
    (folder / "out").mkdir()
    (folder / "out" / name).write_text(MINE)
    (folder / "out" / "notes").write_text(MINE)
    before = contents(folder)
    result = run(*words, "out")
    assert (result.code, f"error[NAS012]: `out/{name}` already exists\n" in result.err) == (1, True)
    assert contents(folder) == before
    assert run(*words, "out", "--force").code == 0
    assert (folder / "out" / name).read_text() != MINE
    assert (folder / "out" / "notes").read_text() == MINE


@pytest.mark.parametrize("words", [("-o", "net.py"), ("-o", "run/net.py", "--weights", "run/net.safetensors")])
def test_the_same_export_again(run: Run, folder: Path, words: tuple[str, ...]) -> None:
    assert run("export", "run", *words).code == 0
    before = contents(folder)
    assert run("export", "run", *words).code == 0, "nothing would change"
    assert contents(folder) == before
    (folder / words[1]).write_text((folder / words[1]).read_text() + "# edited\n")
    assert run("export", "run", *words).code == 1


def test_all_files_of_a_command_or_none(run: Run, folder: Path) -> None:
    (folder / "net.safetensors").write_text(MINE)
    before = contents(folder)
    result = run("export", "run", "-o", "net.py", "--weights", "net.safetensors", "--torchscript", "net.pt")
    assert (result.code, "`net.safetensors` already exists" in result.err) == (1, True)
    assert contents(folder) == before


def test_what_derive_wrote_is_replaced_until_it_is_edited(run: Run, folder: Path) -> None:
    assert run("derive", "run").code == 0
    assert run("derive", "run", "--keep-per-edge", "1").code == 0, "another rule"
    text = folder / "run" / "derived" / "network.nas"
    assert "1 candidate on every edge" in text.read_text()
    text.write_text(text.read_text() + "// edited\n")
    result = run("derive", "run")
    assert (result.code, "`run/derived/network.nas` already exists" in result.err) == (1, True)
    assert text.read_text().endswith("// edited\n")
    assert run("derive", "run", "--force").code == 0
    about = json.loads((folder / "run" / "derived" / "derived.json").read_text())
    (folder / "run" / "derived" / "derived.json").write_text(json.dumps({**about, "files": ["network.nas"]}))
    assert run("derive", "run", "--keep-per-edge", "1").code == 1, "a record that says nothing"


def test_a_report_in_its_run_folder_is_written_again(run: Run, folder: Path) -> None:
    """But not through a link in the folder, which a stranger may have put there."""
    assert run("report", "run").code == 0
    (folder / "mine").write_text(MINE)
    (folder / "run" / "report.html").unlink()
    for name in ("report.html", ".report.html.part"):
        (folder / "run" / name).symlink_to("../mine")
    assert run("report", "run").code == 0
    assert (folder / "mine").read_text() == MINE
    assert not (folder / "run" / "report.html").is_symlink()


@pytest.mark.parametrize("verb", RUNS)
def test_a_run_needs_a_folder_of_its_own(run: Run, folder: Path, verb: str) -> None:
    before = contents(folder)
    for name in (".", "/", "run"):
        result = run(*RUNS[verb], name)
        assert (result.code, f"error[NAS602]: `{name}` already exists" in result.err) == (1, True)
    assert contents(folder) == before


def test_the_api_takes_force(folder: Path) -> None:
    (folder / "net.py").write_text(MINE)
    with pytest.raises(NasError, match=r"`net\.py` already exists"):
        api.export("lenet5", "net.py")
    api.export("lenet5", "net.py", force=True)
    assert "class Lenet5" in (folder / "net.py").read_text()
    found = api.derive("run")
    (folder / "network.nas").write_text(MINE)
    with pytest.raises(NasError, match=r"`network\.nas` already exists"):
        found.save(Path())
    assert not (folder / "derived.json").exists()
    assert set(found.save(Path(), force=True)) == {"network.nas", "decision.json", "derived.json"}
    with pytest.raises(NasError, match=r"two outputs are named `a`"):
        api.export(found, "a", weights="a")


# ---------------------------------------------------------------------------------------- two outputs


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("net.nas", "--onnx", "x", "--torchscript", "x"), "`x`"),
        (("net.nas", "-o", "x", "--torch-export", "./x"), "`x`"),
        (("net.nas", "-o", "x", "--onnx", "run/../x"), "`x` and `run/../x`, which are the same file"),
        (("run", "-o", "x", "--weights", "x"), "`x`"),
        (("run", "-o", "x", "--weights", "link"), "`x` and `link`, which are the same file"),
        (("run", "-o", "linked/x", "--weights", "run/x"), "`linked/x` and `run/x`, which are the same file"),
        (("run", "--weights", "net.py"), "`net.py`"),
    ],
)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_two_outputs_of_one_name(
    run: Run, folder: Path, words: tuple[str, ...], named: str, force: tuple[str, ...]
) -> None:
    (folder / "link").symlink_to("x")
    (folder / "linked").symlink_to("run")
    before = contents(folder)
    result = run("export", *words, *force)
    assert result.code == 1
    assert f"error[NAS012]: two outputs are named {named}\n" in result.err
    assert contents(folder) == before


def test_a_report_among_its_figures(run: Run, folder: Path) -> None:
    assert run("report", "run", "-o", "page.html", "--figures", "figures").code == 0
    picture = next((folder / "figures").glob("*.svg"))
    shutil.rmtree(folder / "figures")
    result = run("report", "run", "-o", f"./figures/{picture.name}", "--figures", "figures")
    assert (result.code, "two outputs are named" in result.err) == (1, True)
    assert not (folder / "figures").exists()


# -------------------------------------------------------------------------------- only regular files


@pytest.fixture
def odd(folder: Path) -> Path:
    """With names that must not be written to, each also with the ending that `new` adds."""
    for ending in ("", ".nas"):
        os.mkfifo(folder / f"pipe{ending}")
        (folder / f"loop{ending}").symlink_to(f"loop{ending}")
        (folder / f"device{ending}").symlink_to("/dev/null")
        (folder / f"inside{ending}").mkdir()
        (folder / f"full{ending}").symlink_to("/dev/full")
    return folder


ODD = {
    ".": "it is a folder",
    "/": "it is a folder",
    "inside": "it is a folder",
    "/dev/null": "not a regular file",
    "/dev/full": "not a regular file",
    "pipe": "not a regular file",
    "device": "not a regular file",
    "full": "not a regular file",
    "loop": "too many levels of symbolic links",
}


NAMES = [(verb, name) for verb in FILES for name in ODD if verb != "new" or name[0] not in "/."]


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(("verb", "name"), NAMES)  # to a name, `new` adds an ending
def test_only_regular_files_are_written(run: Run, odd: Path, verb: str, name: str, force: tuple[str, ...]) -> None:
    path = Path(file_of(verb, name))
    before, around = path.lstat(), contents(odd)
    result = run(*FILES[verb], name, *force)
    assert result.code == 1
    assert f"error[NAS012]: cannot write `{path}`: {ODD[name]}\n" in result.err
    assert path.lstat().st_ino == before.st_ino
    assert path.lstat().st_mode == before.st_mode
    assert contents(odd) == around


@pytest.mark.parametrize("name", ["/dev/null", "/dev/full", "pipe", "loop", "device", "net.nas"])
@pytest.mark.parametrize("verb", [*FOLDERS, *RUNS])
def test_only_folders_are_written_into(run: Run, odd: Path, verb: str, name: str) -> None:
    words = FOLDERS[verb][0] if verb in FOLDERS else RUNS[verb]
    before, around = Path(name).lstat(), contents(odd)
    result = run(*words, name)
    assert result.code == 1
    assert "error[NAS012]: cannot write" in result.err or f"error[NAS602]: `{name}` is not a folder\n" in result.err
    assert Path(name).lstat().st_ino == before.st_ino
    assert contents(odd) == around


def test_a_link_is_replaced_and_not_the_file_behind_it(run: Run, folder: Path) -> None:
    (folder / "mine").write_text(MINE)
    for name, target in (("link", "mine"), ("dangling", "nowhere")):
        (folder / name).symlink_to(target)
        assert run("export", "net.nas", "-o", name).code == 1
        assert run("export", "net.nas", "-o", name, "--force").code == 0
        assert not (folder / name).is_symlink()
    assert (folder / "mine").read_text() == MINE
    assert not (folder / "nowhere").exists()


def test_temporary_files_are_not_followed(folder: Path) -> None:
    (folder / "mine").write_text(MINE)
    (folder / ".out.part").symlink_to("mine")
    write_outputs([(folder / "out", b"new")])
    assert ((folder / "mine").read_text(), (folder / "out").read_text()) == (MINE, "new")
    (folder / "out.part").write_text(MINE)
    write_outputs([(folder / "out", b"newer")], force=True)
    assert (folder / "out.part").read_text() == MINE, "a name that a user may choose"
    (folder / "out.part").unlink()


def test_two_processes_write_one_file(folder: Path) -> None:
    """The second one starts before the first has finished. No file is half of one and half of another."""

    def write_both() -> None:
        with atomic_write(folder / "out") as first:
            first.write(b"first")
            with atomic_write(folder / "out") as second:
                second.write(b"second")

    with pytest.raises(NasError, match="another process is writing it"):
        write_both()
    assert (folder / "out").read_bytes() == b"second"
