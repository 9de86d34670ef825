"""Our belief vector and legal moves against JaxMARL on equal decks and moves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay

jaxmarl = pytest.importorskip("jaxmarl")


@pytest.mark.parametrize("players", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_belief_vector_is_that_of_jaxmarl(players):
    game = interplay.make(f"hanabi/{players}p")
    env = jaxmarl.make("hanabi", num_agents=players)
    noop = game.rules.moves.noop

    def both(key):
        """A game of random legal moves in both engines; [move, seat, ...] of each."""
        key, for_deck = jax.random.split(key)
        ours = game.init(for_deck)
        theirs_obs, theirs = env.reset_from_deck_of_pairs(game.start(ours)["deck"])

        def move(carry, key):
            ours, theirs, over = carry
            legal = game.legal(ours)
            logits = jnp.where(legal, 0.0, -jnp.inf).at[:, game.rules.hand_size : 2 * game.rules.hand_size].add(-2.0)
            joint = jnp.where(game.to_move(ours), jax.random.categorical(key, logits), noop)
            mine, step = game.step(ours, joint, key)
            obs, other, rewards, dones, _ = env.step_env(key, theirs, {a: joint[i] for i, a in enumerate(env.agents)})
            seen = jnp.stack([obs[a] for a in env.agents])
            allowed = jnp.stack([env.get_legal_moves(other)[a] for a in env.agents])
            facts = {
                "vectors": (game.observe(mine, "belief"), seen),
                "legal": (game.legal(mine), allowed > 0),
                "reward": (step.reward.sum(), rewards["__all__"]),
                "ends": (step.terminated, dones["__all__"]),
            }
            return (mine, other, over | step.terminated), (facts, over)

        first = (game.observe(ours, "belief"), jnp.stack([theirs_obs[a] for a in env.agents]))
        keys = jax.random.split(key, game.horizon)
        _, (facts, over) = jax.lax.scan(move, (ours, theirs, jnp.bool_(False)), keys)
        return first, facts, over

    first, facts, over = jax.jit(jax.vmap(both))(jax.random.split(jax.random.key(players), 24))
    np.testing.assert_array_equal(*first)
    live = ~np.asarray(over)
    assert live.sum() > 300
    for name, (ours, theirs) in facts.items():
        np.testing.assert_array_equal(np.asarray(ours)[live], np.asarray(theirs)[live], err_msg=name)
