"""The examples in the documentation are correct.

A ```nas block is a complete, valid and formatted file. A ```nas,error block has errors, and the ```text
block after it is the output of `check`. A ```console block has commands and their output, run next to an
`example.nas` with the previous ```nas block. On the pages of errors, commands run in a scene (`error_scenes.py`), next
to the files of the page: ```text blocks that start with `// file.nas`. Their other ```text blocks are diagnostics.
A ```console,shape block has results that depend on the machine: numbers are masked, and a line `...` stands for any
lines. A ```python block that starts with `# file.py` is written to that file, whose folder is on PYTHONPATH.
`--update-golden` rewrites the output; read the diff.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from bayesnas_graph.cli.main import main
from bayesnas_graph.diagnostics import CODES, Report, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from tests import error_scenes
from tests.conftest import ROOT
from tests.helpers import formatted

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
ERROR_PAGES = sorted((ROOT / "docs" / "errors").glob("NAS*.md"))
# Errors that a single file cannot show.
WITHOUT_EXAMPLE = {"NAS011", "NAS012", "NAS104", "NAS106", "NAS107", "NAS108", "NAS406", "NAS407"} | {
    code for code in CODES if code[3] in "5678"
}

_FILE = re.compile(r"// (\w+\.nas)\n")
_SCRIPT = re.compile(r"# (\w+\.py)\n")
_NUMBER = r"\d[\d.,:]*(?:e-?\d+)?"
_BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    start: int = 0  # offset of the text in the page


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text()):
        yield Block(found[1], found[2], found.start(2))


def diagnostics(text: str) -> tuple[list[str], str]:
    report = Report()
    Checker(report).text(Source("example.nas", text))
    return [d.code for d in report.diagnostics], "\n".join(map(render, report.diagnostics))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, update_golden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list(blocks(page))
    program = own_process if page.name == "tour.md" else this_process
    if page in ERROR_PAGES:
        program = error_scenes.program
        error_scenes.prepare(page.stem, tmp_path, monkeypatch)
    actual: dict[Block, str] = {}
    for block, following in zip(shown, [*shown[1:], Block("", "")], strict=False):
        if block.kind == "nas":
            found, text = diagnostics(block.text)
            assert not found, text
            assert formatted(block.text) == block.text
            (tmp_path / "example.nas").write_text(block.text)
        elif block.kind == "nas,error":
            found, text = diagnostics(block.text)
            assert found
            assert following.kind == "text", "the output follows the example"
            actual[following] = text
        elif block.kind == "console":
            actual[block] = "".join(transcript(command, tmp_path, program) for command in commands(block.text))
        elif block.kind == "console,shape":
            printed = "".join(transcript(command, tmp_path, program) for command in commands(block.text))
            is_same = re.fullmatch(shape(block.text), printed)
            actual[block] = block.text if is_same else printed  # all of it, to put the `...` in again
        elif block.kind == "python" and (script := _SCRIPT.match(block.text)):
            (tmp_path / script[1]).write_text(block.text)
            monkeypatch.syspath_prepend(tmp_path)  # as PYTHONPATH does
            monkeypatch.delitem(sys.modules, Path(script[1]).stem, raising=False)
        elif block.kind == "text" and page in ERROR_PAGES and block not in actual:
            if file := _FILE.match(block.text):
                (tmp_path / file[1]).write_text(block.text)
            else:
                actual[block] = error_scenes.raised(page.stem, tmp_path, monkeypatch)
    if update_golden:
        content = page.read_text()
        for block, text in reversed(actual.items()):
            content = content[: block.start] + text + content[block.start + len(block.text) :]
        page.write_text(content)
        return
    for block, text in actual.items():
        assert text == block.text


def session(page: Path) -> str:
    """The Python session of a page."""
    return "\n".join(block.text for block in blocks(page) if block.kind == "python" and ">>>" in block.text)


@pytest.mark.parametrize("page", [page for page in PAGES if session(page)], ids=lambda page: page.stem)
def test_python_sessions(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions use the space shown on the page, if there is one."""
    for block in blocks(page):
        if block.kind == "nas":
            (tmp_path / "example.nas").write_text(block.text)
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(session(page), {}, page.name, str(page), 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def commands(transcript: str) -> list[str]:
    return [line.removeprefix("$ ") for line in transcript.splitlines() if line.startswith("$ ")]


def transcript(command: str, folder: Path, program: Callable[[list[str], Path], str]) -> str:
    """A command and its output. For `make demo`, the commands before the search."""
    if command == "make demo":
        recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert recipe is not None
        shown = [line for line in recipe[1].replace("$(SPACE)", "quickstart").splitlines() if "\t@" not in line]
        shown = [line for line in shown if "demo/run" not in line]  # its output has timings: see tests/cli
        steps = [line.replace("\t$(BIN)/", "") for line in shown]
        printed = [transcript(step, folder, program).removeprefix("$ ") for step in steps]
        return "$ make demo\n" + "".join(f".venv/bin/{text}" for text in printed)
    words = shlex.split(command)
    if words[0] == "cat":
        return f"$ {command}\n{(folder / words[1]).read_text()}"
    if words[0] == "python":
        script = [sys.executable, *words[1:]]
        done = subprocess.run(
            script, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        )
        return f"$ {command}\n{done.stdout}"
    assert words[0] == "bayesnas-graph", command
    return f"$ {command}\n{program(words, folder)}"


def shape(text: str) -> str:
    """A pattern for output that differs from a text only in numbers, in white space, and where the text has `...`."""
    lines = []
    for line in text.splitlines():
        parts = re.split(rf"({_NUMBER}|\s+)", line)
        masked = (
            _NUMBER if re.match(_NUMBER, part) else r"\s+" if part.isspace() else re.escape(part) for part in parts
        )
        lines.append(r"(?:.*\n)*?" if line == "..." else "".join(masked) + r"\n")
    return "".join(lines)


def test_shapes() -> None:
    shown = "step  20/260  loss 0.5\n...\nwrote it\n"
    assert re.fullmatch(shape(shown), "step 140/260  loss 1.25e-05\nmore\nlines\nwrote it\n")
    assert re.fullmatch(shape(shown), "step 1/2 loss 3\nwrote it\n")
    for other in ("step 1/2 loss 3\nwrote\n", "step 1/2 loss nan\nwrote it\n", "step 1/2 loss 3\nwrote it\nerror\n"):
        assert not re.fullmatch(shape(shown), other)


def own_process(words: list[str], folder: Path) -> str:
    command = [sys.executable, "-m", "bayesnas_graph", *words[1:]]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def this_process(words: list[str], folder: Path) -> str:
    """The same without a second of imports per command."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.chdir(folder)
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit):
            main()
    return printed.getvalue()


def test_every_code_has_a_page() -> None:
    assert [page.stem for page in ERROR_PAGES] == sorted(CODES)


@pytest.mark.parametrize("page", ERROR_PAGES, ids=lambda page: page.stem)
def test_error_pages(page: Path) -> None:
    """A page shows an example with only its own code, and then a valid one."""
    assert page.read_text().startswith(f"# {page.stem}: {CODES[page.stem].title}\n")
    assert "## How to fix it" in page.read_text()
    assert re.search(rf"^(error|warning)\[{page.stem}\]: ", page.read_text(), re.MULTILINE), "its message is shown"
    wrong = [block for block in blocks(page) if block.kind == "nas,error"]
    assert bool(wrong) == (page.stem not in WITHOUT_EXAMPLE)
    for block in wrong:
        assert diagnostics(block.text)[0] == [page.stem]
    if wrong:
        assert any(block.kind == "nas" for block in blocks(page))


def test_every_code_is_raised_somewhere() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "bayesnas_graph").rglob("*.py") if path.stem != "codes")
    assert [code for code in CODES if f'"{code}"' not in sources] == []


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", _BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", page.read_text()):
            if "://" not in target:
                linked = page.parent / target if target else page
                assert linked.exists(), f"{page.name}: {target}"
                assert not anchor or anchor in anchors(linked), f"{page.name}: {target}#{anchor}"


def test_readme_uses_make() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme.index("make demo") < readme.index("make test") < 1500
    assert shutil.which("make")
