"""Execute docs/tour.ipynb again: `python -m benchmarks.notebook`.

The cells run with this Python in an empty folder. Times and paths of the machine are not stored. The tests write to
another file, and compare.
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

Plain = dict[str, Any]  # JSON

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tour.ipynb"
METADATA: Plain = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class ThisPython(KernelSpecManager):
    """Provides one kernel: this Python."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name=kernel_name, language="python")


def executed(folder: Path) -> Plain:
    """The notebook with the outputs of all cells, run in a folder. Raises CellExecutionError."""
    private = folder / ".kernel"  # connection file and configuration of the kernel
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
    client.execute(cleanup_kc=True, env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "IPYTHONDIR": str(private)})
    found: Plain = json.loads(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    return found


def cleaned(notebook: Plain) -> Plain:
    """The notebook without metadata that depends on the machine."""
    cells = [{**cell, "metadata": _tags(cell["metadata"])} for cell in notebook["cells"]]
    return {**notebook, "cells": cells, "metadata": METADATA}


def _tags(metadata: Plain) -> Plain:
    return {"tags": metadata["tags"]} if metadata.get("tags") else {}


def faults(notebook: Plain, places: Iterable[Path]) -> Iterator[str]:
    """Warnings and paths of the machine in the outputs."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                yield f"cell `{cell['id']}` warns: {''.join(output['text'])}"
            yield from (f"cell `{cell['id']}` shows {place}" for place in places if str(place) in json.dumps(output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path, default=NOTEBOOK, help="output file (default: the tour itself)")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        notebook = cleaned(executed(folder))
    if found := list(faults(notebook, (folder, NOTEBOOK.parent.parent))):
        sys.exit("\n".join(found))
    options.output.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
