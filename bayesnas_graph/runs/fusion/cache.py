"""Files of times: one per device, torch and precision in the user's cache, and one in every run folder that has some.

A file that is missing, damaged, or about something else counts as empty: what it had is timed again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write
from bayesnas_graph.diagnostics.checksums import digest, with_checksum
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.runs.fusion.timing import Times

VERSION = 1
LONGEST_TIME = 1e9  # milliseconds


def cache_folder() -> Path:
    """The folder of this program in the user's cache."""
    wanted = os.environ.get("XDG_CACHE_HOME")
    if wanted and Path(wanted).is_absolute():
        base = Path(wanted)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "bayesnas-graph"


def cache_file(folder: Path, about: Mapping[str, str]) -> Path:
    """The file of times for a device, torch and precision.

    >>> cache_file(Path("cache"), {"device": "NVIDIA A100", "torch": "2.13.0+cu130", "precision": "bf16"}).name
    'fusion-nvidia-a100-2-13-0-cu130-bf16-345dd1.json'
    """
    words = "-".join(about.values())
    plain = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:100]
    return folder / f"fusion-{plain}-{digest(repr(sorted(about.items())).encode())[:6]}.json"


def read_times(path: Path, about: Mapping[str, str]) -> dict[str, Times]:
    """Read times; none if the file cannot be used."""
    try:
        content = read_json(path)
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or (content.get("version"), content.get("about")) != (VERSION, dict(about)):
        return {}
    sites: Any = content.get("sites")
    return {key: _times(value) for key, value in sites.items()} if _is_valid(sites) else {}


def document(about: Mapping[str, str], times: Mapping[str, Times]) -> dict[str, Any]:
    """The JSON document of some times."""
    sites = {key: {"apart": value.apart, "fused": value.fused} for key, value in sorted(times.items())}
    return {"version": VERSION, "about": dict(about), "unit": "milliseconds per step", "sites": sites}


def write_times(path: Path, about: Mapping[str, str], times: Mapping[str, Times]) -> None:
    """Write times into the cache, if that is possible: nothing depends on it."""
    with suppress(OSError, NasError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write((json_text(with_checksum(document(about, times)), ascii=False) + "\n").encode())


def _is_valid(sites: object) -> bool:
    return isinstance(sites, dict) and all(
        isinstance(value, dict) and all(_is_time(value.get(name)) for name in Times._fields) for value in sites.values()
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST_TIME


def _times(value: Mapping[str, float]) -> Times:
    return Times(float(value["apart"]), float(value["fused"]))
