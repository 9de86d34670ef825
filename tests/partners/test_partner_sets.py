"""Sets of partners in a game of three seats, against enumeration: every team's score is an entry of a table."""

import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay import trust
from interplay.agents.api import Agent, Info, Policy
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.api import NOTHING, Step, no_observation
from interplay.games.records import record
from interplay.games.registry import make
from interplay.partners import compare
from interplay.partners.best_responses import Contest, Evaluation
from interplay.partners.build import build
from interplay.partners.config import Build
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.grade import summarise, teams
from interplay.partners.panel import (
    Panel,
    PanelMember,
    PartnerSet,
    Response,
    ReturnEstimate,
    comparison_key,
    ordered_sets,
)
from interplay.partners.panel_file import read_panel, write_panel
from interplay.rollout.engine import run
from interplay.rollout.teams import ego_teams
from interplay.stats import interval_table
from interplay.stats.brprox.summary import br_prox
from interplay.stats.estimators import iqm
from interplay.traces import TraceSet
from interplay.training.algorithms.hsp import pair_plan
from interplay.training.loader import build as read

TABLE = np.random.default_rng(0).integers(0, 10, (3, 3, 3)).astype(np.float32)
TABLE[0, 0, :] = 0  # whoever is beside these two gets nothing in seat 2


@record
class State:
    time: jax.Array


class Payoff:
    """One step; the team's points are the entry of TABLE at the three actions, earned by seat 0."""

    pure = True
    replayable = True
    rules_version = "payoff-1"
    num_seats = 3
    seat_names = ("a", "b", "c")
    action_names = ("0", "1", "2")
    event_names = ("played",)
    encodings = {"nothing": NOTHING}  # noqa: RUF012
    horizon = 1
    options = {}  # noqa: RUF012
    id = "tests.partners.test_partner_sets:Payoff"

    def init(self, key, **start):
        return State(time=jnp.int32(0))

    def start(self, state):
        return {}

    def step(self, state, actions, key):
        points = jnp.asarray(TABLE)[actions[0], actions[1], actions[2]]
        step = Step(
            reward=jnp.array([1.0, 0.0, 0.0]) * points,
            shaped=jnp.zeros(3),
            terminated=jnp.bool_(True),
            truncated=jnp.bool_(False),
            events=jnp.ones((3, 1), jnp.int32),
        )
        return State(time=state.time + 1), step

    def observe(self, state, encoding):
        return no_observation(3)

    def legal(self, state):
        return jnp.ones((3, 3), bool)

    def to_move(self, state):
        return jnp.ones(3, bool)

    def render(self, state, seat=None):
        return "payoff"

    def scene(self, state, seat=None):
        raise NotImplementedError


class Always(Policy):
    """Always takes one action."""

    action: jax.Array

    @property
    def encoding(self):
        return "nothing"

    def act(self, memory, obs, legal, key):
        logits = jnp.where(jnp.arange(3) == self.action, 0.0, -30.0)
        return memory, self.action, Info(logits)


trust.admit([Payoff.id])
GAME = make(Payoff.id)
AGENTS = [Agent(f"p{i}", Always(jnp.int32(i))) for i in range(3)]
STACK = PolicyStack(Always(jnp.arange(3, dtype=jnp.int32)), ("p0", "p1", "p2"))
SETS = ordered_sets(3, 3)


def score(numbers, ego, seat):
    joint = list(numbers)
    joint.insert(seat, ego)
    return float(TABLE[tuple(joint)])


def test_every_team_of_a_set_plays_what_the_table_says():
    played = play_pairs(GAME, STACK, STACK, [(*s, e) for s in SETS for e in range(3)], episodes=2, seed=0)
    expected = [[score(s, e, seat) for seat in range(3)] for s in SETS for e in range(3)]
    assert np.array_equal(played.returns, np.array(expected))
    alone = play_pairs(GAME, STACK, STACK, [(p, 1) for p in range(3)], episodes=2, seed=0)
    assert np.array_equal(alone.returns, np.array([[score((p, p), 1, seat) for seat in range(3)] for p in range(3)]))


def test_a_set_of_the_wrong_size_is_refused():
    with pytest.raises(InterplayError, match="a partner and an ego, or all 3 seats"):
        play_pairs(GAME, STACK, STACK, [(0, 1, 2, 0)], episodes=1, seed=0)
    with pytest.raises(InterplayError, match="2 seats beside the agent; the set has 3"):
        ego_teams(GAME, AGENTS[0], [tuple(AGENTS)])
    with pytest.raises(InterplayError, match="make 100,000,000 sets"):
        ordered_sets(100, 5)


