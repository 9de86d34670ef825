"""Overcooked in symbols: identities carried through counter, pot and plate, equal to the count inside the rollout."""

import jax
import numpy as np
import pytest

import interplay
from interplay import api
from interplay.games.overcooked import lineage
from interplay.games.overcooked.human import human_games
from interplay.games.overcooked.state import OvercookedItem, is_soup
from interplay.games.overcooked.symbolic_domain import OvercookedReader
from interplay.metrics.interdependence import CLASSES, InterdependenceOptions, count, windows
from interplay.symbolic.declare import DomainError
from interplay.symbolic.pddl import export
from interplay.symbolic.read import read, symbolic_trace
from tests.games.overcooked.test_lineage import KITCHENS, kitchen, play

COUNTERS, POTS, BOTH = ("counters",), ("pots",), ("counters", "pots")
BY_COUNTERS = InterdependenceOptions(channels=COUNTERS)
PLAYED = (24, 300)  # episodes, steps; as many as in the tests of lineage, so that programs are shared
KEYS = {letter: n for n, letter in enumerate("NSEW.I")}


def agree(trace, counts) -> None:
    """Every count of the symbolic trace is the vectorised one."""
    seats = range(trace.num_seats)
    for number, channel in enumerate(lineage.CHANNELS):
        found = count(trace, InterdependenceOptions(channels=(channel,)))
        for kind in CLASSES:
            mine = [[v or 0 for v in row] for row in found.matrix(kind)]
            assert mine == np.asarray(getattr(counts, kind)[number]).tolist(), (channel, kind)
        assert [found.num_triggers(s) or 0 for s in seats] == counts.triggers[number].tolist()
        accepted = [sum(t.accepted_t is not None for t in found.triggers if t.seat == s) for s in seats]
        assert accepted == counts.accepted[number].tolist()
        assert list(found.subtasks) == counts.subtasks.tolist()


def scripted(layout: str, *scripts: str, **options):
    game = interplay.make("overcooked", layout=layout, **options)
    length = max(map(len, scripts))
    actions = np.array([[KEYS[a] for a in s.ljust(length, ".")] for s in scripts]).T
    [(states, _)] = play(game, actions[None])
    return read(game, states, actions)


LAYOUT, MENU = "XOXXX/D1X2P/XXXSX", {"orders": ["O"], "cook_time": 2, "auto_cook": False}
# The left chef hands over an onion, then a dish; the right one cooks, plates and serves.
GIVE, COOK = "NIEIWIEI", "....WIEII.WIEISI"


def test_one_soup_by_hand():
    trace = scripted(LAYOUT, GIVE, COOK, **MENU)
    told = [str(a) for s, a in zip(trace.seats, trace.actions) if a.kind != "move"]
    assert told == [
        "fetch(chef_0, onion_1, onions_1_0)",
        "put_down(chef_0, onion_1, counter_2_1)",
        "fetch(chef_0, dish_1, dishes_0_1)",
        "pick_up(chef_1, onion_1, counter_2_1)",
        "put_down(chef_0, dish_1, counter_2_1)",
        "start_soup(chef_1, onion_1, soup_1, pot_4_1)",
        "cook(chef_1, soup_1, pot_4_1)",
        "done(soup_1, pot_4_1)",
        "pick_up(chef_1, dish_1, counter_2_1)",
        "plate(chef_1, dish_1, soup_1, pot_4_1)",
        "serve(chef_1, soup_1, serving_3_2)",
    ]
    found = count(trace)
    assert [(k.giver, k.receiver, k.object, k.kind) for k in found.links] == [
        (0, 1, "onion_1", "constructive"),
        (0, 1, "dish_1", "constructive"),
    ]
    assert found.subtasks == (4, 6)
    assert found.percent_triggered(0) == 50.0


