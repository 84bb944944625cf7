"""Take the picture of docs/report.md: `python -m benchmarks.screenshot RUN -o docs/report.png`.

It shows the first screen of the page of a search of `quickstart` at an update.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from bayesnas_graph.report.builder import build_page
from tests.browser import opened, running

WIDTH = 1440


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("run", type=Path, help="run folder of a search")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/report.png"))
    parser.add_argument("--update", type=int, default=6, help="update to show")
    options = parser.parse_args()
    with TemporaryDirectory() as name, running() as browser:
        file = Path(name, "report.html")
        file.write_text(build_page([options.run]).html(), encoding="utf-8")
        with opened(browser, f"{file.as_uri()}#update={options.update}", WIDTH) as found:
            found.page.screenshot(path=options.output)


if __name__ == "__main__":
    main()
