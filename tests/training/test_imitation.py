"""Behaviour cloning: what is replayed, learnt, held out and written."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.anti_stuck import AntiStuckWrapper
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.overcooked.human import human_games
from interplay.games.registry import make
from interplay.training.__main__ import main
from interplay.training.algorithms import train
from interplay.training.algorithms.bc import interval, self_play
from interplay.training.config import Algorithm, Experiment, GameChoice, Network, Output
from interplay.training.imitation.clone import LEARN, SELECT, TEST, Cloning, clone, splits
from interplay.training.imitation.human_games import games_of, human_recordings
from interplay.training.imitation.recordings import Recorded, Recordings, replayed
from interplay.training.saved_stages import load_stage
from tests.training.toys import Turns

FAST = Cloning(epochs=20, batch=4, chunk=4, learning_rate=((0.0, 2e-2),))


def recordings(actions, seen, starts=None):
    """One sequence a game, all actions legal."""
    actions = np.asarray(actions)
    first = np.zeros(actions.shape, bool)
    first[:, 0] = True
    return Recordings(
        seen=np.asarray(seen, np.float32),
        legal=np.ones((*actions.shape, 2), bool),
        action=actions,
        turn=np.ones(actions.shape, bool),
        start=first if starts is None else starts,
        game=np.arange(len(actions)),
    )


def cues(games=24, steps=8, seed=0):
    """A cue that is shown in the first step only, and named in every step."""
    cue = np.random.default_rng(seed).integers(0, 2, games)
    seen = np.zeros((games, steps, 2), np.float32)
    seen[np.arange(games), 0, cue] = 1
    return recordings(np.repeat(cue[:, None], steps, 1), seen), cue


@pytest.mark.slow
def test_memory_is_what_predicts_later_steps():
    """Without memory only the first of eight steps can be known; with it, all, across chunks of four."""
    data, _ = cues()
    roles = splits(24, 3, 0)
    plain = clone(data, Shape((2,), 2, widths=(8,)), FAST, roles, jax.random.key(0))
    recalls = clone(data, Shape((2,), 2, widths=(8,), recurrent=8), FAST, roles, jax.random.key(0))
    assert plain.test.cross_entropy.mean() > 7 / 8 * np.log(2) - 0.1
    assert recalls.test.cross_entropy.max() < 0.2
    assert recalls.test.accuracy.min() > 0.95


@pytest.mark.slow
def test_the_epoch_is_chosen_by_games_that_are_not_learnt_from():
    """Actions are coin flips: what is learnt of them is noise, so the earliest epochs predict others best."""
    generator = np.random.default_rng(1)
    seen = generator.normal(size=(9, 20, 12))
    data = recordings(generator.integers(0, 2, (9, 20)), seen)
    roles = splits(9, 3, 0)
    found = clone(data, Shape((12,), 2, widths=(64,)), FAST, roles, jax.random.key(0))
    last = np.array(found.curve[-1]["learn"])
    assert (last < 0.4).all()  # it could learn them by heart
    assert (found.epoch <= 3).all()
    np.testing.assert_allclose(
        found.select.cross_entropy, np.min([line["select"] for line in found.curve], axis=0), rtol=1e-5
    )
    assert (found.test.cross_entropy > 0.6).all()


def test_only_decisions_count():
    """What stands off turn is neither learnt nor measured."""
    data, cue = cues(steps=1)
    wrong = Recordings(
        seen=np.repeat(data.seen, 2, 1),
        legal=np.repeat(data.legal, 2, 1),
        action=np.stack([cue, 1 - cue], axis=1),
        turn=np.stack([np.ones(24, bool), np.zeros(24, bool)], axis=1),
        start=np.repeat(data.start, 2, 1),
        game=data.game,
    )
    found = clone(wrong, Shape((2,), 2, widths=(8,)), FAST, splits(24, 3, 0), jax.random.key(0))
    assert found.test.cross_entropy.max() < 0.1


def test_every_game_is_tested_once_and_never_learnt_there():
    roles = splits(16, 6, seed=3)
    assert ((roles == TEST).sum(axis=0) == 1).all()
    assert ((roles == SELECT).sum(axis=0) == 1).all()
    assert ((roles == LEARN).sum(axis=0) == 4).all()
    with pytest.raises(InterplayError, match="2 splits of 16 games; from 3"):
        splits(16, 2, 0)


def test_games_by_turns_are_replayed_with_their_masks():
    game = Turns(horizon=4)
    actions = np.array([[0, 2], [2, 1], [0, 2], [2, 0]])
    cue = int(game.init(jax.random.key(0)).cue)
    right = sum(int(a == cue) for a in (0, 1, 0, 0))
    data = replayed(game, [Recorded("one", actions, score=right)], "vector")
    assert data.turn.tolist() == [[True, False, True, False], [False, True, False, True]]
    assert data.legal[0, :, 2].tolist() == [False, True, False, True]
    assert data.game.tolist() == [0, 0]
    with pytest.raises(InterplayError, match=r"one: noop of one in step 2 is not legal .* \(2 such actions in all\)"):
        replayed(game, [Recorded("one", np.where(np.arange(4)[:, None] >= 2, 2, actions))], "vector")
    with pytest.raises(InterplayError, match=f"ends at {right} points, not at 9"):
        replayed(game, [Recorded("one", actions, score=9.0)], "vector")
    with pytest.raises(InterplayError, match="'nothing' is nothing that a network reads"):
        replayed(game, [Recorded("one", actions)], "nothing")


def test_recordings_that_do_not_fit():
    data, _ = cues(4)
    with pytest.raises(InterplayError, match="not legal where they were taken"):
        Recordings(data.seen, np.zeros_like(data.legal), data.action, data.turn, data.start, data.game)
    with pytest.raises(InterplayError, match=r"seen is \[3, 8, 2\]"):
        Recordings(data.seen[:3], data.legal, data.action, data.turn, data.start, data.game)


@pytest.fixture(scope="module")
def ring():
    return human_recordings(make("overcooked/coordination_ring"), "features")


def test_people_are_replayed_to_their_scores(ring):
    """The replay refuses another score; sixteen games of two people, about 1,200 steps each."""
    games = [one for one in human_games() if one.layout == "coordination_ring"]
    assert ring.games == len(games) == 16
    assert ring.turn.sum() == 2 * sum(one.length for one in games)
    first = ring.action[ring.game == 3]
    np.testing.assert_array_equal(first[:, : games[3].length], games[3].actions.T)


def test_halves_are_of_different_people():
    pairs = []
    for half in ("first", "second"):
        pairs.append(
            {o.pair for name in ("cramped_room", "counter_circuit") for o in games_of(make(f"overcooked/{name}"), half)}
        )
    assert pairs[0]
    assert pairs[1]
    assert not pairs[0] & pairs[1]
    with pytest.raises(
        InterplayError, match="no games of people come with overcooked/bothway_coordination; they played"
    ):
        games_of(make("overcooked/bothway_coordination"))
    with pytest.raises(InterplayError, match="half: 'third'"):
        games_of(make("overcooked/cramped_room"), "third")


@pytest.fixture(scope="module")
def proxies(tmp_path_factory):
    """A short clone of people in cramped room, as from the command line."""
    folder = tmp_path_factory.mktemp("bc")
    config = folder / "config.json"
    options = {"epochs": 4, "batch": 128, "learning_rate": 5e-3, "unstuck": 3, "episodes": 0}
    given = {
        "game": {"name": "overcooked/cramped_room", "options": {"horizon": 60}},
        "algorithm": {"name": "bc", "options": options},
        "network": {"encoding": "features", "widths": [32]},
        "runs": 3,
    }
    config.write_text(json.dumps(given))
    assert main([str(config), "--out", str(folder / "out"), "--quiet"]) == 0
    return given, folder / "out"


def test_a_clone_predicts_unseen_people(proxies):
    _, folder = proxies
    manifest = json.loads((folder / "manifest.json").read_text())
    found = manifest["curve"][-1]
    held_out, chance = found["held_out"]["cross_entropy"], found["chance"]["cross_entropy"]
    assert held_out["low"] < held_out["mean"] < held_out["high"] < chance["mean"] - 0.05
    assert len(manifest["policies"]) == 3
    assert {p["unstuck"] for p in manifest["policies"]} == {3}


def test_a_finished_clone_is_not_learnt_again(proxies, monkeypatch):
    given, folder = proxies
    monkeypatch.setattr("interplay.training.algorithms.bc.clone", None)
    again = train(_experiment(given, folder), quiet=True)
    agent = interplay.agent(str(folder / again.policies[1]["file"]), unstuck=0)
    assert np.isnan(again.returns()).all()  # nothing was played
    np.testing.assert_array_equal(again.agent(1).policy.core.head.bias, agent.policy.core.head.bias)
    other = _experiment(given | {"runs": 4}, folder)
    with pytest.raises(InterplayError, match=r"experiment\.runs is 3 there and 4 here"):
        train(other, quiet=True)
    with pytest.raises(InterplayError, match="not a population of self-play"):
        load_stage(folder)


def _experiment(given, folder=None, **changes):
    network = Network("features", widths=(32,))
    output = Output(folder=None if folder is None else str(folder))
    game, algorithm = GameChoice(**given["game"]), Algorithm(**given["algorithm"])
    return Experiment(game, algorithm, network=network, output=output, **{"runs": given["runs"]} | changes)


@pytest.mark.slow
def test_a_best_response_to_people(proxies):
    """Proxies play, and sit at their best response's tables, as any checkpoints do, with their unstuck rule."""
    given, folder = proxies
    agents = [interplay.agent(str(folder / f"policies/run{run}.safetensors")) for run in range(2)]
    assert all(isinstance(agent.policy, AntiStuckWrapper) for agent in agents)
    scores = self_play(make("overcooked/cramped_room", horizon=60), agents, 4, seed=0)
    assert all(score is not None and score % 5 == 0 for score in scores)
    partners = Algorithm("br", {"partners": [str(folder)]})
    response = Experiment(
        GameChoice(**given["game"]), partners, runs=1, steps=60 * 12 * 4, envs=12, rollout=60,
        network=Network("features", widths=(32,)),
    )  # fmt: skip
    trained = train(response, quiet=True)
    assert np.isfinite(trained.returns()).all()


