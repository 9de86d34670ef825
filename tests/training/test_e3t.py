"""Self-play with a copy that lags and errs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training.algorithms import train
from interplay.training.config import Algorithm


@pytest.fixture(scope="module")
def trained():
    from tests.training.conftest import small

    return train(small(algorithm=Algorithm("e3t", {"epsilon": 0.5})), quiet=True)


@pytest.mark.slow
def test_only_the_ego_is_right(trained):
    """4 points of its own; of the partner's 4, half by chance and half of the rest."""
    assert np.mean(trained.returns(2)) == pytest.approx(4 + 3, abs=0.35)
    assert trained.returns().shape == (2, 1)


def test_options_that_cannot_be(experiment):
    with pytest.raises(InterplayError, match=r"epsilon: 2\.0; from 0 to 1"):
        train(experiment(algorithm=Algorithm("e3t", {"epsilon": 2})), quiet=True)


def test_the_partner_follows_the_ego(experiment):
    """At first it is the ego; then nine tenths of itself and one of the ego."""
    from interplay.agents.basic import Noisy
    from interplay.games.registry import make
    from interplay.training.actor_critic import new_member
    from interplay.training.algorithms.e3t import E3T, E3TOptions, _partner
    from interplay.training.team_assignment import PARTNER, TeamPlan

    given, game = experiment(), make("tests.training.toys:Match")
    members = jax.vmap(lambda k: new_member(game, given.network, 0, k))(jax.random.split(jax.random.key(1), 1))
    options = E3TOptions(decay=0.9)
    method = E3T(TeamPlan(((0, PARTNER),)), options=options)
    partners = jax.tree_util.tree_map(lambda x: x[None], Noisy(_partner(given, game, options), 0.5))
    begun = method.init_partners(members, partners)
    np.testing.assert_array_equal(begun.base.core.head.weight, members.policy.head.weight)
    later = jax.tree_util.tree_map(lambda x: x + 1, members)
    moved = method.update_partners(later, begun)
    np.testing.assert_allclose(moved.base.core.head.weight, members.policy.head.weight + 0.1, atol=1e-6)
    assert float(moved.epsilon[0]) == 0.5


def test_a_model_sees_the_same_in_steps_and_in_sequences():
    """Also over the ends of episodes, and from the middle of one."""
    from interplay.agents.networks import Shape
    from interplay.agents.partner_conditioned import network_of

    network = network_of(Shape(input=(4,), outputs=3, widths=(8,), recurrent=5, frames=2), 1.0, jax.random.key(0))
    seen = jax.random.normal(jax.random.key(1), (7, 4))
    starts = jnp.array([False, False, False, True, False, False, True])
    memory = jax.random.normal(jax.random.key(2), network.start().shape)

    @jax.jit
    def by_steps(memory):
        def turn(memory, now):
            memory, logits = network.step(jnp.where(now[1], 0.0, memory), now[0])
            return memory, (memory, logits)

        return jax.lax.scan(turn, memory, (seen, starts))[1]

    @jax.jit
    def in_sequence(memory):
        memories, features = network.unroll(memory, seen, starts)
        return memories, network.outputs(features, seen)

    for one, other in zip(by_steps(memory), in_sequence(memory), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.fixture(scope="module")
def with_model(tmp_path_factory):
    from tests.training.conftest import small

    folder = tmp_path_factory.mktemp("e3t")
    options = {"epsilon": 0.3, "model": True, "frames": 2, "model_rate": 1e-2, "model_epochs": 4}
    given = small(algorithm=Algorithm("e3t", options), output={"folder": str(folder)})
    return train(given, quiet=True), folder


@pytest.mark.slow
def test_the_model_learns_what_the_partner_does(with_model):
    """The partner names the cue in all but the half of its slips: a share of 0.85."""
    trained, _ = with_model
    first, last = trained.curve[0], trained.curve[-1]
    assert first["model_loss"] > last["model_loss"]
    assert last["model_right"] == pytest.approx(0.85, abs=0.04)
    assert np.mean(trained.returns(2)) == pytest.approx(4 + 4 * 0.85, abs=0.35)


@pytest.mark.slow
def test_no_gradient_of_the_policy_reaches_the_model(with_model):
    trained, _ = with_model
    policy = jax.tree_util.tree_map(lambda x: x[0, 0], trained.members.policy)
    seen = jnp.ones((3, 4))

    def loss(policy):
        _, features = policy.unroll(policy.start(), seen, jnp.zeros(3, bool))
        return jnp.sum(policy.outputs(features, seen) ** 2)

    gradient = jax.jit(jax.grad(loss))(policy)
    assert all(float(jnp.abs(x).sum()) == 0 for x in jax.tree_util.tree_leaves(gradient.model))
    assert float(jnp.abs(gradient.core.head.weight).sum()) > 0


@pytest.mark.slow
def test_an_ego_with_a_model_is_an_agent_like_any_other(with_model):
    import interplay
    from interplay.games.registry import make
    from interplay.rollout.check_agent import check_agent

    trained, folder = with_model
    game = make(trained.experiment.game.name, **trained.experiment.game.options)
    agent = interplay.agent(str(folder), member=1)
    check_agent(agent, game, steps=4)
    kept, mine = agent.policy.core, trained.agent(1).policy.core
    np.testing.assert_allclose(kept.model.head.weight, mine.model.head.weight, atol=2e-3)
    played = interplay.play(game, [agent, agent], episodes=8, seed=0)
    assert np.mean([e.score for e in played]) > 7
