"""Who helped whom inside the compiled rollout: equal to the symbolic count, a slow tracker, and counts by hand."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
from interplay import api
from interplay.games.overcooked import lineage
from interplay.games.overcooked.state import ACTIONS
from interplay.metrics.interdependence import OUTCOMES, InterdependenceOptions, count
from interplay.symbolic.read import read
from interplay.traces import replay_batches
from interplay.traces.importers.overcooked_ai import human_episodes
from tests.games.overcooked import tracker

# Kitchens so small, and soups so simple, that random play delivers, hands over in circles and fills pots together.
SIMPLE = {"orders": ["O", "OO", "OOO"], "cook_time": 1, "auto_cook": False}
KITCHENS = {
    "two": {"layout": "XOXPX/D1X2S/XXXXX", **SIMPLE},
    "three": {"layout": "XPOXX/X1 2D/X 3 S/XXXXX", **SIMPLE},
    "four": {"layout": "XPOTX/X1 2X/S3 4D/XXXXX", **SIMPLE, "orders": ["O", "OT", "OOT"]},
    "by itself": {"layout": "XPOX/S12D/X  X/XXXX", "cook_time": 2},
    "multi": {"variant": "forced_coordination_multi", "times": [1, 1, 1, 1, 1]},
}
DELIVERED = {  # where random play gets as far as that
    "two": {("counters", "constructive")},
    "three": {("pots", "constructive"), ("pots", "irrelevant")},
    "four": {("counters", "constructive"), ("pots", "constructive"), ("pots", "irrelevant")},
}
_programs = {}


def kitchen(name):
    options = dict(KITCHENS[name])
    variant = options.pop("variant", None)
    return interplay.make(f"overcooked/{variant}" if variant else "overcooked", **options)


def play(game, actions):
    """States [step + 1, ...] and the lineage at the end of each of [env, step, seat] actions."""
    if game not in _programs:

        def one(joint):
            start = game.init(jax.random.key(0))

            def turn(state, chosen):
                after, _ = game.step(state, chosen, None)
                return after, after

            _, states = jax.lax.scan(turn, start, joint)
            states = jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), start, states)
            return states, lineage.track(game.kitchen, start, joint)

        _programs[game] = jax.jit(jax.vmap(one))
    states, found = jax.tree_util.tree_map(np.asarray, _programs[game](np.asarray(actions, np.int32)))
    return [jax.tree_util.tree_map(lambda x, i=i: x[i], (states, found)) for i in range(len(actions))]


def tables(game, counts):
    """The counts in the tracker's words."""
    seats, found, triggers, accepted = range(game.num_seats), {}, {}, {}
    for c, channel in enumerate(lineage.CHANNELS):
        for giver in seats:
            for receiver in seats:
                for kind in ("constructive", "looping", "irrelevant"):
                    if number := int(getattr(counts, kind)[c, giver, receiver]):
                        found[channel, giver, receiver, kind] = number
            for table, values in ((triggers, counts.triggers), (accepted, counts.accepted)):
                if number := int(values[c, giver]):
                    table[channel, giver] = number
    return found, triggers, accepted, {s: int(counts.subtasks[s]) for s in seats}


def symbolic(game, states, joint):
    """The domain-agnostic count over the symbolic trace, in the tracker's words."""
    told = count(read(game, states, joint), InterdependenceOptions(channels=lineage.CHANNELS))
    found, triggers, accepted = {}, {}, {}
    for link in told.links:
        key = (link.channel, link.giver, link.receiver, link.kind)
        found[key] = found.get(key, 0) + 1
    for trigger in told.triggers:
        channel = "counters" if trigger.fact.startswith("on(") else "pots"
        triggers[channel, trigger.seat] = triggers.get((channel, trigger.seat), 0) + 1
        if trigger.accepted_t is not None:
            accepted[channel, trigger.seat] = accepted.get((channel, trigger.seat), 0) + 1
    return found, triggers, accepted, dict(enumerate(told.subtasks))


