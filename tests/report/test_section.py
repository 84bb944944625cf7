"""Sections of tables and charts."""

from __future__ import annotations

from bayesnas_graph.report.section import Chart, Fold, Table, build_section


def chart(key: str, *values: int) -> Chart:
    return Chart(key, f"Title of {key}", "A caption.", {"height": 100, "layer": [], "data": {"values": list(values)}})


def test_numbers_are_flush_right() -> None:
    body = build_section(
        "s", "S", tables=[Table(("name", "kind", "size"), (("a", "b", "7"),), text_columns=("kind",))]
    ).body
    assert '<th scope="col">name</th><th scope="col">kind</th><th scope="col" class="number">size</th>' in body
    assert '<td>a</td><td>b</td><td class="number">7</td>' in body
    assert body.count('<div class="scroll">') == body.count('<table class="table">') == 1


def test_external_text_is_escaped() -> None:
    bad = "<script>alert(1)</script>"
    table = Table((bad, bad), ((bad, bad),), title=bad)
    found = build_section("s", "S", notes=[bad], tables=[table, Table((bad,), ((bad,),), title=bad, folded=True)])
    assert "<script" not in found.body
    assert found.body.count("&lt;script&gt;") == 9


def test_each_chart_has_a_place_and_a_key_of_its_own() -> None:
    found = build_section("s", "S", charts=[chart("a", 1), None], wide=[chart("b", 1)])
    assert [one.key for one in found.charts] == ["s-a", "s-b"]
    for one in found.charts:
        assert found.body.count(f'data-chart="{one.key}"') == 1
    beside, below = found.body.split("</div>\n<figure", 1)
    assert "Title of a" in beside
    assert "Title of b" in below


def test_charts_under_folds() -> None:
    folds = [Fold("More", (chart("c", 1),)), Fold("None", (chart("d"),)), Fold("Open", (chart("e", 1),), is_open=True)]
    found = build_section("s", "S", wide=[chart("a", 1)], folds=folds)
    assert [one.key for one in found.charts] == ["s-a", "s-c", "s-e"]
    assert '<details class="more">\n<summary>More</summary>' in found.body
    assert '<details class="more" open>\n<summary>Open</summary>' in found.body
    assert "None" not in found.body


def test_what_has_nothing_to_show_is_left_away() -> None:
    found = build_section("s", "S", tables=[Table(("a",), ())], charts=[chart("a")], wide=[chart("b")])
    assert found.charts == ()
    assert found.body.strip() == ""


def test_a_folded_table_opens_by_its_title() -> None:
    body = build_section("s", "S", tables=[Table(("a",), (("b",),), title="More", folded=True)]).body
    assert "<summary>More</summary>" in body
    assert "<h3>" not in body


def test_a_table_without_empty_columns() -> None:
    table = Table(("run", "size", "updates"), (("a", "1", ""), ("b", "", "")))
    assert table.without_empty_columns() == Table(("run", "size"), (("a", "1"), ("b", "")))


def test_a_table_transposed() -> None:
    table = Table(("setting", "a", "b"), (("seed", "0", "1"), ("rate", "2", "3")))
    assert table.transposed() == Table(("setting", "seed", "rate"), (("a", "0", "2"), ("b", "1", "3")))
    assert table.transposed().transposed() == table