@pytest.fixture(scope="module")
def panel():
    """Partners p0, p1, p2 in all nine ordered sets, with the best responses that a contest finds."""
    contest = Contest(Evaluation(GAME, STACK, 2, 2, 0, sets=tuple(SETS)), least=0.0)
    contest.enter([STACK])
    worth, above = contest.settle()
    assert not above
    responses = contest.responses(worth, above)
    members = [PanelMember(a, "scripted") for a in AGENTS]
    return Panel.of("payoff", members, sets=tuple(PartnerSet(s, r) for s, r in zip(SETS, responses, strict=True)))


def test_best_responses_to_sets_are_those_of_enumeration(panel):
    for beside in panel.sets:
        for seat in range(3):
            best = max(score(beside.numbers, ego, seat) for ego in range(3))
            response = beside.response(seat)
            assert (response.worth.mean if response else 0.0) == best


def test_br_prox_of_sets_is_that_of_enumeration(panel):
    """The ego in each seat with every ordered set: ratios cell by cell, and their inter-quartile mean."""
    ego = AGENTS[2]
    traces = TraceSet.in_memory(run(GAME, teams(GAME, ego, panel), episodes=2, seed=0))
    full = replace(panel, game={"key": comparison_key(GAME)})
    grade = summarise(traces, GAME, ego, full, seed=0)
    assert len(grade.cells) == 27
    expected = []
    for row in grade.cells:
        beside = next(s for s in panel.sets if panel.name_of(s) == row["partner"])
        seat = row["seat_of_agent"]
        best = max(score(beside.numbers, e, seat) for e in range(3))
        own = score(beside.numbers, 2, seat)
        assert row["mean"] == own
        assert row["br_prox"] == (pytest.approx(own / best) if best > 0 else None)
        expected += [own / best] if best > 0 else []
    assert grade.overall.rows[0]["br_prox"] == pytest.approx(iqm(expected))
    assert grade.overall.rows[0]["sets"] == 9


def test_intervals_of_a_grade_and_of_a_comparison_draw_partners_and_not_sets(panel):
    grade = summarise(
        TraceSet.in_memory(run(GAME, teams(GAME, AGENTS[2], panel), episodes=2, seed=0)), GAME, AGENTS[2], panel, 0
    )
    (row,) = grade.overall
    (naive,) = interval_table(
        grade.values, seed=0, value="score", units=["partner"], fixed=["seat_of_agent"], statistic="mean"
    )
    assert row["mean"] == naive["estimate"]
    assert row["mean_low"] < row["mean"] < row["mean_high"]
    assert row["mean_high"] - row["mean_low"] > 1.2 * (naive["high"] - naive["low"])
    both = AGENTS[1:]
    traces = TraceSet.in_memory(run(GAME, compare.teams(GAME, both, panel), episodes=2, seed=0))
    differences = compare.summarise(traces, GAME, both, panel, 0).differences.rows[0]
    by_hand = np.mean([score(s, 1, seat) - score(s, 2, seat) for s in SETS for seat in range(3)])
    assert differences["difference"] == pytest.approx(by_hand)
    assert differences["low"] < differences["difference"] < differences["high"]


def test_two_skills_of_a_partner_are_drawn_together():
    named = [replace(agent("stay"), name=name) for name in ("a.final", "a.mid", "b.final", "b.mid")]
    members = [PanelMember(one, "final", one.name[2:]) for one in named]
    pairs = Panel.of("pairs", members)
    assert [pairs.sampling_levels(beside, 2) for beside in pairs.partner_sets(2)] == [
        {"partner_1": "a", "skill": "final"},
        {"partner_1": "a", "skill": "mid"},
        {"partner_1": "b", "skill": "final"},
        {"partner_1": "b", "skill": "mid"},
    ]
    mixed = pairs.mixed(3)
    drawn = {"partner_1": "a", "partner_2": "b", "skill": "mid|final"}
    assert mixed.sampling_levels(mixed.sets[6], 3) == drawn  # a.mid and b.final


def test_an_interval_holds_each_skill_as_often_as_it_was_played():
    """Two equal partners in two unequal skills leave nothing to chance, for grades and for comparisons."""
    skilled = [("final", AGENTS[0]), ("mid", AGENTS[1])]
    members = [
        PanelMember(replace(one, name=f"{name}.{skill}"), "generated", skill) for name in "ab" for skill, one in skilled
    ]
    chosen, both = Panel.of("skills", members), AGENTS[1:]
    traces = TraceSet.in_memory(run(GAME, teams(GAME, both[1], chosen), episodes=2, seed=0))
    (row,) = summarise(traces, GAME, both[1], chosen, 0).overall
    assert row["mean_low"] == row["mean"] == row["mean_high"]
    traces = TraceSet.in_memory(run(GAME, compare.teams(GAME, both, chosen), episodes=2, seed=0))
    (pair,) = compare.summarise(traces, GAME, both, chosen, 0).differences
    assert pair["low"] == pair["difference"] == pair["high"]


