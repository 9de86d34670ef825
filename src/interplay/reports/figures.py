"""Figures as hand-written SVG: crisp, small, the same bytes for the same data, and following the page's theme."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.reports import svg
from interplay.reports.svg import (
    INK,
    MUTED,
    PANEL,
    PAPER,
    RULE,
    bracket,
    centred,
    element,
    hover,
    label,
    row_name,
    text,
)


class FigureEstimate(NamedTuple):
    """One row of an interval plot."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    group: str = ""
    note: str = ""  # shown on hover
    privileged: bool = False
    colour: int | None = None  # of a partner, the same in every figure; None: by its group


class Point(NamedTuple):
    """One point of a scatter plot."""

    x: float
    y: float
    label: str = ""
    group: str = ""


LONGEST_NAME = 72  # characters of a row's name beside its interval
SLACK = 1.12  # of tilted names: how wide letters are depends on the reader's fonts
Grid = Sequence[Sequence[float | None]]


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Grid,
    *,
    title: str,
    intervals: Sequence[Sequence[tuple[float | None, float | None] | None]] | None = None,
    row_title: str = "first seat",
    column_title: str = "second seat",
    privileged: Collection[str] = (),
    links: Sequence[Sequence[str | None]] | None = None,
    bounds: tuple[float, float] | None = None,
) -> str:
    """Who scores what with whom. Values may be null; a cell with a link (`#replay-3@0`) can be clicked."""
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise InterplayError(f"a heat map of {len(rows)} rows and {len(columns)} columns needs as many values")
    known = [v for line in values for v in line if v is not None]
    low, high = bounds or ((min(known), max(known)) if known else (0.0, 1.0))
    digits = svg.digits_for(known)
    names_r, names_c = (
        [svg.shorten(f"{n} {svg.DAGGER}" if n in privileged else n) for n in names] for names in (rows, columns)
    )
    cell_w = max(46.0, *(svg.text_width(label(v, digits), 13) + 18 for v in [*known, 0.0]))
    cell_h = 38.0
    left, widest = max(map(svg.text_width, names_r), default=0) + 34, max(map(svg.text_width, names_c), default=0)
    tilted = widest > cell_w - 8
    top = (widest * 0.62 * SLACK + 12 if tilted else 24) + 24
    right = 72.0  # for the key of the colours, and for what tilted names need beyond it
    if tilted:
        beyond = len(columns) - 0.5
        reach = (svg.text_width(n) * 0.79 * SLACK - cell_w * (beyond - j) for j, n in enumerate(names_c))
        right = max(right, *reach)
    width = left + cell_w * len(columns) + right
    height = max(top + cell_h * len(rows), top + 120) + 12
    body = text(left, 14, f"{column_title} →", 12, MUTED) + text(4, top - 10, f"{row_title} ↓", 12, MUTED)
    for j, name in enumerate(names_c):
        x = left + cell_w * (j + 0.5)
        turn = {"transform": f"rotate(-38 {svg.number(x)} {svg.number(top - 8)})"} if tilted else {}
        body += text(x, top - 8, name, 12, text_anchor="start" if tilted else "middle", **turn)
    for i, name in enumerate(names_r):
        body += row_name(left - 8, top + cell_h * (i + 0.5), name)
        for j in range(len(columns)):
            limits = bracket(*((intervals[i][j] if intervals else None) or (None, None)), digits)
            tip = f"{rows[i]} with {columns[j]}: {label(values[i][j], digits)} {limits}".rstrip()
            cell = _cell(left + cell_w * j, top + cell_h * i, cell_w, cell_h, values[i][j], (low, high), digits, tip)
            href = links[i][j] if links else None
            body += element("a", cell, href=href, aria_label=f"{tip}; watch") if href else cell
    body += _scale(left + cell_w * len(columns) + 18, top, min(cell_h * max(3, len(rows)), 190.0), low, high, digits)
    return svg.picture(width, height, body, title, interactive=links is not None)


def _cell(x: float, y: float, w: float, h: float, value, bounds, digits: int, tip: str) -> str:
    low, high = bounds
    box = {"x": x + 1, "y": y + 1, "width": w - 2, "height": h - 2, "rx": 4}
    if value is None:
        fill, ink = PANEL, MUTED
        face = element("rect", fill=fill, stroke=RULE, stroke_dasharray="3 3", **box)
    else:
        fill, ink = svg.ramp((value - low) / (high - low) if high > low else 0.5)
        face = element("rect", fill=fill, **box)
    value_text = centred(x + w / 2, y + h / 2, label(value, digits), 13, ink)
    return element("g", hover(tip) + face + value_text, class_="cell")


