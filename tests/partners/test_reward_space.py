"""What candidates may prefer is the field's table, and every draw keeps its rules."""

import csv
import os
from pathlib import Path

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.partners.reward_space import POINTS, draw, reward_space

# The events of the paper's Table 7 under our names; "Order Reward" is what we call the task.
TABLE_7 = {
    "Pickup an onion from the onion dispenser": "pickup_onion_from_O",
    "Pickup a dish from the dish dispenser": "pickup_dish_from_D",
    "Pickup a soup": "SOUP_PICKUP",
    "Place an ingredient into the pot": "PLACEMENT_IN_POT",
    "Deliver a soup": "delivery",
    "Stay": "STAY",
    "Order Reward": "task",
}


@pytest.mark.parametrize("layout", ["counter_circuit", "counter_circuit_multi"])
def test_draws_keep_the_rules(layout):
    game = interplay.make(f"overcooked/{layout}")
    space = reward_space(game)
    found = draw(game, space, 128, seed=3)
    assert len({tuple(sorted(p.items())) for p in found}) == 128
    for preference in found:
        events = {e: w for e, w in preference.items() if e != "task"}
        assert preference["task"] in (0.1, 1)
        assert len(events) <= 3
        assert all(w in space.choices[e] and 0 < abs(w) <= 20 for e, w in events.items())
    assert draw(game, space, 128, seed=3) == found
    assert draw(game, space, 128, seed=4) != found


def test_several_recipes_have_tomatoes():
    one, several = (reward_space(interplay.make(f"overcooked/counter_circuit{m}")) for m in ("", "_multi"))
    assert "pickup_tomato_from_T" in several.choices
    assert "pickup_tomato_from_T" not in one.choices
    assert POINTS in one.features
    assert {"potting_tomato", "deliver_useless_order"} <= set(several.features)


def test_the_table_is_the_published_one():
    folder = os.environ.get("INTERPLAY_DATA")
    if not folder:
        pytest.skip("INTERPLAY_DATA is not set: the folder that holds published/s2_table7.csv")
    published: dict[str, list[float]] = {}
    with (Path(folder) / "published" / "s2_table7.csv").open() as file:
        for row in csv.DictReader(file):
            published.setdefault(row["event"], []).append(float(row["weight"]))
    never = {event for event, weights in published.items() if weights == [0.0]}
    assert published.keys() - never == TABLE_7.keys()
    ours = reward_space(interplay.make("overcooked/cramped_room")).choices
    assert ours == {TABLE_7[event]: weights for event, weights in published.items() if event not in never}


def test_features_of_the_published_tables_are_counted():
    """The same events as in the public feature tables, where the points are called sparse_r."""
    folder = os.environ.get("INTERPLAY_DATA")
    if not folder:
        pytest.skip("INTERPLAY_DATA is not set: the folder that holds zsc_eval/*.br_events.csv.gz")
    from interplay.partners.features import read

    for file, layout in (("random3", "counter_circuit"), ("random0_m", "forced_coordination_multi")):
        theirs = {n.partition("@")[0] for n in read(Path(folder) / "zsc_eval" / f"{file}.br_events.csv.gz").names}
        ours = {n.replace(POINTS, "sparse_r") for n in reward_space(interplay.make(f"overcooked/{layout}")).features}
        assert ours == theirs


def test_what_cannot_be_drawn():
    game = interplay.make("overcooked/cramped_room")
    with pytest.raises(InterplayError, match="only 1 different preferences of 3"):
        draw(game, reward_space(game, {"delivery": [-20, 0]}), 3, seed=0)
    with pytest.raises(InterplayError, match="did you mean delivery"):
        draw(game, reward_space(game, {"deliver": [-20, 0]}), 1, seed=0)
    with pytest.raises(InterplayError, match="unknown feature"):
        reward_space(game, features=["leaps"])
