"""A search for each task that is not classification, and the result trained from scratch.

Values: the diabetes data of scikit-learn. Labels: which shapes are in a generated image. Map: where they are.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from bayesnas_graph import api
from bayesnas_graph.data import Data, InMemory, statistics
from bayesnas_graph.runs.objectives import OBJECTIVES
from benchmarks import tables

SIDE = 16  # of generated images
TESTED = 88  # patients of 442 in the test set

SPACES = {
    "diabetes": """network diabetes(width = 32) : vector(10) -> values(1) {
    in x
    node h = x : choose {
        linear(width) > relu,
        linear(width) > tanh,
        linear(4 * width) > relu > linear(width)
    }
    node y = h : optional linear(width) > relu
    h, y -> out : linear(1)
}
""",
    "which": """network which(width = 8) : image(1, 16, 16) -> labels(2) {
    in x
    node s = x : conv(width) > bn > relu
    node h = s : choose { conv(width, 3) > bn > relu, conv(width, 5) > bn > relu, max_pool(3) }
    node y = h : max_pool(2, 2) > conv(2 * width, 3) > bn > relu
    y -> out : global_max_pool > linear(2)
}
""",
    "where": """network where(width = 8) : image(1, 16, 16) -> map(3, 16, 16) {
    in x
    node s = x : conv(width) > bn > relu
    node h = s : choose { conv(width, 3) > bn > relu, conv(width, 5) > bn > relu, max_pool(3) }
    node y = h : conv(2 * width, 3) > bn > relu
    y -> out : conv(3, 1, bias = true)
}
""",
}


def diabetes() -> Data:
    """The progress of a disease after a year, from ten measurements. The values are standardised."""
    from sklearn.datasets import load_diabetes  # type: ignore[import-untyped]

    found = load_diabetes()
    order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(0))
    x, y = torch.tensor(found.data)[order].float(), torch.tensor(found.target)[order].float().view(-1, 1)
    y = (y - y[TESTED:].mean()) / y[TESTED:].std()
    train, test = InMemory(x[TESTED:], y[TESTED:]), InMemory(x[:TESTED], y[:TESTED])
    return Data("diabetes", train, test, (10,), 1, statistics(train), targets="values")


def drawn(count: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Noisy images, which of a disc and a square each has, and a map: background, disc, square."""
    random = torch.Generator().manual_seed(seed)
    images = torch.rand(count, SIDE, SIDE, generator=random) * 0.5
    maps = torch.zeros(count, SIDE, SIDE, dtype=torch.uint8)
    present = torch.rand(count, 2, generator=random) < 0.5
    rows, columns = torch.arange(SIDE).view(1, -1, 1), torch.arange(SIDE).view(1, 1, -1)
    for kind in range(2):
        y, x = (torch.randint(3, SIDE - 3, (count, 1, 1), generator=random) for _ in "yx")
        down, across = (rows - y).abs(), (columns - x).abs()
        inside = down.square() + across.square() <= 9 if kind == 0 else torch.maximum(down, across) <= 2
        inside &= present[:, kind].view(-1, 1, 1)
        images[inside] += 0.4
        maps[inside] = kind + 1
    return images.unsqueeze(1), (torch.stack([(maps == kind).flatten(1).any(1) for kind in (1, 2)], 1)), maps


def which() -> tuple[TensorDataset, TensorDataset]:
    (x, y, _), (tested_x, tested_y, _) = drawn(1000, 0), drawn(300, 1)
    return TensorDataset(x, y), TensorDataset(tested_x, tested_y)


def where() -> tuple[TensorDataset, TensorDataset]:
    (x, _, y), (tested_x, _, tested_y) = drawn(1000, 0), drawn(300, 1)
    return TensorDataset(x, y), TensorDataset(tested_x, tested_y)


def row(name: str, folder: Path, epochs: int, seed: int) -> list[str]:
    """Search, derive and train; return a row of the table."""
    space = folder / f"{name}.nas"
    space.write_text(SPACES[name])
    settings: dict[str, Any] = {"data": f"benchmarks.tasks:{name}", "batch": 32, "seed": seed, "threads": 1}
    found = api.search(space, output=folder / f"{name}-search", iterations=4, rate=0.02, **settings)
    plain: dict[str, Any] = {"crop": 0, "flip": False, "cutout": 0, "drop_path": 0.0}
    network = api.derive(found)
    trained = api.train(network, output=folder / f"{name}-train", epochs=epochs, rate=0.02, **settings, **plain)
    kind = found.network.outputs[0].predicts
    scores = [f"{score:.3f}" for score in (found.outcome.accuracy, trained.outcome.score.accuracy)]
    return [name, f"`{kind}`", OBJECTIVES[kind].metric.name, *scores, f"{network.cost.parameters:,}"]


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=20, help="of training from scratch")
    options = parser.parse_args()
    head = ["data", "output", "metric", "with the weights of the search", "trained from scratch", "parameters"]
    with TemporaryDirectory() as folder:
        rows = [row(name, Path(folder), options.epochs, 0) for name in SPACES]
    print(tables.table(head, rows, words=3), end="")


if __name__ == "__main__":
    main()
