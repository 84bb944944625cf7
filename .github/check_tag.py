"""Fail unless a tag is that of the version of the package: `python .github/check_tag.py v0.1.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> None:
    """Compare the tag on the command line with the version."""
    source = (Path(__file__).parent.parent / "bayesnas_graph" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if found is None or sys.argv[1:] != [f"v{found[1]}"]:
        sys.exit(f"the tag {' '.join(sys.argv[1:])} is not v{found[1] if found else '?'}, the version of the package")


if __name__ == "__main__":
    main()