def busy(game, rng, envs, steps):
    """Random actions, half of them interacts."""
    moves = rng.integers(0, 5, (envs, steps, game.num_seats))
    return np.where(rng.random(moves.shape) < 0.5, ACTIONS.index("interact"), moves)


@pytest.mark.parametrize("name", KITCHENS)
def test_three_counts_agree_on_busy_random_play(name):
    game = kitchen(name)
    actions = busy(game, np.random.default_rng(7), 24, 300)
    seen = {}
    for joint, (states, found) in zip(actions, play(game, actions)):
        told = tracker.track(game, states, joint)
        assert tables(game, found.counts) == told == symbolic(game, states, joint)
        for key, number in told[0].items():
            seen[key[0], key[3]] = seen.get((key[0], key[3]), 0) + number
    kinds = {("counters", "looping"), ("counters", "irrelevant")} | DELIVERED.get(name, set())
    assert kinds <= seen.keys(), f"random play on {name} did not exercise {kinds - seen.keys()}"


def outcomes(game, states, joint):
    """What became of the triggers, [outcome][channel, seat], by the symbolic count."""
    told = count(read(game, states, joint), InterdependenceOptions(channels=lineage.CHANNELS))
    table = {name: np.zeros((2, game.num_seats), int) for name in OUTCOMES}
    for trigger in told.triggers:
        table[trigger.outcome][0 if trigger.fact.startswith("on(") else 1, trigger.seat] += 1
    return table


@pytest.mark.parametrize("name", ["two", "four", "by itself"])
def test_parked_things_agree_and_outcomes_add_up(name):
    game = kitchen(name)
    actions = busy(game, np.random.default_rng(3), 24, 300)
    parked = 0
    for joint, (states, found) in zip(actions[:8], play(game, actions)):
        table = outcomes(game, states, joint)
        np.testing.assert_array_equal(table["parked"][0], found.counts.parked[0])
        np.testing.assert_array_equal(sum(table.values()), found.counts.triggers)
        np.testing.assert_array_equal(table["accepted"], found.counts.accepted)
        parked += table["parked"][0].sum()
    assert parked > 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(["two", "three", "four"]))
@settings(max_examples=15, deadline=None)
def test_three_counts_agree_whatever_is_played(seed, name):
    game = kitchen(name)
    actions = busy(game, np.random.default_rng(seed), 24, 300)
    for joint, (states, found) in zip(actions[:3], play(game, actions)):
        assert tables(game, found.counts) == tracker.track(game, states, joint) == symbolic(game, states, joint)


SCRIPTED = [
    ("forced_coordination", ("greedy", "greedy")),
    ("counter_circuit", ("onion_receiver", "onion_passer")),
    pytest.param("coordination_ring", ("greedy+0.4", "greedy+0.4"), marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("layout", "agents"), SCRIPTED)
def test_three_counts_agree_on_scripted_games(layout, agents):
    game = interplay.make(f"overcooked/{layout}")
    traces = api.play(game, [f"overcooked/{a}" for a in agents], episodes=3, seed=1)
    actions = np.stack([e.actions for e in traces])
    assert sum(e.score for e in traces) > 0
    for episode, joint, (states, found) in zip(traces, actions, play(game, actions)):
        assert tables(game, found.counts) == tracker.track(game, states, joint) == symbolic(game, states, joint)
        if layout == "forced_coordination":  # every soup stands on four hand-overs
            assert found.counts.constructive[0].sum() == 4 * episode.score / 20 > 0


@pytest.fixture(scope="module")
def human_games():
    """By layout: every fifth of the 76 games, and every game of forced coordination."""
    layouts = {}
    for number, episode in enumerate(human_episodes()):
        if number % 5 == 0 or episode.game_id == "overcooked/forced_coordination":
            layouts.setdefault(episode.game_id.removeprefix("overcooked/"), []).append(episode)
    assert len(layouts) == 5
    return layouts


HUMAN = [
    "forced_coordination",
    "counter_circuit",
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("cramped_room", "asymmetric_advantages", "coordination_ring")
    ),
]


