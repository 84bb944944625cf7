"""Recipes: which settings file of a space is used, and the shipped ones."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import torch

from bayesnas_graph.data.datasets import DATASETS
from bayesnas_graph.data.fit import takes
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.recipes import (
    OTHER_VERBS,
    Recipe,
    choose_recipe,
    device_of,
    named_recipes,
    recipe_of,
    settings_files,
)
from bayesnas_graph.runs.settings import assigned, configured, option, read_settings
from bayesnas_graph.runs.subject import parameter_values
from tests.conftest import ROOT, SPACES
from tests.test_spaces import load

SHIPPED = sorted(path for path in (ROOT / "spaces").glob("*.toml") if not path.name.endswith(".compress.toml"))
SYSTEMS = ("darts", "tree_cell", "densenet", "hierarchical", "proxyless_mobile")


@pytest.fixture
def space(tmp_path: Path) -> Path:
    (tmp_path / "net.nas").write_text("")
    return tmp_path / "net.nas"


def add(space: Path, *names: str) -> None:
    for name in names:
        (space.parent / name).write_text("batch = 8\n")


def cuda(monkeypatch: pytest.MonkeyPatch, *, present: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: present)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: int(present))
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)


def chosen(space: Path, name: str | None = None, device: str = "auto") -> str | None:
    recipe = choose_recipe(space, name, device)
    return None if recipe is None else recipe.path.name


# ------------------------------------------------------------------------------------ which files


def test_files_of_other_verbs_and_spaces_are_not_recipes(space: Path) -> None:
    add(space, "net.toml", "net.quick.toml", "net.my-own_2.toml", "net.compress.toml", "net.train.toml")
    add(space, "net.none.toml", "net.a.b.toml", "other.quick.toml", "network.quick.toml", "net.large.toml")
    add(space, "net.large.nas")
    (space.parent / "net.folder.toml").mkdir()
    assert list(named_recipes(space)) == ["my-own_2", "quick"]
    assert named_recipes(space)["quick"].name == "net.quick.toml"
    assert recipe_of(space) == space.with_suffix(".toml")
    assert recipe_of(space, "compress") == space.with_name("net.compress.toml")
    names = [path.name for path in settings_files(space)]
    assert names == ["net.toml", "net.train.toml", "net.compress.toml", "net.my-own_2.toml", "net.quick.toml"]
    assert {"search", *OTHER_VERBS} == set(get_args(Kind))


def test_a_file_without_a_recipe_name_is_also_called_quick(space: Path) -> None:
    add(space, "net.toml", "net.paper.toml")
    assert {name: path.name for name, path in named_recipes(space).items()} == {
        "paper": "net.paper.toml",
        "quick": "net.toml",
    }
    assert [path.name for path in settings_files(space)] == ["net.toml", "net.paper.toml"]
    assert chosen(space, "quick") == chosen(space) == "net.toml"


def test_a_file_hides_the_shipped_space_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(named_recipes(Path("darts"))) == set(named_recipes(Path("darts.nas"))) == {"paper", "quick"}
    monkeypatch.chdir(tmp_path)
    Path("darts.nas").write_text("")
    assert named_recipes(Path("darts.nas")) == {}
    assert choose_recipe(Path("darts.nas")) is None
    assert named_recipes(Path("no_such_space")) == {}


# ------------------------------------------------------------------------------------ which one


@pytest.mark.parametrize(
    ("device", "present", "name"),
    [
        ("auto", True, "paper"),
        ("auto", False, "quick"),
        ("cpu", True, "quick"),
        ("mps", True, "quick"),
        ("cuda", False, "paper"),  # the search will report that there is none
        ("gpu", True, "quick"),  # and that this is not a device
    ],
)
def test_the_device_decides(
    device: str, present: bool, name: str, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda(monkeypatch, present=present)
    add(space, "net.quick.toml", "net.paper.toml")
    assert chosen(space, device=device) == f"net.{name}.toml"
    where = "" if name == "paper" else "not "
    assert str(choose_recipe(space, device=device)) == f"net.{name}.toml, because the device is {where}CUDA"


@pytest.mark.parametrize("present", [True, False])
def test_a_file_without_a_recipe_name_comes_first(present: bool, space: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda(monkeypatch, present=present)
    add(space, "net.toml", "net.quick.toml", "net.paper.toml")
    assert choose_recipe(space) == Recipe(space.with_suffix(".toml"))
    assert chosen(space, "paper") == "net.paper.toml"
    assert chosen(space, "none") is None


def test_other_recipes_are_used_only_by_name(space: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(space) is None
    add(space, "net.mine.toml")
    assert chosen(space) is None
    assert str(choose_recipe(space, "mine")) == "net.mine.toml"
    add(space, "net.quick.toml")
    cuda(monkeypatch, present=True)
    assert chosen(space) is None, "there is no recipe for CUDA"
    assert chosen(space, device="cpu") == "net.quick.toml"


def test_the_last_setting_names_the_device() -> None:
    assert device_of([assigned("rate=1")]) == "auto"
    assert device_of([assigned("device=cuda"), option("--device", "device", "cpu")]) == "cpu"


@pytest.mark.parametrize(
    ("names", "name", "code", "message", "help"),
    [
        (["quick", "paper"], "papr", "NAS601", "recipe `papr`", "did you mean `paper`? available: `paper`, `quick`"),
        (["quick"], "zzz", "NAS601", "has no recipe `zzz`", "available: `quick`"),
        (["quick"], "", "NAS601", "has no recipe ``", "available: `quick`"),
        (["compress"], "compress", "NAS601", "has no named recipes", "a recipe is a file `net.NAME.toml` beside"),
    ],
)  # fmt: skip
def test_names_that_do_not_exist(names: list[str], name: str, code: str, message: str, help: str, space: Path) -> None:
    add(space, *(f"net.{one}.toml" for one in names))
    with pytest.raises(NasError) as error:
        choose_recipe(space, name)
    (found,) = error.value.diagnostics
    assert found.code == code
    assert message in found.message
    assert help in (found.help or "")


def test_a_missing_space_is_reported_as_such(tmp_path: Path) -> None:
    with pytest.raises(NasError) as error:
        choose_recipe(tmp_path / "missing.nas", "quick")
    assert error.value.diagnostics[0].code == "NAS011"


# ------------------------------------------------------------------------------------ the shipped ones


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_every_space_with_choices_has_both_sizes(path: Path) -> None:
    if not any(network.block.choices for network in load(path.stem).networks):
        assert not named_recipes(path), "there is nothing to search"
        return
    assert {"quick", "paper"} <= named_recipes(path).keys()


def test_every_system_has_both_sizes() -> None:
    for name in SYSTEMS:
        assert {"quick", "paper"} <= set(named_recipes(Path(name))), name
        assert recipe_of(Path(name)) is None, "it would hide them"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_recipes_fit_their_space_and_data(path: Path) -> None:
    """Settings are valid, the network elaborates with its parameters, and takes what the data set has."""
    assert path.read_text().startswith("# "), "the first line says what it is for"
    config = configured([read_settings(path)])
    space = path.with_name(f"{path.name.partition('.')[0]}.nas")
    network = load_network(space, config.network, parameter_values(config.parameters)).network
    assert network.block.choices
    assert config.data is not None
    (taken,), (returned,) = network.inputs, network.outputs
    if config.data.startswith("folder:"):
        return  # images are resized to what the network takes
    data = DATASETS[config.data]
    channels, height, width = data.shape
    padded = (channels, height + 2 * config.pad, width + 2 * config.pad)
    assert takes(taken.shape, padded)
    assert (returned.kind, returned.shape) == ("classes", (data.classes,))
