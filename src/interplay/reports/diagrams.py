"""Drawings of how a team worked: who helped whom, and what happened when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.reports import svg
from interplay.reports.svg import INK, MUTED, PANEL, PAPER, RULE, centred, element, hover, label, polygon, text


class Mark(NamedTuple):
    """Something that happened to a seat at a step; with `to`, a hand-over to another seat at step `until`."""

    t: int
    seat: int
    kind: str
    label: str = ""
    to: int | None = None
    until: int | None = None


def help_graph(
    nodes: Sequence[str],
    edges: Mapping[tuple[int, int], float | None],
    *,
    title: str,
    what: str = "times helped",
    digits: int | None = None,
) -> str:
    """Who helps whom: an arrow from giver to receiver, as wide as it is often. Null edges are dashed."""
    for giver, receiver in edges:
        if not (0 <= giver < len(nodes) and 0 <= receiver < len(nodes)):
            raise InterplayError(f"the edge {giver} -> {receiver} leaves a graph of {len(nodes)} seats")
    most = max([v for v in edges.values() if v is not None], default=0.0)
    digits = svg.digits_for(list(edges.values())) if digits is None else digits
    places, width, height = _places(nodes)
    body = ""
    for (giver, receiver), value in edges.items():
        if giver != receiver:
            tip = f"{nodes[giver]} → {nodes[receiver]}: {label(value, digits)} {what}"
            share = (value or 0.0) / most if most else 0.0
            body += _arrow(places[giver], places[receiver], value, share, svg.seat_colour(giver), digits, tip)
    for i, (name, (x, y)) in enumerate(zip(nodes, places, strict=True)):
        alone = edges.get((i, i))
        tip = hover(name + (f"; to itself {label(alone, digits)}" if (i, i) in edges else ""))
        disc = element("circle", cx=x, cy=y, r=30, fill=svg.seat_colour(i), stroke=PAPER, stroke_width=3)
        seat = centred(x, y, i + 1, 18, "#ffffff", font_weight=700)
        # Names stand outside the ring of arrows.
        dx, dy, anchor = (0.0, 48.0, "middle") if y >= height / 2 or len(nodes) <= 2 else (0.0, -40.0, "middle")
        if len(nodes) > 2 and abs(x - width / 2) > 20:
            dx, dy, anchor = (38.0, 0.0, "start") if x > width / 2 else (-38.0, 0.0, "end")
        name_text = text(x + dx, y + dy, svg.shorten(name, 24), text_anchor=anchor, dominant_baseline="central")
        body += element("g", tip + disc + seat + name_text)
    return svg.picture(width, height, body, title)


def _places(nodes: Sequence[str]) -> tuple[list[tuple[float, float]], float, float]:
    count = len(nodes)
    if count <= 2:
        return [(100.0 + 260.0 * i, 80.0) for i in range(count)], 460.0, 150.0
    radius = 100.0 + 12 * count
    angles = [2 * math.pi * i / count - math.pi / 2 for i in range(count)]
    middle_x = radius + 50 + max(svg.text_width(svg.shorten(name, 24)) for name in nodes)
    middle_y = radius + 60
    places = [(middle_x + radius * math.cos(a), middle_y + radius * math.sin(a)) for a in angles]
    return places, 2 * middle_x, 2 * middle_y


def _arrow(start, end, value: float | None, share: float, colour: str, digits: int, tip: str) -> str:
    """A bent arrow, so that the two directions between a pair do not lie on each other."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    nx, ny = -uy, ux
    bend, wide = 26.0, 1.5 + 8.5 * share
    head = 9 + wide * 0.9
    sx, sy = x1 + ux * 32 - nx * 10, y1 + uy * 32 - ny * 10
    ex, ey = x2 - ux * (34 + head) - nx * 10, y2 - uy * (34 + head) - ny * 10
    mx, my = (sx + ex) / 2 - nx * bend, (sy + ey) / 2 - ny * bend
    dx, dy = ex - mx, ey - my
    size = math.hypot(dx, dy)
    dx, dy = dx / size, dy / size
    n = svg.number
    path = f"M{n(sx)} {n(sy)}Q{n(mx)} {n(my)} {n(ex)} {n(ey)}"
    dashed = "5 5" if value is None else None
    stroke = MUTED if not value else colour
    shaft = element("path", d=path, fill="none", stroke=stroke, stroke_width=wide, stroke_dasharray=dashed)
    tip_points = (
        (ex + dx * head, ey + dy * head),
        (ex - dy * head * 0.6, ey + dx * head * 0.6),
        (ex + dy * head * 0.6, ey - dx * head * 0.6),
    )
    point = polygon(tip_points, fill=stroke)
    tx, ty = (sx + 2 * mx + ex) / 4 - nx * (wide / 2 + 11), (sy + 2 * my + ey) / 4 - ny * (wide / 2 + 11)
    number = centred(tx, ty, label(value, digits), 14, font_weight=600)
    return element("g", hover(tip) + shaft + point + number)


