"""Required cooperation in search and rescue: known houses, plans played on the rules, bounds that are bounds."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.rescue.relaxed import RelaxedRescue
from interplay.games.rescue.solve import RescueSolver, _RescueSpace
from interplay.games.search import NEVER, SearchResult, search
from interplay.symbolic.certify import certify, prove
from tests.games.rescue.scripts import roll


def house(text, **options):
    return interplay.make("rescue", house=text, **options)


def test_a_firefighter_who_has_to_clear_debris_makes_cooperation_required():
    certificate = certify(house("######/#n.DV#/#f.###/######"))
    assert certificate.verdict == certificate.verdict_unhindered == "required"
    assert [f.why for f in certificate.alone] == [
        "debris or fire blocks this nurse from every victim",
        "only nurses treat victims",
    ]
    # The firefighter walks right and up, faces the debris, clears it, and goes in to report the victim or makes way;
    # the nurse walks in and treats for 60 steps with bare hands.
    assert certificate.together.shortest
    assert 60 + 4 < certificate.together.length < 60 + 10


def test_a_nurse_who_reaches_a_victim_needs_nobody():
    certificate = certify(house("####/#nV#/#pK#/####"))
    assert certificate.verdict == certificate.verdict_unhindered == "not required"
    # She turns, reports, and treats for 60 steps: the kit lies where only the officer can take it.
    assert certificate.alone[0].length == certificate.alone[0].lower == 62
    # With the kit handed up to her: the officer turns, takes it, turns and passes it, while she treats by hand.
    assert certificate.together.shortest
    assert certificate.together.length == 24


def test_a_fire_that_nobody_can_put_out_makes_a_rescue_impossible():
    certificate = certify(house("######/#n.FV#/#f.###/######"))
    assert certificate.verdict == "impossible"
    assert "no extinguisher" in certificate.together.why
    assert certify(house("######/#n.FV#/#fE###/######")).verdict == "required"


def test_a_firefighter_who_can_never_make_way_is_found_out_by_search():
    found = RescueSolver(house("#####/#nfD#/#K#V#/#####")).together()
    assert found.possible is False
    assert "no state within reach" in found.why


def test_a_danger_zone_takes_a_guard():
    assert certify(house("#####/#n!V#/#f###/#####")).verdict == "impossible"
    guarded = certify(house("#####/#n!V#/#p###/#####"))
    assert guarded.verdict == "required"
    assert guarded.alone[0].why == "danger zones without a guard keep this nurse from every victim"


def test_an_idle_teammate_in_the_way_is_told_apart_from_debris():
    certificate = certify(house("######/#.npV#/#..###/######"))
    assert (certificate.verdict, certificate.verdict_unhindered) == ("required", "not required")
    assert certificate.alone[0].why == "idle teammates block this nurse from every victim"


def test_what_does_not_fit_into_an_episode_is_not_possible():
    text = "####/#nV#/#p.#/####"
    assert RescueSolver(house(text, horizon=62)).alone(0).length == 62
    short = RescueSolver(house(text, horizon=61)).alone(0)
    assert short.possible is False
    assert "an episode has 61" in short.why


@pytest.mark.parametrize(
    "text",
    [
        "####/#nV#/#pK#/####",  # a kit is handed on while the nurse already treats
        "######/#nfD.#/#K#V##/######",  # the firefighter has to clear debris, and to make way
        "#####/#fFV#/#En##/#####",
        pytest.param("#####/#nVn#/#K#.#/#####", marks=pytest.mark.slow),  # two nurses at one victim
        "#####/#n!V#/#p#K#/#####",
    ],
)
def test_no_plan_is_shorter_than_the_shortest(text):
    """Against a search over everything the rules allow, with no estimate at all."""
    game = house(text)
    solver = RescueSolver(game)
    joint = np.array(list(itertools.product(range(6), repeat=2)), np.int32)
    space = _RescueSpace(game.rules, solver.state, joint, RelaxedRescue(game.rules, solver.state, (0, 1)))

    def blind(rows):
        found = space.expand(rows)
        return found._replace(estimate=np.zeros_like(found.estimate))  # not even what is impossible is left out

    found = space.solve(solver.effort, game.horizon)  # as `together` does
    exhaustive = search(blind, space.row, 0, limit=200_000, batch=space.batch)
    assert found.shortest
    assert exhaustive.way is not None
    assert len(exhaustive.way) == found.length


def test_a_search_that_is_cut_short_gives_bounds_and_says_so():
    game = interplay.make("rescue/cottage")
    cut = RescueSolver(game, effort=20_000).together()
    assert cut.lower <= 32
    assert cut.length is None or cut.length >= 32


def test_a_plan_that_does_not_work_is_never_believed():
    game = house("####/#nV#/#pK#/####")
    with pytest.raises(InterplayError, match="does not reach the goal"):
        prove(game, RescueSolver(game), SearchResult(actions=np.full((4, 2), 4), lower=4))


@pytest.mark.parametrize(
    ("name", "verdict", "alone", "together"),
    [
        pytest.param("rubble", "required", None, 30, marks=pytest.mark.slow),
        pytest.param("cottage", "not required", 36, 32, marks=pytest.mark.slow),
        pytest.param("hallway", "not required", 32, 29, marks=pytest.mark.slow),
    ],
)
def test_the_shipped_houses(name, verdict, alone, together):
    game = interplay.make(f"rescue/{name}")
    certificate = certify(game)
    assert certificate.verdict == verdict
    assert certificate.alone[0].length == alone
    assert certificate.together.length == certificate.together.lower == together
    states, _ = roll(game, game.init(jax.random.key(0)), certificate.together.actions)
    assert np.sum(states.treated_by[-1] >= 0) == 1
    assert not np.any(states.treated_by[-2] >= 0)


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("rubble", [0, 3]),
        pytest.param("cottage", [10, 10], marks=pytest.mark.slow),
        pytest.param("hallway", [10, 20], marks=pytest.mark.slow),
    ],
)
def test_whether_a_nurse_can_do_it_alone_by_where_the_victims_lie(name, reached):
    """In how many of all placements the nurse can come to one while the others stand idle."""
    game = interplay.make(f"rescue/{name}")
    state = game.init(jax.random.key(0))
    idle = tuple(int(c) for c in state.cell[1:])
    found = []
    for cells in itertools.combinations(sorted(game.plan.house.places), game.plan.hidden):
        start = game.init(jax.random.key(0), victim_cell=jnp.array(cells))
        found.append(int(jax.jit(RelaxedRescue(game.rules, start, (0,), idle).estimate)(start)) < NEVER)
    assert [sum(found), len(found)] == reached
