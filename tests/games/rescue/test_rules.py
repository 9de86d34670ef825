"""What the rules of search and rescue promise."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.api import is_jax
from interplay.games.rescue.state import NOBODY, WORK
from tests.games.rescue.scripts import play, roll, spell


def test_bare_hands_take_60_steps_and_a_kit_20():
    assert play("####/#nV#/#pK#/####", "ri59i", ".").score == 0.0
    assert play("####/#nV#/#pK#/####", "ri60i", ".").score == 10.0
    with_kit = play("#####/#nV.#/#K.p#/#####", "dir" + "i20i", ".")
    assert with_kit.score == 10.0
    assert play("#####/#nV.#/#K.p#/#####", "dir" + "i19i", ".").score == 0.0


def test_points_come_at_the_end_of_the_horizon_to_the_nurse_who_finished():
    played = play("####/#nV#/#pK#/####", "ri60i9.", ".")
    _, steps = roll(played.game, played.game.init(jax.random.key(0)), np.full((71, 2), 4))
    assert float(jnp.sum(steps.reward)) == 0.0
    assert bool(steps.truncated[-1]) is True
    assert not bool(jnp.any(steps.truncated[:-1]))
    assert played.score == 10.0


def test_the_shaped_reward_is_what_the_team_gains_and_no_loop_pays():
    def shaped(house, *scripts, **options):
        played = play(house, *scripts, **options)
        actions = [spell(script) for script in scripts]
        _, steps = roll(played.game, played.game.init(jax.random.key(0)), np.array(actions, np.int32).T)
        assert np.array_equal(steps.shaped[:, 0], steps.shaped[:, 1])  # the team's gain, in equal parts
        return np.sum(steps.shaped, axis=1)

    treating = shaped("#####/#nV.#/#K.p#/#####", "diri20i", "24.")
    assert np.allclose(treating[[1, 3]], 1)  # the kit in the nurse's hand, a victim found
    assert np.allclose(treating[4:-1], 5 / 20)
    assert np.allclose(shaped("######/#n..V#/#..p.#/######", "rrd", "..."), [0.2, 0.2, 0], atol=1e-6)  # on her way
    assert np.isclose(np.sum(shaped("#####/#nV.#/#K.p#/#####", "d9i", "10.")), 1)  # taken, laid down, taken, ...
    assert np.isclose(np.sum(shaped("#####/#pV.#/#K.n#/#####", "di", "..")), -0.2)  # a cell further from the nurse
    errands = shaped("########/#f..D..#/#n...V.#/########", "rrir", "....")  # debris, then the unknown victim
    assert np.allclose(errands, [0.1, 0.1, 1 - 0.2, 0.1], atol=1e-6)
    spreads = "#######/#nF+..#/#K..fV#/#######"
    assert np.isclose(np.sum(shaped(spreads, "4.", "4.", spread=4)), -2)  # two cells more


def test_only_nurses_treat_and_only_firefighters_clear_and_extinguish():
    played = play("#######/#pV.nf#/#D...E#/#F....#/#######", "ridi" + "20i", ".", "dil")
    assert int(played.last.work[0]) == 0
    assert bool(played.last.known[0])
    assert int(np.sum(played.last.debris)) == 1
    with pytest.raises(InterplayError, match="there is no firefighter"):
        interplay.make("rescue", house="######/#p.Dn#/#VF###/######")


def test_debris_fire_victims_and_tools_block_the_way():
    played = play("#######/#V...n#/#.D..F#/#K...f#/#######", "d", "4.")
    assert int(played.last.cell[0]) == int(played.states.cell[0][0])
    walled = play("#######/#.VnK.#/#..D..#/#p....#/#######", "lrd", ".")
    assert np.all(np.asarray(walled.states.cell[:, 0]) == int(walled.states.cell[0][0]))


def test_two_who_want_one_cell_or_swap_both_stay_and_a_chain_moves():
    meet = play("######/#n.p.#/#..V.#/######", "r", "l")
    assert np.array_equal(meet.last.cell, meet.states.cell[0])
    swap = play("######/#np..#/#..V.#/######", "r", "l")
    assert np.array_equal(swap.last.cell, swap.states.cell[0])
    chain = play("######/#np..#/#..V.#/######", "r", "r")
    assert np.all(np.asarray(chain.last.cell) == np.asarray(chain.states.cell[0]) + chain.game.plan.height)
    blocked = play("#####/#.np#/#V..#/#####", "r", "r")
    assert np.array_equal(blocked.last.cell, blocked.states.cell[0])


def test_tools_are_taken_put_down_and_passed_but_never_doubled():
    played = play("######/#nK.p#/#..V.#/######", "riir" + "4.", ".")
    assert int(played.states.held[2][0]) == 0
    assert int(played.states.held[3][0]) == NOBODY
    assert int(played.states.tool_cell[3][0]) == int(played.states.tool_cell[0][0])


def test_the_text_says_who_is_guarded():
    game = interplay.make("rescue/hallway")
    state = game.init(jax.random.key(3))
    assert "guarded" not in game.render(state)
    guarded = game.render(replace(state, guarding=state.guarding.at[2].set(0)))
    assert [line[0] for line in guarded.splitlines() if f", guarded by {game.seat_names[2]}" in line] == ["0"]


def test_victims_are_hidden_from_those_who_do_not_see_them_and_were_not_told():
    game = interplay.make("rescue/hallway")
    state = game.init(jax.random.key(3))
    for seat in range(3):
        assert "victim" not in game.render(state, seat)
        assert int(jnp.sum(game.observe(state, "knowledge").victims[seat])) == 0
    assert "victim" in game.render(state)
    planes, other = (
        game.observe(game.init(jax.random.key(3), victim_cell=cells), "planes")
        for cells in (state.victim_cell, game.init(jax.random.key(4)).victim_cell)
    )
    assert not np.array_equal(state.victim_cell, game.init(jax.random.key(4)).victim_cell)
    assert np.array_equal(planes, other)
    assert game.encodings["state"].privileged
    assert not game.encodings["knowledge"].privileged


def test_the_start_makes_any_key_give_the_same_house():
    for name in ("cottage", "generated"):
        game = interplay.make(f"rescue/{name}")
        state = game.init(jax.random.key(5))
        again = game.init(jax.random.key(6), **game.start(state))
        assert all(
            np.array_equal(a, b) for a, b in zip(jax.tree_util.tree_leaves(state), jax.tree_util.tree_leaves(again))
        )
        assert interplay.make(game.id, **game.options).id == game.id


def test_generated_houses_can_be_rescued():
    """Every victim has a cell beside it that the team can reach, once debris is cleared and fires are out."""
    from interplay.games.rescue.layouts import flood, neighbours
    from interplay.games.rescue.state import WALL

    game = interplay.make("rescue/generated", danger=1, roles=["nurse", "firefighter", "police", "nurse", "police"])
    init = jax.jit(game.init)
    layouts = set()
    for seed in range(25):
        state = init(jax.random.key(seed))
        terrain, victims = np.asarray(state.terrain), np.asarray(state.victim_cell)
        solid = [*victims, *np.asarray(state.tool_cell), *np.flatnonzero(state.burning)]
        assert len({*solid, *np.asarray(state.cell)}) == len(solid) + game.num_seats
        passable = (terrain != WALL) & ~np.isin(np.arange(len(terrain)), solid)
        reached = flood(passable, [int(state.cell[0])], game.plan.height)
        for cell in solid:
            assert any(reached[c] for c in neighbours(int(cell), game.plan.height))
        layouts.add(terrain.tobytes())
    assert len(layouts) > 3


@pytest.mark.parametrize(
    ("house", "says"),
    [
        ("#####/#nVf#/####", "row 3 has 4 columns, row 1 has 5"),
        ("#####/#nVx#/#####", "row 2, column 4: unknown letter 'x'"),
        ("#####/.nVf#/#####", "row 2, column 1: '.' at the edge"),
        ("#####/#n.f#/#####", "no victim (V) and no place for one"),
        ("#####/#fVf#/#####", "no nurse (n)"),
        ("#####/#nV.#/#####", "1 agents start here"),
        ("########/#nf..#V#/########", "row 2, column 7: no nurse can come beside"),
        ("", "the house is empty"),
    ],
)
def test_a_bad_house_is_told_by_row_and_column(house, says):
    with pytest.raises(InterplayError) as error:
        interplay.make("rescue", house=house)
    assert says in str(error.value)


def test_bad_options_are_told():
    for options, says in (
        ({"victims": 9}, "victims: 9"),
        ({"roles": ["nurse", "cook"]}, "'cook'"),
        ({"roles": ["nurse", "police"]}, "no firefighter to clear"),
        ({"colour": 1}, "unknown option 'colour'"),
    ):
        with pytest.raises(InterplayError, match=says):
            interplay.make("rescue/generated", **options)
    with pytest.raises(InterplayError, match="hidden: 9 victims"):
        interplay.make("rescue/cottage", hidden=9)
    with pytest.raises(InterplayError, match="shape"):
        interplay.make("rescue/cottage").init(jax.random.key(0), cell=[1])


def test_random_play_keeps_the_invariants():
    game = interplay.make("rescue/generated", danger=1, kits=2, roles=["nurse", "firefighter", "police", "nurse"])
    assert is_jax(game)
    actions = jax.random.randint(jax.random.key(1), (400, 4), 0, 6)
    states, steps = roll(game, game.init(jax.random.key(2)), actions)
    cells = np.asarray(states.cell)
    assert all(len(set(row)) == 4 for row in cells.tolist())
    held, lying = np.asarray(states.held), np.asarray(states.tool_cell)
    for tool in range(lying.shape[1]):
        assert np.all((held == tool).sum(axis=1) + (lying[:, tool] >= 0) == 1)
    assert np.all(np.diff(np.asarray(states.work), axis=0) >= 0)
    assert np.all(np.asarray(states.work) <= WORK)
    assert steps.events.shape == (400, 4, len(game.event_names))
    scene = game.scene(jax.tree_util.tree_map(lambda a: a[-1], states), 1)
    assert scene.svg().startswith("<svg")
