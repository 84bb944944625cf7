"""A search system end to end: `python -m benchmarks.systems darts --recipe quick --data-dir data -o build/systems`.

Runs `search`, `derive`, `export`, `train` and `eval` one after the other, as a user would type them, and prints the
result as a row of a table. Every space and recipe has its own folder. If interrupted, the same command continues where
it stopped. Options after `--` are passed to `search`:

    python -m benchmarks.systems darts --recipe paper -o build/lambda-0.01 -- --strategy bayesnas --lambda 0.01
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import table


@dataclass(frozen=True)
class Training:
    """How the result of a search is trained: the options of `derive` and `export`, and those of `train`."""

    train: str
    network: str = ""  # the network that the cells are put into, if it is not the one that was searched


# The paper's size: DARTS and BayesNAS train cells with the default settings of `train` and an auxiliary head; BayesNAS
# trains tree cells with batches of 64, a rate of 0.1 and a cosine, for as many epochs as PyramidNet here. DenseNet and
# the mobile network have the settings of their authors.
TRAININGS = {
    ("darts", "quick"): Training(
        "--data fashion-mnist -s pad=2 -s crop=2 --epochs 2 --rate 0.1 --drop-path 0",
        "--network evaluation -p width=8 -p cells=4 -p stride=2 -p channels=1",
    ),
    ("darts", "paper"): Training("--data cifar10 --auxiliary 0.4", "--network evaluation"),
    ("tree_cell", "quick"): Training("--data cifar10 --epochs 2 --rate 0.1 --drop-path 0"),
    ("tree_cell", "paper"): Training("--data cifar10 --batch 64 --rate 0.1 --epochs 300 --drop-path 0"),
    ("densenet", "quick"): Training("--data cifar10 --epochs 5 --rate 0.1 --drop-path 0"),
    ("densenet", "paper"): Training(
        "--data cifar10 --batch 64 --rate 0.1 --epochs 300 --drop-path 0 -s cutout=0 -s schedule=step "
        "-s weight_decay=1e-4 -s nesterov=true"
    ),
    ("hierarchical", "quick"): Training("--data cifar10 --epochs 3 --rate 0.1 --drop-path 0"),
    ("hierarchical", "paper"): Training("--data cifar10"),
    ("proxyless_mobile", "quick"): Training("--data cifar10 --epochs 5 --rate 0.1 --drop-path 0"),
    ("proxyless_mobile", "paper"): Training(
        "--data folder:data/imagenet -s workers=16 --batch 256 --rate 0.05 --epochs 300 --drop-path 0 -s crop=0 "
        "-s cutout=0 -s weight_decay=4e-5 -s label_smoothing=0.1 -s nesterov=true"
    ),
}
TRANSFERS = {"darts": "--network imagenet"}  # 14 cells and 48 channels; there is no search on ImageNet


@dataclass(frozen=True)
class Step:
    """A command, and the file that it writes last."""

    name: str
    words: Sequence[str]
    product: Path
    resume: Sequence[str] = ()  # the command that continues it
    folder: Path | None = None  # has `run.json` once there is something to resume
    keep_output: bool = False  # the product is what it prints

    @property
    def command(self) -> Sequence[str]:
        can_resume = self.folder is not None and (self.folder / "run.json").is_file()
        return self.resume if can_resume else self.words


@dataclass(frozen=True)
class System:
    """A space and a recipe, and the folder for the results."""

    space: str
    recipe: str
    folder: Path
    data_dir: Path
    search_options: tuple[str, ...] = ()

    def steps(self) -> Iterator[Step]:
        """All steps in their order."""
        training, at = TRAININGS[self.space, self.recipe], self.folder
        found, derived, trained = at / "search", at / "derived", at / "train"
        data = ("--data-dir", str(self.data_dir))
        search = ("search", self.space, "--recipe", self.recipe, *data, "-o", str(found), *self.search_options)
        network = shlex.split(training.network)
        yield Step("search", search, found / "result.json", ("search", "--resume", str(found), *data), found)
        yield Step("derive", ("derive", str(found), *network, "-o", str(derived)), derived / "derived.json")
        source = at / "model.py"
        yield Step("export", ("export", str(found), *network, "-o", str(source)), source)
        train = ("train", str(derived / "network.nas"), *shlex.split(training.train), *data, "-o", str(trained))
        yield Step("train", train, trained / "result.json", ("train", "--resume", str(trained), *data), trained)
        yield Step("eval", ("eval", str(trained), *data, "--json"), at / "eval.json", keep_output=True)
        if self.space in TRANSFERS:
            there, target = at / "imagenet", shlex.split(TRANSFERS[self.space])
            yield Step("transfer", ("derive", str(found), *target, "-o", str(there)), there / "derived.json")
            source = there / "model.py"
            yield Step("transfer source", ("export", str(found), *target, "-o", str(source)), source)

    def run(self) -> None:
        """Run all steps that are not done. Exits if one fails or is interrupted."""
        state_file = self.folder / "state.json"
        begun: dict[str, Any] = {"options": list(self.search_options), "seconds": {}}
        state = _read(state_file) if state_file.is_file() else begun
        if state["options"] != begun["options"]:
            raise SystemExit(f"{self.folder} was started with other options of `search`: use another folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        for step in self.steps():
            if step.product.is_file():
                continue
            start = time.monotonic()
            code = _call(step)
            seconds = state["seconds"].get(step.name, 0.0) + time.monotonic() - start
            state["seconds"][step.name] = round(seconds, 1)
            _write(state_file, json.dumps(state, indent=2) + "\n")
            if code:
                print(f"`{step.name}` did not finish; run the same command again to continue")
                raise SystemExit(code)

    def row(self) -> tuple[str, ...]:
        """The result in a row of a table."""
        verdicts = _read(self.folder / "search" / "decision.json")["verdicts"]
        closed = sum(not verdict["keep"] for verdict in verdicts)
        evaluation, seconds = _read(self.folder / "eval.json"), _read(self.folder / "state.json")["seconds"]
        return (
            self.space,
            self.recipe,
            f"{closed:,} of {len(verdicts):,}",
            f"{evaluation['parameters']:,}",
            f"{evaluation['accuracy']:.4f}",
            f"{sum(seconds.values()) / 60:.1f}",
        )


def _call(step: Step) -> int:
    """Run the program with the words of a step; return its exit code."""
    print(f"\n$ bayesnas-graph {shlex.join(step.command)}", flush=True)
    output = subprocess.PIPE if step.keep_output else None
    with subprocess.Popen([sys.executable, "-m", "bayesnas_graph", *step.command], stdout=output, text=True) as process:
        printed = ""
        while True:
            try:
                printed = process.communicate()[0] or printed
                break
            except KeyboardInterrupt:  # the program was interrupted too: it saves its state and exits
                continue
    if step.keep_output and not process.returncode:
        print(printed, end="")
        _write(step.product, printed)
    return process.returncode


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.replace(path)


def main() -> None:
    words = sys.argv[1:]
    given, passed_on = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("space", choices=list(dict.fromkeys(space for space, _ in TRAININGS)))
    parser.add_argument("--recipe", choices=("quick", "paper"), default="quick")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("-o", "--output", type=Path, default=Path("build/systems"))
    options = parser.parse_args(given)
    folder = options.output / f"{options.space}-{options.recipe}"
    system = System(options.space, options.recipe, folder, options.data_dir, tuple(passed_on))
    system.run()
    print()
    header = ("space", "recipe", "switches closed", "parameters", "accuracy after training", "minutes")
    print(table(header, [system.row()]), end="")
    transfer = folder / "imagenet" / "derived.json"
    if transfer.is_file():
        size = _read(transfer)
        print(f"\non ImageNet: {size['weights']:,} parameters, {size['multiply_adds']:,} multiply-adds")


if __name__ == "__main__":
    main()
