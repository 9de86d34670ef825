"""Drawings for studies: answers on a scale, boxes, preferences, lines over a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.reports import svg
from interplay.reports.svg import (
    INK,
    MUTED,
    PANEL,
    PAPER,
    RULE,
    centred,
    element,
    hover,
    label,
    polygon,
    row_name,
    text,
)


def diverging(share: float) -> tuple[str, str]:
    """Return the fill at a share of the way from one end (0) to the other (1), and a text colour to read on it."""
    return svg.ramp(share, svg.DIVERGING)


def answer_bars(
    rows: Sequence[tuple[str, Mapping[int, float]]],
    points: Sequence[int],
    *,
    title: str,
    ends: tuple[str, str] = ("", ""),
    what: str = "answers",
    low_is_good: bool = False,
) -> str:
    """Draw one bar for each row, all of the same length, divided by the share of each point.

    Args:
        rows: The name of each row, and counts by point.
        points: The points of the scale.
        title: The title.
        ends: The labels of both ends of the scale.
        what: What is counted.
        low_is_good: Whether low points are blue, as for ranks, instead of high ones.

    Returns:
        The drawing as SVG.
    """
    left = max([svg.text_width(svg.shorten(name, 34)) for name, _ in rows], default=0) + 18
    bar, row, top = 460.0, 30.0, 44.0
    height = top + row * len(rows) + 12
    fills = {point: diverging(_place(at, len(points), low_is_good)) for at, point in enumerate(points)}
    body = _points_key(fills, left, bar, ends)
    for i, (name, counts) in enumerate(rows):
        y, x, total = top + row * i, left, sum(counts.values())
        body += row_name(left - 10, y + row / 2, svg.shorten(name, 34))
        for point in points:
            share = counts.get(point, 0) / total if total else 0.0
            if share == 0:
                continue
            fill, ink = fills[point]
            wide = bar * share
            tip = hover(f"{name}: {point}, {label(100 * share, 0)} % ({label(counts[point], 0)} of {label(total, 0)})")
            face = element("rect", x=x, y=y + 4, width=wide, height=row - 8, fill=fill, stroke=PAPER, stroke_width=1)
            percent = centred(x + wide / 2, y + row / 2, f"{100 * share:.0f}", 11, ink) if wide > 22 else ""
            body += element("g", tip + face + percent)
            x += wide
        body += text(left + bar + 10, y + row / 2, f"{total:g} {what}", 11, MUTED, dominant_baseline="central")
    return svg.picture(left + bar + 24 + svg.text_width(f"9999 {what}", 11), height, body, title)


def _place(at: int, count: int, turned: bool) -> float:
    share = at / (count - 1) if count > 1 else 0.5
    return 1 - share if turned else share


def _points_key(fills: Mapping[int, tuple[str, str]], left: float, bar: float, ends: tuple[str, str]) -> str:
    wide = min(30.0, bar / 2 / len(fills))
    x = left + bar / 2 - wide * len(fills) / 2
    body = text(x - 8, 18, ends[0], 11, MUTED, text_anchor="end", dominant_baseline="central")
    for point, (fill, ink) in fills.items():
        body += element("rect", x=x, y=9.0, width=wide - 1, height=18, rx=2, fill=fill)
        body += centred(x + wide / 2, 18, point, 11, ink)
        x += wide
    return body + text(x + 8, 18, ends[1], 11, MUTED, dominant_baseline="central")


class Box(NamedTuple):
    """All values of a row, with the mean and its interval."""

    name: str
    values: Sequence[float]
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    colour: int | None = None  # a partner's, the same in every figure; None: by its place in this one


def boxes(rows: Sequence[Box], *, title: str, x_title: str, bounds: tuple[float, float] | None = None) -> str:
    """Draw quartiles as a box, every value as a dot, and the mean with its interval as a diamond."""
    every = [v for row in rows for v in row.values]
    low, high = bounds or (svg.span(every) if every else (0.0, 1.0))
    left = max([svg.text_width(svg.shorten(r.name, 34)) for r in rows], default=0) + 24
    plot, step, top = 480.0, 46.0, 10.0
    height = top + step * len(rows) + 44
    floor = height - 40

    def x(value: float) -> float:
        inside = min(max(value, low), high)  # an interval may reach beyond the scale, an answer cannot
        return left + plot * (inside - low) / (high - low)

    body = svg.x_axis(low, high, x, top, floor)
    for i, row in enumerate(rows):
        y = top + step * (i + 0.5)
        body += row_name(left - 12, y, svg.shorten(row.name, 34))
        body += _box(row, x, y, svg.seat_colour(i if row.colour is None else row.colour))
    body += text(left + plot / 2, height - 6, x_title, 12, MUTED, text_anchor="middle")
    return svg.picture(left + plot + 24, height, body, title)


def _box(row: Box, x, y: float, colour: str) -> str:
    if not row.values:
        return ""
    q = np.quantile(np.asarray(row.values, float), [0.05, 0.25, 0.5, 0.75, 0.95])
    quartiles = (
        f"{row.name}: median {label(float(q[2]), 1)}, half of {len(row.values)} between {label(float(q[1]), 1)} and "
    )
    body = hover(f"{quartiles}{label(float(q[3]), 1)}, mean {label(row.mean, 2)}")
    body += element("line", x1=x(q[0]), x2=x(q[4]), y1=y - 5, y2=y - 5, stroke=colour, stroke_width=2)
    body += element("rect", x=x(q[1]), y=y - 15, width=max(1.0, x(q[3]) - x(q[1])), height=20, rx=3, fill=colour,
                    fill_opacity=0.22, stroke=colour, stroke_width=1.5)  # fmt: skip
    body += element("line", x1=x(q[2]), x2=x(q[2]), y1=y - 15, y2=y + 5, stroke=colour, stroke_width=3)
    for k, value in enumerate(row.values):
        body += element("circle", cx=x(value), cy=y + 12 + ((k * 7) % 9 - 4) * 0.9, r=2.2, fill=colour,
                        fill_opacity=0.55)  # fmt: skip
    if row.mean is not None:
        if row.low is not None and row.high is not None:
            body += element("line", x1=x(row.low), x2=x(row.high), y1=y - 5, y2=y - 5, stroke=INK, stroke_width=2)
        at = x(row.mean)
        points = ((at, y - 11), (at + 6, y - 5), (at, y + 1), (at - 6, y - 5))
        body += polygon(points, fill=INK, stroke=PAPER, stroke_width=1.5)
    return element("g", body)


def preference_map(
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    counts: Sequence[Sequence[int]],
    *,
    title: str,
    most: float,
    row_title: str,
    column_title: str,
) -> str:
    """Draw who is preferred to whom: blue where the row is, orange where the column is, with the number of people."""
    cell_w, cell_h = 66.0, 46.0
    left = max(svg.text_width(svg.shorten(n, 24)) for n in names) + 30
    top = 66.0
    width, height = left + cell_w * len(names) + 110, top + cell_h * len(names) + 14
    body = text(left, 14, f"{column_title} →", 12, MUTED) + text(4, top - 10, f"{row_title} ↓", 12, MUTED)
    for j, name in enumerate(names):
        x, turn = left + cell_w * (j + 0.5), {}
        if svg.text_width(svg.shorten(name, 24)) > cell_w:
            turn = {"transform": f"rotate(-30 {svg.number(x)} {svg.number(top - 10)})"}
        anchor = "start" if turn else "middle"
        body += text(x, top - 10, svg.shorten(name, 24), 12, INK, text_anchor=anchor, **turn)
    for i, name in enumerate(names):
        y = top + cell_h * i
        body += row_name(left - 10, y + cell_h / 2, svg.shorten(name, 24))
        for j, other in enumerate(names):
            body += _preference(left + cell_w * j, y, cell_w, cell_h, values[i][j], counts[i][j], most, (name, other))
    x, tall = left + cell_w * len(names) + 24, 140.0
    words = (f"{label(most, 0)} row", "0", f"{label(-most, 0)} column")
    marks = [(x + 18, top + tall * share, word) for share, word in zip((0.0, 0.5, 1.0), words, strict=True)]
    key = svg.colour_key(x, top, tall, lambda share: diverging(share)[0], marks)
    return svg.picture(width, height, body + key, title)


def _preference(x: float, y: float, w: float, h: float, value, count: int, most: float, who: tuple[str, str]) -> str:
    box = {"x": x + 1.5, "y": y + 1.5, "width": w - 3, "height": h - 3, "rx": 4}
    if who[0] == who[1]:
        return element("rect", fill=PANEL, **box)
    if value is None:
        dash = centred(x + w / 2, y + h / 2, "–", 12, MUTED)
        return element("rect", fill=PANEL, stroke=RULE, stroke_dasharray="3 3", **box) + dash
    fill, ink = diverging((value / most + 1) / 2 if most else 0.5)
    tip = hover(f"{who[0]} over {who[1]}: {label(value, 1)} ({count} people)")
    large = centred(x + w / 2, y + h / 2 - 6, label(value, 1), 14, ink, font_weight=600)
    small = centred(x + w / 2, y + h / 2 + 11, f"n = {count}", 10, ink)
    return element("g", tip + element("rect", fill=fill, **box) + large + small)


class DrawnLine(NamedTuple):
    """A series over a session, with intervals where there are any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()