def test_pots_are_counted_when_asked():
    """Both reach the pot: the left chef pots an onion and cooks it, the right one plates and serves it."""
    cook, serve = "WIEI" + "I", "......" + "EIWI" + "SI"
    trace = scripted("XXXXX/O1P2D/XXXSX", cook, serve, orders=["O"], cook_time=2, auto_cook=False)
    assert count(trace, BY_COUNTERS).number("constructive") is None  # they share none
    found = count(trace, InterdependenceOptions(channels=POTS))
    assert [(k.giver, k.receiver, k.object, k.gave.split("(")[0]) for k in found.links] == [
        (0, 1, "soup_1", "cook"),
        (0, 1, "onion_1", "start_soup"),
    ]
    assert {k.kind for k in found.links} == {"constructive"}
    assert count(trace, InterdependenceOptions(channels=BOTH)).number() == 2


@pytest.mark.parametrize("name", sorted(KITCHENS))
def test_random_games_are_counted_alike_in_both_ways(name):
    game = kitchen(name)
    odds = np.array([1, 1, 1, 1, 0.5, 5])
    actions = np.random.default_rng(1).choice(6, size=(*PLAYED, game.num_seats), p=odds / odds.sum())
    reader = OvercookedReader(game)
    for (states, found), joint in zip(play(game, actions)[:12], actions):
        agree(reader.read(states, joint), found.counts)


def what(name: str) -> str:
    return name.rpartition("_")[0]


