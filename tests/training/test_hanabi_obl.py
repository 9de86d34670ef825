"""Off-belief learning on a tiny deck: what is imagined, the belief that is learnt, and levels that stand on it."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.games.hanabi.hand_sampling import draw_hand, set_hand, unseen
from interplay.games.registry import make
from interplay.training import hand_belief_network as beliefs
from interplay.training.actor_critic import new_member
from interplay.training.algorithms import obl, train
from interplay.training.stage_state import TrainingSetup
from tests.training.tiny_hanabi import TINY, experiment


@pytest.mark.slow
def test_simulated_moves_are_worth_what_the_belief_says():
    """The mean simulated reward of playing a card is the odds that it fits, by hints and what is seen."""
    spec = experiment(ppo={"epochs": 1, "minibatches": 2, "gamma": 1e-6})
    game = make(spec.game.name, **spec.game.options)
    method = obl.OffBeliefLearning.create(spec, by_turns=True, options=obl.OBLOptions(candidates=16), belief=None)
    setup = TrainingSetup.create(spec, method.wrap_game(game), method)
    member = new_member(game, spec.network, 0, jax.random.key(0))
    deck = np.array([[0, 0], [1, 1], [2, 0], [1, 0], [0, 0], [1, 0], [2, 0], [0, 1], [2, 1]])
    state = game.init(jax.random.key(0), deck)
    names = list(game.action_names)

    @jax.jit
    def go(state, action, keys):
        return jax.vmap(lambda key: method._returns(setup, member, obl.Situation(state=state, key=key), action))(keys)

    def mean_of(state, action, seed):
        found = go(state, jnp.int32(names.index(action)), jax.random.split(jax.random.key(seed), 4000))
        assert bool(jnp.all(found.sound))
        return float(np.asarray(found.reward).mean())

    # Seat 0 sees G1 and Y1 of the nine cards; of the other seven (R1 R1 Y1 G1 R2 Y2 G2) four are ones.
    assert mean_of(state, "play 0", 1) == pytest.approx(4 / 7, abs=0.03)  # it really is a one
    after, _ = game.step(state, jnp.array([names.index("hint +1 1"), len(names) - 1]))
    assert mean_of(after, "play 0", 2) == pytest.approx(1.0, abs=1e-4)  # told that it is a one: sure


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3])
def test_simulated_returns_are_those_of_games_played_on(players):
    """With as many rounds as a game can have and λ = 1, a move is worth the points that the game then makes."""
    ppo = {"epochs": 1, "minibatches": 2, "gamma": 1.0, "lam": 1.0}
    spec = experiment(players=players, ppo=ppo)
    game = make(spec.game.name, **spec.game.options)
    rounds = -(-game.rules.horizon // players)
    options = obl.OBLOptions(candidates=4, rounds=rounds)
    method = obl.OffBeliefLearning.create(spec, by_turns=True, options=options, belief=None)
    setup = TrainingSetup.create(spec, method.wrap_game(game), method)
    member = new_member(game, spec.network, 0, jax.random.key(0))
    state, action = game.init(jax.random.key(0)), 0

    @jax.jit
    def go(keys):
        return jax.vmap(
            lambda key: method._returns(setup, member, obl.Situation(state=state, key=key), jnp.int32(action))
        )(keys)

    found = go(jax.random.split(jax.random.key(1), 2000))
    assert np.all(np.asarray(found.weight) == 0.0)  # the game is over, so nothing is left to the value network

    @jax.jit
    def play(key):
        """A game after the same first move by the same policy, from a hand that fits and a shuffled deck."""

        def move(carry, key):
            state, points, going, first = carry
            seen = game.observe_as(state, "belief", state.time % players)
            legal = game.legal(state)[state.time % players]
            sampled = jax.random.categorical(key, jnp.where(legal, member.logits(seen), -1e9))
            after, step = game.step(state, jnp.full(players, jnp.where(first, action, sampled)))
            points = points + going * jnp.sum(step.reward)
            return (after, points, going * (1.0 - step.terminated), False), None

        hand, _ = draw_hand(game.rules, state, jnp.int32(0), key, 4)
        begin = (set_hand(game.rules, state, jnp.int32(0), hand, jax.random.fold_in(key, 2)), 0.0, 1.0, True)
        keys = jax.random.split(jax.random.fold_in(key, 1), game.rules.horizon)
        return jax.lax.scan(move, begin, keys)[0][1]

    there = np.asarray(jax.vmap(play)(jax.random.split(jax.random.key(2), 2000)))
    here = np.asarray(found.reward)
    assert abs(here.mean() - there.mean()) < 4 * np.sqrt(here.var() / 2000 + there.var() / 2000)


@pytest.mark.slow
def test_a_belief_is_learnt_and_a_further_level_stands_on_it(tmp_path):
    """Level 1, what its games tell of hands, and level 2, which takes hands for those."""
    first = train(experiment("obl", {"candidates": 4}, folder=tmp_path / "one"), quiet=True)
    one = str(tmp_path / "one" / first.policies[0]["file"])
    spec = experiment("obl_belief", {"policy": one, "widths": [32, 32], "epsilon": 0.0}, folder=tmp_path / "belief")
    spec = dataclasses.replace(spec, steps=60 * 8 * 12, ppo=dataclasses.replace(spec.ppo, learning_rate=((0.0, 3e-3),)))
    learnt = train(spec, quiet=True)
    assert learnt.curve[-1]["nats_a_card"] < learnt.curve[-1]["nats_by_copies"] + 0.02
    game = make("hanabi/2p", **TINY)
    belief = beliefs.load(tmp_path / "belief" / "belief.safetensors", game)
    state = game.init(jax.random.key(4))
    state, _ = game.step(state, jnp.array([list(game.action_names).index("play 0"), len(game.action_names) - 1]))
    draw = jax.jit(lambda k: belief.draw(game.rules, state, jnp.int32(1), game.observe(state, "belief")[1], k))
    for key in jax.random.split(jax.random.key(0), 30):
        hand, sound = draw(key)
        assert bool(sound)
        counts = np.bincount(np.asarray(hand), minlength=6)
        assert (counts <= np.asarray(unseen(game.rules, state, jnp.int32(1)))).all()
    options = {"belief": str(tmp_path / "belief" / "belief.safetensors"), "begin": one}
    second = train(experiment("obl", options, folder=tmp_path / "two"), quiet=True)
    assert second.policies[0]["method"] == "OBL, belief learnt"
    with pytest.raises(InterplayError, match="not the one that"):
        train(experiment("obl", options, network={"widths": [8]}), quiet=True)


def test_beliefs_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(InterplayError, match="there is no belief"):
        train(experiment("obl", {"belief": str(tmp_path / "none.safetensors")}), quiet=True)
    with pytest.raises(InterplayError, match="has a memory"):
        train(experiment("obl_belief", {"policy": "hanabi/hgroup"}, game={"name": "hanabi/2p"}), quiet=True)
    rules = make("hanabi/2p", **TINY)
    belief = beliefs.HandBelief(rules.rules, rules.encodings["belief"].shape[0], "belief", (8,), jax.random.key(0))
    beliefs.save(tmp_path / "b.safetensors", belief, rules, {})
    with pytest.raises(InterplayError, match="about hands in"):
        beliefs.load(tmp_path / "b.safetensors", make("hanabi/2p"))


@pytest.mark.parametrize(
    ("options", "changes", "told"),
    [
        ({"epsilon": 3.0}, {}, "from 0 to 1"),
        ({"widths": []}, {}, "at least one layer"),
        ({}, {"runs": 2}, "one belief is learnt at a time"),
        ({}, {"ppo": {"minibatches": 5}}, "cannot be cut into 5"),
        ({}, {"network": {"encoding": "seen"}}, "a network cannot read 'seen'"),
        ({}, {"network": {"encoding": "none"}}, "has no 'none'"),
    ],
)
def test_beliefs_that_cannot_be_learnt(options, changes, told):
    with pytest.raises(InterplayError, match=told):
        train(experiment("obl_belief", {"policy": "random"} | options, **changes), quiet=True)


def test_a_belief_is_not_written_into_another_run(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "log.jsonl").write_text("old")
    with pytest.raises(InterplayError, match="holds a training run"):
        train(experiment("obl_belief", {"policy": "random"}, folder=tmp_path), quiet=True)
    assert (tmp_path / "log.jsonl").read_text() == "old"


def test_a_belief_that_knows_nothing_is_the_one_by_copies():
    game = make("hanabi/2p", **TINY)
    belief = beliefs.HandBelief(game.rules, game.encodings["belief"].shape[0], "belief", (8,), jax.random.key(0))
    belief = eqx.tree_at(lambda b: b.head.weight, belief, jnp.zeros_like(belief.head.weight))
    state = game.init(jax.random.key(1))
    learnt, counted, many = belief.log_prob(game.rules, state, jnp.int32(0), game.observe(state, "belief")[0])
    assert float(learnt) == pytest.approx(float(counted), abs=1e-5)
    left = np.asarray(unseen(game.rules, state, jnp.int32(0))).astype(float)
    a, b = (int(c) for c in state.hands[0])
    first = left[a] / left.sum()
    left[a] -= 1
    assert float(counted) == pytest.approx(np.log(first * left[b] / left.sum()), abs=1e-5)
    assert int(many) == 2


def test_off_belief_needs_hanabi_and_no_memory():
    with pytest.raises(InterplayError, match="points alone"):
        train(experiment("obl", rewards={"conduct": {"g1": -1.0}}), quiet=True)
    with pytest.raises(InterplayError, match="without clones"):
        train(experiment("br_bc", {"partners": ["random"]}, rewards={"entropies": {"ic": 1.0}}), quiet=True)
    with pytest.raises(InterplayError, match="no memory"):
        train(experiment("obl", network={"recurrent": 8}), quiet=True)
    kitchen = experiment("obl", game={"name": "overcooked/cramped_room"})
    with pytest.raises(InterplayError, match="no hands"):
        train(kitchen, quiet=True)
