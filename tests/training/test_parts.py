"""The parts of the algorithm, each against a slow or known answer."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.networks import Core, Shape
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training import schedule, team_assignment
from interplay.training.actor_critic import ActorCritic, Memories
from interplay.training.advantages import advantages, new_normaliser, observe_returns, scale
from interplay.training.collect import collect
from interplay.training.compiled_stage import Program
from interplay.training.config import PPO, Experiment
from interplay.training.frozen_partners import PartnerStats, sample_by_difficulty, sample_partners
from interplay.training.loader import build, with_settings
from interplay.training.loss import LossBatch, learner_loss, policy_loss, value_loss
from interplay.training.method import Method
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan
from interplay.training.update import ValueEstimates, _gradient, prepare


def slow_advantages(reward, value, next_value, terminated, done, gamma, lam):
    """By the definition: a sum over all later steps of the episode."""
    steps, found = len(reward), np.zeros(len(reward))
    for t in range(steps):
        weight = 1.0
        for later in range(t, steps):
            following = 0.0 if terminated[later] else next_value[later]
            found[t] += weight * (reward[later] + gamma * following - value[later])
            weight *= gamma * lam
            if done[later]:
                break
    return found


def test_advantages_agree_with_their_definition():
    generator = np.random.default_rng(0)
    reward, value, after = generator.normal(size=(3, 30))
    terminated = generator.random(30) < 0.1
    done = terminated | (generator.random(30) < 0.1)
    assert (done & ~terminated).any()
    assert terminated.any()
    fast = advantages(*(jnp.asarray(x, jnp.float32) for x in (reward, value, after)), terminated, done, 0.9, 0.8)
    np.testing.assert_allclose(fast, slow_advantages(reward, value, after, terminated, done, 0.9, 0.8), atol=1e-5)


def test_policy_and_value_side_by_side_are_what_they_are_apart():
    shape = Shape(input=(7,), outputs=3, widths=(5, 4), activation="tanh")
    keys = jax.random.split(jax.random.key(0))
    critic = Core(dataclasses.replace(shape, outputs=1), 1.0, keys[1])
    member = ActorCritic(Core(shape, 1.0, keys[0]), critic)
    assert member.side_by_side
    assert not dataclasses.replace(
        member, critic=Core(dataclasses.replace(shape, input=(14,), outputs=1), 1.0, keys[1])
    ).side_by_side
    seen, starts = jax.random.normal(keys[0], (6, 7)), jnp.zeros(6, bool)
    logits, values = member.unroll(member.start(), seen, seen, starts, jnp.zeros(0))
    np.testing.assert_allclose(logits, jax.vmap(member.logits)(seen), atol=1e-5)
    np.testing.assert_allclose(values, member.values(member.start(), seen, starts, jnp.zeros(0))[1], atol=1e-5)


def test_a_cut_episode_is_worth_what_could_have_followed():
    """A reward of 1 a step forever is worth 1 / (1 - gamma); with that value nothing is ever surprising."""
    ones, worth, no = jnp.ones(4), jnp.full(4, 10.0), jnp.zeros(4, bool)
    cut = jnp.array([False, False, True, False])
    np.testing.assert_allclose(advantages(ones, worth, worth, no, cut, 0.9, 0.95), 0.0, atol=1e-5)
    ended = advantages(ones, worth, worth, cut, cut, 0.9, 0.95)
    assert float(ended[2]) == pytest.approx(-9.0)


def test_the_clip_holds_for_good_and_bad_actions():
    far = jnp.log(jnp.array([2.0, 0.5]))
    gradient = jax.vmap(jax.grad(lambda r, a: policy_loss(r, a, 0.2)))
    np.testing.assert_allclose(gradient(far, jnp.array([1.0, -1.0])), 0.0)  # already far enough
    assert (gradient(far, jnp.array([-1.0, 1.0])) * jnp.array([1, -1]) > 0).all()  # the way back is open
    assert (gradient(jnp.zeros(2), jnp.array([1.0, -1.0])) * jnp.array([-1, 1]) > 0).all()


def test_a_negative_weight_keeps_the_trust_region():
    """It belongs into the advantage: the loss of a turned advantage is clipped where the policy has moved away."""
    gradient = jax.grad(lambda r: policy_loss(r, jnp.float32(-1.0), 0.2))
    assert float(gradient(jnp.log(jnp.float32(0.5)))) == 0.0


def test_value_loss_is_huber_and_clipped():
    ppo = PPO(huber=1.0, value_clip=None)
    assert float(value_loss(jnp.float32(3.0), jnp.float32(0.0), jnp.float32(0.0), ppo)) == pytest.approx(2.5)
    held = PPO(huber=None, value_clip=0.5)
    gradient = jax.grad(lambda v: value_loss(v, jnp.float32(0.0), jnp.float32(5.0), held))
    assert float(gradient(jnp.float32(1.0))) == 0.0  # moved as far as it may, though not there yet
    assert float(gradient(jnp.float32(0.2))) < 0.0


def test_the_normaliser_starts_unbiased_and_follows():
    returns = jnp.array([[1.0, 3.0]])
    seen = observe_returns(new_normaliser(1), returns, 0.99, jnp.ones_like(returns))
    mean, deviation = scale(seen)
    assert (float(mean[0]), float(deviation[0])) == pytest.approx((2.0, 1.0), rel=1e-4)
    nothing = scale(new_normaliser(1))
    assert (float(nothing[0][0]), float(nothing[1][0])) == (0.0, 1.0)


def test_schedules_are_piecewise_linear():
    entropy = schedule.read_schedule([[0, 0.2], [0.5, 0.05], [1, 0.01]], "entropy")
    assert [float(schedule.at(entropy, s)) for s in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([0.2, 0.125, 0.05, 0.01])
    with pytest.raises(InterplayError, match=r"ppo.entropy: the shares \[0.5, 0.0\] have to rise"):
        schedule.read_schedule([[0.5, 1], [0, 1]], "ppo.entropy")


def test_everyone_acts_where_they_sit():
    """Whatever the plan and the rotation, what goes out to learners and partners comes back to the same seats."""
    plan = TeamPlan(((0, 1, PARTNER), (1, PARTNER, 0)), rotate=True)
    rotation = jnp.array([0, 1, 2, 1])
    seats = jnp.arange(12).reshape(4, 3)
    roles = team_assignment.seats_to_roles(plan, seats, rotation)
    assert roles[1].tolist() == [4, 5, 3]  # role r sits in seat r + 1
    back = team_assignment.to_roles(
        plan, team_assignment.to_learners(plan, roles), team_assignment.to_partners(plan, roles)
    )
    assert (team_assignment.roles_to_seats(plan, back, rotation) == seats).all()
    assert team_assignment.to_learners(plan, roles)[0].tolist() == [
        0,
        4,
        7,
        9,
    ]  # learner 0: role 0 of table 0, role 2 of 1


def test_partners_are_drawn_as_evenly_as_places_allow():
    plan = TeamPlan(((0, PARTNER),) * 8, rotate=True)
    chosen = sample_partners(plan, jax.random.key(1), jnp.array([0.5, 0.25, 0.25])).partners
    assert np.bincount(chosen, minlength=3).tolist() == [4, 2, 2]


def test_memory_ends_with_the_episode():
    core = Core(Shape(input=(3,), outputs=2, widths=(4,), recurrent=5), 1.0, jax.random.key(0))
    seen = jax.random.normal(jax.random.key(1), (6, 3))
    starts = jnp.array([False, False, False, True, False, False])
    memory = jnp.ones(5)
    after, _ = core.unroll(memory, seen, starts)
    again, _ = core.unroll(core.start(), seen[3:], jnp.zeros(3, bool))
    np.testing.assert_allclose(after[3:], again, atol=1e-6)
    by_step, _ = core.step(memory, seen[0])
    np.testing.assert_allclose(after[0], by_step, atol=1e-6)
    gradient = jax.grad(lambda s: core.unroll(memory, s, starts)[1][3:].sum())(seen)
    assert float(jnp.abs(gradient[:3]).sum()) == 0.0
    assert float(jnp.abs(gradient[3:]).sum()) > 0.0


def batch_of(steps, **changes):
    shape = (1, steps)
    plain = {
        "seen": jnp.ones((*shape, 3)),
        "view": None,
        "legal": jnp.ones((*shape, 2), bool),
        "action": jnp.zeros(shape, jnp.int8),
        "start": jnp.zeros(shape, bool),
        "log_prob": jnp.full(shape, jnp.log(0.5)),
        "advantage": jnp.ones(shape),
        "target": jnp.zeros(shape),
        "value": jnp.zeros(shape),
        "acted": jnp.ones(shape),
        "counted": jnp.ones(shape),
        "memory": Memories(jnp.zeros((1, 0)), jnp.zeros((1, 0))),
        "label": jnp.zeros((1, 0)),
    }
    return LossBatch(**plain | changes)


@pytest.fixture(scope="module")
def gradient_of():
    shape = Shape(input=(3,), outputs=2, widths=(4,))
    keys = jax.random.split(jax.random.key(0))
    member = ActorCritic(Core(shape, 0.01, keys[0]), Core(dataclasses.replace(shape, outputs=1), 1.0, keys[1]))
    ppo = PPO(entropy=((0.0, 0.0),))

    @jax.jit
    def gradient(batch):
        totals = batch.acted.sum(), batch.counted.sum()
        return jax.grad(lambda m: learner_loss(m, batch, ppo, jnp.float32(0.0), totals)[0])(member)

    return gradient


def test_good_actions_become_likelier_and_bad_ones_less(gradient_of):
    good = gradient_of(batch_of(2)).policy.head.bias
    bad = gradient_of(batch_of(2, advantage=-jnp.ones((1, 2)))).policy.head.bias
    assert good[0] < 0 < good[1]  # descent raises the logit of action 0
    assert bad[1] < 0 < bad[0]


def test_off_turn_steps_do_not_move_the_policy(gradient_of):
    acted = jnp.array([[1.0, 0.0]])
    some = gradient_of(batch_of(2, acted=acted, advantage=jnp.array([[1.0, 0.0]])))
    other = gradient_of(batch_of(2, acted=acted, advantage=jnp.array([[1.0, 99.0]])))
    np.testing.assert_array_equal(some.policy.head.weight, other.policy.head.weight)
    assert float(jnp.abs(some.policy.head.bias).sum()) > 0


def rolled(experiment, method):
    """Two rollouts of one run, and the training sequences of the second."""
    game = make(experiment.game.name, **experiment.game.options)
    setup = TrainingSetup.create(experiment, game, method)
    program = Program(setup)
    weights = jax.tree_util.tree_map(
        lambda x: x[0], equal_reward_weights(game, experiment.rewards, setup.plan.learners, 1)
    )

    run = jax.tree_util.tree_map(lambda x: x[0], program.start(None, ()))
    member = jax.tree_util.tree_map(lambda x: x[0], run.members)

    @jax.jit
    def play(before, key):
        world, rollout, cuts, _ = collect(setup, run.members, weights, (), before, jnp.float32(0), key)
        estimates = ValueEstimates(setup, run.members, run.normaliser, before, world, rollout, cuts)
        batch, _, memory, _ = prepare(estimates)
        one = jax.tree_util.tree_map(lambda x: x[0], batch)
        again = jax.vmap(member.unroll)(one.memory, one.seen, one.seen, one.start, one.label)
        return dataclasses.replace(world, value_memory=memory), (rollout, cuts, batch, *again)

    world, _ = play(run.world, jax.random.key(5))
    return member, *play(world, jax.random.key(6))[1]


def test_training_sequences_see_what_the_rollout_saw(experiment, self_play):
    """With memory, in chunks, from the middle of episodes: the same weights give the same odds and values again."""
    given = experiment("Recall", network={"recurrent": 6}, ppo={"chunk": 4}, rollout=8, horizon=5, runs=1)
    _, _, _, batch, logits, values = rolled(given, self_play)
    assert batch.start[0, :, 1:].any()  # episodes begin within sequences
    assert not batch.start[0, :, 0].all()  # and sequences within episodes
    assert float(jnp.abs(batch.memory.policy).sum()) > 0
    chosen = jnp.take_along_axis(
        jax.nn.log_softmax(jnp.where(batch.legal[0], logits, -1e30)), batch.action[0, ..., None], -1
    )
    np.testing.assert_allclose(chosen[..., 0], batch.log_prob[0], atol=1e-5)
    np.testing.assert_allclose(values, batch.value[0], atol=1e-5)


def test_the_horizon_is_bootstrapped_with_the_state_it_cut(experiment, self_play):
    """The target of a cut step is its reward plus the value of what the seat would have seen next."""
    given = experiment("Match", rollout=8, horizon=4, runs=1, ppo={"lam": 0.0})
    member, rollout, cuts, batch, _, _ = rolled(given, self_play)
    assert (rollout.cut.max(axis=0) == 1).all()  # two cuts in eight steps
    target = batch.target[0, :, 0].reshape(8, 16, 2)
    for env, seat, step, number in ((0, 0, 3, 0), (5, 1, 7, 1)):
        cue = jax.nn.one_hot(cuts.state.cue[number, env], 2)
        then = jnp.concatenate([cue, jnp.array([0.0, seat])])
        worth = member.critic.step(jnp.zeros(0), then)[1][0]
        reward = rollout.reward.reshape(8, 16, 2)[step, env, seat]
        assert float(target[step, env, seat]) == pytest.approx(float(reward + 0.9 * worth), abs=1e-5)


def test_microbatches_do_not_change_the_gradient(experiment, self_play):
    game = make("tests.training.toys:Turns")
    setup = TrainingSetup.create(experiment("Turns", runs=1), game, self_play)
    parted = TrainingSetup.create(experiment("Turns", runs=1, ppo={"microbatches": 4}), game, self_play)
    member, _, _, batch, _, _ = rolled(setup.experiment, self_play)
    members = jax.tree_util.tree_map(lambda x: x[None], member)
    weights = jax.tree_util.tree_map(lambda x: x[0], equal_reward_weights(game, setup.experiment.rewards, 1, 1))
    found = [
        jax.jit(lambda b, s=s: _gradient(s, members, b, jnp.float32(0.01), weights)[0])(batch) for s in (setup, parted)
    ]
    for one, other in zip(*map(jax.tree_util.tree_leaves, found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("overcooked/coordination_ring", ["rewards.teaming=0.3", "network.recurrent=8", "network.critic=central"]),
        (
            "overcooked/coordination_ring",
            ["network.encoding=planes", "network.shared_trunk=true", "ppo.microbatches=2"],
        ),
        ("hanabi/2p", ["network.encoding=hle", "network.trunk=mlp", "network.critic=central", "network.recurrent=8"]),
        ("rescue/cottage", ["network.encoding=planes", "network.critic=central"]),
    ],
)
def test_every_game_and_network_goes_through(game, changes):
    """Traced, not compiled: shapes and types fit, and an update gives back what it was given."""
    plain = {"game": {"name": game}, "envs": 4, "rollout": 20, "steps": 80, "network": {"trunk": "cnn"}}
    given = build(Experiment, with_settings(plain, changes))
    made = make(game)
    setup = TrainingSetup.create(given, made, Method(TeamPlan(((0,) * made.num_seats,))))
    program = Program(setup)
    runs = jax.eval_shape(program.start, None, ())
    after, _ = jax.eval_shape(
        program.chunk, runs, equal_reward_weights(made, given.rewards, 1, 1), (), jnp.int32(0), jnp.int32(1)
    )
    assert jax.tree_util.tree_structure(after) == jax.tree_util.tree_structure(runs)
    for one, other in zip(jax.tree_util.tree_leaves(after), jax.tree_util.tree_leaves(runs), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)


def test_seats_off_turn_wait(experiment, self_play):
    _, rollout, _, batch, _, _ = rolled(experiment("Turns", runs=1), self_play)
    turn = rollout.turn.reshape(8, 16, 2)
    np.testing.assert_array_equal(turn.sum(axis=2), 1)
    actions = rollout.action.reshape(8, 16, 2)
    np.testing.assert_array_equal(actions == 2, ~turn)
    np.testing.assert_array_equal(batch.acted[0, :, 0].reshape(8, 16, 2), turn)
    assert batch.counted.all()


def test_odds_of_hard_partners():
    plan = TeamPlan(((0, PARTNER),) * 4000, rotate=True)
    returns = jnp.array([[30.0, 30.0], [0.0, 20.0]])
    for priority, wanted in ((1.0, 0.4), (0.0, 0.25)):  # rank 4 of 1 + 2 + 3 + 4; all alike
        stats = PartnerStats(returns=returns, episodes=jnp.ones((2, 2)), priority=priority)
        given = sample_by_difficulty(plan, jax.random.key(0), stats)
        share = np.mean((np.asarray(given.partners) == 1) & (np.asarray(given.rotation) == 0))
        assert share == pytest.approx(wanted, abs=0.001)  # drawn evenly, so that chance has no say


def test_plans_and_settings_that_cannot_be(experiment, self_play):
    with pytest.raises(InterplayError, match="equally many places"):
        TeamPlan(((0, 0), (0, 1)))
    with pytest.raises(InterplayError, match="cannot be shared equally among 3 tables"):
        TrainingSetup.create(experiment(), make("tests.training.toys:Match"), Method(TeamPlan(((0, 0),) * 3)))
    with pytest.raises(InterplayError, match="3 minibatches"):
        TrainingSetup.create(experiment(ppo={"minibatches": 3}), make("tests.training.toys:Match"), self_play)
    blind = TrainingSetup.create(
        experiment(network={"encoding": "planes"}), make("tests.training.toys:Match"), self_play
    )
    with pytest.raises(InterplayError, match="no 'planes'; it has vector"):
        Program(blind).start(None, ())
