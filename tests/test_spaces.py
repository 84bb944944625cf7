"""The shipped spaces match their publications."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report, render
from bayesnas_graph.ir.ops import BatchNorm
from bayesnas_graph.language.elaborate import Checker, Space, load_network
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.passes import plain, prune
from bayesnas_graph.passes.analysis import cost, extremes, networks, switches, violated
from tests.conftest import ROOT, SPACES
from tests.helpers import body, codes, formatted, graph, weights

EXPECTED = {
    "std",
    "darts",
    "darts_imagenet",
    "darts_v2",
    "tree_cell",
    "densenet",
    "nasbench101",
    "nasbench201",
    "nasnet",
    "hierarchical",
    "proxyless_mobile",
    "lenet300",
    "lenet5",
    "resnet18_cifar",
    "quickstart",
    "nats_size",
    "nasbench_macro",
    "once_for_all",
    "vit",
    "convnext",
    "autoformer",
    "sequence",
    "resnet50",
    "mobilenet_v2",
    "efficientnet_b0",
    "vgg11_bn",
    "tabular",
    "mobilenet_v3",
    "shufflenet_v2",
    "unet",
    "auto_deeplab",
    "darts_rnn",
}


SEQUENCES = {"self_attention", "transformer_mlp", "transformer_block"}  # what the library has for sequences


@cache
def load(name: str) -> Space:
    report = Report()
    space = Checker(report).path(ROOT / "spaces" / f"{name}.nas")
    assert space is not None
    assert not report.diagnostics, "\n".join(map(render, report.diagnostics))
    return space


def test_all_are_there() -> None:
    assert {path.stem for path in SPACES} == EXPECTED


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_clean(path: Path) -> None:
    load(path.stem)
    assert formatted(path.read_text()) == path.read_text()


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_documented(path: Path) -> None:
    space = load(path.stem)
    assert path.read_text().startswith("//!")
    if path.stem != "std":
        assert any(f" {year}" in space.doc for year in range(1990, 2027)), "the source is cited with its year"
    undocumented = [d.name.name for d in space.module.own.values() if not d.doc]
    assert not undocumented


@pytest.mark.parametrize(
    ("space", "network", "count"),
    [
        ("darts_v2", "darts_v2", 3_349_342),
        ("densenet", "densenet_bc_100_12", 769_162),
        ("resnet18_cifar", "resnet18", 11_173_962),
        ("lenet300", "lenet300", 266_610),
        ("lenet5", "lenet5", 431_080),
        ("nasbench201", "all_conv3x3", 1_531_546),
        ("nasbench201", "all_skip", 73_306),
        ("darts", "search", 1_930_618),
        ("vit", "vit", 22_050_664),
        ("convnext", "tiny", 28_589_128),
        ("resnet50", "resnet50", 25_557_032),
        ("mobilenet_v2", "mobilenet_v2", 3_504_872),
        ("efficientnet_b0", "efficientnet", 5_288_548),
        ("vgg11_bn", "vgg11_bn", 132_868_840),
        ("mobilenet_v3", "mobilenet_v3_large", 5_483_032),
        ("shufflenet_v2", "shufflenet_v2", 2_278_604),
        ("unet", "unet", 31_030_658),
        ("once_for_all", "search", 7_974_840),
    ],
)
def test_published_parameter_counts(space: str, network: str, count: int) -> None:
    (found,) = (n for n in load(space).networks if n.name == network)
    assert weights(found.graph()) == count


@pytest.mark.parametrize(
    ("space", "network", "choices", "gates", "groups"),
    [
        ("darts", "search", 8 * 14, 8 * 14 * 7, 2 * 14 * 7),
        ("darts", "evaluation", 20 * 14, 20 * 14 * 7, 2 * 14 * 7),
        ("nasbench201", "search", 15 * 6, 15 * 6 * 4, 6 * 4),
        ("tree_cell", "search", 54 * 12, 54 * 12 * 8, 54 * 12 * 8),
        ("densenet", "search", 3 * 15, 45, 45),
        ("nasbench101", "search", 9 * 26, 9 * (21 + 5 * 3), 21 + 5 * 3),
        ("nasnet", "search", 8 * 45, 8 * (40 * 13 + 5), 2 * (40 * 13 + 5)),
    ],
)
def test_switches(space: str, network: str, choices: int, gates: int, groups: int) -> None:
    """Uses of a cell share switches; uses of a motif do not."""
    (found,) = (n for n in load(space).networks if n.name == network)
    graph = found.graph()
    assert found.block.choices == choices
    assert len(graph.gates) == gates
    assert len({gate.group for gate in graph.gates}) == groups


def test_nats_size_has_as_many_networks_as_published() -> None:
    graph = load("nats_size").networks[0].graph()
    assert switches(graph).settings == 8**5
    assert {gate.target for gate in graph.gates} == {f"w[{i}]" for i in range(5)}


def test_sizes_of_nats_size() -> None:
    """The network of the benchmark, with a convolution on the skips of its second and third cell."""
    graph = load("nats_size").networks[0].graph()
    for widths in ((8, 16, 24, 32, 40), (64, 8, 64, 8, 64), (64,) * 5):
        kept = {f"w[{i}]={width}" for i, width in enumerate(widths)}
        architecture = prune(graph, set(graph.switches) - kept)
        assert weights(plain(architecture)) == _nats_size(*widths)


def _nats_size(a: int, b: int, c: int, d: int, e: int) -> int:
    def conv(before: int, after: int, k: int = 3) -> int:
        return before * after * k * k + 2 * after

    def cell(before: int, after: int, skip: int) -> int:
        return 2 * conv(before, after) + 3 * conv(after, after) + skip

    def reduction(before: int, after: int) -> int:
        return conv(before, after) + conv(after, after) + before * after

    skips = (conv(b, c, 1), conv(d, e, 1))
    cells = cell(a, a, 0) + cell(b, c, skips[0]) + cell(d, e, skips[1])
    return conv(3, a) + cells + reduction(a, b) + reduction(c, d) + 2 * e + 10 * e + 10


def test_nasbench_macro_has_as_many_networks_as_published() -> None:
    graph = load("nasbench_macro").networks[0].graph()
    assert switches(graph).settings == 3**8
    sizes = extremes(graph).parameters
    assert (sizes.smallest.cost, sizes.largest.cost) == (387_882, 2_932_586)


def test_once_for_all_is_elastic() -> None:
    """In each of five stages 2 to 4 blocks, and in each of up to twenty blocks three kernels and three expansions."""
    graph = load("once_for_all").networks[0].graph()
    numbers = {(gate.number, gate.home) for gate in graph.gates}
    assert sorted(name for name, _ in numbers) == sorted(["more"] * 5 + ["kernel", "expand"] * 20)
    options = {name: {gate.label for gate in graph.gates if gate.number == name} for name, _ in numbers}
    assert options == {"more": {"1", "2", "3"}, "kernel": {"3", "5", "7"}, "expand": {"3", "4", "6"}}


def test_autoformer_chooses_heads_ratios_and_depth() -> None:
    """Of 12 to 14 blocks, each with 3 or 4 heads of 64 channels and two ratios, as AutoFormer-T."""
    graph = load("autoformer").networks[0].graph()
    numbers = [name for name, _ in {(gate.number, gate.home) for gate in graph.gates}]
    assert sorted(numbers) == sorted(["more"] + ["heads", "ratio"] * 14)
    assert networks(graph).count == 4**12 + 4**13 + 4**14
    smallest = frozenset(switch for switch in graph.switches if not switch.endswith(("more=0", "heads=3", "ratio=3.5")))
    architecture = plain(prune(graph, smallest))
    assert weights(architecture) == _vit(192, 12, heads=3 * 64, inner=672)
    largest = frozenset(switch for switch in graph.switches if not switch.endswith(("more=2", "heads=4", "ratio=4")))
    assert weights(plain(prune(graph, largest))) == _vit(192, 14, heads=4 * 64, inner=768)


def _vit(width: int, depth: int, heads: int, inner: int) -> int:
    def dense(before: int, after: int) -> int:
        return before * after + after

    block = 3 * dense(width, heads) + dense(heads, width) + dense(width, inner) + dense(inner, width) + 4 * width
    return dense(3 * 16 * 16, width) + (1 + 197) * width + depth * block + 2 * width + dense(width, 1000)


def test_convnext_tiny_is_the_largest_of_its_space() -> None:
    """With the options of the paper, the network to search is the published one."""
    space = {network.name: network.graph() for network in load("convnext").networks}
    graph = space["search"]
    kept = {group for group in graph.switches if group.endswith(("kernel=7", "expand=4", "times=3"))}
    architecture = plain(prune(graph, frozenset(graph.switches) - kept))
    assert weights(architecture) == weights(space["tiny"]) == 28_589_128


def test_mobilenet_v3_chooses_blocks_as_fbnet() -> None:
    """Eight candidates for every block, of which nine can be left out."""
    graph = load("mobilenet_v3").networks[1].graph()
    assert switches(graph).settings == 8**5 * 9**9
    labels = Counter(gate.label for gate in graph.gates)
    assert len(labels) == 8
    assert set(labels.values()) == {14}


def test_shufflenet_v2_chooses_blocks_as_single_path_one_shot() -> None:
    graph = load("shufflenet_v2").networks[1].graph()
    assert switches(graph).settings == 4**20


def test_unet_has_as_many_convolutions_as_published() -> None:
    (network,) = (network for network in load("unet").networks if network.name == "unet")
    layers = Counter(node.op.name for node in network.graph() if node.op.weight_axes)
    assert layers == {"conv": 19, "conv_transpose": 4}, "23 in all"


def test_spaces_of_segmentation_have_the_same_switches_for_labels_of_images() -> None:
    for name, levels in (("unet", {"levels": 3}), ("auto_deeplab", {"layers": 4})):
        search, classify = (
            load_network(Path(name), network, parameters=levels).network.graph() for network in ("search", "classify")
        )
        assert set(search.switches) == set(classify.switches)
        assert len(search[search.outputs[0]].shape) == 3


def trellis(layers: int) -> int:
    """The number of networks that differ in their resolutions: one path through the scales of every layer."""
    text = f"""
        import "auto_deeplab.nas"
        network net : image(1, 32, 32) -> classes(2) {{
            in x
            x -> out : trellis(identity, [label(2) for s in 0..4], 2, {layers}, false)
        }}"""
    found = networks(graph(text))
    assert found.exact
    return found.count


def test_auto_deeplab_has_as_many_paths_as_published() -> None:
    """Layers keep, halve or double the size: 28,657 paths, published as 2.9e4."""
    paths, found = [1, 0, 0, 0], []
    for _ in range(11):
        paths = [sum(paths[max(0, s - 1) : s + 2]) for s in range(4)]
        found.append(sum(paths))
    assert found[-1] == 28_657
    assert [trellis(layers) for layers in (2, 3, 4)] == found[:3] == [2, 5, 13]


def test_search_and_evaluation_have_the_same_switches() -> None:
    """The result of a search can be applied to the evaluation network."""
    for space in ("nasnet", "darts", "darts_imagenet"):
        groups = [{gate.group for gate in network.graph().gates} for network in load(space).networks]
        assert groups[0] == groups[1]
    assert {g.group for g in load("darts").networks[0].graph().gates} == groups[0]


def test_nasbench101_has_the_published_size_and_largest_architecture() -> None:
    """About 510 million cells before the limit on edges; the largest has five 3x3 convolutions and four projections."""
    (network,) = load("nasbench101").networks
    graph = network.graph()
    assert 2**21 * 3**5 == 509_607_936 == switches(graph).settings
    assert {str(constraint) for constraint in graph.constraints} == {"module: edges <= 9"}
    largest = extremes(graph).parameters.largest
    assert largest.cost == 49_979_274
    left = prune(graph, largest.off)
    assert violated(graph, largest.off) == []
    edges = {gate.group for gate in left.gates if gate.kind == "optional"}
    assert len(edges) == 9


def test_nasbench101_refuses_a_tenth_edge() -> None:
    graph = load("nasbench101").networks[0].graph()
    edges = [group for group, gate in graph.switches.items() if gate.kind == "optional"]
    first = {gate.choice: group for group, gate in reversed(graph.switches.items()) if gate.kind == "candidate"}
    off = frozenset(graph.switches.keys() - set(first.values()))
    for count in (9, 10):
        # The edges from the input to all vertices, and from those to the output: ten with one more.
        wanted = [group for group in edges if group.endswith((".x", "s.0"))][:5] + [
            group for group in edges if ":out.v_" in group
        ][: count - 5]
        assert len(wanted) == count
        assert len(violated(graph, off - set(wanted))) == (0 if count == 9 else 9), "once for every use of the cell"


def test_nasnet_reads_one_input_per_branch() -> None:
    search = load("nasnet").networks[0]
    texts = {str(constraint) for constraint in search.graph().constraints}
    branches = {f"{side}[{j}]" for side in ("left", "right") for j in range(5)}
    assert {f"reduction: inputs({branch}) == 1" for branch in branches} <= texts
    assert any("edge(h[0], right[4])" in text and "edge(h[0], joined)" in text for text in texts)


def test_fixed_networks_have_no_choices() -> None:
    for name in (
        "lenet300",
        "lenet5",
        "resnet18_cifar",
        "darts_v2",
        "resnet50",
        "mobilenet_v2",
        "efficientnet_b0",
        "vgg11_bn",
        "vit",
    ):
        assert all(network.block.choices == 0 for network in load(name).networks)


@pytest.mark.parametrize(
    ("space", "parameters", "count"),
    [
        ("resnet50", {"depths": (3, 4, 23, 3)}, 44_549_160),
        ("resnet50", {"depths": (3, 8, 36, 3)}, 60_192_808),
        ("efficientnet_b0", {"depth": Fraction("1.1")}, 7_794_184),
        ("efficientnet_b0", {"multiplier": Fraction("1.1"), "depth": Fraction("1.2")}, 9_109_994),
        ("efficientnet_b0", {"multiplier": Fraction("1.4"), "depth": Fraction("1.8")}, 19_341_616),
        ("efficientnet_b0", {"multiplier": 2, "depth": Fraction("3.1")}, 66_347_960),
        ("vgg11_bn", {"norm": False}, 132_863_336),
        ("vgg11_bn", {"depths": (2, 2, 2, 2, 2)}, 133_053_736),
        ("vgg11_bn", {"depths": (2, 2, 3, 3, 3), "norm": False}, 138_357_544),
        ("vgg11_bn", {"depths": (2, 2, 4, 4, 4), "norm": False}, 143_667_240),
    ],
)
def test_scaled_networks_have_the_published_size_too(space: str, parameters: dict[str, Argument], count: int) -> None:
    """ResNet-101 and 152, EfficientNet-B1, B2, B4 and B7, and VGG-11, 13, 16 and 19, as counted by torchvision."""
    assert weights(load_network(Path(space), parameters=parameters).network.graph()) == count


@pytest.mark.parametrize(
    ("space", "parameters", "low", "high"),
    [
        ("resnet50", {}, 3.8e9, 3.9e9),
        ("resnet50", {"strided": 3}, 4.085e9, 4.095e9),
        ("mobilenet_v2", {}, 295e6, 305e6),
        ("efficientnet_b0", {}, 0.385e9, 0.395e9),
        ("vgg11_bn", {}, 7.6085e9, 7.6095e9),
    ],
)
def test_multiply_adds_are_as_published(space: str, parameters: dict[str, Argument], low: float, high: float) -> None:
    """Those of the papers are rounded or cut; those of ResNet-50 with another stride and of VGG are torchvision's."""
    assert low <= cost(load_network(Path(space), parameters=parameters).network.graph()).flops < high


