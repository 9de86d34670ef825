"""What is sent to browsers is as the types say from which the front end's are written."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import jax
import numpy as np
import pytest
from pydantic import TypeAdapter

from interplay.games.registry import make
from interplay.study.http import messages
from interplay.study.live.browser_views import browser_view
from interplay.study.pages.page_type import PageVisit, page_type
from interplay.study.protocol.aliases import draw
from interplay.study.protocol.flow import first_slots, pages, partners_of
from interplay.study.protocol.reading import load

TOP = Path(__file__).parents[2]
STUDIES = sorted((TOP / "studies").glob("*.yaml"))
VIEWS = {
    "overcooked/cramped_room": messages.GridView,
    "rescue/hallway": messages.GridView,
    "hanabi/2p": messages.HanabiView,
}


def fits(kind: Any, value: Any) -> None:
    """Fail unless a value has the fields of a type, and no others."""
    TypeAdapter(kind).validate_python(value)
    assert set(value) <= set(kind.__annotations__), set(value) - set(kind.__annotations__)


def test_the_types_of_the_front_end_are_written_from_these():
    tool = TOP / "tools" / "typescript_types.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_changed_type_is_noticed(monkeypatch):
    sys.path.insert(0, str(TOP / "tools"))
    try:
        import typescript_types
    finally:
        sys.path.pop(0)
    assert "  seen: number;" in typescript_types.interface(messages.Hello)
    assert '  type: "likert" | ' in typescript_types.interface(messages.QuestionView)
    assert (
        typescript_types.interface(messages.GamePage).splitlines()[1] == "export interface GamePage extends PageView {"
    )
    assert "unseen?: [number, number][]; // cells" in typescript_types.interface(messages.GridView)
    with pytest.raises(TypeError, match="no TypeScript"):
        typescript_types.typescript(complex)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_pages_are_as_their_types_say(path):
    protocol = load(path)
    all_pages = pages(protocol, first_slots(protocol), 1)
    aliases = draw(partners_of(protocol, all_pages), 1)
    kinds = {kind.__name__: kind for kind in get_args(messages.OurPage)}
    seen = set()
    for page in all_pages:
        kind = kinds[f"{page.item.kind.capitalize()}Page"]
        visit = PageVisit(protocol, page, protocol.languages[0], aliases)
        head = {"id": page.id, "kind": page.item.kind, "title": "", "text": "", "scripts": []}
        view = head | dict(page_type(page.item.kind).show(page.item, visit))
        fits(kind, view | ({"until_s": 1.0, "message": ""} if page.item.kind == "wait" else {}))
        seen.add(page.item.kind)
    assert {"consent", "game"} <= seen


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_games_are_as_their_types_say(name):
    game: Any = make(name)
    view, chance = browser_view(game), random.Random(0)
    state, table = game.init(jax.random.key(0)), SimpleNamespace(notes=None, done=False)
    watch = view.watch(game)
    for t in range(12):
        legal = np.asarray(game.legal(state))
        table.state, table.turn, table.legal = state, np.asarray(game.to_move(state)), legal
        fits(VIEWS[name], view.view(game, table, t % game.num_seats))
        joint = np.array([chance.choice(np.flatnonzero(row).tolist()) for row in legal], np.int32)
        after, _ = game.step(state, joint, jax.random.key(t))
        if watch is not None:
            watch(table, state, after, joint)
        state = after
