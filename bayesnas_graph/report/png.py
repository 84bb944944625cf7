"""SVG to PNG, with whatever can do it."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

SCALE = 2  # pixels per unit: sharp on screens of today
SECONDS = 120  # that a converter may take


class NoConverter(Exception):
    """There is nothing here that can draw pixels. The text says what was tried."""


def png_bytes(svg: str, width: float, height: float) -> bytes:
    """The picture in pixels. Raises NoConverter where nothing can make it."""
    failures = []
    for name, convert in _CONVERTERS:
        try:
            picture = convert(svg, round(width), round(height))
        except (OSError, subprocess.SubprocessError, ImportError) as error:
            failures.append(f"{name}: {_reason(error)}")
            continue
        if picture is not None:
            return picture
    raise NoConverter("; ".join(failures))


def _cairosvg(svg: str, width: int, height: int) -> bytes | None:  # noqa: ARG001  # the picture says it itself
    try:
        module = importlib.import_module("cairosvg")
    except ImportError:
        return None
    picture = module.svg2png(bytestring=svg.encode(), scale=SCALE)
    return picture if isinstance(picture, bytes) else None


def _rsvg(svg: str, width: int, height: int) -> bytes | None:  # noqa: ARG001
    return _piped(svg, ["rsvg-convert", "--format=png", f"--zoom={SCALE}", "--unlimited"])


def _inkscape(svg: str, width: int, height: int) -> bytes | None:  # noqa: ARG001
    return _piped(svg, ["inkscape", "--pipe", "--export-type=png", f"--export-dpi={96 * SCALE}", "--export-filename=-"])


def _chromium(svg: str, width: int, height: int) -> bytes | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder, "page.svg"), Path(folder, "page.png")
        page.write_text(svg, encoding="utf-8")
        options = [
            "--headless", "--disable-gpu", "--hide-scrollbars", f"--force-device-scale-factor={SCALE}",
            f"--window-size={width},{height}", f"--user-data-dir={folder}/profile", f"--screenshot={picture}",
        ]  # fmt: skip
        subprocess.run([program, *options, page.as_uri()], check=True, capture_output=True, timeout=SECONDS)
        return picture.read_bytes()


def _piped(svg: str, command: Sequence[str]) -> bytes | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    done = subprocess.run([program, *command[1:]], input=svg.encode(), capture_output=True, check=True, timeout=SECONDS)
    return done.stdout or None


def _reason(error: Exception) -> str:
    output = getattr(error, "stderr", None)
    text = output.decode(errors="replace") if isinstance(output, bytes) else ""
    return text.strip().rpartition("\n")[2] or str(error)  # programs warn first and fail last


_CONVERTERS: tuple[tuple[str, Callable[[str, int, int], bytes | None]], ...] = (
    ("cairosvg", _cairosvg),
    ("rsvg-convert", _rsvg),
    ("inkscape", _inkscape),
    ("chromium", _chromium),
)
