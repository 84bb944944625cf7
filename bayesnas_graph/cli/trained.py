"""How a training stands, as its folder shows it: what `status` tells beyond what it tells of any run."""

from __future__ import annotations

from math import isfinite
from typing import Any

from bayesnas_graph.cli.standing import duration
from bayesnas_graph.runs.reading.run import Traces


def is_training(found: Traces) -> bool:
    """Whether a run is a training, or a compression, which is made of trainings, and no search."""
    return found.manifest.get("kind") in ("train", "compress")


def training_rows(found: Traces) -> list[tuple[str, str]]:
    """Epochs, losses and accuracies, those of the last epoch."""
    left = _left(found)
    until = "" if left is None else f", {duration(left)} left"
    rows = [("epoch", f"{_epoch(found):,} of {_epochs(found)}{until}"), ("step", f"{found.step:,}")]
    if found.rows:
        last = found.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append(("accuracy", f"{last['accuracy']:.4f} on samples that it was trained on"))
        rows.append(("", f"{last.get('test_accuracy', float('nan')):.4f} on the test set"))
        rows.append(("epoch time", duration(last["seconds"])))
    if found.result is not None:
        rows.append(("weights", f"{found.result['parameters']:,}"))
        rows.append(("multiply-adds", f"{found.result['flops']:,}"))
    return rows


def training_json(found: Traces) -> dict[str, Any]:
    """The same for tools."""
    last: dict[str, float] = found.rows[-1] if found.rows else {}
    return {
        "kind": found.manifest["kind"],
        "epoch": _epoch(found),
        "epochs": _epochs(found),
        "step": found.step,
        "loss": {"train": _finite(last.get("loss")), "test": _finite(last.get("test_loss"))},
        "accuracy": {"train": _finite(last.get("accuracy")), "test": _finite(last.get("test_accuracy"))},
        "epoch_seconds": _finite(last.get("seconds")),
        "seconds_left": _finite(_left(found)),
        "weights": found.result["parameters"] if found.result else None,
        "flops": found.result["flops"] if found.result else None,
    }


def _epoch(found: Traces) -> int:
    """Epochs that were ended with a test."""
    return int(_finite(found.rows[-1].get("epoch")) or 0) if found.rows else 0


def _epochs(found: Traces) -> int | None:
    """How many there are to be; of a compression at most, for it may have enough of removing."""
    config = found.config
    names = ("epochs", "loops", "loop_epochs", "fine_epochs") if "loops" in config else ("epochs",)
    numbers = [number for name in names if isinstance(number := config.get(name), int)]
    if len(numbers) < len(names):
        return None
    return numbers[0] + numbers[1] * numbers[2] + numbers[3] if len(numbers) > 1 else numbers[0]


def _left(found: Traces) -> float | None:
    """Seconds to the end, if it runs and goes on as it does."""
    epochs = _epochs(found)
    if not (found.running and found.rows and epochs is not None):
        return None
    return max(0, epochs - _epoch(found)) * found.rows[-1]["seconds"]


def _finite(number: float | None) -> float | None:
    """What JSON can hold."""
    return number if number is not None and isfinite(number) else None
