"""Small runs of every kind, finished and cut short, and what the verbs that read them come to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph import api
from tests.cli.conftest import Result, Run
from tests.search.runs import table

SPACE = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    node h = x : conv(4) > bn
    x, h -> out : concat > choose { conv(4), conv(4, 1), skip_conv } > bn > relu > global_avg_pool > linear(10)
    require params < 100K
}

motif skip_conv { in x  x -> out : conv(4, 1) > relu }
"""
FIXED = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(4) > bn > relu > conv(6) > bn > relu > global_avg_pool > linear(10)
}
"""
COMMON: dict[str, Any] = {"data": "shapes", "batch": 100, "checkpoint_steps": 4, "threads": 1, "seed": 3}
SEARCH: dict[str, Any] = {"steps": 6, "warmup": 2, "iterations": 2, "finish": 6, "log_steps": 2, "finalists": 0}
COMPARED: dict[str, Any] = {"compare_random": 1, "finalist_steps": 2}
TRAIN: dict[str, Any] = {"epochs": 2, "cutout": 0, "crop": 0}
COMPRESS: dict[str, Any] = {"epochs": 1, "loops": 2, "loop_epochs": 1, "fine_epochs": 1, "lambda": 0.001}
KINDS = ("search", "train", "compress")
RESULTS = ("decision.json", "architecture.json", "result.json", "checksums.json", "comparison.json")
NOT_COMPARED = ("latency", "seconds", "checksum")


def make_runs(folder: Path) -> None:
    """Make a finished run of every kind in a folder, and `KIND-cut`, which was killed before its end."""
    (folder / "space.nas").write_text(SPACE)
    (folder / "fixed.nas").write_text(FIXED)
    api.search(folder / "space.nas", output=folder / "search", **COMMON, **SEARCH, **COMPARED)
    api.train(folder / "fixed.nas", output=folder / "train", **COMMON, **TRAIN)
    settings = {("intensity" if key == "lambda" else key): value for key, value in COMPRESS.items()}
    api.compress(folder / "fixed.nas", output=folder / "compress", **COMMON, **settings)
    for kind in KINDS:
        cut = folder / f"{kind}-cut"
        shutil.copytree(folder / kind, cut)
        for name in (*RESULTS, "weights.safetensors", "model.py", "network.nas", "layers.json"):
            (cut / name).unlink(missing_ok=True)
        if kind == "compress":
            (cut / "stages" / "fine.safetensors").unlink()
            last = sorted((cut / "checkpoints" / "fine").iterdir())[-1]
        else:
            last = sorted((cut / "checkpoints").iterdir())[-1]
        last.unlink()


@dataclass(frozen=True)
class Reading:
    """A verb that reads a run: its command line, and what it leaves that is to be compared."""

    words: tuple[str, ...]
    left: Callable[[Path, Result], Any]

    def run(self, run: Run) -> Result:
        """Run the verb on the folder `run` in the working directory."""
        return run(*self.words)


def readings(kind: str) -> Mapping[str, Reading]:
    """The verbs that read a run of some kind, by name."""
    finished = not kind.endswith("-cut")
    verb = kind.removesuffix("-cut")
    found = {
        "status": Reading(("status", "run", "--json"), lambda _, result: json.loads(result.out)),
        "report": Reading(("report", "run", "-o", "page.html", "--force"), _bytes("page.html")),
        "draw": Reading(("draw", "run", "--space", "-o", "net.svg"), _bytes("net.svg")),
        "resume": Reading((verb, "--resume", "run"), lambda folder, _: resumed(folder / "run")),
    }
    if finished:
        weights = ("export", "run", "-o", "m.py", "--weights", "w.safetensors")
        found["eval"] = Reading(
            ("eval", "run", "--json", "--runs", "1"), lambda _, result: without_times(json.loads(result.out))
        )
        found["export"] = Reading(weights, _bytes("m.py", "w.safetensors"))
    if finished and verb == "search":
        found["derive"] = Reading(("derive", "run", "-o", "found"), _bytes("found/network.nas", "found/decision.json"))
    if finished and verb != "train":
        found["draw result"] = Reading(("draw", "run", "-o", "result.svg"), _bytes("result.svg"))
    return found


def is_read(file: str, name: str, kind: str) -> bool:
    """Whether a verb reads a file at all."""
    if file.startswith("checkpoints/"):
        return name == "resume" or (kind == "search" and name in ("eval", "export"))
    if file.startswith("stages/"):
        return name == "resume"
    if file == "weights.safetensors":
        return name in ("eval", "export")
    if file in ("architecture.json", "model.py"):
        return name == "status"  # only their checksums matter
    if file.endswith(".csv") or file in ("layers.json", "outline.json", "comparison.json"):
        return name in ("status", "report", "resume")
    return True


def _bytes(*names: str) -> Callable[[Path, Result], Any]:
    return lambda folder, _: {name: (folder / name).read_bytes() for name in names}


def resumed(run: Path) -> dict[str, Any]:
    """Everything that a run leaves behind, but for timings and for files that were moved aside."""
    found: dict[str, Any] = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.suffix == ".csv":
            found[name] = table(run, name)
        elif path.name in ("result.json", "layers.json"):
            found[name] = without_times(json.loads(path.read_text()))
        elif path.suffix == ".pt":
            found[name] = plain(torch.load(path, weights_only=True))
        elif path.suffix in (".safetensors", ".py", ".nas") or path.name in (
            "decision.json",
            "architecture.json",
            "comparison.json",
        ):
            found[name] = path.read_bytes()
    return found


def compared(found: Mapping[str, Any]) -> dict[str, Any]:
    """What equal runs have in common: all but the checkpoints before the last one of each stage."""
    last = {str(Path(name).parent): name for name in sorted(found) if name.endswith(".pt")}
    return {name: value for name, value in found.items() if not name.endswith(".pt") or name in last.values()}


def without_times(content: Any) -> Any:
    """A JSON value without what differs between equal runs."""
    if isinstance(content, dict):
        return {key: without_times(value) for key, value in content.items() if key not in NOT_COMPARED}
    return [without_times(value) for value in content] if isinstance(content, list) else content


def plain(content: Any) -> Any:
    """The content of a checkpoint as values that can be compared."""
    if isinstance(content, torch.Tensor):
        return str(content.dtype), tuple(content.shape), content.detach().contiguous().numpy().tobytes()
    if isinstance(content, dict):
        return {key: plain(value) for key, value in content.items()}
    return [plain(value) for value in content] if isinstance(content, list | tuple) else content
