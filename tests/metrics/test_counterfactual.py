"""What a partner and a hand-over were worth: against play by hand, with memories as they were, and honest intervals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import interplay
from interplay import api
from interplay.agents.api import Agent, FunctionPlayer, Info, Policy, as_agent
from interplay.agents.basic import masked
from interplay.errors import InterplayError
from interplay.games.overcooked.state import INTERACT, STAY
from interplay.metrics.counterfactual import CounterfactualRollout
from interplay.metrics.counterfactual.metric import worth

# Onions and dishes on the left, pot and hatch on the right: nothing without a hand-over.
PASS = interplay.make("overcooked", layout="XOXPX/D1X2S/XXXXX", orders=["O"], cook_time=1, auto_cook=False, horizon=40)
LETTERS = "NSEW.i"
GIVER, TAKER = "NiEiWi..Ei", ".WW.iNiNi..WiNiEi"  # an onion and a dish over the hatch, a soup at step 17


class Script(Policy):
    """Plays a list of actions. Its memory counts the steps: rebuilt wrongly, it plays the wrong line."""

    lines: jax.Array

    def __init__(self, text):
        self.lines = jnp.array([LETTERS.index(c) for c in text.ljust(64, ".")])

    @property
    def encoding(self):
        return "nothing"

    def init(self, key, seat):
        return jnp.int32(0)

    def act(self, memory, obs, legal, key):
        logits = masked(jnp.where(jnp.arange(6) == self.lines[memory], 0.0, -30.0), legal)
        return memory + 1, self.lines[memory], Info(logits)


class Hesitant(Policy):
    """Plays a script, but starts a pass by chance: at each step it interacts or waits, until it has."""

    odds: float = eqx.field(static=True, default=0.1)

    @property
    def encoding(self):
        return "state"

    def act(self, memory, obs, legal, key):
        action = jnp.where(jax.random.bernoulli(key, self.odds), INTERACT, STAY)
        return memory, action, Info(jnp.where(jnp.arange(6) == action, 0.0, -30.0))


AGENTS = [Agent("giver", Script(GIVER)), Agent("taker", Script(TAKER))]


def measured(game, agents, episodes=1, **options):
    traces = api.play(game, agents, episodes=episodes, seed=3)
    given = {a.name: a for a in map(as_agent, agents)}
    return traces, api.measure(traces, ["counterfactual"], **{"policies": given, "samples": 4} | options)


def by_hand(game, scripts, idle=None, since=0, vanish=None):
    """The score of scripts in which a seat idles from a step on, or what lies on a counter vanishes after a step."""
    state, score = game.init(None), 0.0
    for t in range(game.horizon):
        joint = [LETTERS.index(s[t]) if t < len(s) else STAY for s in scripts]
        if idle is not None and t >= since:
            joint[idle] = STAY
        state, step = game.step(state, np.array(joint, np.int32), None)
        if vanish == t:
            state = type(state)(**vars(state) | {"items": jnp.zeros_like(state.items)})
        score += float(step.reward.sum())
    return score


def test_scripts_really_make_a_soup():
    assert by_hand(PASS, (GIVER, TAKER)) == 20


def test_in_a_forced_kitchen_each_partner_is_worth_every_point():
    _, table = measured(PASS, AGENTS, ways=["partner"])
    assert [(r["giver"], r["value"], r["low"], r["high"]) for r in table] == [(0, 20, 20, 20), (1, 20, 20, 20)]
    assert {r["points_without"] for r in table} == {0.0}


def test_hand_overs_are_worth_what_play_by_hand_says():
    _, table = measured(PASS, AGENTS, ways=["idle", "removed", "kept"])
    given = sorted({(r["gave_t"], r["used_t"], r["object"], r["class"]) for r in table})
    assert given == [(3, 4, "onion_1", "constructive"), (9, 12, "dish_1", "constructive")]
    for row in table:
        t = row["gave_t"]
        without = {
            "idle": lambda t=t: by_hand(PASS, (GIVER, TAKER), idle=0, since=t),
            "removed": lambda t=t: by_hand(PASS, (GIVER, TAKER), vanish=t),
            "kept": lambda t=t: by_hand(PASS, (GIVER[:t] + "." + GIVER[t + 1 :], TAKER)),
        }[row["way"]]()
        assert row["value"] == 20 - without, row


def test_a_gift_that_came_to_nothing_is_worth_nothing():
    """A second onion that the taker picks up for nothing delays no soup here."""
    giver, taker = GIVER + "Wi" + "N.i" + "Ei", TAKER + "W......i"
    _, table = measured(PASS, [Agent("giver", Script(giver)), Agent("taker", Script(taker))], ways=["removed"])
    late = [r for r in table if r["gave_t"] > 15]
    assert [(r["class"], r["value"], r["low"], r["high"]) for r in late] == [("irrelevant", 0.0, 0.0, 0.0)]


def test_memories_are_as_they_were_in_the_middle_of_an_episode():
    [episode] = api.play(PASS, AGENTS, episodes=1, seed=0)
    rollout = CounterfactualRollout(PASS, AGENTS)
    past = rollout.pasts([episode])[0]
    assert past.agreement.tolist() == [1, 1]
    assert past.memories[0][:5].tolist() == [0, 1, 2, 3, 4]
    points = rollout.points([past.snapshot(t) for t in (0, 5, 16, 17)], 2, seed=0)
    assert points.tolist() == [[20, 20], [20, 20], [20, 20], [0, 0]]


def test_chance_in_memories_is_the_chance_they_had():
    """With the keys of the recorded run, even random policies choose again what they chose."""
    game = interplay.make("overcooked/cramped_room", horizon=60)
    agents = [as_agent("random"), as_agent("random")]
    episode = api.play(game, agents, episodes=3, seed=11)[2]
    assert CounterfactualRollout(game, agents).pasts([episode])[0].agreement.tolist() == [1, 1]


@pytest.mark.slow
def test_common_chance_makes_no_difference_where_nothing_differs():
    game = interplay.make("overcooked/cramped_room", horizon=60)
    _, table = measured(game, ["random", "stay"], ways=["partner"], samples=8, policies="registered")
    [idler] = [r for r in table if r["agent"] == "stay"]
    assert (idler["value"], idler["low"], idler["high"]) == (0, 0, 0)


def test_chance_gives_an_interval_that_covers_the_truth():
    """The taker waits at the hatch with a soup and serves with odds 0.1 a step: worth 20 * (1 - 0.9^left)."""
    game = interplay.make("overcooked", layout="XOPX/X12S/XDXX", orders=["O"], cook_time=1, auto_cook=False, horizon=30)
    state = game.init(None)
    ready = type(state)(**vars(state) | {"held": jnp.array([0, 8]), "facing": jnp.array([0, 2])})
    rollout = CounterfactualRollout(game, [as_agent("stay"), Agent("hesitant", Hesitant())])
    [episode] = api.play(game, ["stay", "stay"], episodes=1, seed=0)
    past = rollout.pasts([episode])[0]
    pair = [past.snapshot(20, state=ready), past.snapshot(20, state=ready, idle=[1])]
    told = worth(*rollout.points(pair, 256, seed=5))
    truth = 20 * (1 - 0.9**10)
    assert told["low"] < truth < told["high"]
    assert told["points_without"] == 0


def test_the_interval_is_the_paired_t_interval():
    real, without = np.array([20.0, 40, 20, 60]), np.array([0.0, 20, 20, 20])
    told = worth(real, without)
    expected = stats.ttest_rel(real, without).confidence_interval(0.95)
    assert told["value"] == 20
    np.testing.assert_allclose([told["low"], told["high"]], [expected.low, expected.high])


def test_traces_alone_are_not_enough_and_the_message_says_what_is():
    traces = api.play(PASS, AGENTS, episodes=1, seed=0)
    with pytest.raises(InterplayError, match="needs policies, not traces alone: give policies='registered'"):
        api.measure(traces, ["counterfactual"])
    with pytest.raises(InterplayError, match="none is given for 'taker' in seat 1"):
        api.measure(traces, ["counterfactual"], policies={"giver": AGENTS[0]})
    with pytest.raises(InterplayError, match=r"'taker' here .* is not the one that played in seat 1"):
        api.measure(traces, ["counterfactual"], policies={"giver": AGENTS[0], "taker": Agent("taker", Script("i"))})
    player = Agent("f", FunctionPlayer(lambda seen: 4, "nothing"))
    with pytest.raises(InterplayError, match="'f' is a player"):
        api.measure(traces, ["counterfactual"], policies=[AGENTS[0], player])
    with pytest.raises(InterplayError, match="ways: 'magic'"):
        api.measure(traces, ["counterfactual"], policies="registered", ways=["magic"])


def test_who_stands_in_for_another_is_marked():
    traces = api.play(PASS, AGENTS, episodes=1, seed=0)
    table = api.measure(traces, ["counterfactual"], policies=[AGENTS[0], "stay"], ways=["partner"], samples=2)
    assert set(table.column("stand_ins")) == {"stay"}
    assert all(row["agreement"] < 1 for row in table)
