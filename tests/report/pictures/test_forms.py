"""One panel for each form of a motif, and the arguments in its boxes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph.report.pictures import Diagram, Panel, diagram_of, lay_out, merge_alike, prune_diagram, svg_text
from bayesnas_graph.report.pictures.settings import Setting, settings_lines
from tests.conftest import SPACES
from tests.helpers import check, network
from tests.programs import programs
from tests.report.pictures.test_spaces import assert_apart, networks, rectangles

LAYER = "motif layer(k = 3) { in x x -> out : choose { conv(4, k), identity } }"
HEAD = "global_avg_pool > linear(2)"
STAGE = "motif stage(n, k = 3) { in x node h[i in 0..n] = if i == 0 then x else h[i - 1] : layer(k) out h[n - 1] }"


def drawn(motifs: str, chain: str) -> Diagram:
    types = "image(3, 8, 8) -> classes(2)"
    return diagram_of(network(f"{motifs} network n : {types} {{ in x x -> out : {chain} > {HEAD} }}"))


def panels(diagram: Diagram) -> dict[str, Panel]:
    return {panel.title: panel for panel in diagram.panels}


def texts(panel: Panel) -> list[str]:
    """Titles of the boxes between the ends, without those of the head, with all lines below them."""
    boxes = (box for box in panel.boxes if box.kind not in ("input", "output") and box.title not in HEAD)
    return [" / ".join(filter(None, (box.title, *box.texts))) for box in boxes]


def test_stages_of_different_depth_have_their_own_panels() -> None:
    found = panels(drawn(LAYER + STAGE, "conv(4) > stage(5) > stage(9) > stage(5)"))
    assert list(found) == ["network n", "motif stage", "motif layer", "motif stage (2)"]
    assert texts(found["network n"])[1:] == ["stage / n 5", "stage (2) / n 9", "stage / n 5"]
    assert texts(found["motif stage"]) == ["layer / × 5"]
    assert texts(found["motif stage (2)"]) == ["layer / × 9"]
    assert "n 5, used 2 times" in found["motif stage"].notes[0]
    assert "n 9, used once" in found["motif stage (2)"].notes[0]
    assert len(found["motif stage"].uses) == 2


def test_motifs_differ_if_the_motifs_inside_them_do() -> None:
    """Both stages are two blocks in a row, but the first blocks are different."""
    block = "motif block(n) { in x node h[n] x -> h : conv(4) h -> out x -> out }"
    stage = "motif pair(n) { in x x -> out : block(n) > block(1) }"
    found = panels(drawn(block + stage, "conv(4) > pair(1) > pair(2)"))
    assert texts(found["motif pair"]) == ["block / n 1", "block / n 1"]
    assert texts(found["motif pair (2)"]) == ["block (2) / n 2", "block / n 1"]


def test_long_rows_of_operations_that_differ_have_their_own_panels() -> None:
    """Operations in a row share a box without a title, so the outline must not be that of the boxes alone."""
    row = " > ".join(["conv(4)", "relu"] * 7)
    motif = f"motif m(last) {{ in x x -> out : {row} > last x -> out }}"
    found = panels(drawn(motif, "conv(4) > m(relu) > m(tanh)"))
    assert list(found) == ["network n", "motif m", "motif m (2)"]


def test_residual_motifs_of_primitives_have_panels() -> None:
    residual = "motif residual { in x x -> out : conv > bn x -> out }"
    plain = "motif plain { in x x -> out : conv > bn }"
    found = panels(drawn(residual + plain, "residual > plain > residual"))
    assert list(found) == ["network n", "motif residual"]
    assert texts(found["motif residual"]) == ["conv / k 3", "bn"]
    assert [box.opened for box in found["network n"].boxes if box.kind == "motif"] == [True, False, True]


def test_all_forms_of_a_motif_that_branches_have_panels() -> None:
    """A box without a panel would look as if the panel of another form showed its inside."""
    block = "motif block(residual) { in x x -> out : conv > bn if residual { x -> out } }"
    found = panels(drawn(block, "block(false) > block(true)"))
    assert texts(found["network n"]) == ["block", "block (2) / residual"]
    assert len(found["motif block"].wires) + 1 == len(found["motif block (2)"].wires)


def test_boxes_show_arguments() -> None:
    motif = (
        "motif m(width, k = 3, stride = 1, bias = false, last = relu) { in x x -> out : conv(width, k, stride) > last }"
    )
    found = drawn(motif, "conv(8) > max_pool(stride = 2) > m(16) > m(24, 5, 2, true) > m(8, last = tanh)")
    assert texts(found.panels[0]) == [
        "conv / width 8, k 3",
        "max_pool / k 3, stride 2",
        "m / width 16, last relu",
        "m / width 24, k 5 / stride 2, bias / last relu",
        "m / width 8, last tanh",
    ]
    assert "m(width = 24, k = 5, stride = 2, bias = true, last = relu)" in found.panels[0].boxes[4].tip


def test_a_panel_shows_the_arguments_of_all_its_uses() -> None:
    residual = "motif residual(k, width) { in x x -> out : conv(width, k) x -> out : conv(width, 1) }"
    uses = "residual(3, 4) > residual(5, 8) > residual(5, 16)"
    found = panels(drawn(residual, f"{uses}"))["motif residual"]
    assert texts(found) == ["conv / width 4 to 16 / k 3 or 5", "conv / width 4 to 16, k 1"]


def test_uses_in_a_row_with_different_kernels_are_not_merged() -> None:
    layers = "layer > layer > layer > layer > layer(5) > layer(5) > layer(5) > layer(5)"
    assert texts(drawn(LAYER, f"conv(4) > {layers}").panels[0])[1:] == ["layer / × 4", "layer / k 5 / × 4"]
    mixed = "layer > layer(5) > layer > layer(5)"
    assert texts(drawn(LAYER, f"conv(4) > {mixed}").panels[0])[1:] == ["layer", "layer / k 5"] * 2


def test_growing_widths_in_a_row_are_one_box() -> None:
    motif = "motif m(width) { in x x -> out : choose { conv(width, 1), conv(width, 3) } }"
    row = " > ".join(f"m({width})" for width in (4, 6, 8, 10))
    assert texts(drawn(motif, f"{row}").panels[0]) == ["m / width 4 to 10 / × 4"]


def test_chains_are_named_by_their_operations_and_keep_limits() -> None:
    chains = "choose 1 { conv(4, 3), conv(4, 5) } > bn > relu, conv(4, 3) > bn, conv(4, 5) > bn, identity"
    (panel,) = drawn("", f"conv(4) > choose {{ {chains} }} > relu").panels
    (choice,) = panel.choices
    assert [(strand.text, strand.depth) for strand in choice.strands] == [
        ("choice > bn > relu · 1 of 2", 0),
        ("conv 3x3", 1),
        ("conv 5x5", 1),
        ("conv 3x3 > bn", 0),
        ("conv 5x5 > bn", 0),
        ("identity", 0),
    ]
    assert choice.strands[0].tip.startswith("choose 1 {conv(width = 4), conv(width = 4, k = 5)} > bn > relu")
    assert choice.note == ""


def test_limits_are_not_shown_once_decided() -> None:
    found = drawn("", "choose { choose 1 { conv(4), tanh > conv(4, 1) } > relu, conv(4, 5) } > relu")
    kept = {strand.gate for strand in found.panels[0].choices[0].strands[:2]}
    (choice,) = prune_diagram(found, kept).panels[0].choices
    assert [strand.text for strand in choice.strands] == ["choice > relu", "conv 3x3"]


def test_equal_chains_have_different_labels() -> None:
    """Motifs from two files may have one name; a picture cannot tell them apart, but its colours can."""
    tall = "relu > " * 8
    found = drawn("", f"choose {{ {tall} tanh > relu, {tall} sigmoid > relu }} > relu")
    labels = [strand.label for strand in found.panels[0].choices[0].strands]
    assert len(set(labels)) == 2
    assert all(len(label) <= 40 for label in labels)
    assert len(found.colours) == 2


def test_long_names_are_shortened_and_complete_in_the_tip() -> None:
    name = "a_motif_with_a_name_that_is_much_too_long_for_the_title_of_a_box"
    found = drawn(f"motif {name}(p = 1) {{ in x x -> out : relu > tanh }}", f"{name} > conv(4) > {name}(2)")
    box = found.panels[0].boxes[1]
    assert len(box.title) == 32
    assert name in box.tip
    drawing = ET.fromstring(svg_text(lay_out(found)))
    assert any(name in (title.text or "") for title in drawing.iter("{http://www.w3.org/2000/svg}title"))


def test_many_arguments_end_in_an_ellipsis() -> None:
    settings = [Setting(f"parameter_{i}", (10_000_000,)) for i in range(9)]
    assert settings_lines(settings) == (*(f"parameter_{i} 10000000" for i in range(3)), "…")
    assert settings_lines([Setting("p", ("x" * 99,)), Setting("hidden", (1,), shown=False)]) == (
        f"p {'x' * 12}…{'x' * 13}",
    )


def test_more_forms_than_panels() -> None:
    """Further forms are boxes without a panel, and nothing fails."""
    stages = " > ".join(f"stage({n})" for n in range(2, 13))
    found = drawn(LAYER + STAGE, f"conv(4) > {stages}")
    assert sum(panel.title.startswith("motif stage") for panel in found.panels) == 6
    boxes = [box for box in found.panels[0].boxes if box.kind == "motif"]
    assert [box.opened for box in boxes] == [True] * 6 + [False] * 5


@settings(max_examples=40, deadline=None)
@given(programs(0.0), st.randoms(use_true_random=False))
def test_random_programs_are_drawn(text: str, random: Random) -> None:
    """Boxes do not overlap, every panel is reached, and any part of the candidates can be kept."""
    space, diagnostics = check(text)
    for network_ in () if diagnostics else space.networks:
        diagram = diagram_of(network_)
        for placed in lay_out(diagram).panels:
            assert_apart(list(rectangles(placed)))
        assert all(panel.uses for panel in diagram.panels)
        opened = [box.opens for panel in diagram.panels for box in panel.boxes if box.opens is not None]
        assert all(0 < number < len(diagram.panels) for number in opened)
        kept = {gate for gate in sorted(diagram.gates) if random.random() < 0.6}
        pruned = prune_diagram(diagram, kept)
        assert pruned.gates <= kept


def test_a_long_call_is_below_the_title() -> None:
    names = ", ".join(f"parameter_{i} = {i}" for i in range(6))
    text = (
        f"network n(depths = [1, 2], flag = true{{}}) : image(3, 8, 8) -> classes(2) {{{{ in x x -> out : {HEAD} }}}}"
    )
    short, long = (diagram_of(network(text.format(more))) for more in ("", f", {names}"))
    assert short.title == "test: n(depths = [1, 2], flag = true)"
    assert long.title == "test: n"
    assert long.summary.endswith(f" · depths = [1, 2], flag = true, {names}")


def test_chosen_numbers_are_choices_in_boxes() -> None:
    found = panels(drawn("motif m(w, p = 0.25) { in x x -> out : conv(w) > dropout(p) }", "m(choose { 4, 8 }, 0.5)"))
    assert texts(found["network n"])[0] == "m / w choice of 2, p 0.5"


def labels_of(diagram: Diagram) -> list[str]:
    return [strand.label for panel in diagram.panels for choice in panel.choices for strand in choice.strands]


def test_kernels_of_one_operation_never_share_a_label() -> None:
    """Not in one choice, not in two, and not in two uses of a motif."""
    one = drawn("", "conv(4) > choose { conv(4, 3), conv(4, 5), relu } > relu")
    assert labels_of(one) == ["conv 3x3", "conv 5x5", "relu"]
    two = drawn("", "conv(4) > choose { conv(4, 3), relu } > choose { conv(4, 5), relu } > relu")
    assert labels_of(two) == ["conv 3x3", "relu", "conv 5x5", "relu"]
    assert len(two.colours) == 3
    mixed = drawn("", "conv(4) > choose { conv(4, 1), conv(4, 3) } > choose { conv(4, 5), relu } > relu")
    assert labels_of(mixed) == ["conv 1x1", "conv 3x3", "conv 5x5", "relu"]
    uses = drawn("motif m(k) { in x x -> out : choose { conv(4, k), relu } }", "conv(4) > m(3) > m(5)")
    assert labels_of(uses) == ["conv 3x3 or 5x5", "relu"]
    same = drawn("", "conv(4) > choose { conv(4, 3), relu } > choose { conv(4, 3), relu } > relu")
    assert labels_of(same) == ["conv", "relu"] * 2


TWINS = "".join(
    f"cell {name}(width) {{ in x node h x -> h : choose {{ conv(width, 3), conv(width, 5) }} out h }} "
    for name in ("first", "second")
)


def test_cells_that_look_the_same_are_drawn_once() -> None:
    whole = drawn(TWINS, "conv(4) > first(4) > second(8)")
    merged = merge_alike(whole)
    assert [panel.title for panel in merged.panels] == ["network n", "cells first, second"]
    assert [box.opens for box in merged.panels[0].boxes if box.opened] == [1, 1]
    assert merged.gates == whole.gates
    assert [note.partition(":")[0] for note in merged.panels[1].notes[:2]] == ["first", "second"]


def test_cells_are_drawn_separately_if_a_search_kept_different_candidates() -> None:
    whole = drawn(TWINS, "conv(4) > first(4) > second(8)")
    alike = {gate for gate in whole.gates if gate.endswith("_3")}
    mixed = {gate for gate in whole.gates if gate.startswith("first") == gate.endswith("_3")}
    assert len(merge_alike(prune_diagram(whole, alike)).panels) == 2
    titles = [panel.title for panel in merge_alike(prune_diagram(whole, mixed)).panels]
    assert titles == ["network n", "cell first", "cell second"]


def test_motifs_and_cells_with_other_candidates_stay_apart() -> None:
    motifs = drawn(TWINS.replace("cell ", "motif "), "conv(4) > first(4) > second(8)")
    assert len(merge_alike(motifs).panels) == 3
    other = drawn(TWINS.replace("conv(width, 5)", "relu", 1), "conv(4) > first(4) > second(4)")
    assert len(merge_alike(other).panels) == 3


def test_the_cells_of_darts_are_alike_until_they_are_searched() -> None:
    diagram = diagram_of(next(iter(networks(next(path for path in SPACES if path.stem == "darts")))))
    assert [panel.title for panel in merge_alike(diagram).panels][-1] == "cells normal, reduction"
