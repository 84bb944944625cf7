"""Pictures as an animated GIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.report.pictures.convert import Picture, converted

if TYPE_CHECKING:
    from PIL.Image import Image as PixelImage

Colour = tuple[int, int, int]

COLOURS = 64  # the most frequent ones: lines and areas have few colours, and edges blend into them
STEP = 8  # levels of a channel that Pillow does not tell apart when it looks for the nearest colour


def gif_of(pictures: Iterable[Picture], seconds: Sequence[float]) -> bytes:
    """An endless animation with a frame for each picture. Raises NasError if a package is not installed."""
    check_packages("images", "animated GIFs need", otherwise="; or write `.svg`, which needs nothing")
    from PIL import Image

    frames = []
    for picture in pictures:
        with Image.open(BytesIO(converted(picture, "png"))) as opened:
            solid = Image.new("RGB", opened.size, "white")
            solid.paste(opened, mask=opened.getchannel("A") if opened.mode == "RGBA" else None)
        frames.append(solid)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in _frequent(frames) for part in colour])
    first, *rest = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in frames)
    out = BytesIO()
    durations = [round(1000 * duration) for duration in seconds]
    first.save(out, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=False)
    return out.getvalue()


def _frequent(frames: Iterable[PixelImage]) -> list[Colour]:
    """The most frequent colours, each clearly different from the others."""
    counts: Counter[Colour] = Counter()
    for image in frames:
        for count, colour in image.getcolors(image.width * image.height) or ():
            assert isinstance(colour, tuple)
            counts[colour[0], colour[1], colour[2]] += count
    different: dict[tuple[int, ...], Colour] = {}
    for colour, _ in counts.most_common():
        different.setdefault(tuple(part // STEP for part in colour), colour)
    return list(different.values())[:COLOURS]
