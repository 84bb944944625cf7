"""What MkDocs calls while it builds the site: adds generated pages, and adapts those of docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent.parent))  # MkDocs loads this file by its path

from website import demo, gallery, reference
from website.formulas import typeset
from website.lexer import register_lexer
from website.links import ROOT, TOP, linked, page_of, rewritten

_KIND = re.compile(r"^```(\w+),(\w+)$", re.MULTILINE)
_LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".nas": "nas"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    register_lexer()
    config.theme.static_templates.discard("404.html")  # its links only work on a server
    reference.add_to_navigation(config)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = {uri: (ROOT / name).read_text() for name, uri in TOP.items()}
    spaces = gallery.shown_spaces(config.extra.get("gallery", ()))
    pages |= {"gallery.md": gallery.page(spaces)} | reference.pages()
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    sources = {(file.src_uri, file.content_string) for file in files.documentation_pages()}
    targets = {target for uri, text in sources for target in linked(text, _folder(uri))}
    for target in sorted(targets):
        if (uri := page_of(target)).startswith("source/"):
            files.append(File.generated(config, uri, content=_shown(target)))
    for uri, content in (gallery.pictures(spaces) | demo.files()).items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    text = rewritten(markdown, _folder(uri), uri)
    if uri == "report.md":
        text = demo.embedded(text)
    return _KIND.sub(r"``` {.\1 .\2}", text)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return typeset(html)


def _folder(uri: str) -> Path:
    """Return the folder to which the links of a page are relative."""
    return ROOT if uri in TOP.values() else (ROOT / "docs" / uri).parent


def _shown(target: Path) -> str:
    """Return a page that shows a file, or lists a folder."""
    title = f"# {target.relative_to(ROOT)}\n\n"
    if target.is_dir():
        return title + "".join(f"- `{inner.name}`\n" for inner in sorted(target.iterdir()) if inner.name[0] != ".")
    language = _LANGUAGES.get(target.suffix, "text")
    return f"{title}````{language}\n{target.read_text()}````\n"
