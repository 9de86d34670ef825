"""Memory of own turns: a slot with a mind for each seat that moves in turn, and networks that play what they learnt."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy, load, save
from interplay.agents.rnn import SHORT, new_cell, projected, stepped, unrolled
from interplay.errors import InterplayError
from interplay.games.hanabi.suit_permutation import OwnColours
from interplay.games.registry import make
from interplay.training import checkpoint, recurrent_state
from interplay.training.active_seat_game import ActiveSeatGame
from interplay.training.actor_critic import new_member, policy_shape
from interplay.training.advantages import new_normaliser
from interplay.training.algorithms import sp, train
from interplay.training.algorithms.hdr import HumanDataRegularised
from interplay.training.collect import begin, collect
from interplay.training.imitation.clone import Cloning, clone, splits
from interplay.training.imitation.recordings import Recordings
from interplay.training.loss import learner_loss, log_probs
from interplay.training.method import Method
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import TeamPlan
from interplay.training.update import ValueEstimates, prepare
from tests.training import tiny_hanabi
from tests.training.conftest import small

NETWORK = {
    "widths": (8,), "recurrent": 6, "cell": "lstm", "depth": 2, "own_turns": True, "shared_trunk": True,
    "critic_widths": (8,),
}  # fmt: skip


@pytest.fixture(scope="module")
def played():
    """Three rollouts of eight turns in games of five, cut into sequences of four."""
    experiment = small("TurnsRecall", horizon=5, envs=4, steps=4 * 8 * 8, network=NETWORK, runs=1, ppo={"chunk": 4})
    game = ActiveSeatGame(make(experiment.game.name, **experiment.game.options))
    setup = TrainingSetup.create(experiment, game, HumanDataRegularised(TeamPlan(((0,),)), anchor_weights=(0.5,)))
    traits = jax.tree_util.tree_map(lambda x: x[0], equal_reward_weights(game, experiment.rewards, 1, 1))
    members, anchors = (
        jax.tree_util.tree_map(lambda x: x[None] * 3, new_member(game, experiment.network, 0, jax.random.key(seed)))
        for seed in (0, 1)
    )
    world = begin(setup, jax.tree_util.tree_map(lambda x: x[0], members), None, (), jax.random.key(2))

    @jax.jit
    def go_on(state, world, key):
        after, rollout, cuts, _ = collect(setup, members, traits, (), world, jnp.float32(0), key)
        state, rollout, _ = setup.method.process_rollout(setup, state, members, rollout)
        batch = prepare(ValueEstimates(setup, members, new_normaliser(1), world, after, rollout, cuts)).batch
        return state, after, rollout, rollout.extra, batch

    found, state = [], setup.method.init_state(setup, anchors)
    for number in range(3):
        state, world, *rest = go_on(state, world, jax.random.key(3 + number))
        found.append(rest)
    return setup, members, anchors, found


def one_of(tree):
    return jax.tree_util.tree_map(lambda x: x[0], tree)


def test_the_mind_of_each_seat_is_its_own(played):
    """The odds in play are those of an agent that sits in one seat, sees every step and remembers its own turns."""
    _, members, anchors, found = played
    seen, legal, logits, who, odds = (
        np.concatenate([np.asarray(x)[:, 0] for x in parts])
        for parts in zip(*((r.seen, r.legal, r.logits, r.memory_seat, o) for r, o, _ in found), strict=True)
    )
    start = np.concatenate([np.asarray(r.start) for r, *_ in found])
    assert len(set(who[:, 0].tolist())) == 2
    for core, told in ((one_of(members.policy), log_probs(logits, legal)), (one_of(anchors.policy), odds)):
        mind = NeuralPolicy(core, "vector")
        act = jax.jit(lambda *given, mind=mind: mind.act(*given))
        for env in range(2):
            memories = [mind.init(None, 0)] * 2
            for t in range(len(seen)):
                memories = [mind.init(None, 0)] * 2 if start[t, env] else memories
                seat = int(who[t, env])
                waits = jnp.array([False, False, True])
                memories[1 - seat] = act(memories[1 - seat], jnp.ones(4), waits, jax.random.key(0))[0]
                memories[seat], _, info = act(memories[seat], seen[t, env], legal[t, env], jax.random.key(0))
                np.testing.assert_allclose(log_probs(info.logits, legal[t, env]), told[t, env], atol=1e-5)


def test_an_update_asks_each_mind_with_the_memory_it_had(played):
    """Every ratio is 1 and every value what it was, though sequences are sorted by seat and cut; not so if the memory
    that is taken up where another seat's turns begin is left out."""
    setup, members, _, found = played
    member, batch = one_of(members), one_of(found[1][2])
    totals = jnp.sum(batch.acted), jnp.sum(batch.counted)
    _, told, _ = learner_loss(member, batch, setup.experiment.ppo, jnp.float32(0.01), totals)
    assert abs(float(told["kl"])) < 1e-6
    _, value = jax.vmap(member.unroll)(
        batch.memory, batch.seen, batch.seen, batch.start, batch.label, batch.restart_memory
    )
    np.testing.assert_allclose(value, batch.value, atol=1e-5)
    empty = jnp.zeros_like(batch.restart_memory)
    _, wrong = jax.vmap(member.unroll)(batch.memory, batch.seen, batch.seen, batch.start, batch.label, empty)
    assert np.abs(np.asarray(wrong - batch.value)).max() > 1e-2


