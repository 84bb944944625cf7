"""docs/train.md lists every setting with its default and description."""

from __future__ import annotations

import re

from bayesnas_graph.runs.config.train import TrainConfig
from tests.conftest import ROOT
from tests.search.test_page import table

PAGE = ROOT / "docs" / "train.md"


def test_every_setting_is_on_the_page(update_golden: bool) -> None:
    text = PAGE.read_text()
    wanted = re.sub(
        r"(<!-- settings -->\n).*?(<!-- end of settings -->)",
        lambda found: f"{found[1]}\n{table(TrainConfig)}\n{found[2]}",
        text,
        flags=re.DOTALL,
    )
    if update_golden:
        PAGE.write_text(wanted)
    assert PAGE.read_text() == wanted
    assert text.count("<!-- settings -->") == 1


def test_the_recipe() -> None:
    """The defaults are the DARTS recipe for CIFAR-10."""
    recipe = TrainConfig()
    assert (recipe.optimiser, recipe.rate, recipe.momentum, recipe.weight_decay) == ("sgd", 0.025, 0.9, 3e-4)
    assert (recipe.schedule, recipe.final_rate, recipe.rate_warmup, recipe.clip) == ("cosine", 0.0, 0, 5.0)
    assert (recipe.epochs, recipe.batch, recipe.drop_path) == (600, 96, 0.2)
    assert (recipe.crop, recipe.flip, recipe.cutout, recipe.pad) == (4, True, 16, 0)
    assert (recipe.auxiliary, recipe.ema, recipe.label_smoothing) == (0.0, 0.0, 0.0)