@pytest.mark.parametrize("layout", HUMAN)
def test_three_counts_agree_on_human_games_and_forced_soups_stand_on_four_hand_overs(layout, human_games):
    game, episodes = interplay.make(f"overcooked/{layout}", horizon=2000), human_games[layout]
    program = jax.jit(jax.vmap(lambda start, a, on: lineage.track(game.kitchen, start, a, on)))
    [batch] = replay_batches(game, [dataclasses.replace(e, options=dict(game.options)) for e in episodes], chunk=64)
    padded = np.zeros((*batch.played.shape, 2), np.int32)
    for i, episode in enumerate(episodes):
        padded[i, : episode.length] = episode.actions
    first = jax.tree_util.tree_map(lambda x: x[:, 0], batch.states)
    counted = jax.tree_util.tree_map(np.asarray, program(first, padded, batch.played))
    for i, (episode, again) in enumerate(zip(episodes, batch.each())):
        mine = jax.tree_util.tree_map(lambda x, i=i: x[i], counted)
        slow = tracker.track(game, again.states, episode.actions)
        assert tables(game, mine.counts) == slow == symbolic(game, again.states, episode.actions)
        if layout == "forced_coordination":
            assert mine.counts.constructive[0].sum() == 4 * episode.score / 20 > 0


def act(game, *script):
    """Joint actions from one string a seat: N S E W move or turn, i interacts, . stays, as all do at the end."""
    letters, length = "NSEW.i", 20  # one length for all scripts, so that they share a program
    return np.array([[[letters.index(s.ljust(length, ".")[t]) for s in script] for t in range(length)]])


PASS = interplay.make("overcooked", layout="XOXPX/D1X2S/XXXXX", orders=["O"], cook_time=1, auto_cook=False)


def counts_of(*script):
    [(_, found)] = play(PASS, act(PASS, *script))
    return found.counts


def test_an_onion_and_a_dish_passed_into_a_soup_are_two_constructive_hand_overs():
    #         onion, put on the hatch, dish, put on the hatch
    giver = "NiEiWi..Ei"
    taker = ".WW" + ".i" + "NiNi" + ".." + "Wi" + "Ni" + "Ei"  # take, pot, start; take the dish, plate, serve
    counts = counts_of(giver, taker)
    assert counts.constructive[0].tolist() == [[0, 2], [0, 0]]
    assert counts.links[0].tolist() == [[0, 2], [0, 0]]
    assert counts.irrelevant.sum() == counts.looping.sum() == 0
    assert counts.triggers[0].tolist() == counts.accepted[0].tolist() == [2, 0]


def test_an_onion_that_comes_back_is_two_loops_and_a_forgotten_one_is_irrelevant():
    counts = counts_of("NiEi..i", "WW..ii.")  # put; taken and put back; taken again
    assert counts.looping[0].tolist() == [[0, 1], [1, 0]]
    assert counts_of("NiEi", "W...i").irrelevant[0].tolist() == [[0, 1], [0, 0]]


def test_the_hand_over_happens_even_within_one_step():
    """Seats act in order: seat 1 takes what seat 0 puts down in the same step."""
    counts = counts_of("NiEi", "W..i")
    assert counts.links[0].tolist() == [[0, 1], [0, 0]]


def test_the_teaming_reward_is_paid_with_the_soup_to_giver_and_receiver():
    game, script = PASS, act(PASS, "NiEiWi..Ei", ".WW.iNiNi..WiNiEi")[0]
    state, past, paid = game.init(None), lineage.begin(2, game.layout.size), []
    follow = jax.jit(lambda p, s, a, j: lineage.follow(game.kitchen, p, s, a, j))
    for joint in script:
        after, step = game.step(state, joint, None)
        now = follow(past, state, after, joint)
        paid.append((float(step.reward.sum()), lineage.teaming_reward(past, now).tolist()))
        state, past = after, now
    assert [p for p in paid if p != (0.0, [0.0, 0.0])] == [(20.0, [2.0, 2.0])]
