"""Stand-ins for people: what they see is all that there is, and what they answer can be taken."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from interplay.games.registry import make
from interplay.study.live.browser_views import OVERCOOKED
from interplay.study.pages.page_type import PageVisit, page_type
from interplay.study.protocol.aliases import draw
from interplay.study.protocol.flow import first_slots, pages, partners_of
from interplay.study.protocol.reading import load
from interplay.study.simulation.participants import AnswerModel, CardPlayer, kitchen_state

STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.yaml"))


def test_a_kitchen_is_read_back_from_what_the_browser_is_shown():
    """Soups in pots and on plates, timers, everything: a stand-in plays as the policy would on the state itself."""
    game: Any = make("overcooked/cramped_room", horizon=400)
    chance = random.Random(3)
    state, seen = game.init(jax.random.key(0)), set()
    for t in range(400):
        table: Any = SimpleNamespace(state=state)
        view = OVERCOOKED.view(game, table, 0)
        again = kitchen_state(game, t, view)
        for name, value in vars(state).items():
            np.testing.assert_array_equal(np.asarray(value), np.asarray(getattr(again, name)), err_msg=f"{name} at {t}")
        seen |= {item["kind"] for item in view["items"]} | {pot["timer"] > 0 for pot in view["pots"]}
        joint = np.array([chance.choice((0, 1, 2, 3, 5, 5, 5)) for _ in range(2)], np.int32)
        state, _ = game.step(state, joint, jax.random.key(t))
    assert {"onion", "dish", True} <= seen


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_answer_of_the_model_can_be_taken(path):
    protocol = load(path)
    asked = 0
    for seed in range(5):
        opinion = AnswerModel(random.Random(seed))
        for alias, score in (("Blue", 20.0), ("Orange", 0.0)):
            opinion.played(alias, score)
        all_pages = pages(protocol, first_slots(protocol), 1)
        aliases = draw(partners_of(protocol, all_pages), 1)
        for page in all_pages:
            kind, visit = page_type(page.item.kind), PageVisit(protocol, page, "en", aliases)
            if not kind.answered:
                continue
            sent = kind.simulate(page.item, kind.show(page.item, visit), opinion)
            clean, errors = kind.check(page.item, visit, sent)
            assert errors == {}
            assert kind.passed(page.item, clean)
            asked += len(clean)
    assert asked


def test_people_like_partners_with_whom_points_were_made():
    rated = {"good": 0, "bad": 0}
    for seed in range(60):
        opinion = AnswerModel(random.Random(seed))
        opinion.played("good", 20.0)
        opinion.played("bad", 0.0)
        for alias in rated:
            opinion.last = alias
            rated[alias] += opinion.answer_question({"id": "q", "type": "likert", "points": 7})
    assert rated["good"] > rated["bad"] + 60
    ranking, items = page_type("ranking"), [{"id": name, "label": name} for name in rated]
    first = [ranking.simulate(None, {"items": items}, opinion)["order"][0] for _ in range(50)]
    assert first.count("good") > 40


def test_a_card_player_plays_what_hints_prove_to_fit():
    card = {"colours": ["R"], "ranks": [2], "colour": None, "rank": None}
    other = {"colours": ["R", "Y"], "ranks": [1, 2], "colour": None, "rank": None}
    legal = [{"action": f"{what} {slot}", "kind": what, "target": 0, "value": slot}
             for what in ("discard", "play") for slot in (0, 1)]  # fmt: skip
    view = {"your_turn": True, "legal": legal, "fireworks": {"R": 1, "Y": 0}, "hands": [[other, card], []]}
    assert CardPlayer(0, random.Random(0)).choose(0, view) == "play 1"
    assert CardPlayer(0, random.Random(0)).choose(0, {**view, "fireworks": {"R": 2, "Y": 0}}) == "discard 0"
    assert CardPlayer(0, random.Random(0)).choose(0, {**view, "your_turn": False}) is None
