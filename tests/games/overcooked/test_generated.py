"""Kitchens that are drawn at random can be cooked in, and the check knows which cannot."""

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.overcooked.layouts import ONE_RECIPE, SEVERAL_RECIPES, parse
from interplay.games.overcooked.random_kitchens import TEMPLATES, generate, solvable


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_gives_kitchens_that_can_be_cooked_in(template):
    texts = {generate(seed, template=template).text for seed in range(20)}
    assert len(texts) > 15
    assert all(solvable(parse(text)) for text in texts)


def test_the_same_seed_is_the_same_kitchen():
    assert generate(3).text == generate(3).text != generate(4).text
    game = interplay.make("overcooked/generated", kitchen_seed=3, kitchen_size=[8, 5])
    assert (game.layout.width, game.layout.height) == (8, 5)
    assert interplay.make("overcooked/generated", **game.options).layout.text == game.layout.text


def test_the_kitchens_of_the_papers_are_solvable():
    for text in (ONE_RECIPE | SEVERAL_RECIPES).values():
        assert solvable(parse(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("XPXXX/O1XXX/XXXXX/XD2XX/XXSXX", "the dish is in a room from which nothing reaches the other"),
        ("XPXXXXX/O1XX2SX/XDXXXXX", "soups are made in one room and served in another, with no counter between"),
    ],
)
def test_a_kitchen_in_which_no_soup_can_be_served_is_refused(text, why):
    assert not solvable(parse(text)), why


def test_rooms_that_share_a_counter_are_solvable():
    assert solvable(parse("XPXXX/O1X2S/XDXXX"))


def test_chefs_serve_soups_in_drawn_kitchens():
    """The scripted chef delivers in most kitchens of one room: the check does not let hopeless ones through."""
    delivered = 0
    for seed in range(3):
        game = interplay.make("overcooked/generated", kitchen_seed=seed, kitchen_template="open", horizon=120)
        traces = interplay.play(game, ["overcooked/greedy", "overcooked/greedy"], episodes=1, seed=0)
        delivered += next(iter(traces)).score > 0
    assert delivered >= 2


def test_sizes_and_templates_are_checked():
    with pytest.raises(InterplayError, match="4 to 12 cells"):
        generate(0, width=40)
    with pytest.raises(InterplayError, match="one of open"):
        generate(0, template="maze")
    with pytest.raises(InterplayError, match="kitchen_size"):
        interplay.make("overcooked/generated", kitchen_size=[5])
