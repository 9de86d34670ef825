"""The real engine, where gfootball is built (`make football`): contract, ids, chance, memory, traces."""

import importlib.util
import sys

import jax
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.football.pitch import ACTIONS

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("gfootball") is None, reason="gfootball is not built: make football"
)


@pytest.fixture(scope="module")
def game():
    return interplay.make("football/3v1", horizon=60)


def test_without_the_engine_the_error_says_how_to_build_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gfootball", None)
    with pytest.raises(InterplayError, match="make football") as error:
        interplay.make("football/3v1", horizon=7).init(jax.random.key(0))
    assert "libboost-python-dev" in str(error.value)
    assert "football/keepaway" in str(error.value)


@needs_engine
def test_it_keeps_the_contract(game):
    assert "determinism" in interplay.check_game(game, steps=40)


@needs_engine
def test_pettingzoo_accepts_it(game):
    api = pytest.importorskip("pettingzoo.test")
    from interplay.games.interop.pettingzoo import to_pettingzoo

    api.parallel_api_test(to_pettingzoo(game), num_cycles=60)


@needs_engine
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


@needs_engine
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


@needs_engine
def test_traces_record_states_that_need_no_engine(game, tmp_path, monkeypatch):
    team = ["football/passer", "football/shooter", "football/positioner"]
    traces = interplay.play(game, team, episodes=1, seed=3, out=tmp_path / "traces")
    monkeypatch.setitem(sys.modules, "gfootball", None)
    rows = interplay.measure(traces, ["score", "events", "interdependence"])
    counted = {r["event"]: r["value"] for r in rows.where(metric="events") if r["seat"] == 0}
    assert counted["possession"] > 0
    assert rows.where(metric="triggers").rows


@needs_engine
def test_an_episode_that_is_over_cannot_be_played_on(game):
    state = game.init(jax.random.key(0))
    over = type(state)(**vars(state) | {"over": np.bool_(True)})
    with pytest.raises(InterplayError, match="is over"):
        game.step(over, [0, 0, 0], None)
    with pytest.raises(InterplayError, match="2 actions for 3 seats"):
        game.step(state, [0, 0], None)