def test_turns_are_sorted_by_mind():
    who = jnp.array([0, 1, 0, 0, 1, 2])[:, None, None]
    order = recurrent_state.order_by_seat(who)
    assert order[:, 0, 0].tolist() == [0, 2, 3, 1, 4, 5]
    start = jnp.array([True, False, False, False, True, False])[:, None, None]
    assert recurrent_state.sequence_starts(who, start, order)[:, 0, 0].tolist() == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]
    memory = jnp.arange(6.0).reshape(1, 2, 3, 1)
    who = jnp.array([[2, 0]])
    assert recurrent_state.select(memory, who)[..., 0].tolist() == [[2, 3]]
    assert recurrent_state.store(memory, who, jnp.full((1, 2, 1), 9.0))[..., 0].tolist() == [[[0, 1, 9], [9, 4, 5]]]


@pytest.mark.parametrize(("kind", "steps"), [("lstm", 5), ("gru", 5), ("mingru", 5), ("mingru", SHORT + 3)])
def test_a_sequence_takes_up_what_is_remembered_anew(kind, steps):
    cell = new_cell(kind, 3, 4, jax.random.key(0))
    size = 8 if kind == "lstm" else 4
    x, anew = (jax.random.normal(jax.random.key(k), (steps, n)) for k, n in ((1, 3), (2, size)))
    starts = jnp.arange(steps) % 3 == 2
    memory = first = jnp.ones(size)
    after, _ = unrolled(cell, first, x, starts, "float32", anew)
    for t in range(steps):
        memory, _ = stepped(cell, anew[t] if starts[t] else memory, projected(cell, x[t], "float32"), "float32")
        np.testing.assert_allclose(after[t], memory, atol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru", "mingru"])
def test_gradients_through_steps_are_those_of_the_steps(kind):
    """They are written out, so they are compared with what differentiating one step after the other gives."""
    keys = jax.random.split(jax.random.key(0), 5)
    cell, size = new_cell(kind, 3, 4, keys[0]), 8 if kind == "lstm" else 4
    x, memory, anew = (
        jax.random.normal(k, shape) for k, shape in zip(keys[1:], [(6, 2, 3), (2, size), (6, 2, size)], strict=False)
    )
    starts = jnp.arange(12).reshape(6, 2) % 5 == 3

    def at_once(cell, memory, x, anew):
        return jnp.sum(jnp.sin(unrolled(cell, memory, x, starts, "float32", anew)[0]))

    def by_steps(cell, memory, x, anew):
        total = 0.0
        for t in range(6):
            memory = jnp.where(starts[t][:, None], anew[t], memory)
            memory, _ = stepped(cell, memory, projected(cell, x[t], "float32"), "float32")
            total += jnp.sum(jnp.sin(memory))
        return total

    found, wanted = (jax.jit(jax.grad(f, argnums=(0, 1, 2, 3)))(cell, memory, x, anew) for f in (at_once, by_steps))
    jax.tree_util.tree_map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), found, wanted)


