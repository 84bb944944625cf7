"""Check a built site: `python -m website.check FOLDER`.

No page may load anything from the network, and every link between its files has to lead somewhere, anchors included.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads when it opens a page; other links are only followed by readers.
LOADED = {"src", "srcset", "poster", "data", "action"}
_IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


@dataclass
class Seen(HTMLParser):
    """What a page loads and links to, and the anchors it has."""

    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if value is None:
                continue
            if name in LOADED or (name == "href" and tag in ("link", "use", "image")):
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += _IN_STYLES.findall(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def seen(page: Path) -> Seen:
    found = Seen()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with the pages and style sheets of a site."""
    pages = {page: seen(page) for page in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        name = page.relative_to(site)
        for link in found.loads:
            if is_outside(link) or not _leads(link, page, pages):
                yield f"{name} loads {link[:100]}"
        for link in found.links:
            if not is_outside(link) and not _leads(link, page, pages):
                yield f"{name} links to {link[:100]}"
    for sheet in sorted(site.rglob("*.css")):
        for link in _IN_STYLES.findall(sheet.read_text(encoding="utf-8")):
            if is_outside(link):
                yield f"{sheet.relative_to(site)} loads {link}"


def is_outside(link: str) -> bool:
    parts = urlsplit(link)
    return parts.scheme not in ("", "data") or bool(parts.netloc)


def _leads(link: str, page: Path, pages: dict[Path, Seen]) -> bool:
    """Return whether a link inside the site leads to a file, and to an anchor that the page there has."""
    parts = urlsplit(link)
    if parts.scheme == "data":
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return False
    # The theme marks pictures for one colour scheme by a fragment.
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    found = list(problems(site))
    pages = sum(1 for _ in site.rglob("*.html"))
    print("\n".join([*found, f"{site.name}: {pages} pages, {len(found)} problems"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