def test_a_stuck_chef_tries_something_else():
    """Three steps in one pose are allowed; then what was tried there is ruled out, and nothing when all were."""
    game = make("overcooked/cramped_room")
    stay = game.action_names.index("stay")
    shape = Shape((game.encodings["features"].shape[0],), 6, widths=(4,))
    core = Core(shape, 0.01, jax.random.key(0))
    bias = jnp.full(6, -20.0).at[stay].set(20.0)  # always stays
    core = jax.tree_util.tree_map(jnp.zeros_like, core)
    policy = AntiStuckWrapper(NeuralPolicy(eqx.tree_at(lambda c: c.head.bias, core, bias), "features"), 3).bind(game)
    state, legal = game.init(jax.random.key(0)), jnp.ones(6, bool)
    memory = policy.init(jax.random.key(0), jnp.int32(0))
    act, taken = eqx.filter_jit(policy.act), []
    for step in range(9):  # the chef does not move, whatever it does
        memory, action, _ = act(memory, game.observe(state, "features")[0], legal, jax.random.key(step))
        taken.append(int(action))
    assert taken[:3] == [stay] * 3
    assert sorted(taken[2:8]) == list(range(6))  # one after the other, until all were tried
    moved, _ = game.step(state, jnp.array([3, 3]), jax.random.key(0))
    after, action, _ = act(memory, game.observe(moved, "features")[0], legal, jax.random.key(0))
    assert (int(action), int(after.steps)) == (stay, 0)