def test_mixed_fills_the_seats_with_every_ordered_set():
    plain = Panel("list", tuple(AGENTS))
    assert [s.numbers for s in plain.partner_sets(3)] == [(0, 0), (1, 1), (2, 2)]
    mixed = plain.mixed(3)
    assert [s.numbers for s in mixed.sets] == SETS
    assert [mixed.name_of(s) for s in mixed.sets][:4] == ["p0", "p0|p1", "p0|p2", "p1|p0"]
    seated = [[i.name for i in t.identities] for t in teams(GAME, AGENTS[2], mixed)]
    expected = [[*s[:seat], 2, *s[seat:]] for s in SETS for seat in range(3)]
    assert seated == [[f"p{i}" for i in row] for row in expected]


@pytest.mark.parametrize("name", ["hanabi/3p", "hanabi/5p"])
def test_other_games_of_many_seats_take_the_same_sets(name):
    game = make(name)
    mixed = Panel("bots", (agent("hanabi/simple"), agent("hanabi/outer"))).mixed(game.num_seats)
    ego = agent("hanabi/smart")
    seated = [[i.name for i in t.identities] for t in teams(game, ego, mixed)]
    assert len(seated) == 2 ** (game.num_seats - 1) * game.num_seats
    assert all(row.count(ego.name) == 1 for row in seated)
    assert len({tuple(row) for row in seated}) == len(seated)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "encoding", "choices"),
    [
        ("overcooked/cramped_room", {"players": 3, "horizon": 20}, "features", {}),
        (
            "hanabi/3p",
            {},
            "hle",
            {"hinted_rank": [-1, 0, 1], "played": [-1, 0, 1], "task": [0, 1]},
        ),  # it declares no preferences of its own
    ],
)
def test_panels_of_other_games_of_three_seats_are_made(tmp_path, name, options, encoding, choices):
    """Preferences, skills, and a best response to every set of partners, trained for a few steps each."""
    config = {
        "game": {"name": name, "options": options},
        **{"candidates": 2, "k": 1, "steps": 640, "response_steps": 640, "snapshots": 2, "closing_rounds": 0},
        **{"mixed": True, "scripted": False, "least_return": -1.0, "choices": choices},
        **dict.fromkeys(("feature_episodes", "trial_episodes", "ruler_episodes"), 2),
        "training": {
            "envs": 16,
            "rollout": 20,
            "network": {"encoding": encoding, "widths": [8]},
            "ppo": {"epochs": 1, "minibatches": 1},
        },
    }
    made = build(read(Build, config, "panel"), tmp_path / "panel", quiet=True)
    assert [m.skill for m in made.members] == ["final", "mid"]
    assert [s.numbers for s in made.sets] == ordered_sets(2, 3)
    assert all(beside.response(seat) is not None for beside in made.sets for seat in range(3))


def test_sets_are_kept_in_the_panels_file(tmp_path):
    game = make("football/keepaway", horizon=5)
    names = ["football/passer", "football/shooter"]
    members = [PanelMember(agent(n), "scripted") for n in names]
    answer = Response(1, members[0].agent, "known", ReturnEstimate(0.5, 0.4, 0.6, 20))
    sets = (PartnerSet((0, 1), (answer,)), PartnerSet((1, 0)))
    write_panel(tmp_path, "mixed", game, members, {"config": {}}, sets)
    back = read_panel(tmp_path, game)
    assert [s.numbers for s in back.sets] == [(0, 1), (1, 0)]
    assert back.sets[0].response(1).worth.mean == 0.5
    assert back.name_of(back.sets[0]) == "football/passer|football/shooter"
    with pytest.raises(InterplayError, match="2 seats beside an ego"):
        write_panel(tmp_path / "other", "mixed", game, members, {}, (PartnerSet((0,)),))


def test_intervals_of_sets_draw_partners_and_not_sets():
    """Sets of few partners are not as many independent ones: the interval must be wider than if they were."""
    rng = np.random.default_rng(0)
    able = rng.normal(0.5, 0.15, 6)
    rows, best = [], []
    for a, b in itertools.product(range(6), repeat=2):
        base = {"partner": f"p{a}|p{b}", "ego_seat": 0}
        best.append(base | {"return": 1.0})
        rows += [base | {"algorithm": "x", "seed": s, "return": (able[a] + able[b]) / 2} for s in range(2)]
    drawn = br_prox(rows, best, seed=0).summary.rows[0]
    renamed = [[r | {"partner": r["partner"].replace("|", " with ")} for r in part] for part in (rows, best)]
    naive = br_prox(*renamed, seed=0).summary.rows[0]
    assert drawn["iqm"] == naive["iqm"]
    assert drawn["high"] - drawn["low"] > 1.5 * (naive["high"] - naive["low"])


def test_pairs_of_more_seats_share_the_seats_in_every_proportion():
    assert pair_plan(2).tables == ((0, 1),)
    assert pair_plan(4).tables == ((0, 1, 1, 1), (0, 0, 1, 1), (0, 0, 0, 1))
