"""Conversion of SVG to PNG and PDF with the installed tools."""

from __future__ import annotations

import re
import struct
import subprocess
import zlib

import pytest

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report.pictures import Picture, convert, converted, diagram_of, figure_of, ink
from tests.helpers import body, network

SMALL = Picture('<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="15pt" viewBox="0 0 30 15"></svg>', 40, 20)


def figure() -> Picture:
    diagram = diagram_of(network(body("node h x -> h : choose { relu, tanh } out h")))
    return figure_of(diagram.panels[0], diagram, ink())


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, kind: convert.Kind) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.import_module", _missing)
    with pytest.raises(NasError, match=f"NAS012: there is nothing here that turns SVG into {kind.upper()}"):
        converted(SMALL, kind)


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_tries_the_next_one(monkeypatch: pytest.MonkeyPatch, kind: convert.Kind) -> None:
    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        if "rsvg" in command[0]:
            raise subprocess.CalledProcessError(1, command, stderr=b"broken\nmore")
        assert f"--export-type={kind}" in command
        return subprocess.CompletedProcess(command, 0, stdout=b"made")

    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("importlib.import_module", _missing)
    assert converted(SMALL, kind) == b"made"


def test_a_package_may_raise_what_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(picture: Picture, kind: convert.Kind) -> bytes:
        raise RuntimeError("out of ink")

    monkeypatch.setattr(convert, "_CONVERTERS", (("first", broken),))
    with pytest.raises(NasError, match="first: out of ink"):
        converted(SMALL, "png")


def test_pixels_are_as_many_as_asked_for() -> None:
    png = converted(Picture(SMALL.svg, 40, 20, scale=3), "png")
    assert struct.unpack(">II", png[16:24]) == (120, 60)


def test_paper_has_the_size_of_the_figure_and_its_text_is_text() -> None:
    picture = figure()
    pdf = unpacked(converted(picture, "pdf"))
    size = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
    assert size is not None
    assert float(size[1]) == pytest.approx(picture.width * 0.75, abs=0.1)
    assert float(size[2]) == pytest.approx(picture.height * 0.75, abs=0.1)
    assert b"/Font" in pdf
    assert b"/ToUnicode" in pdf


def unpacked(pdf: bytes) -> bytes:
    for stream in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            pdf += zlib.decompress(stream[1])
        except zlib.error:
            continue
    return pdf


def _missing(name: str) -> object:
    raise ImportError(name)
