"""Small helpers to write SVG by hand: elements, scales, ticks, and colours that follow the page's theme.

Colours are `var(--name, #fallback)`: inside a report they follow light and dark mode, and `standalone`
puts the fallbacks in their place, for files that other programs open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from interplay.games.scene import SEAT_COLOURS

INK = "var(--ink, #1d2530)"
MUTED = "var(--muted, #5f6b7a)"
RULE = "var(--rule, #d8dde4)"
PAPER = "var(--paper, #ffffff)"
PANEL = "var(--panel, #f3f5f8)"
ACCENT = "var(--accent, #0b63a5)"
DAGGER = "†"


def seat_colour(index: int) -> str:
    """The colour of a seat or of a group, the same as that of the chefs."""
    index %= len(SEAT_COLOURS)
    return f"var(--seat-{index}, {SEAT_COLOURS[index]})"


def element(tag: str, content: str = "", **attributes: object) -> str:
    """One element. `content` is markup; attributes are escaped, `_` becomes `-`, None is left out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(number(value) if isinstance(value, float) else str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def text(x: float, y: float, string: object, size: float = 12, fill: str = INK, **attributes: object) -> str:
    """Return a text element; the string is escaped."""
    placed: dict[str, object] = {"x": float(x), "y": float(y), "font_size": size, "fill": fill}
    return element("text", escape(str(string)), **placed, **attributes)


def centred(x: float, y: float, string: object, size: float = 12, fill: str = INK, **attributes: object) -> str:
    """A text whose middle lies at a place."""
    return text(x, y, string, size, fill, text_anchor="middle", dominant_baseline="central", **attributes)


def row_name(x: float, y: float, string: object) -> str:
    """A text that ends at a place: the name of a row, left of it."""
    return text(x, y, string, text_anchor="end", dominant_baseline="central")


def polygon(points: Iterable[tuple[float, float]], **attributes: object) -> str:
    """A form with these corners."""
    return element("polygon", "", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), **attributes)


def x_axis(low: float, high: float, x: Callable[[float], float], top: float, floor: float) -> str:
    """Lines upright through a drawing, a number below each."""
    values = ticks(low, high)
    return "".join(
        element("line", x1=x(value), x2=x(value), y1=float(top), y2=floor, stroke=RULE)
        + text(x(value), floor + 14, name, 11, MUTED, text_anchor="middle")
        for value, name in zip(values, tick_labels(values), strict=True)
    )


def y_axis(low: float, high: float, y: Callable[[float], float], left: float, right: float) -> str:
    """Lines across a drawing, a number to the left of each."""
    values = ticks(low, high)
    return "".join(
        element("line", x1=left, x2=right, y1=y(value), y2=y(value), stroke=RULE)
        + text(left - 8, y(value), name, 11, MUTED, text_anchor="end", dominant_baseline="central")
        for value, name in zip(values, tick_labels(values), strict=True)
    )


def axis_titles(x: float, floor: float, x_title: str, y: float, left: float, y_title: str) -> str:
    """What is drawn along each axis, below it and, turned, left of it."""
    turn = f"rotate(-90 {number(left)} {number(y)})"
    return text(x, floor, x_title, 12, MUTED, text_anchor="middle") + text(
        left, y, y_title, 12, MUTED, text_anchor="middle", transform=turn
    )


def colour_key(
    x: float, y: float, height: float, fill: Callable[[float], str], marks: Iterable[tuple[float, float, str]]
) -> str:
    """A bar with all colours of a scale, the largest value on top; `marks` are places and what stands there."""
    steps = 24
    bars = "".join(
        element("rect", x=x, y=y + height * i / steps, width=12, height=height / steps + 0.6,
                fill=fill(1 - i / (steps - 1)))
        for i in range(steps)
    )  # fmt: skip
    return bars + "".join(text(*mark, 11, MUTED, dominant_baseline="central") for mark in marks)


def hover(string: str) -> str:
    """What the browser shows when the pointer rests on the element."""
    return element("title", escape(string))


