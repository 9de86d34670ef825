"""Golden playthroughs: the rules of every shipped kitchen, told step by step."""

from __future__ import annotations

import re

import pytest

from interplay.games.overcooked.game import variants
from tests.games.overcooked.make_golden import FOLDER, STEPS, playthrough, recorded_actions

HINT = "if the rules were meant to change, run: python -m tests.games.overcooked.make_golden"


def test_every_kitchen_has_its_playthrough_and_there_are_no_others():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(variants())


@pytest.mark.parametrize("name", variants())
def test_the_rules_still_tell_the_same_story(name):
    told = (FOLDER / f"{name}.txt").read_text()
    actions = recorded_actions(told)
    assert actions.shape == (STEPS, 2)
    assert playthrough(name, actions).splitlines() == told.splitlines(), HINT


def test_the_stories_are_about_something():
    """Filling, cooking, plating, serving and handing over are in them somewhere."""
    events = (
        "potting_onion",
        "potting_tomato",
        "SOUP_PICKUP",
        "delivery",
        "cook",
        "put_onion_on_X",
        "pickup_onion_from_X",
    )
    told = "".join(path.read_text() for path in FOLDER.glob("*.txt"))
    happened = {event for line in re.findall(r"^  chef \d: (.*)$", told, re.MULTILINE) for event in line.split(", ")}
    assert [event for event in events if event not in happened] == []
