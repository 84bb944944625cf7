"""The notation is recognised from the text, and chosen by the space for output."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.language.notations import parse_cell, parse_genotype, read_architecture, write_architecture
from bayesnas_graph.language.notations.genotype import DARTS
from bayesnas_graph.language.notations.genotype import groups_of as groups_of_genotype
from bayesnas_graph.language.notations.nasbench201 import groups_of as groups_of_cell
from bayesnas_graph.language.notations.problems import LONGEST_TEXT
from tests.helpers import body, graph
from tests.language.notations.shipped import DARTS_V2, compiled, groups

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|avg_pool_3x3~2|"


def test_recognised_by_the_text() -> None:
    darts, bench = compiled("darts", width=4, cells=3), compiled("nasbench201", cells=1, width=4)
    assert read_architecture(f"V2 = {DARTS_V2}", darts) == groups_of_genotype(parse_genotype(DARTS_V2), darts)
    assert read_architecture(f"{CELL}\n", bench) == groups_of_cell(parse_cell(CELL), bench)
    with pytest.raises(NasError, match=r"NAS702: .* does not have the switches of NAS-Bench-201"):
        read_architecture(CELL, darts)
    with pytest.raises(NasError, match=r"NAS702: .* does not have the switches of DARTS"):
        read_architecture(DARTS_V2, bench)


def test_written_by_the_space() -> None:
    darts, bench = compiled("darts", width=4, cells=3), compiled("nasbench201", cells=1, width=4)
    kept = read_architecture(DARTS_V2, darts)
    written = write_architecture(kept, darts)
    assert written is not None
    assert written.startswith("Genotype(normal=[(")
    assert read_architecture(written, darts) == kept
    assert write_architecture(read_architecture(CELL, bench), bench) == CELL
    assert write_architecture([], bench) == "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
    with pytest.raises(NasError, match="NAS702: node 2 of `normal` keeps 14 operations on 2 edges"):
        write_architecture(groups(darts), darts)


def test_a_space_without_a_notation() -> None:
    assert write_architecture([], compiled("quickstart", "digits")) is None
    assert write_architecture([], compiled("nasbench201", "all_skip")) is None


def test_a_space_with_more_than_the_notation_speaks_of() -> None:
    """With another choice in the network, closing what a genotype does not name could disconnect it."""
    cells = "darts.backbone(darts.normal, darts.reduction, 4, 3, affine = true)"
    network = body(f"x -> out : choose {{ conv(3), identity }} > {cells}", "image(3, 8, 8) -> classes(10)")
    more = graph(f'import "darts.nas" as darts {network}')
    assert any(group.startswith("normal:") for group in groups(more))
    assert not DARTS.fits(more)
    with pytest.raises(NasError, match="NAS702: network `n` does not have the switches of DARTS"):
        read_architecture(DARTS_V2, more)


def test_a_candidate_without_a_name() -> None:
    cell = "cell dense { in x node h[3] for j in 0..3 { x, h[0..j] -> h[j] : choose { identity, bn } } out h[2] } "
    more = graph(cell + body("x -> out : dense"))
    written = "|skip_connect~0|+|none~0|none~1|+|none~0|none~1|none~2|"
    assert write_architecture({"dense:h.0.identity"}, more) == written
    with pytest.raises(NasError, match=r"NAS702: NAS-Bench-201 has no name for switch `dense h\[0\]: bn`"):
        write_architecture({"dense:h.0.bn"}, more)
    with pytest.raises(NasError, match=r"NAS702: network `n` has no switch `dense h\[0\]: nor_conv_3`"):
        read_architecture(CELL, more)


@pytest.mark.parametrize("text", ["", "hello", "[('skip_connect', 0)]", "x" * (LONGEST_TEXT + 1), "\0\x1b[2J\ud800"])
def test_in_no_notation(text: str) -> None:
    with pytest.raises(NasError) as error:
        read_architecture(text, compiled("nasbench201", cells=1, width=4))
    (found,) = error.value.diagnostics
    assert found.code == "NAS701"
    assert "\x1b" not in render(found)


@given(st.sampled_from(["", "|", "Genotype", "Genotype("]), st.text())
def test_any_text_gets_an_answer(start: str, text: str) -> None:
    with pytest.raises(NasError):
        read_architecture(start + text, compiled("nasbench201", cells=1, width=4))


def test_torch_is_not_needed() -> None:
    program = "import sys, bayesnas_graph.language.notations; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
