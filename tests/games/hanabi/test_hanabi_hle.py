"""Our rules and vectors against the Hanabi Learning Environment: every state of every game."""

from __future__ import annotations

import numpy as np
import pytest

from tests.games.hanabi import hle
from tests.games.hanabi.replaying import replay


def agree(name: str, recorded: list[hle.Recorded], **options) -> None:
    """Hands, legal moves, tokens, lives, fireworks, vectors, rewards and ends are those of HLE."""
    facts, steps = replay(name, [g.deck for g in recorded], [g.actions for g in recorded], **options)
    for i, game in enumerate(recorded):
        moves, states = len(game.actions), len(game.actions) + 1
        for key in ("hands", "tokens", "lives", "fireworks"):
            np.testing.assert_array_equal(facts[key][i, :states], getattr(game, key), err_msg=f"{key} of game {i}")
        np.testing.assert_array_equal(facts["legal"][i, :moves, :-1], game.legal[:moves], err_msg=f"legal in game {i}")
        assert not facts["legal"][i, :moves, -1].any()
        assert facts["off_turn"][i, :states].all()
        if len(game.observations):
            vectors = facts["observations"]["hle"][i, :states]
            np.testing.assert_array_equal(vectors, game.observations, err_msg=f"vectors of game {i}")
        np.testing.assert_array_equal(steps.reward[i, :moves].sum(axis=-1), game.rewards, err_msg=f"rewards, game {i}")
        actor = np.arange(moves) % steps.reward.shape[-1]
        np.testing.assert_array_equal(steps.reward[i, np.arange(moves), actor], game.rewards, err_msg="credit")
        np.testing.assert_array_equal(steps.terminated[i, :moves], game.ended[1:], err_msg=f"ends of game {i}")


def games(players: int, number: int, **params) -> list[hle.Recorded]:
    rng = np.random.default_rng(players)
    return [
        hle.play(seed, (hle.random if seed % 2 else hle.adept)(rng), players=players, **params)
        for seed in range(1, number + 1)
    ]


@pytest.mark.parametrize("players", [2, 3, pytest.param(4, marks=pytest.mark.slow), 5])
def test_games_agree_with_hle(players):
    recorded = games(players, 120)
    ends = {(bool(g.lives[-1] == 0), bool(g.fireworks[-1].sum() == 25)) for g in recorded}
    assert len(ends) == 3, "the games should end in all three ways"
    agree(f"hanabi/{players}p", recorded)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_thousands_of_games_agree_with_hle(players):
    for part in range(8):
        rng = np.random.default_rng(100 + part)
        seeds = range(1000 + 250 * part, 1250 + 250 * part)
        agree(
            f"hanabi/{players}p",
            [hle.play(s, (hle.random if s % 2 else hle.adept)(rng), players=players) for s in seeds],
        )


def test_the_rule_set_is_data():
    """HLE's small game: two colours, hands of two, three tokens, one life."""
    small = {"colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1}
    recorded = games(2, 60, **small)
    agree("hanabi/2p", recorded, suits="RY", hand_size=2, hint_tokens=3, lives=1)