# One sign per kind of mark, so that kinds differ by form and not by colour alone.
_SIGNS = ("circle", "diamond", "square", "up", "down", "bar")


def timeline(
    lanes: Sequence[str], marks: Sequence[Mark], *, steps: int, title: str, episode: str | int | None = None
) -> str:
    """An episode at a glance: a lane per seat, marks for what happened, arrows for hand-overs between lanes.

    With `episode`, a click on a mark takes that episode's replay to the moment.
    """
    for mark in marks:
        if not 0 <= mark.seat < len(lanes) or (mark.to is not None and not 0 <= mark.to < len(lanes)):
            raise InterplayError(f"the mark {mark.kind!r} at step {mark.t} is of a seat without a lane")
    left = max([svg.text_width(svg.shorten(n, 30)) for n in lanes], default=0) + 30
    plot, lane = 720.0, 62.0
    kinds = list(dict.fromkeys(m.kind for m in marks))
    top = 34.0
    height = top + lane * len(lanes) + 34
    floor = height - 30

    def x(t: float) -> float:
        return left + plot * t / max(1, steps)

    def y(seat: int) -> float:
        return top + lane * (seat + 0.5)

    body = _signs_key(kinds, left)
    for i, name in enumerate(lanes):
        body += element("rect", x=left - 6, y=y(i) - 13, width=plot + 12, height=26, rx=13, fill=PANEL)
        body += element("circle", cx=14, cy=y(i), r=7, fill=svg.seat_colour(i))
        body += text(28, y(i), svg.shorten(name, 30), 12, INK, dominant_baseline="central")
    for t in svg.ticks(0, steps, 8):
        body += element("line", x1=x(t), x2=x(t), y1=top, y2=floor, stroke=RULE)
        body += text(x(t), floor + 14, label(t, 0), 11, MUTED, text_anchor="middle")
    for mark in (m for m in marks if m.to is not None):
        body += _linked(_hand_over(mark, x, y), mark, episode, _words(mark, lanes))
    for mark in marks:
        sign = _sign(_SIGNS[kinds.index(mark.kind) % len(_SIGNS)], x(mark.t), y(mark.seat), svg.seat_colour(mark.seat))
        body += _linked(hover(_words(mark, lanes)) + sign, mark, episode, _words(mark, lanes))
    body += text(left + plot / 2, height - 2, "step", 12, MUTED, text_anchor="middle")
    return svg.picture(left + plot + 24, height + 4, body, title, interactive=True)


def _words(mark: Mark, lanes: Sequence[str]) -> str:
    to = f" → {lanes[mark.to]}" if mark.to is not None else ""
    return f"step {mark.t}: {lanes[mark.seat]}{to}, {mark.label or mark.kind}"


def _linked(content: str, mark: Mark, episode: str | int | None, words: str) -> str:
    if episode is None:
        return element("g", content)
    link = f"#replay-{episode}@{mark.t}"
    return element("a", content, href=link, class_="mark", data_episode=episode, data_step=mark.t, aria_label=words)


def _hand_over(mark: Mark, x, y) -> str:
    x1, y1 = x(mark.t), y(mark.seat)
    x2, y2 = x(mark.until if mark.until is not None else mark.t), y(mark.to)
    down = 1 if y2 > y1 else -1
    y1, y2 = y1 + down * 9, y2 - down * 15
    n = svg.number
    path = f"M{n(x1)} {n(y1)}C{n(x1)} {n((y1 + y2) / 2)} {n(x2)} {n((y1 + y2) / 2)} {n(x2)} {n(y2)}"
    head = ((x2, y2 + down * 7), (x2 - 4.5, y2 - down), (x2 + 4.5, y2 - down))
    colour = svg.seat_colour(mark.seat)
    return element("path", d=path, fill="none", stroke=colour, stroke_width=2) + polygon(head, fill=colour)


def _sign(form: str, x: float, y: float, colour: str) -> str:
    look = {"fill": colour, "stroke": PAPER, "stroke_width": 1.5}
    points = {
        "diamond": ((0, -8), (7, 0), (0, 8), (-7, 0)),
        "square": ((-6, -6), (6, -6), (6, 6), (-6, 6)),
        "up": ((0, -7), (7, 6), (-7, 6)),
        "down": ((0, 7), (7, -6), (-7, -6)),
        "bar": ((-2.5, -9), (2.5, -9), (2.5, 9), (-2.5, 9)),
    }.get(form)
    if points is None:
        return element("circle", cx=x, cy=y, r=6, **look)
    return polygon([(x + dx, y + dy) for dx, dy in points], **look)


def _signs_key(kinds: Sequence[str], x: float) -> str:
    parts = ""
    for i, kind in enumerate(kinds):
        parts += _sign(_SIGNS[i % len(_SIGNS)], x + 6, 14, MUTED)
        parts += text(x + 18, 14, kind, dominant_baseline="central")
        x += 38 + svg.text_width(kind)
    return parts
