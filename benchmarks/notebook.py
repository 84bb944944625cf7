"""The tour of docs/ executed anew: `python -m benchmarks.notebook`.

Its cells are run by this Python in an empty folder. What is kept is what a reader is to see: no times, and no
places on the machine. The tests do the same into another file, and compare.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

Plain = dict[str, Any]  # as JSON has it

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tour.ipynb"
METADATA: Plain = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class ThisPython(KernelSpecManager):
    """Knows one kernel, whatever else is installed."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name=kernel_name, language="python")


def executed(folder: Path) -> Plain:
    """The notebook after all its cells were run in a folder. Raises CellExecutionError."""
    private = folder / ".kernel"  # where the kernel is talked to, and what it is set up by
    private.mkdir()
    manager = AsyncKernelManager(
        kernel_spec_manager=ThisPython(), transport="ipc", connection_file=str(private / "kernel.json")
    )
    notebook = nbformat.read(NOTEBOOK, 4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        manager,
        resources={"metadata": {"path": str(folder)}},
        timeout=None,
        startup_timeout=600,
        record_timing=False,
    )
    client.execute(cleanup_kc=True, env={**os.environ, "IPYTHONDIR": str(private)})
    found: Plain = json.loads(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    return found


def cleaned(notebook: Plain) -> Plain:
    """What is the same on every machine, but for the outputs themselves."""
    cells = [{**cell, "metadata": _tags(cell["metadata"])} for cell in notebook["cells"]]
    return {**notebook, "cells": cells, "metadata": METADATA}


def _tags(metadata: Plain) -> Plain:
    return {"tags": metadata["tags"]} if metadata.get("tags") else {}


def faults(notebook: Plain, places: Iterable[Path]) -> Iterator[str]:
    """What no reader should see in the outputs: warnings, and the names of places on the machine."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                yield f"cell `{cell['id']}` warns: {''.join(output['text'])}"
            yield from (f"cell `{cell['id']}` tells of {place}" for place in places if str(place) in json.dumps(output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path, default=NOTEBOOK, help="where to write it, if not in its place")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        notebook = cleaned(executed(folder))
    if found := list(faults(notebook, (folder, NOTEBOOK.parent.parent))):
        sys.exit("\n".join(found))
    options.output.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