def _scale(x: float, y: float, height: float, low: float, high: float, digits: int) -> str:
    """The key of the colours."""
    if high <= low:
        return ""
    middle = (low + high) / 2
    while digits < 4 and abs(round(middle, digits) - middle) > 0.02 * (high - low):  # 2.5 is not 2
        digits += 1
    marks = [(x + 17, y + height * (1 - share), label(low + (high - low) * share, digits)) for share in (0.0, 0.5, 1.0)]
    return svg.colour_key(x, y, height, lambda share: svg.ramp(share)[0], marks)


def interval_plot(
    estimates: Sequence[FigureEstimate],
    *,
    title: str,
    x_title: str = "",
    reference: float | None = None,
    zero: bool = False,
) -> str:
    """A forest plot: one row per estimate with its interval, under the headings of its groups."""
    drawn = [v for e in estimates for v in (e.value, e.low, e.high) if v is not None]
    drawn += [reference] if reference is not None else []
    low, high = svg.span(drawn, zero) if drawn else (0.0, 1.0)
    digits = svg.digits_for([v for e in estimates for v in (e.value, e.low, e.high)])
    groups = list(dict.fromkeys(e.group for e in estimates))
    left = max([svg.text_width(_row_label(e)) for e in estimates], default=0) + 24
    plot, row = 380.0, 26.0
    numbers = max([svg.text_width(_numbers(e, digits), 12) for e in estimates], default=0)
    height = 12 + row * (len(estimates) + sum(1 for g in groups if g)) + 44

    def x(value: float) -> float:
        return left + plot * (value - low) / (high - low)

    floor = height - 40
    body = svg.x_axis(low, high, x, 8, floor)
    if reference is not None:
        body += element("line", x1=x(reference), x2=x(reference), y1=8.0, y2=floor, stroke=INK, stroke_dasharray="4 3")
    y = 10.0
    for index, group in enumerate(groups):
        if group:
            body += text(4, y + row * 0.65, group, 12, INK, font_weight=600)
            y += row
        colour = svg.seat_colour(index) if len(groups) > 1 else svg.ACCENT
        for e in (e for e in estimates if e.group == group):
            own = colour if e.colour is None else svg.seat_colour(e.colour)
            body += _interval(e, x, y + row / 2, own, digits, left, left + plot + 10)
            y += row
    body += text(left + plot / 2, height - 6, x_title, 12, MUTED, text_anchor="middle") if x_title else ""
    return svg.picture(left + plot + numbers + 12, height, body, title)


def _row_label(e: FigureEstimate) -> str:
    return svg.shorten(e.label, LONGEST_NAME) + (f" {svg.DAGGER}" if e.privileged else "")


def _numbers(e: FigureEstimate, digits: int) -> str:
    return f"{label(e.value, digits)} {bracket(e.low, e.high, digits)}".rstrip()


def _interval(e: FigureEstimate, x, y: float, colour: str, digits: int, left: float, right: float) -> str:
    parts = hover(f"{e.label}: {_numbers(e, digits)}" + (f"; {e.note}" if e.note else ""))
    parts += row_name(left - 10, y, _row_label(e))
    if e.low is not None and e.high is not None:
        parts += element(
            "line", x1=x(e.low), x2=x(e.high), y1=y, y2=y, stroke=colour, stroke_width=3, stroke_linecap="round"
        )
    if e.value is not None:
        parts += element("circle", cx=x(e.value), cy=y, r=5, fill=colour, stroke=PAPER, stroke_width=1.5)
    parts += text(right, y, _numbers(e, digits), 12, MUTED, dominant_baseline="central", class_="num")
    return element("g", parts)


def scatter(
    points: Sequence[Point],
    *,
    title: str,
    x_title: str,
    y_title: str,
    line: tuple[float, float] | None = None,
    parabola: tuple[float, float, float] | None = None,
    note: str = "",
    colours: Mapping[str, int] | None = None,
) -> str:
    """Points by two measures.

    Args:
        points: The points, coloured by group.
        title: What the picture is called for those who cannot see it.
        x_title: The axis below.
        y_title: The axis to the left.
        line: Slope and intercept of a line to draw.
        parabola: a, b and c of a curve a x^2 + b x + c to draw.
        note: Says r and its interval.
        colours: The number of each group's colour; by default in the order in which they come.
    """
    width, height, left, right, top, bottom = 560.0, 380.0, 62.0, 16.0, 30.0, 52.0
    x_low, x_high = svg.span([p.x for p in points]) if points else (0.0, 1.0)
    y_low, y_high = svg.span([p.y for p in points]) if points else (0.0, 1.0)

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low)
        return left + (width - left - right) * across, height - bottom - (height - top - bottom) * up

    body = svg.x_axis(x_low, x_high, lambda t: at(t, 0)[0], top, height - bottom)
    body += svg.y_axis(y_low, y_high, lambda t: at(0, t)[1], left, width - right)
    if line and points:
        body += _clipped_line(line, (x_low, x_high), (y_low, y_high), at)
    if parabola and points:
        body += _clipped_curve(parabola, (x_low, x_high), (y_low, y_high), at)
    groups = list(dict.fromkeys(p.group for p in points))
    for p in points:
        x, y = at(p.x, p.y)
        tip = hover(f"{p.label or p.group}: {label(p.x, svg.digits_for([p.x]))}, {label(p.y, svg.digits_for([p.y]))}")
        number = groups.index(p.group) if colours is None else colours.get(p.group)
        colour = svg.ACCENT if number is None or (colours is None and len(groups) < 2) else svg.seat_colour(number)
        body += element("circle", tip, cx=x, cy=y, r=4.5, fill=colour, fill_opacity=0.75, stroke=PAPER)
    middle = (left + width - right) / 2, (top + height - bottom) / 2
    body += svg.axis_titles(middle[0], height - 12, x_title, middle[1], 16, y_title)
    key = sum(30 + svg.text_width(group) for group in groups) if len(groups) > 1 else 0.0
    beside = key + svg.text_width(note) < width - left - right  # else the note stands within the frame
    if note:
        body += text(width - right, 18 if beside else top + 14, note, text_anchor="end", font_weight=600)
    body += _key(groups, colours or {}, left, 18) if len(groups) > 1 else ""
    return svg.picture(width, height, body, title)