def test_memory_of_own_turns_is_learnt_and_played(tmp_path):
    """Who names a cue that it saw turns ago earns two points a game; the file remembers how it remembers."""
    network = NETWORK | {"depth": 1, "widths": (16,), "recurrent": 16}
    ppo = {"learning_rate": ((0.0, 1e-2),), "minibatches": 2, "gamma": 0.95}
    experiment = small("TurnsRecall", horizon=6, rollout=12, network=network, ppo=ppo, runs=1, steps=16 * 12 * 80)
    by_turns = dataclasses.replace(experiment.algorithm, options={"by_turns": True})
    trained = sp.train(dataclasses.replace(experiment, algorithm=by_turns), quiet=True)
    assert trained.returns()[0, 0] > 1.8  # of 2; a guess is worth 1
    game = make(experiment.game.name, **experiment.game.options)
    save(tmp_path / "it.safetensors", trained.agent(0).policy.core, game, "vector")
    assert load(tmp_path / "it.safetensors").policy.core.shape.own_turns


def test_clones_read_their_own_turns():
    """What is seen on another's turn changes nothing for a clone that remembers its own, and it learns as well."""
    generator = np.random.default_rng(0)
    games, steps = 12, 8
    turn = np.broadcast_to(np.arange(steps) % 2 == 0, (games, steps)).copy()
    turn[0, 5:] = False  # a shorter game, padded
    cue = generator.integers(0, 2, games)
    seen = np.zeros((games, steps, 4), np.float32)
    seen[np.arange(games), 0, cue] = 1
    seen[:, 1::2] = generator.normal(size=seen[:, 1::2].shape)
    legal = np.where(turn[..., None], [True, True, False], [False, False, True])
    action = np.where(turn, cue[:, None], 2)
    start = np.zeros((games, steps), bool)
    start[:, 0] = True
    data = Recordings(seen, legal, action, turn, start, np.arange(games))
    own = data.of_own_turns()
    assert own.action.shape == (games, 4)
    assert own.turn[0].tolist() == [True, True, True, False]
    np.testing.assert_array_equal(own.seen[1], seen[1, ::2])
    game = make("tests.training.toys:TurnsRecall", horizon=8)
    shape = policy_shape(game, small("TurnsRecall", network=NETWORK | {"depth": 1}).network)
    how = Cloning(epochs=20, batch=8, chunk=0, learning_rate=((0.0, 3e-2),))
    roles = splits(games, 3, 0)
    found = clone(data, shape, how, roles, jax.random.key(0))
    assert found.learn.cross_entropy.min() < 0.1
    core = found.core(int(np.argmin(found.learn.cross_entropy)))
    mind, noise = (
        NeuralPolicy(core, "vector", greedy=True),
        dataclasses.replace(data, seen=np.where(turn[..., None], seen, 7)),
    )
    for recorded in (data, noise):
        memory = mind.init(None, 0)
        for t in range(steps):
            memory, taken, _ = mind.act(memory, recorded.seen[3, t], jnp.asarray(legal[3, t]), jax.random.key(0))
            assert int(taken) == action[3, t]


def test_what_cannot_remember_its_own_turns_alone():
    experiment = small("TurnsRecall", runs=1, network=NETWORK)
    with pytest.raises(InterplayError, match=r"set algorithm\.options\.by_turns"):
        sp.train(experiment, quiet=True)
    by_turns = dataclasses.replace(experiment.algorithm, options={"by_turns": True})
    always = small("TurnsRecall", runs=1, network=NETWORK | {"own_turns": False}, algorithm=by_turns)
    with pytest.raises(InterplayError, match=r"set .*network\.own_turns"):
        sp.train(always, quiet=True)
    with pytest.raises(InterplayError, match=r"network\.own_turns: .* set recurrent"):
        small("TurnsRecall", network={"own_turns": True})