def lines(series: Sequence[DrawnLine], *, title: str, x_title: str, y_title: str, zero: bool = True) -> str:
    """Draw lines with shaded intervals; each has its own colour and shape of dot."""
    width, height, left, top, bottom = 560.0, 300.0, 58.0, 34.0, 50.0
    drawn = [v for s in series for v in (*s.y, *s.low, *s.high) if v is not None]
    y_low, y_high = svg.span(drawn, zero) if drawn else (0.0, 1.0)
    if drawn and zero and min(v for s in series for v in s.y) >= 0:
        y_low = 0.0  # an interval may reach below, a count or a share cannot
    xs = [v for s in series for v in s.x]
    x_low, x_high = (min(xs) - 0.3, max(xs) + 0.3) if xs else (0.0, 1.0)
    right = 16.0

    def at(x: float, y: float) -> tuple[float, float]:
        up = (min(max(y, y_low), y_high) - y_low) / (y_high - y_low)
        across = (x - x_low) / (x_high - x_low)
        return left + (width - left - right) * across, height - bottom - (height - top - bottom) * up

    body = svg.y_axis(y_low, y_high, lambda tick: at(0, tick)[1], left, width - right)
    for tick in [t for t in svg.ticks(x_low, x_high, 8) if float(t).is_integer()]:
        body += text(at(tick, 0)[0], height - bottom + 16, label(tick, 0), 11, MUTED, text_anchor="middle")
    key = left
    for i, line in enumerate(series):
        colour = svg.seat_colour(i)
        body += _band(line, at, colour) + _line(line, at, colour, i)
        body += _dot(key + 6, 16, colour, i) + text(key + 18, 16, line.name, 12, INK, dominant_baseline="central")
        key += 44 + svg.text_width(line.name)
    middle = (left + width - right) / 2, (top + height - bottom) / 2
    body += svg.axis_titles(middle[0], height - 10, x_title, middle[1], 14, y_title)
    return svg.picture(max(width, key), height, body, title)