def _clipped_line(line: tuple[float, float], xs, ys, at) -> str:
    """The part of the line that lies within the frame."""
    slope, intercept = line
    ends = list(xs)
    if slope:
        crossings = sorted((y - intercept) / slope for y in ys)
        ends = [max(xs[0], crossings[0]), min(xs[1], crossings[1])]
    if ends[0] >= ends[1] or not (ys[0] - 1e-9 <= slope * ends[0] + intercept <= ys[1] + 1e-9):
        return ""
    (x1, y1), (x2, y2) = (at(x, slope * x + intercept) for x in ends)
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=INK, stroke_width=1.5, stroke_dasharray="6 4")


def _clipped_curve(parabola: tuple[float, float, float], xs, ys, at) -> str:
    """The parts of the parabola that lie within the frame, as short lines."""
    a, b, c = parabola
    steps = [xs[0] + (xs[1] - xs[0]) * i / 60 for i in range(61)]
    heights = [a * x * x + b * x + c for x in steps]
    parts = ""
    for (x, y), (after, high) in zip(zip(steps, heights, strict=True), zip(steps[1:], heights[1:], strict=True)):
        if all(ys[0] <= value <= ys[1] for value in (y, high)):
            (x1, y1), (x2, y2) = at(x, y), at(after, high)
            parts += element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=INK, stroke_width=1.5)
    return parts


def _key(groups: Sequence[str], colours: Mapping[str, int], x: float, y: float) -> str:
    parts = ""
    for i, group in enumerate(groups):
        dot = element("circle", cx=x + 5, cy=y - 4, r=4.5, fill=svg.seat_colour(colours.get(group, i)))
        parts += dot + text(x + 14, y, group, 12, INK)
        x += 30 + svg.text_width(group)
    return parts


def strip(groups: Mapping[str, Sequence[float]], *, title: str, x_title: str = "", zero: bool = True) -> str:
    """Every value of every group as a dot, over a bar to the group's mean."""
    values = [v for part in groups.values() for v in part]
    low, high = svg.span(values, zero) if values else (0.0, 1.0)
    left = max([svg.text_width(svg.shorten(g, 34)) for g in groups], default=0) + 24
    plot, row = 420.0, 34.0
    height = 12 + row * len(groups) + 44

    def x(value: float) -> float:
        return left + plot * (value - low) / (high - low)

    body = svg.x_axis(low, high, x, 8, height - 40)
    for i, (group, part) in enumerate(groups.items()):
        y = 10 + row * (i + 0.5)
        body += row_name(left - 10, y, svg.shorten(group, 34))
        if part:
            mean, origin = sum(part) / len(part), x(min(max(0.0, low), high))
            tip = hover(f"{group}: mean {label(mean, svg.digits_for(values))} of {len(part)}")
            body += element("rect", tip, x=min(origin, x(mean)), y=y - 9, width=abs(x(mean) - origin), height=18,
                            rx=3, fill=svg.seat_colour(i), fill_opacity=0.28)  # fmt: skip
        for k, value in enumerate(part):
            # A fixed shuffle keeps equal values apart and the drawing the same every time.
            body += element(
                "circle", cx=x(value), cy=y + ((k * 7) % 11 - 5) * 1.1, r=3, fill=svg.seat_colour(i), fill_opacity=0.7
            )
    body += text(left + plot / 2, height - 6, x_title, 12, MUTED, text_anchor="middle") if x_title else ""
    return svg.picture(left + plot + 24, height, body, title)