def picture(width: float, height: float, body: str, title: str, interactive: bool = False) -> str:
    """An SVG drawing with a title for those who cannot see it."""
    return element(
        "svg",
        hover(title) + body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=float(width),
        height=float(height),
        role="group" if interactive else "img",
        aria_label=title,
        font_family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
        class_="figure",
    )


def standalone(svg: str) -> str:
    """The drawing without theme variables, as a file of its own."""
    return re.sub(r"var\(--[\w-]+, (#[0-9a-fA-F]+)\)", r"\1", svg)


def number(value: float) -> str:
    """A coordinate: two decimals at most, never -0."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def label(value: float | None, digits: int = 1) -> str:
    """A value for people; null is an en dash."""
    if value is None or not math.isfinite(value):
        return "–"
    written = f"{value:.{digits}f}"
    return (written if float(written) else written.lstrip("-")).replace("-", "−")


def bracket(low: float | None, high: float | None, digits: int) -> str:
    """An interval for people; empty where there is none."""
    return "" if low is None or high is None else f"[{label(low, digits)}, {label(high, digits)}]"


def digits_for(values: Sequence[float | None]) -> int:
    """Decimals that tell values of this size apart."""
    finite = [abs(v) for v in values if v is not None and math.isfinite(v)]
    largest = max(finite, default=0.0)
    if finite and all(float(v).is_integer() for v in finite):
        return 0
    return 1 if largest >= 10 else 2 if largest >= 0.1 else 3


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that cover the range from within."""
    span = high - low
    if span <= 0:
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - raw))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """Ticks as text, with as many decimals as they need and no more."""
    digits = next((d for d in range(7) if all(abs(round(v, d) - v) < 1e-9 for v in values)), 7)
    return [label(v, digits) for v in values]


def span(values: Sequence[float], zero: bool = False) -> tuple[float, float]:
    """The range to draw: the values with some air, and zero if it should be in it."""
    low, high = (min([*values, 0.0]), max([*values, 0.0])) if zero else (min(values), max(values))
    if low == high:
        low, high = low - (abs(low) or 1.0) * 0.5, high + (abs(high) or 1.0) * 0.5
    air = (high - low) * 0.06
    return (low if zero and low == 0 else low - air), (high if zero and high == 0 else high + air)


def text_width(string: str, size: float = 12) -> float:
    """About how wide a text will be; fonts differ, so somewhat generous."""
    return 0.58 * size * len(string)


def shorten(string: str, most: int = 26) -> str:
    """Return a string of at most so many characters, an ellipsis for its middle: names differ at their ends."""
    end = most // 2
    return string if len(string) <= most else f"{string[: most - 1 - end]}…{string[-end:]}"


# Light for little, dark for much; lightness falls evenly, so it also reads in grey.
_RAMP = ((247, 250, 240), (196, 226, 205), (121, 190, 186), (58, 138, 163), (38, 84, 134), (32, 36, 82))
# From one side of a scale to the other, through a light middle; distinct with any kind of colour vision.
DIVERGING = ((179, 88, 6), (241, 163, 64), (240, 240, 240), (110, 170, 215), (25, 92, 160))


def ramp(share: float, stops: Sequence[tuple[int, int, int]] = _RAMP) -> tuple[str, str]:
    """The fill at this share of the way from one end of a scale to the other, and a text colour to read on it."""
    place = min(1.0, max(0.0, share)) * (len(stops) - 1)
    i = min(int(place), len(stops) - 2)
    rgb = [round(a + (c - a) * (place - i)) for a, c in zip(stops[i], stops[i + 1], strict=True)]
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]  # of sRGB
    luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    # Plain black and white: on middle colours nothing softer keeps a contrast of 4.5.
    black_contrast, white_contrast = (luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)
    return "#{:02x}{:02x}{:02x}".format(*rgb), "#000000" if black_contrast >= white_contrast else "#ffffff"
