"""Scenes as pixels: PNG and GIF by Pillow, equal on every machine since the font comes with Pillow."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageDraw, ImageFont

from interplay.errors import InterplayError
from interplay.games.scene import Scene, Shape

OVERSAMPLE = 3  # shapes are drawn this much larger and shrunk, since Pillow does not smooth edges
PAPER = (255, 255, 255)
_ANCHORS = {"start": "lm", "middle": "mm", "end": "rm"}


def png(scene: Scene, scale: float = 2.0) -> bytes:
    """Return the scene as a PNG file of `scale` pixels per unit."""
    out = io.BytesIO()
    _frame(scene, _canvas(scene, scale), scale).save(out, "PNG", optimize=True)
    return out.getvalue()


def gif(
    scenes: Iterable[Scene], target: str | os.PathLike[str] | BinaryIO, fps: float = 5.0, scale: float = 1.0
) -> None:
    """Write the scenes as an endless animated GIF; equal neighbours become one longer frame."""
    runs = _runs(scenes)
    if not runs:
        raise InterplayError("a GIF needs at least one scene")
    if not 0 < fps <= 50:
        raise InterplayError(f"fps must lie between 0 and 50, which is as fast as a GIF can go, not {fps}")
    width, height = runs[0][0].width, runs[0][0].height
    if any((scene.width, scene.height) != (width, height) for scene, _ in runs):
        raise InterplayError("all scenes of a GIF must have one size")
    frames, backdrop, canvas = [], None, None
    for scene, _ in runs:
        if canvas is None or scene.backdrop != backdrop:
            backdrop, canvas = scene.backdrop, _canvas(scene, scale)
        frames.append(_frame(scene, canvas, scale))
    # One palette for all frames: a palette per frame would flicker and grow the file.
    palette = _contact_sheet(frames).quantize(255, method=Image.Quantize.MEDIANCUT)
    coded = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 * count / fps) for _, count in runs]
    out = Path(target).open("wb") if isinstance(target, str | os.PathLike) else None  # noqa: SIM115
    try:
        coded[0].save(
            out or target, "GIF", save_all=True, append_images=coded[1:], duration=durations, loop=0, disposal=1
        )
    finally:
        if out:
            out.close()


def _runs(scenes: Iterable[Scene]) -> list[tuple[Scene, int]]:
    runs: list[tuple[Scene, int]] = []
    for scene in scenes:
        if runs and runs[-1][0] == scene:
            runs[-1] = (scene, runs[-1][1] + 1)
        else:
            runs.append((scene, 1))
    return runs


def _contact_sheet(frames: list[Image.Image]) -> Image.Image:
    """Return some of the frames one below the other, for the choice of colours."""
    chosen = frames[:: max(1, len(frames) // 8)]
    width, height = chosen[0].size
    sheet = Image.new("RGB", (width, height * len(chosen)))
    for i, frame in enumerate(chosen):
        sheet.paste(frame, (0, i * height))
    return sheet


def _canvas(scene: Scene, scale: float) -> Image.Image:
    if scale <= 0:
        raise InterplayError(f"scale must be positive, not {scale}")
    size = (max(1, round(scene.width * scale)) * OVERSAMPLE, max(1, round(scene.height * scale)) * OVERSAMPLE)
    canvas = Image.new("RGB", size, PAPER)
    _draw(canvas, scene.backdrop, scale)
    return canvas


def _frame(scene: Scene, canvas: Image.Image, scale: float) -> Image.Image:
    image = canvas.copy()
    _draw(image, scene.shapes, scale)
    return image.reduce(OVERSAMPLE)


def _draw(image: Image.Image, shapes: Iterable[Shape], scale: float) -> None:
    pen = ImageDraw.Draw(image, "RGBA")
    for shape in shapes:
        _shape(pen, shape, scale * OVERSAMPLE, 0.0, 0.0)


def _shape(pen: ImageDraw.ImageDraw, shape: Shape, k: float, dx: float, dy: float) -> None:
    def at(x: float, y: float) -> tuple[float, float]:
        return (x + dx) * k, (y + dy) * k

    match shape:
        case ("rect", x, y, w, h, fill, radius):
            if w > 0 and h > 0:
                # Pillow's boxes include their last pixel.
                (left, top), (right, bottom) = at(x, y), at(x + w, y + h)
                box = (left, top, max(left, right - 1), max(top, bottom - 1))
                pen.rounded_rectangle(box, min(radius, w / 2, h / 2) * k, fill=fill)
        case ("circle", x, y, radius, fill):
            pen.ellipse((*at(x - radius, y - radius), *at(x + radius, y + radius)), fill=fill)
        case ("ellipse", x, y, rx, ry, fill):
            pen.ellipse((*at(x - rx, y - ry), *at(x + rx, y + ry)), fill=fill)
        case ("poly", points, fill):
            pen.polygon([at(x, y) for x, y in points], fill=fill)
        case ("line", x1, y1, x2, y2, colour, width):
            pen.line((*at(x1, y1), *at(x2, y2)), fill=colour, width=max(1, round(width * k)))
            for x, y in ((x1, y1), (x2, y2)):
                pen.ellipse((*at(x - width / 2, y - width / 2), *at(x + width / 2, y + width / 2)), fill=colour)
        case ("text", x, y, string, size, colour, anchor):
            font = _font(max(1, round(size * k)))
            pen.text(at(x, y), str(string), fill=colour, font=font, anchor=_ANCHORS.get(anchor, "mm"))
        case ("group", x, y, shapes):
            for inner in shapes:
                _shape(pen, inner, k, dx + x, dy + y)
        case _:
            raise InterplayError(f"not a shape: {shape!r}; the kinds of shapes are listed in interplay.games.scene")


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)  # type: ignore[return-value]
