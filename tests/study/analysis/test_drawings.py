"""Drawings of answers, preferences and sessions: well-formed, to scale, and blue for what is good."""

import re
import xml.etree.ElementTree as ET

import pytest

from interplay.study.analysis.charts import Box, DrawnLine, answer_bars, boxes, diverging, lines, preference_map

SVG = "{http://www.w3.org/2000/svg}"


def parts(drawing, tag):
    return list(ET.fromstring(drawing).iter(f"{SVG}{tag}"))


def test_bars_are_cut_by_shares():
    drawing = answer_bars([("a <b>", {1: 1, 2: 3}), ("none", {1: 0, 2: 0})], [1, 2], title="t", ends=("no", "yes"))
    widths = [float(one.get("width")) for one in parts(drawing, "rect")[2:]]  # after the two of the key
    assert widths == [pytest.approx(115), pytest.approx(345)]
    assert any("a <b>: 2, 75 % (3 of 4)" in (one.text or "") for one in parts(drawing, "title"))
    worst, best = diverging(0)[0], diverging(1)[0]
    assert [one.get("fill") for one in parts(drawing, "rect")[:2]] == [worst, best]
    ranks = answer_bars([("a", {1: 1, 2: 3})], [1, 2], title="t", low_is_good=True)
    assert [one.get("fill") for one in parts(ranks, "rect")[:2]] == [best, worst]


def test_preferences_are_blue_for_the_row_and_null_is_a_dash():
    drawing = preference_map(
        ["a", "b", "c"], [[None, 4.0, None], [-4.0, None, 0.0], [None, 0.0, None]], [[0, 2, 0], [2, 0, 1], [0, 1, 0]],
        title="t", most=4.0, row_title="r", column_title="c",
    )  # fmt: skip
    said = [one.text for one in parts(drawing, "text")]
    assert said.count("–") == 2
    assert "4.0" in said
    assert "−4.0" in said
    fills = [one.get("fill") for one in parts(drawing, "rect")]
    assert diverging(1)[0] in fills
    assert diverging(0)[0] in fills
    assert diverging(0.5)[0] in fills


def test_lines_and_boxes_stand_nothing_and_one_value():
    assert parts(lines([], title="t", x_title="x", y_title="y"), "polyline") == []
    one = DrawnLine("a", [1, 2, 3], [0.0, 50.0, 100.0], [None, -5.0, 90.0], [None, 60.0, 101.0])
    drawing = lines([one], title="t", x_title="x", y_title="y")
    height = [float(p.split(",")[1]) for p in parts(drawing, "polyline")[0].get("points").split()]
    assert height[0] > height[1] > height[2]
    assert height[0] - height[1] == pytest.approx(height[1] - height[2], abs=0.02)
    assert len(parts(drawing, "polygon")) == 1
    drawing = boxes([Box("a", [3.0]), Box("b", []), Box("c", [1.0, 5.0], 3.0, 2.0, 4.0)], title="t", x_title="x")
    assert len(parts(drawing, "circle")) == 3
    assert len(parts(drawing, "polygon")) == 1


@pytest.mark.parametrize("share", [0, 0.2, 0.4, 0.5, 0.7, 0.9, 1])
def test_text_can_be_read_on_every_colour(share):
    def light(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    fill, ink = map(light, diverging(share))
    assert (max(fill, ink) + 0.05) / (min(fill, ink) + 0.05) > 4.5


def test_a_box_keeps_its_colour_and_stays_within_the_scale():
    row = Box("Blue", [1.0, 5.0], 4.9, -3.0, 9.0, colour=3)
    alone = boxes([row], title="t", x_title="x", bounds=(1, 5))
    second = boxes([Box("Other", [2.0]), row], title="t", x_title="x", bounds=(1, 5))
    assert "--seat-3" in alone
    assert "--seat-3" in second
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', alone)[1])
    assert all(0 <= float(x) <= width for x in re.findall(r' x[12]="(-?[\d.]+)"', alone))
