"""What the tests of reports share: a toy game to replay, and a strict reader of pages."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np

from interplay import api
from interplay.games.scene import Scene


def toy(**changes):
    """A game whose state is a number; seats see it doubled by their own number."""

    def scene(state, seat=None):
        x = int(state["n"]) * (1 if seat is None else 2 + seat)
        sprite = (("circle", 0, 0, 2, "#000000"), ("text", 0, 0, "hi", 3, "#111111", "middle"))
        return Scene(
            50,
            20,
            (("rect", 0, 0, 50, 20, "#ffffff", 0),),
            (("group", x, 1, sprite), ("line", 0, 0, x, 1, "#000000", 1)),
        )

    kept = {
        "id": "toy", "num_seats": 2, "seat_names": ("left", "right"), "action_names": ("go", "wait"),
        "event_names": ("hit", "walk"), "scene": scene,
    }  # fmt: skip
    return SimpleNamespace(**(kept | changes))


STATES = {"n": np.array([0, 1, 1, 2, 1])}
ACTIONS = np.array([[0, 1], [1, 1], [0, 1], [0, 0]])
REWARDS = np.array([[0, 0], [0, 5], [0, 0], [-1, 5]], float)

VOID = {"meta", "input", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """Checks that elements close in order, and collects what tests ask about."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.ids, self.text = [], [], [], {}
        self.feed(text)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.elements.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def bundle_tables(traces, folder):
    """The rows of each table of a trace set's report, by name, as its bundle writes them."""
    api.report(traces, folder / "report", bundle=True)
    contents = {path.stem: json.loads(path.read_text()) for path in (folder / "report").rglob("*.json")}
    return {name: content["rows"] for name, content in contents.items() if "rows" in content}
