"""Class folders that hold the same files, such as a copy under another name."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

from bayesnas_graph.diagnostics.reading import open_file

Classes = dict[str, list[Path]]  # the sorted images of every class


def classes_of_same_files(classes: Classes) -> list[tuple[str, str]]:
    """Return pairs of classes whose files have the same names and the same content.

    Content is compared file by file, until it differs, and only if all names and sizes are the same.
    """
    groups = _grouped(list(classes), {name: _names_and_sizes(paths) for name, paths in classes.items()})
    pairs = []
    for group in groups:
        same = [group]
        for position in range(len(classes[group[0]])):
            keys = {name: _content(classes[name][position]) for part in same for name in part}
            same = [smaller for part in same for smaller in _grouped(part, keys)]
            if not same:
                break
        pairs += [(part[0], other) for part in same for other in part[1:]]
    return pairs


def _grouped(names: list[str], keys: dict[str, Hashable]) -> list[list[str]]:
    """Return the groups of names with equal keys, where there are several."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name in names:
        groups[keys[name]].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _names_and_sizes(paths: list[Path]) -> Hashable:
    return tuple((path.name, path.stat().st_size) for path in paths)


def _content(path: Path) -> Hashable:
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:  # reported when the image is needed
        return path
