"""Drawings as data: a game gives shapes, and SVG, PNG, GIF and the report's replay are made from them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

# A shape is a plain tuple, so that thousands of frames stay small as JSON:
#   ("rect",   x, y, width, height, fill, radius)
#   ("circle", x, y, radius, fill)
#   ("poly",   ((x, y), ...), fill)
#   ("line",   x1, y1, x2, y2, colour, width)
#   ("text",   x, y, string, size, colour, anchor)     anchor: start, middle or end
Shape = tuple


@dataclass(frozen=True)
class Scene:
    """Shapes in a frame of `width` by `height`; `backdrop` is the part that no step changes."""

    width: float
    height: float
    backdrop: tuple[Shape, ...]
    shapes: tuple[Shape, ...]

    def svg(self) -> str:
        body = "".join(_svg(shape) for shape in (*self.backdrop, *self.shapes))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)} {_number(self.height)}" '
            f'font-family="sans-serif">{body}</svg>'
        )

    def png(self, scale: float = 2.0) -> bytes:
        from interplay.games import raster

        return raster.png(self, scale)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _svg(shape: Shape) -> str:
    n = _number
    match shape:
        case ("rect", x, y, w, h, fill, radius):
            return f'<rect x="{n(x)}" y="{n(y)}" width="{n(w)}" height="{n(h)}" rx="{n(radius)}" fill="{fill}"/>'
        case ("circle", x, y, radius, fill):
            return f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(radius)}" fill="{fill}"/>'
        case ("poly", points, fill):
            return f'<polygon points="{" ".join(f"{n(x)},{n(y)}" for x, y in points)}" fill="{fill}"/>'
        case ("line", x1, y1, x2, y2, colour, width):
            return (
                f'<line x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}" stroke="{colour}" '
                f'stroke-width="{n(width)}" stroke-linecap="round"/>'
            )
        case ("text", x, y, string, size, colour, anchor):
            return (
                f'<text x="{n(x)}" y="{n(y)}" font-size="{n(size)}" fill="{colour}" text-anchor="{anchor}" '
                f'dominant-baseline="central">{escape(str(string))}</text>'
            )
    raise ValueError(f"not a shape: {shape!r}")
