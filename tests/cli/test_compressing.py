"""The command `compress`: its inputs, what it removes, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bayesnas_graph.runs.tables import read_table
from bayesnas_graph.train.compress.patterns import PATTERNS
from tests.cli.conftest import Run, settings
from tests.cli.test_compress import FAST, QUICK, TINY_DATA, folder, of_json, sound
from tests.helpers import mostly_long

__all__ = ["folder"]  # fixture

# ---------------------------------------------------------------------------------- what it begins with


def test_of_a_training(run: Run, folder: Path) -> None:
    train = ("--epochs", "1", "--batch", "20", "-s", "cutout=2", "-s", "threads=1")
    assert run("train", "lenet.nas", *TINY_DATA, *train, "-o", "trained").code == 0
    result = run("compress", "trained", *QUICK, "--epochs", "0", "-o", "run", "--allow-python")
    assert result.code == 0, result.err
    assert "train: the whole network" not in result.out
    told = of_json(folder / "run" / "result.json")
    assert told["whole"]["accuracy"] == pytest.approx(of_json(folder / "trained" / "result.json")["accuracy"])
    config = of_json(folder / "run" / "run.json")["config"]
    assert (config["data"], config["cutout"]) == ("tests.search.spaces:tiny_data", 2)
    by_file = ("compress", "lenet.nas", *FAST, "--epochs", "0", "--weights", "trained/weights.safetensors")
    assert run(*by_file, "-s", "cutout=2", "-s", "crop=4", "-s", "flip=true", "-o", "file").code == 0
    assert (folder / "file" / "weights.safetensors").read_bytes() == (
        folder / "run" / "weights.safetensors"
    ).read_bytes()
    message = "error[NAS601]: `trained` is a run folder, which has its own network and weights"
    for more in (("--weights", "x.safetensors"), ("--network", "net"), ("-p", "width=3")):
        assert message in run("compress", "trained", *more).err


def test_of_a_search(run: Run, folder: Path) -> None:
    search = ("--iterations", "1", "--steps", "4", "-s", "warmup=2", "-s", "batch=20", "-s", "threads=1", "--seed", "1")
    assert run("search", "tiny.nas", *TINY_DATA, *search, "-o", "searched").code == 0
    result = sound(run("compress", "searched", *QUICK, "-o", "run", "--allow-python"))
    assert result.code == 0, result.err
    assert run("check", "run/network.nas").code == 0
    assert of_json(folder / "run" / "result.json")["whole"]["parameters"] > 0


def test_the_same_seed_is_the_same_run(run: Run, folder: Path) -> None:
    for name, seed in (("one", "3"), ("other", "3"), ("third", "4")):
        assert run("compress", "lenet.nas", *FAST, "--seed", seed, "-o", name).code == 0
    one, other, third = ((folder / name / "weights.safetensors").read_bytes() for name in ("one", "other", "third"))
    assert one == other != third


def test_parameters_and_networks(run: Run, folder: Path) -> None:
    assert run("compress", "small.nas", *FAST, "-p", "width=4", "--network", "net", "-o", "run").code == 0
    assert of_json(folder / "run" / "result.json")["whole"]["widths"] == "4-4-4-8-128-16-10"


def test_of_scratch_without_a_training(run: Run, folder: Path) -> None:
    """Without epochs before pruning, it starts from random weights."""
    result = sound(run("compress", "lenet.nas", *FAST, "--epochs", "0", "-o", "run"))
    assert result.code == 0, result.err
    metrics = read_table(folder / "run" / "metrics.csv")
    assert [row["epoch"] for row in metrics] == [str(i + 1) for i in range(len(metrics))]


# -------------------------------------------------------------------------------- what goes, and how much


@pytest.mark.parametrize("pattern", mostly_long(PATTERNS, "channel", "filter", "shape"))
def test_every_pattern(run: Run, folder: Path, pattern: str) -> None:
    given = ("--pattern", f"conv={pattern}", "--pattern", f"linear={pattern}", "-s", "tolerance=0.3")
    result = run("compress", "small.nas", *FAST, *given, "-o", "run")
    assert result.code == 0, result.err
    assert sound(run("check", "run/network.nas")).code == 0
    told = of_json(folder / "run" / "result.json")
    assert told["left"]["operations"] <= told["whole"]["operations"]
    layers = of_json(folder / "run" / "layers.json")
    assert any(layer["zeros"] > 0 for layer in layers), "something went"


def test_what_went_inside_of_kernels_stays_away(run: Run, folder: Path) -> None:
    """Partly removed kernels keep their size, and later training leaves the removed part at zero."""
    given = ("--pattern", "conv=shape", "-s", "tolerance=0.003")
    assert run("compress", "small.nas", *FAST, *given, "-o", "run").code == 0
    convolutions = [layer for layer in of_json(folder / "run" / "layers.json") if layer["kind"] == "conv"]
    left = sum(round((1 - layer["zeros"]) * layer["parameters"]["of"]) for layer in convolutions)
    kernels = [value for value in load_file(folder / "run" / "weights.safetensors").values() if value.ndim == 4]
    assert sum(int(value.count_nonzero()) for value in kernels) == left < sum(value.numel() for value in kernels)


@pytest.mark.parametrize("patterns", ["shape,filter", "row+column,channel,filter", "group-row+column,filter"])
def test_several_patterns(run: Run, folder: Path, patterns: str) -> None:
    """With unlimited tolerance, one path through the network is left."""
    given = ("--pattern", f"conv={patterns}", "-s", "tolerance=1000")
    result = sound(run("compress", "lenet.nas", *FAST, *given, "-o", "run"))
    assert result.code == 0, result.err
    assert of_json(folder / "run" / "result.json")["left"]["widths"] == "1-1-1-1-10"
    assert run("check", "run/network.nas").code == 0


@pytest.mark.parametrize("prune", ["removal", "entropy", "zero"])
def test_selection_criteria(run: Run, folder: Path, prune: str) -> None:
    result = sound(run("compress", "lenet.nas", *FAST, "-s", f"prune={prune}", "--lambda", "0.01", "-o", "run"))
    assert result.code == 0, result.err


def test_a_size_to_stop_at(run: Run, folder: Path) -> None:
    size = ("-s", "tolerance=0.5", "-s", "loops=5")
    assert run("compress", "small.nas", *FAST, *size, "--target-operations", "60K", "-o", "run").code == 0
    told = of_json(folder / "run" / "result.json")
    assert 30_000 < told["left"]["operations"] <= 60_000
    assert told["on_target"]
    assert told["loops"] == len(read_table(folder / "run" / "loops.csv")) < 5
    assert run("compress", "small.nas", *FAST, *size, "--target-params", "2000", "-o", "other").code == 0
    assert of_json(folder / "other" / "result.json")["left"]["parameters"] <= 2000
    assert run("compress", "small.nas", *FAST, *size, "--target-params", "many", "-o", "third").code == 2


def test_a_size_that_is_not_reached(run: Run, folder: Path) -> None:
    result = run("compress", "lenet.nas", *FAST, "--target-params", "10", "-s", "tolerance=0", "-o", "run")
    assert result.code == 0, result.err
    assert "the network is larger than the target" in result.out
    assert of_json(folder / "run" / "result.json")["on_target"] is False


def test_a_size_that_it_has(run: Run, folder: Path) -> None:
    result = sound(run("compress", "small.nas", *FAST, "--target-params", "1M", "--rival", "-o", "run"))
    assert result.code == 0, result.err
    told = of_json(folder / "run" / "result.json")
    assert told["loops"] == 0
    assert told["left"]["parameters"] == told["whole"]["parameters"]


@pytest.mark.parametrize(("height", "prune"), [("1", "removal"), ("1e6", "removal"), ("0.1", "zero"), ("100", "zero")])
def test_far_too_much_of_the_penalty(run: Run, folder: Path, height: str, prune: str) -> None:
    """It ends with a network, or reports that there is none."""
    result = sound(run("compress", "small.nas", *FAST, "--lambda", height, "-s", f"prune={prune}", "-o", "run"))
    if result.code:
        assert "error[NAS621]: the penalty has closed every path through the network" in result.err
        assert not (folder / "run" / "result.json").exists()
        assert sound(run("compress", "--resume", "run", "--allow-python")).code == 1, "and it stays so"
    else:
        assert run("check", "run/network.nas").code == 0


def test_settings(run: Run, folder: Path) -> None:
    (folder / "own.toml").write_text('lambda = 0.5\n[patterns]\nconv = "shape"\n')
    result = run("compress", "--settings", "--config", "own.toml", "--pattern", "y.conv=none", "--loops", "3")
    told = settings(result.out)
    assert (told["lambda"], told["loops"], told["epochs"]) == ("0.5", "3", "20")
    patterns = {"conv": "shape", "depthwise": "filter", "linear": "row,column", "y.conv": "none"}
    assert {key: told[f"patterns.{key}"] for key in patterns} == patterns


# ---------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("tiny.nas", *FAST), 1, "error[NAS610]: network `net` still has 4 choices"),
        (("small.nas", *QUICK), 1, "no data to compress on"),
        (
            ("small.nas", *FAST, "--pattern", "conv=filters"),
            1,
            "error[NAS620]: unknown pattern `filters` for `conv`",
        ),
        (("small.nas", *FAST, "--pattern", "y.cnv=row"), 1, "error[NAS620]: unknown layer `y.cnv`"),
        (
            ("small.nas", *FAST, "--pattern", "conv=none", "--pattern", "linear=none"),
            1,
            "error[NAS620]: nothing to remove",
        ),
        (
            ("small.nas", *FAST, "--pattern", "conv=row,none"),
            1,
            "error[NAS620]: unknown pattern `none` for `conv`",
        ),
        (("small.nas", *FAST, "--pattern", "conv"), 2, "is not of the form conv=shape,filter"),
        (("small.nas", *FAST, "-s", "tolerance=-1"), 1, "error[NAS601]"),
        (("small.nas", *FAST, "-s", "lamda=1"), 1, "error[NAS601]: unknown setting `lamda`"),
        (("small.nas", *FAST, "--lambda", "0"), 1, "error[NAS601]"),
        (("small.nas", *FAST, "--lambda", "nan"), 1, "error[NAS601]"),
        (("small.nas", *FAST, "--loops", "0"), 1, "error[NAS601]"),
        (("small.nas", *FAST, "-s", "prune=all"), 1, "error[NAS601]"),
        (("small.nas", *FAST, "-s", "patterns=filter"), 1, "error[NAS601]"),
        (
            ("small.nas", *FAST, "-s", "held_out=0.001"),
            1,
            "error[NAS601]: only 0 of 200 samples are held out",
        ),
        (("small.nas", *FAST, "-s", "held_out=0.999"), 1, "error[NAS601]: a batch of 20 is larger than the 0 samples"),
        (("small.nas", *FAST, "-s", "batch=5000"), 1, "error[NAS601]: a batch of 5000 is larger than the 180 samples"),
        (("small.nas", *FAST, "--weights", "nowhere.safetensors"), 1, "error["),
        (("small.nas", *FAST, "--network", "nte"), 1, "no network `nte`"),
        (("nowhere.nas", *FAST), 1, "error["),
        ((*FAST,), 2, "pass a network, or a run"),
        (("--resume", "nowhere"), 1, "error[NAS602]: `nowhere` does not exist"),
        (("small.nas", "--resume", "nowhere", "-o", "x"), 2, "keeps its folder"),
    ],
)
def test_what_cannot_be(run: Run, folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = sound(run("compress", *arguments))
    assert result.code == code, result.out + result.err
    assert message in " ".join(result.err.split()).replace("│", "")
    assert not (folder / "runs").exists(), "nothing was begun"


def test_nothing_that_could_be_pruned(run: Run, folder: Path) -> None:
    """Only the filters of the last layer are left, and they cannot be removed."""
    text = "network net : image(1, 8, 8) -> classes(10) { in x x -> out : flatten > linear(10) }"
    (folder / "one.nas").write_text(text)
    result = sound(run("compress", "one.nas", *FAST, "--pattern", "linear=row"))
    assert result.err.startswith("error[NAS620]: nothing to remove from network `net`")


def test_weights_that_do_not_fit(run: Run, folder: Path) -> None:
    save_file({"linear.weight": torch.zeros(3, 3)}, folder / "weights.safetensors")
    result = sound(run("compress", "small.nas", *FAST, "--weights", "weights.safetensors"))
    assert result.err.startswith("error[NAS611]: the weights in `weights.safetensors` do not fit network `net`")
    (folder / "weights.safetensors").write_bytes(b"nothing")
    assert sound(run("compress", "small.nas", *FAST, "--weights", "weights.safetensors")).err.startswith(
        "error[NAS611]"
    )
