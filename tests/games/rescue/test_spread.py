"""Fires that spread: the rule, the facts, the plans; houses of the benchmark; the short encoding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.rescue import difficulty
from interplay.games.rescue.benchmark import BENCHMARK
from interplay.games.rescue.solve import RescueSolver
from interplay.symbolic.certify import prove
from interplay.symbolic.read import read, reader
from tests.games.rescue.scripts import play, roll

HOUSE = "#######/#nF+..#/#K..fV#/#######"


def burning(played, t):
    cells = np.flatnonzero(np.asarray(played.states.burning[t]))
    return {divmod(int(c), played.game.rules.height) for c in cells}


def test_a_fire_spreads_to_the_free_cells_beside_it_at_its_time():
    played = play(HOUSE, "...........", "...........", spread=4)
    assert burning(played, 3) == {(2, 1)}
    # Neither where the nurse stands nor into walls; the doorway burns.
    assert burning(played, 4) == {(2, 1), (3, 1), (2, 2)}
    assert burning(played, 7) == burning(played, 4)
    assert burning(played, 8) == {(2, 1), (3, 1), (2, 2), (4, 1), (3, 2)}  # not the kit's cell, not the firefighter's
    still = play(HOUSE, "...........", "...........")
    assert burning(still, 11) == {(2, 1)}


def test_facts_follow_fires_that_spread_and_are_put_out():
    game = interplay.make("rescue", house="########/#n..F..#/#E.f..V#/########", spread=5, horizon=60)
    traces = interplay.play(game, ["rescue/helper", "rescue/helper"], episodes=2, seed=1)
    for episode in traces:
        states, _ = roll(game, game.init(jax.random.key(0), **episode.start), episode.actions)
        trace = read(game, states, episode.actions)
        for t, facts in trace.states():
            told = {f[1] for f in map(trace.world.fact_of, facts) if f[0] == "burning"}
            real = {f"fire_{x}_{y}" for x, y in (divmod(int(c), 4) for c in np.flatnonzero(states.burning[t]))}
            assert told == real


def test_a_plan_for_two_victims():
    game = interplay.make("rescue", house="######/#nV..#/#.V.f#/######", spread=6, horizon=200)
    solver = RescueSolver(game, victims=2)
    found = solver.alone(0)
    assert found.possible
    prove(game, solver, found)
    assert found.lower <= found.length
    assert RescueSolver(game).alone(0).length < found.length
    assert solver.bound() <= found.length
    with pytest.raises(InterplayError, match="victims: 3"):
        RescueSolver(game, victims=3)


def test_a_fire_that_spreads_back_over_a_walked_cell_is_put_out_again():
    game = interplay.make("rescue", house="#########/#.fE.FF.#/#n.....V#/#########", spread=8, horizon=20)
    firefighter = ["right", "interact", "right", "right", "interact", "right", "left", "stay", "right", "interact"]
    actions = np.full((len(firefighter), 2), game.action_names.index("stay"))
    seat = game.seat_names.index("firefighter 1")
    actions[:, seat] = [game.action_names.index(name) for name in firefighter]
    states = [game.init(jax.random.key(0))]
    for joint in actions:
        states.append(game.step(states[-1], jnp.asarray(joint), None)[0])
    trace = reader(game).read(jax.tree_util.tree_map(lambda *a: np.stack(a), *states), actions)
    assert sum(action.name == "extinguish" for action in trace.actions) == 2


def test_houses_of_the_benchmark_are_playable_and_bite():
    for name, house in BENCHMARK.items():
        game = interplay.make(f"rescue/{name}")
        assert (game.horizon, game.rules.spread, game.plan.num_victims) == (house.horizon, house.spread, house.hidden)
        assert len(list(difficulty.placements(game))) == 3
    for kind in ("required", "useless"):
        assert difficulty.drawn(difficulty.SPECS[kind], 0) == BENCHMARK[f"{kind}_1"].text
    assert BENCHMARK["useless_1"].horizon == int(difficulty.SLACK["useless"] * BENCHMARK["useless_1"].plan)
    assert interplay.make("rescue/required_1", horizon=50).horizon == 50


def test_features_show_no_victim_that_the_seat_does_not_know():
    game = interplay.make("rescue/required_1")
    start = game.init(jax.random.key(0))
    seen = np.asarray(game.observe(start, "features"))
    assert seen.shape == (2, *game.encodings["features"].shape)
    other = next(s for s in difficulty.placements(game) if (s.victim_cell != start.victim_cell).any())
    np.testing.assert_array_equal(seen, np.asarray(game.observe(other, "features")))
    known = game.init(jax.random.key(0))
    known = type(known)(**{**vars(known), "known": jnp.ones_like(known.known)})
    assert (np.asarray(game.observe(known, "features")) != seen).any()


def test_bad_options_are_told():
    with pytest.raises(InterplayError, match="spread: -1"):
        interplay.make("rescue/cottage", spread=-1)
