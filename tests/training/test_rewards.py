"""What a seat is paid: points, shaped help with events in it, and prices that may come late."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import UnknownName
from interplay.games.api import Step
from interplay.games.registry import make
from interplay.training.algorithms import sp
from interplay.training.collect import _reward
from interplay.training.config import Rewards
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup

SHAPED, EVENTS = [[0.5, 0.0], [0.0, 0.25]], [[[1, 0], [0, 1]], [[0, 0], [1, 1]]]  # [env, seat], [env, seat, event]


def paid(experiment, method, **rewards):
    """[env, seat] of two environments, nobody turned, half of the shaped reward."""
    given = experiment(envs=2, rewards=Rewards(**rewards), runs=1, steps=64)
    game = make(given.game.name, **given.game.options)
    setup = TrainingSetup.create(given, game, method, pays_events=bool(given.rewards.events))
    traits = jax.tree_util.tree_map(lambda x: x[0], equal_reward_weights(game, given.rewards, 1, 1))
    no = jnp.zeros(2, bool)
    told = {"reward": jnp.zeros((2, 2)), "shaped": jnp.array(SHAPED), "events": jnp.array(EVENTS)}
    step = Step(terminated=no, truncated=no, **told)
    found = _reward(setup, traits, jnp.float32(0.5), step, None, jnp.zeros(2, jnp.int32))
    return np.asarray(found).reshape(2, 2)


def test_shaped_help_pays_for_events_under_its_weight(experiment, self_play):
    np.testing.assert_allclose(paid(experiment, self_play), np.array(SHAPED) / 2)
    found = paid(experiment, self_play, shaped_events={"right": 2.0, "wrong": -1.0})
    np.testing.assert_allclose(found, [[0.25 + 1.0, -0.5], [0.0, 0.125 + 0.5]])


def test_shaped_help_can_be_everybodys(experiment, self_play):
    np.testing.assert_allclose(paid(experiment, self_play, share_shaping=True), [[0.25, 0.25], [0.125, 0.125]])


def test_an_unknown_event_is_named(experiment, self_play):
    with pytest.raises(UnknownName, match="dance"):
        paid(experiment, self_play, shaped_events={"dance": 1.0})


def test_prices_come_when_their_weight_does(experiment):
    """Being wrong is paid well, but with a weight of 0: what is learnt is to be right."""
    never = Rewards(events={"wrong": 5.0}, events_weight=((0.0, 0.0), (1.0, 0.0)))
    assert sp.train(experiment(rewards=never), quiet=True).curve[-1]["return"] > 6.5  # of 8: two seats, four steps