@pytest.mark.parametrize("encoding", ["features", "details", "planes", "planes_first"])
def test_a_pose_is_where_a_chef_stands_and_faces(encoding):
    game = make("overcooked/cramped_room")
    from interplay.agents.anti_stuck import pose_entries

    entries = np.array(pose_entries(game, encoding))
    state = game.init(jax.random.key(0))
    generator, poses = np.random.default_rng(0), {}
    for t in range(60):
        seen = np.asarray(game.observe(state, encoding))
        for seat in range(2):
            pose = seen[seat].reshape(-1)[entries].tobytes()
            truth = (int(state.cell[seat]), int(state.facing[seat]))
            assert poses.setdefault(pose, truth) == truth
        state, _ = game.step(state, jnp.asarray(generator.integers(0, 6, 2)), jax.random.key(t))
    assert len(set(poses.values())) == len(poses) > 8  # one pose, one sight


def test_the_rule_is_for_kitchens():
    from interplay.agents.basic import Random

    with pytest.raises(InterplayError, match="the game is hanabi/2p"):
        AntiStuckWrapper(Random(), 3).bind(make("hanabi/2p"))
    with pytest.raises(InterplayError, match="not from 'nothing'"):
        AntiStuckWrapper(Random(), 3).bind(make("overcooked/cramped_room"))
    with pytest.raises(InterplayError, match="unstuck: -1"):
        AntiStuckWrapper(Random(), -1)


@pytest.mark.parametrize(
    ("options", "network", "message"),
    [
        ({"unstuck": -1}, {}, "unstuck: -1; 0 or more"),
        ({"epochs": 0}, {}, "epochs: 0; at least 1"),
        ({"half": "third"}, {}, "half: 'third'"),
        ({"unstuck": 3}, {"encoding": "state"}, "not from 'state'"),
        ({}, {"encoding": "state"}, "'state' is nothing that a network reads"),
    ],
)
def test_clones_that_cannot_be(options, network, message):
    """Said before anything is learnt."""
    given = {"name": "overcooked/cramped_room"}
    experiment = Experiment(GameChoice(**given), Algorithm("bc", options), network=Network(**network), runs=3)
    with pytest.raises(InterplayError, match=message):
        train(experiment, quiet=True)


def test_the_interval_is_students():
    found = interval(np.array([1.0, 2.0, 3.0]))
    assert (found["mean"], found["high"] - 2) == pytest.approx((2.0, 4.3027 / np.sqrt(3)), rel=1e-4)