@pytest.mark.slow
def test_three_seats_have_three_minds_under_names_of_their_own():
    """Other-play by turns at three players: play asks each seat as an agent in it would be asked, from game to game,
    and the update comes to the same odds and values from sequences that are sorted by seat."""
    network = {"recurrent": 5, "cell": "lstm", "depth": 2, "own_turns": True, "shared_trunk": True}
    ppo = {"epochs": 1, "minibatches": 2, "chunk": 8, "value_clip": None}
    spec = tiny_hanabi.experiment(players=3, network=network, ppo=ppo, rollout=32, steps=8 * 32)
    game = ActiveSeatGame(OwnColours(make(spec.game.name, **spec.game.options)))
    setup = TrainingSetup.create(spec, game, Method(TeamPlan(((0,),))))
    _, (_, rollout, _, _), batch = tiny_hanabi.rollouts(setup)(3)
    member = new_member(game, spec.network, 0, jax.random.key(3))
    start, who = np.asarray(rollout.start), np.asarray(rollout.memory_seat)[:, 0]
    assert set(who.ravel().tolist()) == {0, 1, 2}
    assert start[1:].any()  # games end and begin on the way
    mind = NeuralPolicy(member.policy, "belief")
    act, waits = jax.jit(lambda *given: mind.act(*given)), jnp.zeros(len(game.action_names), bool).at[-1].set(True)
    for env in range(2):
        for t in range(32):
            memories = [mind.init(None, 0)] * 3 if start[t, env] else memories
            seen, legal = rollout.seen[t, 0, env], rollout.legal[t, 0, env]
            asked = [act(memories[s], seen, legal if s == who[t, env] else waits, jax.random.key(0)) for s in range(3)]
            memories = [memory for memory, _, _ in asked]
            told = log_probs(rollout.logits[t, 0, env], legal)
            np.testing.assert_allclose(log_probs(asked[who[t, env]][2].logits, legal), told, atol=1e-5)
    own = one_of(batch)
    totals = jnp.sum(own.acted), jnp.sum(own.counted)
    _, told, _ = learner_loss(member, own, spec.ppo, jnp.float32(0.0), totals)
    assert abs(float(told["kl"])) < 1e-6
    _, value = jax.vmap(member.unroll)(own.memory, own.seen, own.seen, own.start, own.label, own.restart_memory)
    np.testing.assert_allclose(value, own.value, atol=1e-5)
    assert float(jnp.std(value)) > 1e-3


@pytest.mark.slow
def test_a_clone_of_own_turns_is_held_by_turns(tmp_path):
    """From a folder of clones the best is taken; runs begin as it is, train by turns, and ship as it remembers."""
    spec = tiny_hanabi.experiment("hdr", {"clone": str(tmp_path / "bc"), "hold": [0.0, 1.0]}, runs=2)
    ppo = dataclasses.replace(spec.ppo, learning_rate=((0.0, 1e-2),))
    spec = dataclasses.replace(spec, steps=8 * 12 * 6, ppo=ppo, output=dataclasses.replace(spec.output, logs=6))
    game = make(spec.game.name, **spec.game.options)
    shape = policy_shape(game, dataclasses.replace(spec.network, widths=(8,), recurrent=4, own_turns=True))
    listed = []
    for run, points in enumerate((0.5, 2.0, None)):
        file = f"policies/run{run}.safetensors"
        core = Core(shape, 1.0, jax.random.key(run))
        save(tmp_path / "bc" / file, core, game, "belief", training={"return": points}, precision="float32")
        listed.append({"file": file, "learner": ""})
    checkpoint.write_manifest(tmp_path / "bc", {"policies": listed})
    trained = train(spec, quiet=True)
    free, held = np.array([line["anchor_kls"] for line in trained.curve]).T
    assert held[0] < 1e-6  # it begins as the clone
    assert free[-1] > 0.01 > 5 * held.max()
    core = trained.agent(1).policy.core
    assert core.shape == shape
    clones = [load(tmp_path / "bc" / one["file"]).policy.core.head.weight for one in listed]
    assert np.argmin([np.abs(np.asarray(core.head.weight - c)).max() for c in clones]) == 1
