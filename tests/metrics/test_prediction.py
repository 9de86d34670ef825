"""Foreseeing recorded actions: a uniform policy by hand, a bot of itself, and against playing along step by step."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.api import Info, Policy
from interplay.metrics.action_prediction import ranks, top
from interplay.traces import replay
from tests.metrics.hanabi.scripted import compiled


def of(found, metric, agent=None, **where):
    (row,) = found.where(metric=metric, agent=agent, **where).rows
    return row["value"]


@pytest.fixture(scope="module")
def games():
    return interplay.play(compiled()[0], ["random", "hanabi/simple"], episodes=5, seed=4)


def test_the_random_agent_loses_the_log_of_its_choices(games):
    game, _, legal, _ = compiled()
    found = interplay.measure(games, ["prediction"], policies=["random"])
    choices = []
    for one in games:
        again = replay(game, one)
        choices += [int(legal(again.state(t))[t % 2].sum()) for t in range(one.length)]
    assert of(found, "cross_entropy") == pytest.approx(np.mean(np.log(choices)), rel=1e-5)
    assert of(found, "cross_entropy_all_steps") == pytest.approx(np.mean(np.log(choices)) / 2, rel=1e-5)
    # Equals are put in random order: the chance to be first is one in so many.
    assert of(found, "accuracy") == pytest.approx(np.mean(1 / np.array(choices)), rel=1e-5)
    assert of(found, "top_10_percent") == pytest.approx(np.mean(np.minimum(2 / np.array(choices), 1)), rel=1e-5)
    assert of(found, "ruled_out") == 0


def test_a_bot_foresees_itself(games):
    """Only if its memory is fed every move of the record."""
    found = interplay.measure(games, ["prediction"], policies=["hanabi/simple"], smoothing=0.1)
    assert of(found, "accuracy", "hanabi/simple") == 1
    assert of(found, "cross_entropy", "hanabi/simple") < -math.log(0.9)
    assert of(found, "accuracy", "random") < 0.5


def test_numbers_of_first_choices():
    assert ranks(interplay.make("hanabi/2p")) == {"accuracy": 1, "top_10_percent": 2, "top_20_percent": 4}
    assert ranks(interplay.make("hanabi/3p")) == {"accuracy": 1, "top_10_percent": 3, "top_20_percent": 6}
    # Two stand above and three are level with it: of the first four, two places are left for three.
    assert top(4, np.array([2]), np.array([3])) == pytest.approx([2 / 3])


class Counting(Policy):
    """Prefers an action that depends on how often it was asked: memory matters. Rules out all others if `sure`."""

    sure: bool = eqx.field(static=True, default=False)

    @property
    def encoding(self):
        return "nothing"

    def init(self, key, seat):
        return jnp.int32(0)

    def act(self, memory, obs, legal, key):
        number = memory % legal.shape[0]
        wanted = jnp.arange(legal.shape[0]) == jnp.where(legal[number], number, jnp.argmax(legal))
        likes = wanted if self.sure else jnp.arange(legal.shape[0]) == number
        logits = jnp.where(legal, jnp.where(likes, 1.0, -jnp.inf if self.sure else 0.0), -jnp.inf)
        return memory + 1, jnp.argmax(logits), Info(logits)


def test_against_playing_along(games):
    game, _, legal, _ = compiled()
    found = interplay.measure(games, ["prediction"], policies=[interplay.agents.api.Agent("counting", Counting())])
    losses = []
    for one in games:
        again = replay(game, one)
        for t in range(one.length):
            may = np.asarray(legal(again.state(t))[t % 2])
            odds = np.where(may, np.where(np.arange(21) == t % 21, math.e, 1.0), 0.0)
            losses.append(-math.log(odds[one.actions[t, t % 2]] / odds.sum()))
    assert of(found, "cross_entropy") == pytest.approx(np.mean(losses), rel=1e-5)


def test_what_is_ruled_out_has_no_finite_loss(games):
    sure = interplay.agents.api.Agent("sure", Counting(sure=True))
    found = interplay.measure(games, ["prediction"], policies=[sure])
    assert of(found, "cross_entropy") is None
    assert 0 < of(found, "ruled_out") < 1
    assert of(found, "accuracy") == pytest.approx(1 - of(found, "ruled_out"))
    smoothed = interplay.measure(games, ["prediction"], policies=[sure], smoothing=0.5)
    assert of(smoothed, "cross_entropy") < math.log(2 * 20)


def test_the_best_smoothing_is_fitted_to_other_episodes():
    """A bot that is right half of the time, and else draws lots, is best softened by about half."""
    game = compiled()[0]
    noisy = interplay.play(game, ["hanabi/simple+0.5", "hanabi/simple+0.5"], episodes=30, seed=1)
    asked = {"policies": ["hanabi/simple"]}
    best = interplay.measure(noisy, ["prediction"], smoothing="best", **asked)
    (row,) = best.where(metric="cross_entropy", agent=None).rows
    assert 0.4 < row["smoothing"] < 0.6
    fixed = {s: of(interplay.measure(noisy, ["prediction"], smoothing=s, **asked), "cross_entropy") for s in (0.1, 0.5)}
    assert row["value"] == pytest.approx(fixed[0.5], abs=0.02)
    assert row["value"] < fixed[0.1]
    assert 0 < row["se"] < 0.2
    # Evenly spread opinions cannot be made better, and who rules nothing out needs no smoothing.
    even = interplay.measure(noisy, ["prediction"], policies=["random"], smoothing="best")
    plain = interplay.measure(noisy, ["prediction"], policies=["random"])
    assert of(even, "cross_entropy") == pytest.approx(of(plain, "cross_entropy"), rel=1e-5)
    sure = interplay.agents.api.Agent("sure", Counting(sure=True))
    assert of(interplay.measure(noisy, ["prediction"], policies=[sure], smoothing="best"), "ruled_out") == 0
    for wrong in ("most", 1.0):
        with pytest.raises(interplay.InterplayError, match=f"smoothing={wrong}"):
            interplay.measure(noisy, ["prediction"], smoothing=wrong, **asked)
    with pytest.raises(interplay.InterplayError, match="with detail, give a share"):
        interplay.measure(noisy, ["prediction"], smoothing="best", detail=True, **asked)


def test_only_policies_that_give_numbers(games):
    with pytest.raises(interplay.InterplayError, match="needs policies"):
        interplay.measure(games, ["prediction"])
    player = interplay.agents.api.FunctionPlayer(lambda obs: 0, "nothing")
    someone = interplay.agents.api.Agent("someone", player)
    with pytest.raises(interplay.InterplayError, match="is a player"):
        interplay.measure(games, ["prediction"], policies=[someone])


def test_detail_tells_every_decision(games):
    found = interplay.measure(games, ["prediction"], policies=["random"], detail=True)
    game, _, legal, _ = compiled()
    assert len(found) == sum(e.length for e in games)
    choices = int(legal(replay(game, games[0]).state(0))[0].sum())
    assert found.rows[0]["value"] == pytest.approx(1 / choices)
    assert [r["t"] for r in found.where(episode=0)] == list(range(games[0].length))
