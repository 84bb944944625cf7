"""Links of pages to files of the checkout, as links between pages of the site.

Files outside docs/ are pages too: README.md is the first page, and source files that pages link to are shown as text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

_FENCE = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)]*)?\))")


def page_of(file: Path) -> str:
    """Return the page, or other file of the site, that shows a file or folder of the checkout."""
    if file.is_relative_to(DOCS) and file.is_file():
        return file.relative_to(DOCS).as_posix()
    if file.is_dir() and (file / "README.md").is_file():
        return page_of(file / "README.md")
    path = file.relative_to(ROOT).as_posix()
    return TOP.get(path, f"source/{path}.md")


def rewritten(text: str, folder: Path, page: str) -> str:
    """Return the text of a page with its links, which are relative to `folder`, relative to `page`.

    >>> rewritten("[a](docs/bayes.md#symbols)", ROOT, "index.md")
    '[a](bayes.md#symbols)'
    """

    def link(found: re.Match[str]) -> str:
        target = _target(found[2], folder)
        if target is None:
            return found[0]
        return f"{found[1]}{os.path.relpath(page_of(target), PurePosixPath(page).parent)}{found[3]}"

    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in _FENCE.split(text))


def linked(text: str, folder: Path) -> Iterator[Path]:
    """Yield the files and folders of the checkout that a text links to."""
    for part in _FENCE.split(text):
        if not part.startswith("```"):
            for found in _LINK.finditer(part):
                if (target := _target(found[2], folder)) is not None:
                    yield target


def _target(link: str, folder: Path) -> Path | None:
    """Return what a link leads to, if that is in the checkout."""
    if "://" in link:
        return None
    target = Path(os.path.normpath(folder / link))
    return target if target.exists() and target.is_relative_to(ROOT) else None