def _band(line: DrawnLine, at, colour: str) -> str:
    known = [(x, a, b) for x, a, b in zip(line.x, line.low, line.high, strict=False) if a is not None and b is not None]
    if len(known) < 2:
        return ""
    path = [at(x, b) for x, _, b in known] + [at(x, a) for x, a, _ in reversed(known)]
    return polygon(path, fill=colour, fill_opacity=0.16)


def _line(line: DrawnLine, at, colour: str, form: int) -> str:
    points = [at(x, y) for x, y in zip(line.x, line.y, strict=True)]
    path = " ".join(f"{svg.number(x)},{svg.number(y)}" for x, y in points)
    body = element("polyline", points=path, fill="none", stroke=colour, stroke_width=2.2)
    for (x, y), value, turn in zip(points, line.y, line.x, strict=True):
        body += element("g", hover(f"{line.name}, {label(turn, 0)}: {label(value, 2)}") + _dot(x, y, colour, form))
    return body


def _dot(x: float, y: float, colour: str, form: int) -> str:
    look = {"fill": colour, "stroke": PAPER, "stroke_width": 1.5}
    if form % 3 == 0:
        return element("circle", cx=float(x), cy=float(y), r=4.5, **look)
    if form % 3 == 1:
        return element("rect", x=x - 4, y=y - 4, width=8, height=8, **look)
    return polygon(((x, y - 5), (x + 5, y + 4), (x - 5, y + 4)), **look)
