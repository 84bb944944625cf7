"""A constant of exported source stands for a parameter of the network, and for nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings

from bayesnas_graph.codegen.emit import build
from bayesnas_graph.codegen.export import model_of
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.language.elaborate.load import with_argument
from bayesnas_graph.passes.analysis import cost
from tests.helpers import check, network
from tests.programs import programs

HEAD = "global_avg_pool > linear(10)"


def source(parameters: str, chain: str, motifs: str = "") -> str:
    text = f"{motifs} network n{parameters} : image(3, 8, 8) -> classes(10) {{ in x x -> out : {chain} }}"
    return model_of(network(text), "test").program.text


def test_numbers_without_a_parameter_stay_numbers() -> None:
    """64 is not eight times a width of 8: the text does not say so."""
    text = source("", "conv(8) > bn > conv(64) > bn > flatten > linear(128) > linear(10)")
    assert "WIDTH" not in text
    assert "nn.Linear(4096, 128)" in text


def test_only_what_follows_from_the_parameter_is_written_with_it() -> None:
    convolutions = "conv(width) > bn > conv(16) > bn > conv(2 * width)"
    text = source("(width = 8)", f"{convolutions} > flatten > linear(128) > linear(10)")
    assert "\nWIDTH = 8\n" in text
    assert "nn.Conv2d(3, WIDTH, 3" in text
    assert "nn.Conv2d(WIDTH, 16, 3" in text
    assert "nn.Conv2d(16, 2 * WIDTH, 3" in text
    assert "nn.Linear(128 * WIDTH, 128)" in text, "64 positions times two widths"


def test_equal_numbers_may_have_different_reasons() -> None:
    """Both uses are 8 wide, but only one because of the parameter: they are one class, so there is no constant."""
    motif = "motif m(w) { in x x -> out : conv(w) > bn > relu > conv(4) }"
    text = source("(width = 8)", f"conv(4) > m(width) > m(8) > {HEAD}", motif)
    assert "WIDTH" not in text


def test_simple_expressions() -> None:
    text = source("(base = 8)", f"conv(base / 2) > bn > conv(base + 3) > bn > conv(3 * base / 2) > bn > {HEAD}")
    assert "\nBASE = 8\n" in text
    assert "nn.Conv2d(3, BASE // 2, 3" in text
    assert "nn.Conv2d(BASE // 2, BASE + 3, 3" in text
    assert "nn.Conv2d(BASE + 3, 3 * BASE // 2, 3" in text


@pytest.mark.parametrize(
    "chain",
    [
        f"conv(width * width) > bn > {HEAD}",
        f"conv(if width > 10 then 4 else width) > bn > {HEAD}",
        f"conv(width) > bn > (if width > 10 then relu else tanh) > {HEAD}",
        f"conv(32 - width) > bn > {HEAD}",
    ],
)
def test_other_relations_give_no_constant(chain: str) -> None:
    assert "WIDTH" not in source("(width = 8)", chain)


def test_a_factor_of_all_widths_gives_no_constant() -> None:
    text = source("(multiplier = 1)", f"conv(16 * multiplier) > bn > conv(32 * multiplier) > bn > {HEAD}")
    assert "MULTIPLIER" not in text
    assert "nn.Conv2d(16, 32, 3" in text


def test_a_parameter_that_cannot_be_changed_is_passed_over() -> None:
    text = source("(labels = 10, width = 8)", "conv(width) > bn > global_avg_pool > linear(labels)")
    assert "\nWIDTH = 8\n" in text
    assert "LABELS" not in text


def test_defaults_follow_the_parameters_before_them() -> None:
    text = source("(width = 8, inner = 2 * width)", f"conv(width) > bn > conv(inner) > bn > {HEAD}")
    assert "nn.Conv2d(WIDTH, 2 * WIDTH, 3" in text


def test_operations_without_weights_use_the_constant_too() -> None:
    text = source("(width = 8)", f"conv(width) > pad_channels(3 * width) > bn > {HEAD}")
    assert "self.WIDTH" not in text
    assert "WIDTH" in text.partition("def forward")[2]


@pytest.mark.parametrize("parameter", ["f", "nn", "n", "torch", "tensor", "self", "super"])
def test_the_name_of_the_constant_is_free(parameter: str) -> None:
    motif = "motif block(w) { in x x -> out : conv(w) > relu > conv(w) }"
    definition = f"network n({parameter} = 8) : image(3, 8, 8) -> classes(10)"
    found = network(f"{motif} {definition} {{ in x x -> out : block({parameter}) > {HEAD} }}")
    model = model_of(found, "test")
    model.build()
    (name,) = re.findall(r"^(\w+) = 8$", model.program.text, re.MULTILINE)
    other = replace(model.program, text=model.program.text.replace(f"\n{name} = 8\n", f"\n{name} = 4\n"))
    assert sum(p.numel() for p in build(other).parameters()) < model.program.parameters


def test_nodes_may_be_called_like_the_constant() -> None:
    body = "in x node WIDTH = x : conv(width) > bn node y = WIDTH : pad_channels(3 * width) out WIDTH, y"
    found = network(f"network n(width = 8) : image(3, 8, 8) -> image(width, 8, 8), image(3 * width, 8, 8) {{ {body} }}")
    model = model_of(found, "test")
    assert "\nWIDTH = 8\n" in model.program.text
    assert [y.shape[1] for y in model.build()(torch.zeros(1, 3, 8, 8))] == [8, 24]


@pytest.mark.parametrize(("space", "width"), [("darts_v2", 4), ("resnet18_cifar", 20)])
def test_the_constant_is_the_parameter(space: str, width: int) -> None:
    """With another value, the source is that of the network with another value of its parameter."""
    loaded = load_network(Path(space)).network
    text = model_of(loaded, space).program
    changed = replace(text, text=re.sub(r"^WIDTH = \d+$", f"WIDTH = {width}", text.text, flags=re.MULTILINE))
    expected = load_network(Path(space), None, {"width": width}).network
    shapes = {name: value.shape for name, value in build(changed).state_dict().items()}
    assert shapes == {name: value.shape for name, value in model_of(expected, space).build().state_dict().items()}
    assert sum(p.numel() for p in build(changed).parameters()) == cost(expected.graph()).parameters


def test_arguments_from_outside_stay(tmp_path: Path) -> None:
    """A depth that the user chose is the same for all values of the width."""
    body = "in x node h[depth] = x : conv(width) > bn  concat(h) -> out : global_avg_pool > linear(10)"
    path = tmp_path / "test.nas"
    path.write_text(f"network n(width = 4, depth = 1) : image(3, 8, 8) -> classes(10) {{ {body} }}")
    text = model_of(load_network(path, None, {"depth": 3}).network, "test").program.text
    assert text.count("nn.Conv2d(3, WIDTH, 3") == 3
    assert "nn.Linear(3 * WIDTH, 10)" in text


@settings(max_examples=30, deadline=None)
@given(programs(0.0))
def test_random_networks(text: str) -> None:
    """The constant is the parameter in every network that has one."""
    space, diagnostics = check(text)
    if diagnostics or not space.networks or space.networks[0].block.choices:
        return
    model = model_of(space.networks[0], "test")
    for name, value in re.findall(r"^([A-Z]\w*) = (\d+)$", model.program.text, re.MULTILINE):
        wide = with_argument(space.networks[0], "w", int(value) + 5)
        if wide is not None:
            line = f"\n{name} = {value}\n"
            changed = replace(model.program, text=model.program.text.replace(line, f"\n{name} = {int(value) + 5}\n"))
            assert sum(p.numel() for p in build(changed).parameters()) == cost(wide.graph()).parameters
