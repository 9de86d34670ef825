"""Drawings as data: a game gives shapes, and SVG, PNG, GIF and the report's replay are made from them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape

import numpy as np

from interplay.errors import InterplayError

# A shape is a plain tuple, so that thousands of frames stay small as JSON:
#   ("rect",    x, y, width, height, fill, radius)
#   ("circle",  x, y, radius, fill)
#   ("ellipse", x, y, radius_x, radius_y, fill)
#   ("poly",    ((x, y), ...), fill)
#   ("line",    x1, y1, x2, y2, colour, width)
#   ("text",    x, y, string, size, colour, anchor)     anchor: start, middle or end
#   ("group",   x, y, (shape, ...))                     shapes moved by (x, y): one sprite, many places
# A colour is #rrggbb, or #rrggbbaa to let what lies below shine through.
Shape = tuple

# Okabe and Ito's colours, told apart with any kind of colour vision; a little deeper, to stand out on light ground.
# Seat by seat, the same in games, figures and replays.
SEAT_COLOURS = ("#0072b2", "#e07b00", "#009e73", "#a3478f", "#56b4e9", "#8a6d00", "#b3261e", "#5b6470")


@dataclass(frozen=True)
class Scene:
    """Shapes in a frame of `width` by `height`; `backdrop` is the part that no step changes."""

    width: float
    height: float
    backdrop: tuple[Shape, ...]
    shapes: tuple[Shape, ...]

    def svg(self) -> str:
        """Return the picture as SVG text."""
        body = "".join(svg_of(shape) for shape in (*self.backdrop, *self.shapes))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)} {_number(self.height)}" '
            f'font-family="sans-serif" font-weight="700">{body}</svg>'
        )

    def rgb(self) -> np.ndarray:
        """Return the picture as an array [height, width, 3] of bytes."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.png(1.0))).convert("RGB"))

    def _repr_svg_(self) -> str:
        """The picture as a notebook shows it."""
        return self.svg()

    def png(self, scale: float = 2.0) -> bytes:
        """Return the picture as a PNG file of `scale` pixels per unit."""
        from interplay.games import raster

        return raster.png(self, scale)


def _number(value: float) -> str:
    text = f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def svg_of(shape: Shape) -> str:
    """Return one shape as an SVG element."""
    n, e = _number, escape
    match shape:
        case ("rect", x, y, w, h, fill, radius):
            return f'<rect x="{n(x)}" y="{n(y)}" width="{n(w)}" height="{n(h)}" rx="{n(radius)}" fill="{e(fill)}"/>'
        case ("circle", x, y, radius, fill):
            return f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(radius)}" fill="{e(fill)}"/>'
        case ("ellipse", x, y, rx, ry, fill):
            return f'<ellipse cx="{n(x)}" cy="{n(y)}" rx="{n(rx)}" ry="{n(ry)}" fill="{e(fill)}"/>'
        case ("poly", points, fill):
            return f'<polygon points="{" ".join(f"{n(x)},{n(y)}" for x, y in points)}" fill="{e(fill)}"/>'
        case ("line", x1, y1, x2, y2, colour, width):
            return (
                f'<line x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}" stroke="{e(colour)}" '
                f'stroke-width="{n(width)}" stroke-linecap="round"/>'
            )
        case ("text", x, y, string, size, colour, anchor):
            return (
                f'<text x="{n(x)}" y="{n(y)}" font-size="{n(size)}" fill="{e(colour)}" text-anchor="{e(anchor)}" '
                f'dominant-baseline="central">{e(str(string))}</text>'
            )
        case ("group", x, y, shapes):
            return f'<g transform="translate({n(x)} {n(y)})">{"".join(map(svg_of, shapes))}</g>'
    raise InterplayError(f"not a shape: {shape!r}; the kinds of shapes are listed in interplay.games.scene")
