"""Required cooperation by search: known kitchens, plans that are really played, and bounds that are really bounds."""

import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.overcooked.solve import OvercookedSolver
from interplay.games.registry import names
from interplay.games.search import SearchResult
from interplay.symbolic.certify import Certificate, certify, prove, table

QUICK = {"orders": ["O"], "cook_time": 1, "auto_cook": False}


def kitchen(layout, **options):
    return interplay.make("overcooked", layout=layout, **QUICK | options)


def test_a_wall_between_the_stations_makes_cooperation_required():
    certificate = certify(kitchen("XOXPX/D1X2S/XXXXX"))
    assert certificate.verdict == certificate.verdict_unhindered == "required"
    assert [f.why for f in certificate.alone] == [
        "this chef cannot reach a pot or a serving hatch",
        "this chef cannot reach the dishes or the ingredients of any order",
    ]
    assert certificate.together.shortest


def test_a_chef_who_reaches_everything_needs_nobody():
    certificate = certify(kitchen("XOPX/X1 X/XDSX", players=1))
    assert certificate.verdict == "not required"
    # Onion, pot, start, dish, plate, serve: six interacts. Between them: face north, step east and face the pot,
    # step back and face the dishes, return to the pot, face the hatch.
    assert certificate.alone[0].length == certificate.alone[0].lower == certificate.together.length


def test_an_idle_partner_who_stands_in_the_way_is_told_apart_from_a_wall():
    """Chef 2 stands on the only cell beside the dishes."""
    certificate = certify(kitchen("XOPXX/X1 2D/XXSXX"))
    assert [f.possible for f in certificate.alone] == [False, False]
    assert [f.possible for f in certificate.unhindered] == [True, True]
    assert (certificate.verdict, certificate.verdict_unhindered) == ("required", "not required")


def test_a_kitchen_in_which_nothing_can_be_handed_on_is_impossible():
    """Each chef reaches some stations, but no counter lies between them: only the dispenser of onions does."""
    certificate = certify(kitchen("XDXPX/X1O2S/XXXXX"))
    assert certificate.verdict == "impossible"
    assert "no counter links" in certificate.together.why


def test_chefs_who_can_never_swap_places_are_found_out_by_search():
    """Every station is faced by someone, but the two chefs fill the floor."""
    certificate = certify(kitchen("XOPX/X12X/XDSX"))
    assert certificate.verdict == "impossible"
    assert certificate.together.why == "no state within reach leads to a soup"
    assert certificate.verdict_unhindered == "not required"


@pytest.mark.parametrize("layout", ["XOPX/X1 X/X 2X/XDSX", "XOXPX/D1X2S/XXXXX"])
def test_no_plan_is_shorter_than_the_shortest(layout):
    """Against a search without estimates: breadth first over everything the rules allow."""
    game = kitchen(layout)
    found = OvercookedSolver(game).together()
    assert found.shortest
    assert breadth_first(game) == found.length


def breadth_first(game):
    joint = jnp.asarray(list(itertools.product(range(6), repeat=game.num_seats)), jnp.int32)
    expand = jax.jit(jax.vmap(lambda s: jax.vmap(lambda a: game.step(s, a, None))(joint)))

    def rows(states):
        leaves = [np.asarray(x) for x in (states.cell, states.facing, states.held, states.items, states.timer)]
        return np.concatenate([x.reshape(len(leaves[0]), -1).astype(np.int16) for x in leaves], axis=1)

    layer = jax.tree_util.tree_map(lambda x: x[None], game.init(None))
    seen, size = {rows(layer)[0].tobytes()}, 1024
    depth = 0
    while True:
        depth, fresh, count = depth + 1, [], layer.cell.shape[0]
        for first in range(0, count, size):
            at = np.minimum(np.arange(first, first + size), count - 1)
            part = jax.tree_util.tree_map(lambda x, at=at: x[at], layer)
            states, steps = expand(part)
            if bool(np.any(np.asarray(steps.reward) > 0)):
                return depth
            flat = jax.tree_util.tree_map(lambda x: np.asarray(x).reshape(-1, *x.shape[2:]), states)
            keep = []
            for i, row in enumerate(rows(flat)):
                if (name := row.tobytes()) not in seen:
                    seen.add(name)
                    keep.append(i)
            fresh.append(jax.tree_util.tree_map(lambda x, k=tuple(keep): x[list(k)], flat))
        layer = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *fresh)


@pytest.mark.slow
def test_a_search_that_is_cut_short_gives_bounds_and_says_so():
    game = interplay.make("overcooked/forced_coordination")
    full, cut = OvercookedSolver(game).together(), OvercookedSolver(game, limit=1500).together()
    assert full.shortest
    assert cut.lower <= full.length <= cut.length
    assert cut.lower < cut.length
    assert not cut.shortest


def test_a_plan_that_does_not_work_is_never_believed():
    game = kitchen("XOPX/X1 X/XDSX", players=1)
    with pytest.raises(InterplayError, match="does not reach the goal"):
        prove(game, OvercookedSolver(game), SearchResult(actions=np.full((4, 1), 4), lower=4))


def test_what_was_not_decided_is_called_so():
    open_end, none = (
        SearchResult(actions=None, lower=30, why="limit"),
        SearchResult(actions=None, lower=None, why="wall"),
    )
    plan = SearchResult(actions=np.zeros((9, 2), int), lower=5)

    def verdict(alone, together):
        names = {"seat_names": ("a",), "action_names": ("stay",), "game_id": "g", "goal": "all"}
        return Certificate(**names, alone=(alone,), unhindered=(alone,), together=together).verdict

    assert [verdict(none, plan), verdict(open_end, plan), verdict(none, open_end), verdict(none, none)] == [
        "required",
        "undecided",
        "undecided",
        "impossible",
    ]


def test_games_with_hidden_information_need_a_solver_of_their_own():
    with pytest.raises(InterplayError, match=r"hanabi.* cannot be certified: its seats do not see everything"):
        certify(next(n for n in names() if n.startswith("hanabi")))


def test_the_table_has_one_row_a_game():
    found = table([certify(kitchen("XOXPX/D1X2S/XXXXX"))])
    [row] = found.rows
    assert (row["cooperation"], row["alone"], row["joint_optimal"]) == ("required", "none | none", True)


def test_the_command_prints_rows_with_plans(capsys):
    options = ["layout=XOXPX/D1X2S/XXXXX", 'orders=["O"]', "auto_cook=false"]
    assert run(["certify", "overcooked", "--options", *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["who"] for row in told["rows"]][-1] == "all together"
    assert len(told["rows"][-1]["plan"]) == 2
    assert told["certificates"][0]["cooperation"] == "required"
    assert run(["certify"]) == 2
