"""Update the tables and pictures of docs/benchmarks.md from the records: `python -m benchmarks.page`.

The text of the page is written by hand. Between `<!-- begin NAME -->` and `<!-- end NAME -->` are the table of a
record, its picture if it has one, and the conditions under which it was made. `--check` changes nothing and fails if
the page is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import (
    ablations,
    against_random,
    check_scaling,
    closing,
    compile_scaling,
    compression,
    curvature,
    disconnected,
    drawn_step,
    fusion_sites,
    fuzz,
    hard_scaling,
    launches,
    memory,
    nasbench201,
    rivals,
    search_overhead,
    size_by_lambda,
    soak,
    startup,
    supernet_step,
    switch_update,
    tuning,
    worth_ablations,
)
from benchmarks.record import RESULTS, Record, load, saved_names

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

_SECTION = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->\n)", re.DOTALL)
_MARKER = re.compile(r"<!-- (begin|end) (\w+) -->")


@dataclass(frozen=True)
class Section:
    """How a record is shown."""

    name: str
    table: Callable[[Record], str]
    picture: Callable[[Record], str] | None = None
    caption: str = ""  # of the picture


SECTIONS = (
    Section("startup", startup.table),
    Section("check_scaling", check_scaling.table),
    Section("compile_scaling", compile_scaling.table),
    Section("hard_scaling", hard_scaling.table),
    Section("supernet_step", supernet_step.table, supernet_step.picture, "Speed of the supernet"),
    Section("launches", launches.table),
    Section("memory", memory.table),
    Section("fusion_sites", fusion_sites.table),
    Section("curvature", curvature.table, curvature.picture, "Cost of curvature estimators"),
    Section("switch_update", switch_update.table),
    Section("search_overhead", search_overhead.table),
    Section("drawn_step", drawn_step.table),
    Section("disconnected", disconnected.table),
    Section("nasbench201", nasbench201.table, nasbench201.picture, "Accuracy of the cells in NAS-Bench-201"),
    Section("against_random", against_random.table, against_random.picture, "Found networks and random ones"),
    Section("worth_ablations", worth_ablations.table, worth_ablations.picture, "Cells found with one part replaced"),
    Section("tuning", tuning.table),
    Section("rivals", rivals.table, rivals.picture, "Errors relative to random cells"),
    Section("ablations", ablations.table, ablations.picture, "Errors of ablations"),
    Section("size_by_lambda", size_by_lambda.table, size_by_lambda.picture, "Parameters by lambda"),
    Section("closing", closing.table),
    Section("soak", soak.table),
    Section("fuzz", fuzz.table),
    Section("compression_digits", compression.table, compression.picture, "Error by operations"),
)


class Mismatch(Exception):
    """The records and the page do not match."""


def generated(page: str, records: Mapping[str, Record], sections: Sequence[Section]) -> tuple[str, dict[str, str]]:
    """The page with new content between its markers, and the pictures by their paths.

    Raises Mismatch if a marker has no record, a record no marker, or either is not in `sections`.
    """
    known = {section.name: section for section in sections}
    marked = _marked(page)
    for name in (*marked, *records):
        if name not in known:
            raise Mismatch(f"no section for `{name}`: add it to SECTIONS in benchmarks/page.py")
        if name not in records:
            raise Mismatch(f"the page has markers for `{name}`, which has no record: run its benchmark with --save")
        if name not in marked:
            raise Mismatch(f"the record `{name}` is not on the page: add <!-- begin {name} --> and <!-- end {name} -->")
    pictures: dict[str, str] = {}

    def body(name: str) -> str:
        section, record = known[name], records[name]
        parts = [section.table(record)]
        if section.picture is not None:
            path = f"benchmarks/{section.name}.svg"
            pictures[path] = section.picture(record)
            parts.append(f"![{section.caption}]({path})\n")
        parts.append(conditions(record))
        return "\n".join(parts)

    return fill(page, body), pictures


def fill(page: str, body: Callable[[str], str]) -> str:
    """The page with `body` of its name between each pair of markers."""
    return _SECTION.sub(lambda found: f"{found[1]}\n{body(found[2])}\n{found[3]}", page)


def _marked(page: str) -> list[str]:
    """The names in markers. Raises Mismatch unless each has one `begin` followed by one `end`."""
    names = [found[2] for found in _SECTION.finditer(page)]
    for _, name in _MARKER.findall(page):
        if names.count(name) != 1 or len(re.findall(rf"<!-- (?:begin|end) {name} -->", page)) != 2:
            raise Mismatch(
                f"the markers of `{name}` must be one <!-- begin {name} --> followed by one <!-- end {name} -->"
            )
    return names


def conditions(record: Record) -> str:
    """The conditions under which a record was made."""
    machine = record.machine
    parts = [
        f"`{record.command}`, {record.date}",
        f"{machine['processor']}, {_counted(machine['cores'], 'core')}, {machine['memory, GiB']} GiB, "
        f"{_counted(machine['threads'], 'thread')}",
        ", ".join(f"{name} {version}" for name, version in record.versions.items()),
    ]
    if "rounds" in record.settings:
        parts.append(_counted(record.settings["rounds"], "round"))
    if record.seeds:
        parts.append(f"seed{'s' * (len(record.seeds) > 1)} {', '.join(map(str, record.seeds))}")
    return f"<sub>{'; '.join(parts)}.</sub>\n"


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something would change")
    options = parser.parse_args()
    try:
        page, pictures = generated(PAGE.read_text(), {name: load(name, RESULTS) for name in saved_names()}, SECTIONS)
    except Mismatch as error:
        sys.exit(f"docs/benchmarks.md: {error}")
    files = {PAGE: page, **{PAGE.parent / path: text for path, text in pictures.items()}}
    changed = [path for path, text in files.items() if not path.is_file() or path.read_text() != text]
    if options.check:
        stale = ", ".join(path.name for path in changed)
        sys.exit(f"out of date: {stale}; run python -m benchmarks.page" if changed else 0)
    for path in changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[path])


if __name__ == "__main__":
    main()
