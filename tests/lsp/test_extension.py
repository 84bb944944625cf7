"""The extension for VS Code is complete: what its manifest names exists, and is what the project has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())
COPIED = {"nas.tmLanguage.json": ROOT / "docs" / "editors" / "nas.tmLanguage.json", "LICENSE": ROOT / "LICENSE"}


def test_every_file_exists_or_is_copied() -> None:
    contributes = MANIFEST["contributes"]
    named = [MANIFEST["main"], *(language["configuration"] for language in contributes["languages"])]
    named += [grammar["path"] for grammar in contributes["grammars"]]
    prepared = (FOLDER / "prepare.js").read_text()
    for name in (path.removeprefix("./") for path in named):
        assert (FOLDER / name).exists() or (name in COPIED and name in prepared), name
    assert all(original.exists() for original in COPIED.values())


def test_copies_and_packages_are_not_part_of_the_project() -> None:
    ignored = (FOLDER / ".gitignore").read_text().split()
    assert {*COPIED, "node_modules/", "*.vsix", "package-lock.json"} <= set(ignored)


def test_the_language_is_that_of_the_grammar() -> None:
    grammar = json.loads(COPIED["nas.tmLanguage.json"].read_text())
    (language,) = MANIFEST["contributes"]["languages"]
    (contributed,) = MANIFEST["contributes"]["grammars"]
    assert [f".{name}" for name in grammar["fileTypes"]] == language["extensions"]
    assert contributed["scopeName"] == grammar["scopeName"]
    assert contributed["language"] == language["id"]


def test_a_folder_cannot_choose_the_program() -> None:
    """Its settings come with the files of a stranger."""
    settings = MANIFEST["contributes"]["configuration"]["properties"]
    assert {setting["scope"] for setting in settings.values()} == {"machine"}
    read = set(re.findall(r'settings\.get\("(\w+)"\)', (FOLDER / "extension.js").read_text()))
    assert {f"nas.server.{name}" for name in read} == settings.keys()
    assert settings["nas.server.allowPython"]["default"] is False


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize("name", ["extension.js", "prepare.js"])
def test_scripts_are_valid(name: str) -> None:
    subprocess.run(["node", "--check", FOLDER / name], check=True)
