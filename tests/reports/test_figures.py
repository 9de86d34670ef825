"""Figures: XML that parses, numbers that are there, names that cannot harm."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest

from interplay.errors import InterplayError
from interplay.reports import (
    FigureEstimate,
    Mark,
    Point,
    heat_map,
    help_graph,
    interval_plot,
    scatter,
    strip,
    svg,
    timeline,
)

NS = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('x')</script>\"&"


def parse(text: str) -> ET.Element:
    return ET.fromstring(text)


def texts(root: ET.Element) -> list[str]:
    return [node.text for node in root.iter(f"{NS}text")]


def titles(root: ET.Element) -> list[str]:
    return [node.text for node in root.iter(f"{NS}title")]


def every_figure(name: str) -> dict[str, str]:
    return {
        "heat map": heat_map([name, "b"], ["b", name], [[1.0, None], [2.5, 3.0]], title=name, privileged=[name]),
        "intervals": interval_plot([FigureEstimate(name, 1.0, 0.5, 2.0, group=name)], title=name, x_title=name),
        "scatter": scatter([Point(0, 1, name, name), Point(1, 2)], title=name, x_title=name, y_title=name, note=name),
        "strip": strip({name: [1.0, 2.0], "b": []}, title=name, x_title=name),
        "graph": help_graph([name, "b"], {(0, 1): 2.0, (1, 0): None}, title=name, what=name),
        "timeline": timeline([name, "b"], [Mark(3, 0, name, name, to=1)], steps=10, title=name, episode=name),
    }


@pytest.mark.parametrize("kind", list(every_figure("x")))
def test_every_figure_is_xml_deterministic_and_escapes_names(kind):
    drawing = every_figure(HOSTILE)[kind]
    root = parse(drawing)
    assert root.get("aria-label") == HOSTILE
    assert not list(root.iter(f"{NS}script"))
    assert drawing == every_figure(HOSTILE)[kind]
    alone = svg.standalone(drawing)
    parse(alone)
    assert "var(" in drawing
    assert "var(" not in alone


@pytest.mark.parametrize("kind", list(every_figure("x")))
def test_nothing_is_drawn_outside_the_frame(kind):
    root = parse(every_figure("an agent with quite a long name")[kind])
    _, _, width, height = map(float, root.get("viewBox").split())
    for node in root.iter():
        for name, limit in (("x", width), ("cx", width), ("x1", width), ("x2", width), ("y", height), ("cy", height)):
            if node.get(name):
                assert -1 <= float(node.get(name)) <= limit + 1, (node.tag, name)


def test_heat_map_shows_values_nulls_intervals_and_privilege():
    drawing = heat_map(
        ["a", "b"], ["a", "b"], [[10.0, None], [-0.04, 30.25]],
        title="t", intervals=[[(8.0, 12.0), None], [None, (29.0, 31.0)]], privileged=["b"],
        links=[["#replay-0@5", None], [None, None]],
    )  # fmt: skip
    root = parse(drawing)
    shown = texts(root)
    assert {"10.0", "–", "0.0", "30.2"} <= set(shown)
    assert shown.count("b †") == 2
    assert "a with a: 10.0 [8.0, 12.0]" in titles(root)
    assert "a with b: –" in titles(root)
    assert [a.get("href") for a in root.iter(f"{NS}a")] == ["#replay-0@5"]


def test_heat_map_colours_follow_the_values_and_the_bounds():
    def fill(value, bounds):
        root = parse(heat_map(["a"], ["b"], [[value]], title="t", bounds=bounds))
        return next(n.get("fill") for n in root.iter(f"{NS}g") for n in n if n.tag == f"{NS}rect")

    assert fill(0.0, (0.0, 10.0)) == svg.ramp(0)[0]
    assert fill(10.0, (0.0, 10.0)) == svg.ramp(1)[0]
    with pytest.raises(InterplayError, match="needs as many values"):
        heat_map(["a"], ["b"], [[1.0, 2.0]], title="t")


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_heat_map_labels_can_be_read_on_every_colour():
    """The contrast that WCAG asks of text, and lightness that falls all the way, so that grey prints read too."""
    light = []
    for i in range(101):
        fill, ink = svg.ramp(i / 100)
        a, b = sorted((luminance(fill), luminance(ink)))
        assert (b + 0.05) / (a + 0.05) >= 4.5, (i, fill, ink)
        light.append(luminance(fill))
    assert all(a >= b for a, b in itertools.pairwise(light))


def test_interval_plot_places_estimates_on_one_scale():
    rows = [FigureEstimate("a", 0.0, -1.0, 1.0), FigureEstimate("b", 10.0, 9.0, 11.0), FigureEstimate("none", None)]
    root = parse(interval_plot(rows, title="t", reference=0.0))
    dots = [float(n.get("cx")) for n in root.iter(f"{NS}circle")]
    assert len(dots) == 2
    bars = [n for n in root.iter(f"{NS}line") if n.get("stroke-width") == "3"]
    reach = [(float(n.get("x1")), float(n.get("x2"))) for n in bars]
    unit = (dots[1] - dots[0]) / 10
    for dot, (low, high) in zip(dots, reach, strict=True):
        assert math.isclose(dot - low, unit, abs_tol=0.05)
        assert math.isclose(high - dot, unit, abs_tol=0.05)
    assert "–" in texts(root)


def test_scatter_line_stays_in_its_frame_and_meets_the_points():
    points = [Point(0, 0), Point(1, 10), Point(2, 20)]
    root = parse(scatter(points, title="t", x_title="x", y_title="y", line=(10.0, 0.0), note="r = 1.00"))
    line = next(n for n in root.iter(f"{NS}line") if n.get("stroke-dasharray"))
    x1, y1, x2, y2 = (float(line.get(k)) for k in ("x1", "y1", "x2", "y2"))
    for dot in root.iter(f"{NS}circle"):
        cx, cy = float(dot.get("cx")), float(dot.get("cy"))
        assert math.isclose(y1 + (y2 - y1) * (cx - x1) / (x2 - x1), cy, abs_tol=0.1)
    assert "r = 1.00" in texts(root)
    steep = parse(scatter(points, title="t", x_title="x", y_title="y", line=(1000.0, -500.0)))
    _, _, _, height = map(float, steep.get("viewBox").split())
    assert all(0 <= float(n.get("y1")) <= height for n in steep.iter(f"{NS}line"))


def test_help_graph_widths_are_counts_and_null_is_not_zero():
    root = parse(help_graph(["a", "b", "c"], {(0, 1): 10, (1, 0): 5, (1, 2): 0, (2, 0): None}, title="t"))
    arrows = list(root.iter(f"{NS}path"))
    wide = [float(a.get("stroke-width")) for a in arrows]
    assert math.isclose((wide[0] - wide[2]) / 2, wide[1] - wide[2], abs_tol=0.01)
    assert [a.get("stroke-dasharray") is not None for a in arrows] == [False, False, False, True]
    assert {"10", "5", "0", "–"} <= set(texts(root))
    with pytest.raises(InterplayError, match="leaves a graph"):
        help_graph(["a"], {(0, 1): 1}, title="t")


def test_timeline_marks_lead_to_the_moment():
    marks = [Mark(10, 0, "hand-over", "onion", to=1, until=14), Mark(60, 1, "points", "+20 points")]
    root = parse(timeline(["a", "b"], marks, steps=100, title="t", episode=3))
    links = {(a.get("href"), a.get("data-episode"), a.get("data-step")) for a in root.iter(f"{NS}a")}
    assert links == {("#replay-3@10", "3", "10"), ("#replay-3@60", "3", "60")}
    assert "step 10: a → b, onion" in titles(root)
    arrow = next(root.iter(f"{NS}path")).get("d")
    start, end = float(re.findall(r"[\d.]+", arrow)[0]), float(re.findall(r"[\d.]+", arrow)[-2])
    assert math.isclose(end - start, 720 * 4 / 100, abs_tol=0.1)
    with pytest.raises(InterplayError, match="without a lane"):
        timeline(["a"], [Mark(1, 1, "x")], steps=5, title="t")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 7.9), (0, 400), (1e-4, 3e-4), (99.9, 100.1), (-1e6, 1e6)])
def test_ticks_are_round_and_inside(low, high):
    found = svg.ticks(low, high)
    assert 3 <= len(found) <= 12
    assert all(low - 1e-9 <= t <= high + 1e-9 for t in found)
    assert len(set(svg.tick_labels(found))) == len(found)


def test_the_key_of_a_heat_map_says_what_its_middle_is():
    drawing = heat_map(["a", "b"], ["c", "d"], [[1, 2], [3, 4]], title="t")
    assert ">2.5<" in drawing
    assert ">2<" in drawing  # the cell itself keeps its digits


def test_long_names_keep_their_ends_by_which_they_differ():
    names = [f"trained/overcooked/counter_circuit/{name}" for name in ("hsp-1", "sp-1")]
    picture = heat_map(names, names, [[1.0, 2.0], [3.0, 4.0]], title="Mean score")
    assert all(picture.count(f"/{name}</text>") == 2 for name in ("hsp-1", "sp-1"))
