"""The real engine, which `make test-football` builds: contract, ids, chance, memory, traces."""

import sys

import jax
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.football.pitch import ACTIONS


@pytest.fixture(scope="module")
def game():
    return interplay.make("football/3v1", horizon=60)


def test_without_the_engine_the_error_says_how_to_build_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gfootball", None)
    with pytest.raises(InterplayError, match="make football") as error:
        interplay.make("football/3v1", horizon=7).init(jax.random.key(0))
    assert "libboost-python-dev" in str(error.value)
    assert "football/keepaway" in str(error.value)


@pytest.mark.football
def test_it_keeps_the_contract(game):
    assert "determinism" in interplay.check_game(game, steps=40)


@pytest.mark.football
def test_pettingzoo_accepts_it(game):
    api = pytest.importorskip("pettingzoo.test")
    from interplay.games.interop.pettingzoo import to_pettingzoo

    api.parallel_api_test(to_pettingzoo(game), num_cycles=60)


@pytest.mark.football
def test_a_thousand_random_steps_without_drift_or_leak(game):
    """A seat is the same player in the engine's own log, keeps where it was seen, and memory does not grow."""
    import psutil

    from interplay.games.football.real import FootballEngine

    engine, rng, steps, seed = FootballEngine(400), np.random.default_rng(0), 0, 0
    before, now = None, psutil.Process()
    while steps < 1000:
        pitch, over, seed = engine.reset(seed), False, seed + 1
        while not over and int(pitch.time) < 400:
            after, over = engine.step(rng.integers(0, len(ACTIONS), 3))
            assert engine.controlled == [1, 2, 3]
            moved = np.linalg.norm(after.left - pitch.left, axis=1).max()
            assert over or moved < 0.03  # nobody jumps to another's place; at the end all go to a set piece
            pitch, steps = after, steps + 1
        before = before or (now.memory_info().rss if steps > 200 else None)
    assert now.memory_info().rss - before < 20e6


@pytest.mark.football
def test_seeds_vary_and_give_the_same_play_again(game):
    def places(seed):
        state, rng = game.init(jax.random.key(seed)), np.random.default_rng(1)
        for _ in range(25):
            state, step = game.step(state, rng.integers(0, len(ACTIONS), 3), None)
            if step.terminated:
                break
        return np.concatenate([state.pitch.left.ravel(), state.pitch.ball])

    assert np.array_equal(places(0), places(0))
    assert not np.array_equal(places(0), places(1))


@pytest.mark.football
def test_traces_record_states_that_need_no_engine(game, tmp_path, monkeypatch):
    team = ["football/passer", "football/shooter", "football/positioner"]
    traces = interplay.play(game, team, episodes=1, seed=3, out=tmp_path / "traces")
    monkeypatch.setitem(sys.modules, "gfootball", None)
    rows = interplay.measure(traces, ["score", "events", "interdependence"])
    counted = {r["event"]: r["value"] for r in rows.where(metric="events") if r["seat"] == 0}
    assert counted["possession"] > 0
    assert rows.where(metric="triggers").rows


@pytest.mark.football
def test_an_episode_that_is_over_cannot_be_played_on(game):
    state = game.init(jax.random.key(0))
    over = type(state)(**vars(state) | {"over": np.bool_(True)})
    with pytest.raises(InterplayError, match="is over"):
        game.step(over, [0, 0, 0], None)
    with pytest.raises(InterplayError, match="2 actions for 3 seats"):
        game.step(state, [0, 0], None)


def test_checksums_do_not_depend_on_being_compiled():
    """Traces hold them; the real engine's states are numpy arrays."""
    from interplay.games.checksum import checksum
    from interplay.games.football.real import RealState, _checksum

    light = interplay.make("football/keepaway").init(jax.random.key(0))
    arrays = jax.tree_util.tree_map(np.asarray, {"pitch": light.pitch, "history": light.history})
    state = RealState(**arrays, seed=np.int32(7), played=np.full((60, 3), -1, np.int8), over=np.bool_(False))
    assert int(_checksum(state)) == int(checksum(state))


@pytest.mark.football
def test_processes_train_in_it(tmp_path):
    """Each of two processes steps two engines; the policy that is learnt plays."""
    from interplay.training.algorithms import sp
    from interplay.training.config import Experiment
    from interplay.training.loader import build

    config = {
        "game": {"name": "football/3v1", "options": {"horizon": 20}},
        "algorithm": {"name": "sp"},
        **{"runs": 1, "envs": 4, "actors": 2, "rollout": 20, "steps": 4 * 20 * 2},
        "network": {"encoding": "relative", "widths": [8]},
        "ppo": {"epochs": 1, "minibatches": 1},
        "output": {"folder": str(tmp_path / "run")},
    }
    trained = sp.train(build(Experiment, config, "training"), quiet=True)
    assert trained.curve[-1]["update"] == 2
    policy = str(tmp_path / "run" / trained.policies[0]["file"])
    assert len(interplay.play("football/3v1", [policy] * 3, episodes=1, seed=0)) == 1
