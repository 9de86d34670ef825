"""One seat as a Gymnasium environment, with partners drawn from a panel."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import interplay
from interplay.errors import IllegalAction, InterplayError


@pytest.mark.filterwarnings("ignore::UserWarning")  # spaces that Gymnasium finds unusual
def test_gymnasiums_own_checker_passes():
    game = interplay.make("overcooked/cramped_room", horizon=20)
    env = interplay.to_gymnasium(game, partners=["random"], seat=0)
    check_env(env, skip_render_check=True)


def test_partners_are_drawn_and_episodes_repeat_by_their_seed():
    game = interplay.make("overcooked/cramped_room", horizon=12)
    env = interplay.to_gymnasium(game, partners=["random", "overcooked/greedy"])

    def episode(seed):
        seen, info = env.reset(seed=seed)
        views, over = [seen], False
        while not over:
            seen, _, terminated, truncated, _ = env.step(len(views) % 4)
            views.append(seen)
            over = terminated or truncated
        return info["partner"], info["seat"], np.stack(views)

    met = [episode(seed) for seed in range(8)]
    assert {partner for partner, _, _ in met} == {"random", "overcooked/greedy"}
    assert {seat for _, seat, _ in met} == {0, 1}
    again = episode(3)
    assert again[:2] == met[3][:2]
    np.testing.assert_array_equal(again[2], met[3][2])


def test_a_step_goes_on_until_it_is_your_turn_again():
    env = interplay.to_gymnasium(interplay.make("hanabi/2p"), partners=["hanabi/iggi"], seat=1)
    _, info = env.reset(seed=0)
    assert info["action_mask"].any()  # seat 0 has moved already
    _, _, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert terminated or info["action_mask"].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"partners": []}, "at least one agent"),
        ({"partners": ["random"], "seat": 5}, "seats 0 to 1"),
        ({"partners": ["nobody"]}, "nobody"),
        ({"partners": ["random"], "encoding": "smell"}, "smell"),
        ({"partners": ["random"], "encoding": "state"}, "state"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(InterplayError, match=message):
        interplay.to_gymnasium(interplay.make("overcooked/cramped_room"), **arguments).reset(seed=0)


def test_an_illegal_action_is_refused():
    env = interplay.to_gymnasium(interplay.make("hanabi/2p"), partners=["random"], seat=0)
    _, info = env.reset(seed=0)
    with pytest.raises(IllegalAction):
        env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