def test_tabular_chooses_numbers() -> None:
    graph = load("tabular").networks[0].graph()
    options = {gate.number: set[str]() for gate in graph.gates if gate.number}
    for gate in graph.gates:
        if gate.number:
            options[gate.number].add(gate.label)
    assert options == {
        "width": {"64", "128", "256", "512"},
        "hidden": {"64", "128", "256", "512"},
        "drop": {"0", "0.1", "0.25", "0.5"},
        "depth": {"1", "2", "4"},
    }
    assert switches(graph).settings == 4 * 4 * 4 * 3 * 2 * 2


def test_resnet18_in_any_width() -> None:
    graph = load_network(Path("resnet18_cifar"), parameters={"width": 4}).network.graph()
    assert {node.shape for node in graph if isinstance(node.op, BatchNorm)} == {
        (4, 32, 32),
        (8, 16, 16),
        (16, 8, 8),
        (32, 4, 4),
    }


def test_every_operation_of_the_library_can_be_used() -> None:
    for definition in load("std").module.own.values():
        assert isinstance(definition, ast.Motif)
        given = ", ".join("8" for p in definition.parameters if p.default is None)
        name = definition.name.name
        for stride in ("", ", stride = 2") if "stride" in {p.name.name for p in definition.parameters} else ("",):
            call = f"{name}({(given + stride).removeprefix(', ')})"
            taken = "sequence(8, 64)" if name in SEQUENCES else "image(8, 8, 8)"
            text = body(f"x -> out : {call} > global_avg_pool", f"{taken} -> classes(8)")
            assert codes('import "std.nas" ' + text) == [], call
