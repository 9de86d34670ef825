"""Held near a clone: memories that go on through updates, the weight of the clone run by run, and play by turns."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.basic import Random
from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.active_seat_game import ActiveSeatGame
from interplay.training.actor_critic import new_member, policy_shape
from interplay.training.advantages import new_normaliser
from interplay.training.algorithms import hdr, sp
from interplay.training.algorithms.coplay import policies_at
from interplay.training.algorithms.hdr import HumanDataRegularised, kl_divergence
from interplay.training.collect import begin, collect
from interplay.training.loss import learner_loss, log_probs
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import TeamPlan
from interplay.training.update import ValueEstimates, prepare
from tests.training.conftest import small

MEMORY = {"widths": (8,), "recurrent": 6, "cell": "lstm", "decoder": (6,), "shared_trunk": True, "critic_widths": (8,)}


def cut_games(precision, rollout=4, horizon=6):
    """Episodes of six steps in rollouts of four: every other rollout begins in the middle of a game."""
    network = MEMORY | {"precision": precision}
    experiment = small(
        "Recall", horizon=horizon, rollout=rollout, envs=4, steps=4 * rollout * 8, network=network, runs=1
    )
    game = make(experiment.game.name, **experiment.game.options)
    setup = TrainingSetup.create(experiment, game, HumanDataRegularised(TeamPlan(((0, 0),)), anchor_weights=(0.5,)))
    return setup, equal_reward_weights(game, experiment.rewards, 1, 1)


def played_on(precision="float32", rollouts=2):
    """Rollouts one after the other, with what the anchor (another network than the member) thought of them."""
    setup, traits = cut_games(precision)
    one = jax.tree_util.tree_map(lambda x: x[0], traits)
    members, anchors = (
        jax.tree_util.tree_map(
            lambda x: x[None] * 3, new_member(setup.game, setup.experiment.network, 0, jax.random.key(seed))
        )
        for seed in (0, 1)
    )
    first = jax.tree_util.tree_map(lambda x: x[0], members)
    world = begin(setup, first, None, (), jax.random.key(2))
    found = []

    @jax.jit
    def go_on(state, world, key):
        after, rollout, cuts, _ = collect(setup, members, one, (), world, jnp.float32(0), key)
        state, rollout, _ = setup.method.process_rollout(setup, state, members, rollout)
        prepared = prepare(ValueEstimates(setup, members, new_normaliser(1), world, after, rollout, cuts))
        after = dataclasses.replace(after, value_memory=prepared.value_memory)
        return state, after, rollout, rollout.extra, prepared.batch

    state = setup.method.init_state(setup, anchors)
    for number in range(rollouts):
        state, world, rollout, odds, batch = go_on(state, world, jax.random.key(3 + number))
        found.append((rollout, odds, batch))
    return setup, members, anchors, found


@pytest.fixture(scope="module")
def played():
    return played_on()


def test_the_anchor_thinks_as_if_it_had_followed_from_the_start(played):
    """Its odds over two rollouts are those of one unrolling of both; begun from nothing, the second's are others."""
    _, _, anchors, found = played
    policy = jax.tree_util.tree_map(lambda x: x[0], anchors.policy)
    seen, legal = (jnp.concatenate([getattr(r, name) for r, _, _ in found])[:, 0] for name in ("seen", "legal"))
    start = jnp.repeat(jnp.concatenate([r.start for r, _, _ in found]), 2, axis=1)  # two seats an environment

    def along(seen, start, legal):
        return log_probs(policy.outputs(policy.unroll(policy.start(), seen, start)[1], seen), legal)

    whole = jax.vmap(along, in_axes=1, out_axes=1)(seen, start, legal)
    told = jnp.concatenate([odds for _, odds, _ in found])[:, 0]
    np.testing.assert_allclose(told, whole, atol=1e-5)
    assert not np.asarray(start)[4].any()  # the second rollout begins in the middle of all games
    anew = jax.vmap(along, in_axes=1, out_axes=1)(seen[4:], start[4:], legal[4:])
    assert np.abs(np.asarray(anew - whole[4:])[:2]).max() > 1e-3


