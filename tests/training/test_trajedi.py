"""Trajectory diversity: its gradient against exact enumeration, and what it does to a population."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training.algorithms import train
from interplay.training.algorithms.coplay import three_skill_levels
from interplay.training.algorithms.trajedi import Trajectories, gaps, over_episodes, own, surrogate
from interplay.training.config import Algorithm, Rewards
from interplay.training.saved_stages import load_stage

MEMBERS, STEPS, ACTIONS = 3, 3, 3
TRAJECTORIES = np.array(list(itertools.product(range(ACTIONS), repeat=STEPS)))  # the state is the last action
BEFORE = np.concatenate([np.zeros((len(TRAJECTORIES), 1), int), 1 + TRAJECTORIES[:, :-1]], axis=1)


def probabilities(theta):
    """[by, trajectory, step] log-probabilities; theta [member, last action or none, action]."""
    return jax.nn.log_softmax(theta)[:, BEFORE, TRAJECTORIES]


def exact_diversity(theta, kernel):
    """By the definition, over all trajectories there are, in loops and without JAX."""
    logs = theta - np.log(np.sum(np.exp(theta), axis=-1, keepdims=True))
    logs, total = logs[:, BEFORE, TRAJECTORIES], 0.0
    for i, tau in itertools.product(range(MEMBERS), range(len(TRAJECTORIES))):
        x = 0.0
        for t in range(STEPS):
            near = np.array([kernel ** abs(t - u) for u in range(STEPS)])
            smooth = [near @ logs[j, tau] for j in range(MEMBERS)]
            x += (smooth[i] - np.log(np.mean(np.exp(smooth)))) / STEPS
        total += np.exp(np.sum(logs[i, tau])) * x / MEMBERS
    return total


@pytest.fixture(scope="module")
def gradients():
    """Of the surrogate, and of finite differences of the exact diversity, for each kernel."""
    found = {}
    with jax.enable_x64(True):
        theta = jax.random.normal(jax.random.key(0), (MEMBERS, 1 + ACTIONS, ACTIONS), jnp.float64)
        shape = (MEMBERS, len(TRAJECTORIES), STEPS)
        same = jnp.ones((*shape, STEPS), bool)
        before = probabilities(theta)
        weight = jnp.broadcast_to(jnp.exp(jnp.sum(before, axis=-1))[..., None], shape)

        def summed(theta, kernel):
            logs = jnp.broadcast_to(probabilities(theta)[:, None], (MEMBERS, *shape))
            old = jnp.broadcast_to(before[:, None], (MEMBERS, *shape))
            worth = over_episodes(gaps(old, same, kernel), same) - 0.3  # any baseline gives the same
            samples = Trajectories(seen=0, legal=0, action=0, same=same, log_prob=own(old), advantage=worth)
            return jnp.sum(surrogate(logs, samples, weight, kernel, clip=0.2)) / MEMBERS

        for kernel in (0.0, 0.5, 0.9, 1.0):
            flat, differences = np.asarray(theta).reshape(-1), []
            for place in range(flat.size):
                step = np.zeros_like(flat)
                step[place] = 1e-5
                ends = [exact_diversity((flat + s).reshape(theta.shape), kernel) for s in (step, -step)]
                differences.append(float(ends[0] - ends[1]) / 2e-5)
            found[kernel] = (
                np.asarray(jax.jit(jax.grad(summed), static_argnums=1)(theta, kernel)).reshape(-1),
                np.array(differences),
            )
    return found


@pytest.mark.parametrize("kernel", [0.0, 0.5, 0.9, 1.0])
def test_the_gradient_is_that_of_exact_enumeration(gradients, kernel):
    ours, exact = gradients[kernel]
    assert np.abs(exact).max() > 0.01
    np.testing.assert_allclose(ours, exact, atol=1e-9)


def test_episodes_within_a_rollout_are_apart():
    """A kernel does not reach over the end of an episode, and an episode's mean is its own."""
    found = jax.random.normal(jax.random.key(1), (2, 2, 1, 5))
    episode = jnp.array([0, 0, 1, 1, 1])
    same = jnp.broadcast_to(episode[:, None] == episode, (2, 1, 5, 5))
    whole = gaps(found, same, 0.9)
    for part in (slice(0, 2), slice(2, 5)):
        alone = jnp.ones((2, 1, part.stop - part.start, part.stop - part.start), bool)
        x = gaps(found[..., part], alone, 0.9)
        np.testing.assert_allclose(whole[..., part], x, atol=1e-6)
        mean = jnp.broadcast_to(x.mean(axis=-1, keepdims=True), x.shape)
        np.testing.assert_allclose(over_episodes(whole, same)[..., part], mean, atol=1e-6)


