"""The tables of the ad-hoc human-AI coordination challenge."""

from __future__ import annotations

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.papers.ah2ac2.human_move_prediction import people_table
from interplay.papers.ah2ac2.proxies import behaviour_table, leaderboard_table, self_play_table


def test_who_foresees_people_on_any_games():
    """Every policy softened; the one that played is foreseen best, the published proxies stand below."""
    games = interplay.play("hanabi/2p", ["random", "hanabi/simple"], episodes=10, seed=0)
    table = people_table(games, ["random", "hanabi/simple"], players=2, agent="hanabi/simple")
    first, second, *published = table.rows
    assert (first["policy"], first["accuracy"]) == ("hanabi/simple", 1)
    assert second["policy"] == "random"
    assert [row["accuracy"] for row in published] == [0.63, 0.63]
    assert published[0]["cross_entropy"] == pytest.approx(1.06)  # .53 a step, two players
    part = people_table(games, ["random"], players=2, agent="hanabi/simple", split=1)
    assert part.rows[0]["decisions"] < second["decisions"]
    with pytest.raises(InterplayError, match="--split 9: from 0 to 4"):
        people_table(games, ["random"], players=2, agent="hanabi/simple", split=9)


def test_trained_agents_foresee_games_of_other_rules():
    """People of 2017 could discard with all hint tokens there, and kept their points."""
    game = interplay.make("hanabi/2p", bomb="keep", discard_when_full=True)
    games = interplay.play(game, ["random", "hanabi/simple"], episodes=1, seed=0)
    table = people_table(games, ["trained/hanabi/2p/fcp-1"], players=2, agent="hanabi/simple")
    assert table.rows[0]["decisions"] > 0


def test_self_play_and_behaviour_stand_beside_the_published():
    table = self_play_table(2, 3, ["hanabi/simple"])
    assert [row["agent"] for row in table.rows][1:] == ["published proxy 1", "published proxy 2"]
    assert table.rows[1]["self_play"] == 22.55
    rows = behaviour_table(2, 3, names=["hanabi/simple"]).rows
    assert 0 <= rows[0]["communicativeness"] <= 1
    assert rows[1] == {"who": "published: people", "ipp": 0.44, "communicativeness": 0.47}


def test_a_leaderboard_is_sorted_among_the_published():
    ours = {"setting": "2p", "agent": "mine", "games": 250, "one_seat": 20.0, "median": 21}
    rows = leaderboard_table([ours]).rows
    two = [row["agent"] for row in rows if row["setting"] == "2p"]
    assert two[:4] == ["published: human proxies", "published: OBL (L4)", "mine", "published: BR-BC"]
