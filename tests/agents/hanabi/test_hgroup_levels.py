"""H-Group bots that lapse: by hand, without lapses, and fitted to their own games."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.hanabi.hgroup_bot import Offers
from interplay.agents.hanabi.hgroup_skill import KIND, LEVELS, RULE_NAMES, Lapses
from interplay.errors import InterplayError
from interplay.rollout.recorded_games import Recorded

FOLDER = Path(__file__).parents[3] / "benchmarks" / "hanabi_learning"


def test_odds_by_hand():
    """Two of the ten rules apply, and each offers two of four actions, one of which is not legal."""
    rules, none = len(RULE_NAMES), -jnp.inf
    scores = jnp.full((rules, 4), none).at[2].set(jnp.array([none, 3.0, 1.0, none]))
    scores = scores.at[5].set(jnp.array([2.0, none, none, 9.0]))
    offers = Offers(jnp.arange(rules) % 3 == 2, scores)  # rule 8 says that it applies, but offers nothing
    legal = jnp.array([True, True, True, False])
    missed = jnp.zeros(rules).at[2].set(0.25).at[5].set(0.5)
    lapses = Lapses(missed, jnp.array([2.0, 1.0, 1.0]), jnp.float32(0.1))
    soft = np.exp([1.5, 0.5]) / np.exp([1.5, 0.5]).sum()
    by_rules = 0.75 * np.array([0, soft[0], soft[1], 0]) + 0.125 * np.array([1, 0, 0, 0])
    expected = 0.9 * (by_rules + 0.125 * np.array([1, 1, 1, 0]) / 3) + 0.1 * np.array([1, 1, 1, 0]) / 3
    np.testing.assert_allclose(lapses.odds(offers, legal), expected, rtol=1e-5)
    assert len(KIND) == rules
    assert all(len(missed) == rules for missed, _, _ in LEVELS.values())


def test_without_lapses_it_is_the_bot():
    game = interplay.make("hanabi/2p")
    strict, free = (interplay.agent(n, **o).policy.bind(game) for n, o in (("hanabi/hgroup", {}), NEVER))
    key, seats = jax.random.split(jax.random.key(0), 2), jnp.arange(2)

    @jax.jit
    def turn(memories, state):
        seen, legal = game.observe(state, "seen"), game.legal(state)
        told = [jax.vmap(p.act)(m, seen, legal, key) for p, m in zip((strict, free), memories, strict=True)]
        after, _ = game.step(state, told[0][1])
        return [t[0] for t in told], after, told[0][1], told[1][1], jnp.exp(told[1][2].logits)

    state = game.init(jax.random.key(5))
    memories = [jax.vmap(p.init)(key, seats) for p in (strict, free)]
    for _ in range(30):
        memories, state, theirs, ours, odds = turn(memories, state)
        np.testing.assert_array_equal(theirs, ours)
        np.testing.assert_allclose(odds.max(axis=1), 1.0, atol=1e-4)


NEVER = ("hanabi/hgroup-novice", {"scale": 0.0})


def test_levels_play_the_worse_the_more_they_lapse():
    game = interplay.make("hanabi/2p")
    means = []
    for scale in (0.0, 0.1, 0.5):
        agent = interplay.agent("hanabi/hgroup-regular", scale=scale)
        means.append(np.mean([e.score for e in interplay.play(game, [agent, agent], episodes=60, seed=0)]))
    assert means[0] > means[1] + 0.5 > means[2] + 5
    with pytest.raises(InterplayError, match="scale=2"):
        interplay.agent("hanabi/hgroup-regular", scale=2)


@pytest.mark.slow
def test_lapses_are_fitted(monkeypatch):
    """Games of a level at two strengths: what is fitted lies between a bot without lapses and the level as it is."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "fit_levels", raising=False)
    import fit_levels

    game = interplay.make("hanabi/2p")
    agents = [interplay.agent("hanabi/hgroup-regular", scale=scale) for scale in (0.1, 0.6)]
    games = [
        Recorded("", e.actions, e.start, None, learn=(True, True), person=person)
        for person, agent in enumerate(agents)
        for e in interplay.play(game, [agent, agent], episodes=25, seed=person)
    ]
    data = fit_levels.decisions_of(game, games)
    person = np.array([one.person for one in games])[data.game]
    levels = fit_levels.fitted(data, person, 2, 120)
    play = RULE_NAMES.index("play")
    missed = sorted(1 / (1 + np.exp(-levels["missed"][:, play])))
    assert missed[0] < 0.12 < missed[1] < 0.35  # really 0.03 and 0.18
    told = fit_levels.judged(levels, data, person)
    assert told["by_person"] < told["by_decision"]
    assert told["people"] == 2