OPTIONS = {"population": 3, "population_steps": 16 * 4 * 40, "population_envs": 16, "trajectories": 8, "snapshots": 3}


@pytest.mark.slow
def test_members_with_nothing_else_to_do_come_apart(experiment, tmp_path):
    """From three near-identical members to a divergence near its largest, log 3."""
    options = OPTIONS | {"diversity": 1.0, "kernel": 1.0}
    algorithm = Algorithm("trajedi_population", options)
    output = {"folder": str(tmp_path)}
    trained = train(experiment(algorithm=algorithm, runs=1, rewards=Rewards(task=0.0), output=output), quiet=True)
    first, last = (trained.curve[i]["diversity"] for i in (0, -1))
    assert trained.returns().shape == (1, 3)
    assert first < 0.4
    assert last > 0.9
    again = load_stage(tmp_path)
    assert again.curve == trained.curve
    mine, theirs = ([a.policy.core.head.weight for a in three_skill_levels(t)] for t in (trained, again))
    assert len(mine) == 9
    np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(
        again.agent(0, 2).policy.core.head.weight, trained.agent(0, 2).policy.core.head.weight
    )


@pytest.mark.slow
def test_egos_share_a_population(experiment, tmp_path):
    """The best response learns with three skills of each member; another ego takes the same population."""
    first = Algorithm("trajedi", OPTIONS)
    given = experiment(algorithm=first, output={"folder": str(tmp_path / "one")}, rollout=4)
    trained = train(given, quiet=True)
    assert 5 < np.mean(trained.returns(2)) <= 8
    assert {p["algorithm"] for p in trained.policies} == {"trajedi"}
    assert [p["learner"] for p in trained.policies] == ["", ""]
    again = Algorithm("trajedi", OPTIONS | {"population_from": str(tmp_path / "one")})
    other = train(experiment(algorithm=again, rollout=4), quiet=True)
    for one, two in zip(*(jax.tree_util.tree_leaves(x.members) for x in (trained, other)), strict=True):
        np.testing.assert_array_equal(one, two)


def test_options_that_cannot_be(experiment):
    for options, message in (
        ({"population": 1}, "population: 1; diversity is for 2 or more"),
        ({"kernel": 1.5}, "kernel: 1.5; from 0 to 1"),
        ({"trajectories": 64}, "64 in each of 2 minibatches need as many environments; population_envs is 16"),
        ({"population_from": "nowhere"}, "nowhere holds no training run"),
    ):
        with pytest.raises(InterplayError, match=message):
            train(experiment(algorithm=Algorithm("trajedi", OPTIONS | options)), quiet=True)


def test_members_that_came_to_no_numbers_are_left_out():
    from types import SimpleNamespace

    from interplay.training.algorithms.coplay import finite_members

    weights = np.ones((2, 2, 3))
    weights[1, 0, 1] = np.nan
    members = SimpleNamespace(policy={"weight": weights})
    trained = SimpleNamespace(returns=lambda: np.ones((2, 2)), members=members, dead=())
    assert finite_members(trained) == [(0, 0), (0, 1), (1, 1)]
    trained.dead = (0,)
    assert finite_members(trained) == [(1, 1)]  # who did not pass the gate is no partner
    weights[:] = np.inf
    with pytest.raises(InterplayError, match="weights of no member"):
        finite_members(trained)