def test_an_update_asks_the_member_with_the_memory_it_had(played):
    """Before any step of gradient descent the member is what it was when it played: every ratio is 1. Begun from
    nothing in the middle of a game, it is not."""
    setup, members, _, found = played
    member, ppo = jax.tree_util.tree_map(lambda x: x[0], members), setup.experiment.ppo
    batch = jax.tree_util.tree_map(lambda x: x[0], found[1][2])
    totals = jnp.sum(batch.acted), jnp.sum(batch.counted)
    _, told, _ = learner_loss(member, batch, ppo, jnp.float32(0.01), totals)
    assert abs(float(told["kl"])) < 1e-6
    empty = dataclasses.replace(batch, memory=jax.tree_util.tree_map(jnp.zeros_like, batch.memory))
    _, wrong, _ = learner_loss(member, empty, ppo, jnp.float32(0.01), totals)
    assert float(wrong["kl"]) > 1e-5


@pytest.mark.slow
def test_half_precision_plays_as_it_learns():
    """Views are filled up and matrices are halved once for play; the update comes to the same odds."""
    setup, members, _, found = played_on("bfloat16")
    assert found[1][0].seen.shape[-1] == 16  # of 4 numbers
    assert found[1][0].seen.dtype == jnp.bfloat16
    member = jax.tree_util.tree_map(lambda x: x[0], members)
    batch = jax.tree_util.tree_map(lambda x: x[0], found[1][2])
    totals = jnp.sum(batch.acted), jnp.sum(batch.counted)
    _, told, _ = learner_loss(member, batch, setup.experiment.ppo, jnp.float32(0.01), totals)
    assert abs(float(told["kl"])) < 1e-5


def test_the_loss_is_a_mixture(played):
    setup, members, _, found = played
    member, ppo = jax.tree_util.tree_map(lambda x: x[0], members), setup.experiment.ppo
    batch = jax.tree_util.tree_map(lambda x: x[0], found[1][2])
    totals = jnp.sum(batch.acted), jnp.sum(batch.counted)
    plain, _, log_prob = learner_loss(member, batch, ppo, jnp.float32(0.01), totals)
    acted = batch.acted / totals[0]

    def mixed(weight):
        weights = SimpleNamespace(anchor=jnp.float32(weight))
        return float(setup.method.regularise(plain, log_prob, batch, acted, weights)[0])

    losses = [mixed(weight) for weight in (0, 0.3, 1)]
    assert losses[0] == pytest.approx(float(plain), abs=1e-6)
    assert losses[1] == pytest.approx(0.7 * losses[0] + 0.3 * losses[2], abs=1e-6)
    assert losses[2] > 0


def test_the_distance_is_that_of_the_clone_from_the_policy():
    legal = jnp.array([True, True, False])
    p, q = jnp.array([0.8, 0.2]), jnp.array([0.5, 0.5])
    anchor, policy = (log_probs(jnp.log(jnp.append(x, 0.7)), legal) for x in (p, q))
    assert float(kl_divergence(anchor, policy, legal)) == pytest.approx(float(jnp.sum(p * jnp.log(p / q))), rel=1e-5)


@pytest.fixture(scope="module")
def held():
    """Runs that differ in how near they are held to a clone that knows nothing."""
    ppo = {"learning_rate": ((0.0, 2e-2),), "minibatches": 2, "epochs": 4, "gamma": 0.9}
    experiment = small(
        "Match", ppo=ppo, runs=3, network={"shared_trunk": True, "critic_widths": (8,)}, steps=16 * 8 * 40
    )
    game = make(experiment.game.name, **experiment.game.options)
    core = Core(policy_shape(game, experiment.network), 0.01, jax.random.key(0))
    clone = Agent("clone", NeuralPolicy(core, "vector"))
    return core, hdr.train_near(experiment, clone, (0.0, 0.5, 1.0), quiet=True)


