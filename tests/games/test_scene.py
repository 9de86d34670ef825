"""Scenes: the same shapes as SVG, PNG and GIF."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from interplay.errors import InterplayError
from interplay.games import raster
from interplay.games.scene import Scene

SVG = "{http://www.w3.org/2000/svg}"
EVERY_SHAPE = (
    ("rect", 0, 0, 10, 10, "#ff0000", 2),
    ("circle", 30, 10, 5, "#00ff00"),
    ("ellipse", 50, 10, 8, 4, "#0000ff"),
    ("poly", ((60, 0), (80, 0), (70, 20)), "#00ffff"),
    ("line", 0, 30, 90, 30, "#000000", 2),
    ("text", 50, 45, "hi", 10, "#000000", "middle"),
    ("group", 5, 5, (("circle", 0, 0, 2, "#123456"),)),
)


def scene(*shapes, backdrop=()):
    return Scene(100, 60, tuple(backdrop), tuple(shapes))


def pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def test_svg_is_xml_with_one_element_per_shape():
    root = ET.fromstring(scene(*EVERY_SHAPE).svg())
    kinds = [child.tag.removeprefix(SVG) for child in root]
    assert kinds == ["rect", "circle", "ellipse", "polygon", "line", "text", "g"]
    assert root.get("viewBox") == "0 0 100 60"


def test_svg_escapes_text_and_colours():
    hostile = scene(("text", 1, 1, "<script>&", 5, '"><script>', "middle")).svg()
    assert "<script>" not in hostile
    text = ET.fromstring(hostile)[0]
    assert text.text == "<script>&"
    assert text.get("fill") == '"><script>'


def test_numbers_keep_their_zeros():
    assert 'x="100"' in scene(("rect", 100, 20, 10, 10, "#000000", 0)).svg()


def test_png_paints_shapes_where_they_belong():
    image = pixels(scene(*EVERY_SHAPE).png(2))
    assert image.size == (200, 120)
    assert image.getpixel((10, 4)) == (255, 0, 0)
    assert image.getpixel((60, 20)) == (0, 255, 0)
    assert image.getpixel((100, 20)) == (0, 0, 255)
    assert image.getpixel((140, 10)) == (0, 255, 255)
    assert image.getpixel((10, 10)) == (0x12, 0x34, 0x56)
    assert image.getpixel((190, 110)) == raster.PAPER


def test_text_is_centred_on_its_anchor():
    image = pixels(scene(("text", 50, 30, "HHHH", 12, "#000000", "middle")).png(2)).convert("L")
    left, top, right, bottom = image.point(lambda v: 255 if v < 128 else 0).getbbox()
    assert abs((left + right) / 2 - 100) <= 2
    assert abs((top + bottom) / 2 - 60) <= 3


def test_transparent_colours_let_the_backdrop_through():
    white = ("rect", 0, 0, 100, 60, "#ffffff", 0)
    image = pixels(scene(("rect", 0, 0, 100, 60, "#00000080", 0), backdrop=[white]).png(1))
    assert 110 < image.getpixel((50, 30))[0] < 145


def test_an_unknown_shape_is_an_error():
    for paint in (lambda s: s.svg(), lambda s: s.png()):
        with pytest.raises(InterplayError, match="not a shape"):
            paint(scene(("blob", 1)))


def test_gif_plays_each_change_and_holds_what_stays(tmp_path):
    a, b = scene(("circle", 20, 20, 10, "#ff0000")), scene(("circle", 70, 20, 10, "#0000ff"))
    raster.gif([a, b, b, a], tmp_path / "x.gif", fps=10)
    image = Image.open(tmp_path / "x.gif")
    assert image.n_frames == 3
    held = []
    for i in range(image.n_frames):
        image.seek(i)
        held.append(image.info["duration"])
        frame = image.convert("RGB")
        assert frame.getpixel((20, 20)) == ((255, 0, 0) if i != 1 else raster.PAPER)
        assert frame.getpixel((70, 20)) == ((0, 0, 255) if i == 1 else raster.PAPER)
    assert held == [100, 200, 100]


def test_gif_writes_into_a_stream_and_says_what_it_cannot_do():
    out = io.BytesIO()
    raster.gif([scene(*EVERY_SHAPE)], out)
    assert out.getvalue().startswith(b"GIF89a") or out.getvalue().startswith(b"GIF87a")
    with pytest.raises(InterplayError, match="at least one scene"):
        raster.gif([], io.BytesIO())
    with pytest.raises(InterplayError, match="one size"):
        raster.gif([scene(), Scene(5, 5, (), ())], io.BytesIO())
    with pytest.raises(InterplayError, match="fps"):
        raster.gif([scene()], io.BytesIO(), fps=0)
