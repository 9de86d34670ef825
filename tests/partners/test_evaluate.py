"""Pairs evaluated in one program do what they do in the play room."""

import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.errors import IllegalAction, InterplayError
from interplay.partners.evaluate import BLOCK, PolicyStack, all_pairs, play_pairs
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.traces.replay import replay

from .panel_helpers import game_of, network


@pytest.fixture(scope="module")
def game():
    return game_of(horizon=40)


def greedy(game, name, seed):
    """A network without chance: the likeliest action."""
    import equinox as eqx
    import jax.numpy as jnp

    one = network(game, name, seed)
    return Agent(name, eqx.tree_at(lambda p: p.greedy, one.policy, jnp.bool_(True)))


@pytest.mark.slow
def test_episodes_without_chance_are_those_of_the_play_room(game):
    """Scores and every event count, in both seatings."""
    partners, egos = [greedy(game, f"p{i}", i) for i in range(3)], [greedy(game, f"e{i}", 10 + i) for i in range(2)]
    stacks = PolicyStack.of_agents(game, partners), PolicyStack.of_agents(game, egos)
    played = play_pairs(game, *stacks, all_pairs(3, 2), episodes=2, seed=0)
    assert played.scores.shape == (6, 2, 2)
    for pair, (p, e) in enumerate(all_pairs(3, 2)):
        for seat in range(2):
            seated = [egos[e], partners[p]] if seat == 0 else [partners[p], egos[e]]
            (episode,) = run(game, [Team.of(game, seated)], episodes=1, seed=0)
            events = np.asarray(replay(game, episode).steps.events).sum(axis=0)
            np.testing.assert_array_equal(played.events[pair, seat], events)
            np.testing.assert_array_equal(played.points[pair, seat], episode.rewards)
            assert set(played.scores[pair, seat]) == {episode.score}
    assert played.events.sum() > 0


def test_results_do_not_depend_on_what_else_is_played(game):
    stack = PolicyStack.of_agents(game, [network(game, f"p{i}", i) for i in range(3)])
    together = play_pairs(game, stack, stack, [(0, 1), (2, 2), (1, 0)], episodes=BLOCK + 3, seed=4)
    alone = play_pairs(game, stack, stack, [(2, 2)], episodes=BLOCK + 3, seed=4, most_envs=100)
    np.testing.assert_array_equal(together.events[1], alone.events[0])
    assert together.scores.shape == (3, 2, BLOCK + 3)
    other = play_pairs(game, stack, stack, [(2, 2)], episodes=BLOCK + 3, seed=5)
    assert not np.array_equal(other.events, alone.events)


def test_weights_that_are_no_numbers_are_told(game):
    import jax

    one, broken = network(game, "sound", 0), network(game, "broken", 1)
    nan = jax.tree_util.tree_map(lambda x: x * np.nan if x.dtype == np.float32 else x, broken.policy)
    stack = PolicyStack.of_agents(game, [one, Agent("broken", nan)])
    assert stack.finite().tolist() == [True, False]
    with pytest.raises(IllegalAction, match="'broken' in overcooked/cramped_room"):
        play_pairs(game, stack, stack, [(0, 0), (0, 1), (0, 0)], episodes=1, seed=0)
    with pytest.raises(InterplayError, match="at least one"):
        play_pairs(game, stack, stack, [(0, 0)], episodes=0, seed=0)
    with pytest.raises(InterplayError, match="nobody to play"):
        play_pairs(game, stack, stack, [], episodes=1, seed=0)


def test_players_keep_names_and_weights(game):
    agents = [network(game, f"p{i}", i) for i in range(3)]
    stack = PolicyStack.of_agents(game, agents).take([2, 0])
    assert stack.names == ("p2", "p0")
    np.testing.assert_array_equal(stack.agent(0).policy.core.head.weight, agents[2].policy.core.head.weight)