def test_how_near_runs_stay_is_their_weight(held):
    """All runs in one program: with weight 1 nothing but the clone is learnt, with 0 it is left behind."""
    core, trained = held
    kept = np.array(trained.curve[-1]["anchor_kls"])
    assert kept[0] > 0.2 > kept[1] > kept[2]
    assert kept[2] < 1e-3
    returns = trained.returns()[:, 0]
    assert returns[0] > returns[2] + 1
    last = trained.agent(2).policy.core
    np.testing.assert_allclose(last.head.weight, core.head.weight, atol=0.05)


def test_clones_that_cannot_hold():
    experiment = small("Match", runs=1)
    with pytest.raises(InterplayError, match=r"algorithm\.options\.hold: \[1\.5\]"):
        hdr.HDROptions(clone="x", hold=(1.5,))
    with pytest.raises(InterplayError, match="'random' is no policy with a network"):
        hdr.train_near(experiment, Agent("random", Random()), (0.5,), quiet=True)


def test_a_seat_that_is_always_to_move():
    """It sees, may do and earns what the seat to move does; the real game is played."""
    game = make("hanabi/3p")
    movers = ActiveSeatGame(game)
    state = game.init(jax.random.key(0))
    generator = np.random.default_rng(0)
    step, own_step = jax.jit(game.step), jax.jit(movers.step)
    for t in range(12):
        seat = t % 3
        np.testing.assert_array_equal(movers.observe(state, "hle")[0], game.observe(state, "hle")[seat])
        np.testing.assert_array_equal(movers.legal(state)[0], game.legal(state)[seat])
        action = int(generator.choice(np.flatnonzero(movers.legal(state)[0])))
        joint = np.full(3, len(game.action_names) - 1)
        joint[seat] = action
        after, told = step(state, jnp.asarray(joint), jax.random.key(0))
        own_after, own_told = own_step(state, jnp.array([action]), jax.random.key(0))
        jax.tree_util.tree_map(np.testing.assert_array_equal, own_after, after)
        assert float(own_told.reward[0]) == float(jnp.sum(told.reward))
        state = after


@pytest.mark.slow
def test_play_by_turns_learns_and_is_refused_where_it_cannot_be():
    experiment = small("Turns", runs=1)
    by_turns = dataclasses.replace(
        experiment, algorithm=dataclasses.replace(experiment.algorithm, options={"by_turns": True})
    )
    trained = sp.train(by_turns, quiet=True)
    assert trained.returns()[0, 0] > 3.5  # of 4
    assert trained.agent(0).policy.bind(make(experiment.game.name, **experiment.game.options))
    with pytest.raises(InterplayError, match="not played by turns"):
        ActiveSeatGame(make("tests.training.toys:Match", horizon=4))


@pytest.mark.slow
def test_training_ends_when_its_time_is_up(tmp_path):
    """The policy's file says how many steps it had, a second call does not go on, and the last snapshot is the end: a
    share of the training is one of what there was of it."""
    output = {"folder": str(tmp_path), "minutes": 0.0, "logs": 36, "snapshots": 2}
    experiment = small("Match", runs=1, output=output)
    trained = sp.train(experiment, quiet=True)
    reached = trained.curve[-1]["steps"]
    assert 0 < reached < experiment.steps / 2
    assert trained.policies[0]["steps"] == reached
    again = sp.train(experiment, quiet=True)
    assert again.curve == trained.curve
    assert [s.update * 16 * 8 for s in again.snapshots] == [0, reached]
    first, last = policies_at(again, (0.0, 1.0))
    kept, end = (a.policy.core.head.weight for a in (last, trained.agent(0)))
    np.testing.assert_allclose(kept, end, atol=1e-3)
    assert np.abs(np.asarray(first.policy.core.head.weight - end)).max() > 1e-2