@pytest.mark.slow
def test_facts_rolled_forward_are_the_facts_of_each_state():
    game = kitchen("four")
    actions = np.random.default_rng(2).choice(6, size=(1, 400, 4), p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
    [(states, _)] = play(game, actions)
    reader = OvercookedReader(game)
    trace = reader.read(states, actions[0])
    kinds = {
        OvercookedItem.NOTHING: None,
        OvercookedItem.ONION: "onion",
        OvercookedItem.TOMATO: "tomato",
        OvercookedItem.DISH: "dish",
    }
    for t, facts in trace.states():
        told = [trace.world.fact_of(f) for f in facts]
        held = {f[1]: what(f[2]) for f in told if f[0] == "holding"}
        lying = {f[2]: what(f[1]) for f in told if f[0] in ("on", "in_pot")}
        assert {f[1]: f[2] for f in told if f[0] == "at"} == {
            chef: reader.cells[c] for chef, c in zip(reader.chefs, states.cell[t].tolist())
        }
        for chef, item in zip(reader.chefs, states.held[t].tolist()):
            assert held.get(chef) == ("soup" if is_soup(item) else kinds[OvercookedItem(item)])
        for cell, item in enumerate(states.items[t].tolist()):
            assert lying.get(reader.cells[cell]) == ("soup" if is_soup(item) else kinds[OvercookedItem(item)])
        done = {f[2] for f in told if f[0] == "ready"}
        assert done == {reader.cells[c] for c in np.flatnonzero(states.timer[t] == 0)}


@pytest.fixture(scope="module")
def human():
    """(game, symbolic trace, lineage, score) of every recorded game of two people."""
    found, compiled = [], {}
    for record in human_games():
        options = record.options | {"horizon": 1300}
        if record.layout not in compiled:
            game = interplay.make(record.game_id, **options)
            compiled[record.layout] = game, OvercookedReader(game), jax.jit(lambda s, a, on, g=game: _both(g, s, a, on))
        game, reader, run = compiled[record.layout]
        spare = np.full((1300 - record.length, 2), 4)
        actions = np.concatenate([record.actions, spare]).astype(np.int32)
        states, line = run(game.init(jax.random.key(0), **record.start), actions, np.arange(1300) < record.length)
        states = jax.tree_util.tree_map(lambda a, n=record.length: np.asarray(a)[: n + 1], states)
        line = jax.tree_util.tree_map(np.asarray, line)
        found.append((record.layout, reader.read(states, record.actions), line, record.score))
    return found


def _both(game, start, actions, on):
    def turn(state, chosen):
        after, _ = game.step(state, chosen, None)
        return after, after

    _, states = jax.lax.scan(turn, start, actions)
    states = jax.tree_util.tree_map(lambda a, b: jax.numpy.concatenate([a[None], b]), start, states)
    return states, lineage.track(game.kitchen, start, actions, on)


def test_human_games_are_counted_alike_in_both_ways(human):
    assert len(human) == 76
    for _, trace, line, score in human:
        agree(trace, line.counts)
        assert 20 * len(trace.goals()) == score


def test_forced_coordination_takes_exactly_four_hand_overs_a_soup(human):
    forced = [(count(trace), score / 20) for layout, trace, _, score in human if layout == "forced_coordination"]
    assert len(forced) == 12
    for found, soups in forced:
        assert found.number("constructive") == 4 * soups


def test_other_kitchens_see_few_hand_overs_and_some_none(human):
    per_soup = {}
    for layout in ("counter_circuit", "coordination_ring", "cramped_room"):
        played = [(trace, score) for name, trace, _, score in human if name == layout]
        games = [(count(trace, BY_COUNTERS).number("constructive"), score / 20) for trace, score in played]
        per_soup[layout] = sum(c for c, _ in games) / sum(s for _, s in games)
    assert per_soup["counter_circuit"] > per_soup["cramped_room"] > per_soup["coordination_ring"]
    assert max(per_soup.values()) < 0.5
    for layout, trace, _, _ in human:
        if layout == "asymmetric_advantages":  # the two rooms share pots, but no counter
            assert count(trace, BY_COUNTERS).number("constructive") is None
            assert count(trace, InterdependenceOptions(channels=BOTH)).number("constructive") > 0


def test_rates_stay_in_their_bounds():
    game = kitchen("three")
    actions = np.random.default_rng(4).choice(6, size=(*PLAYED, 3), p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
    reader = OvercookedReader(game)
    for (states, _), joint in zip(play(game, actions)[:12], actions):
        found = count(reader.read(states, joint), InterdependenceOptions(channels=BOTH))
        assert sum(found.number(kind) for kind in CLASSES) == found.number() == len(found.links)
        assert found.number() > 0
        for window in windows(found.horizon):
            adr, density = found.adr(window=window), found.idensity(window=window)
            assert 0 <= adr <= found.adr() <= 1
            assert found.mor(window=window) == 1 - adr
            assert density is None or 0 <= density <= 1
        assert all(0 <= found.percent_triggered(seat) <= 100 for seat in range(3))


def forced_game():
    game = interplay.make("overcooked/forced_coordination")
    [episode] = api.play(game, ["overcooked/greedy"] * 2, episodes=1, seed=0)
    return episode, symbolic_trace(game, episode)


def test_a_whole_game_is_a_valid_plan():
    """400 steps, validated by a library that we did not write."""
    pytest.importorskip("unified_planning", reason="needs the extra `planning`")
    from unified_planning.engines import SequentialPlanValidator
    from unified_planning.engines.results import ValidationResultStatus
    from unified_planning.io import PDDLReader

    episode, trace = forced_game()
    pddl, planner = export(trace), PDDLReader()
    problem = planner.parse_problem_string(pddl.domain, pddl.problem)
    plan = planner.parse_plan_string(problem, pddl.plan)
    assert pddl.problem.count("(served soup_") == episode.score / 20 > 0
    assert len(plan.actions) == len(trace.actions)
    assert SequentialPlanValidator().validate(problem, plan).status == ValidationResultStatus.VALID


def test_a_trace_of_another_game_is_refused():
    ring, circuit = (interplay.make(f"overcooked/{name}") for name in ("coordination_ring", "counter_circuit"))
    actions = np.full((3, 2), 4)
    with pytest.raises(DomainError, match=r"not of overcooked/counter_circuit, .* the trace is of another game"):
        OvercookedReader(circuit).read(
            jax.tree_util.tree_map(lambda a: np.stack([a] * 4), ring.init(jax.random.key(0))), actions
        )
    with pytest.raises(DomainError, match="cannot read 'rescue/cottage'"):
        OvercookedReader(interplay.make("rescue/cottage"))
    two = kitchen("two")
    joint = np.random.default_rng(3).choice(6, size=(*PLAYED, 2), p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
    states, _ = play(two, joint)[0]
    with pytest.raises(DomainError, match=r"needs|by the states|no action put there"):
        OvercookedReader(two).read(states, np.full_like(joint[0], 4))
