"""The paper's tables: what stands in them for teams whose answer is known, and the printed figures digit for digit."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.metrics.interdependence import Window
from interplay.papers.interdependence.published import METRICS, PRINTED, SETTINGS, published
from interplay.papers.interdependence.tables import (
    HandOverCounts,
    best_teams,
    by_channel,
    correlations,
    count_hand_overs,
    over_episode,
    over_session,
    sections,
    summary,
)
from interplay.reports import Report
from interplay.table import Table
from interplay.traces import TraceSet
from tests.glossary import all_columns_explained  # noqa: F401
from tests.reports.report_helpers import Page

PASSER, RECEIVER = "overcooked/onion_passer", "overcooked/onion_receiver"
GAME = "overcooked/counter_circuit"


@pytest.fixture(scope="module")
def joint():
    return count_hand_overs(interplay.play(GAME, [PASSER, RECEIVER], episodes=3, seed=0), partner=PASSER)


@pytest.fixture(scope="module")
def ignored():
    return count_hand_overs(interplay.play(GAME, ["stay", PASSER], episodes=2, seed=0), partner=PASSER)


def episode(**changes):
    kept = {
        "layout": "counter_circuit", "agent": "a", "partner": "b", "seat_of_agent": "0", "episode": 0, "index": 0,
        "channel": "counters", "soups": 2, "task_reward": 40.0, "int_cons": 3, "int_non_cons": 1, "looping": 0,
        "irrelevant": 1, "reciprocal": 0, "pct_trig_tot_sub": 50.0, "pct_trig_not_accepted": 25.0,
        "pct_trig_parked": 10.0, "pct_trig_ignored": 15.0,
    }  # fmt: skip
    return kept | changes


def trigger(**changes):
    kept = {"layout": "counter_circuit", "agent": "a", "partner": "b", "seat_of_agent": "0", "episode": 0, "index": 0}
    return kept | {"channel": "counters", "t": 0, "length": 300, "waited": 5} | changes


def test_the_joint_policy_hands_over_three_onions_a_soup(joint):
    assert set(joint.episodes.column("agent")) == {RECEIVER}
    assert set(joint.episodes.column("partner")) == {PASSER}
    assert set(joint.episodes.column("seat_of_agent")) == {"1"}
    for row in joint.episodes:
        assert row["soups"] == row["task_reward"] / 20 > 5
        assert row["int_cons"] == 3 * row["soups"]


def test_a_partner_who_stays_accepts_nothing_and_reaches_no_bound(joint, ignored):
    [row] = summary(ignored.episodes, coop=joint.episodes)
    assert row["agent"] == "stay"
    assert row["setting"] == "Non-RC"
    assert row["pct_trig_not_accepted"] == 100
    assert row["int_cons"] == row["int_cons_coop_matched"] == 0  # no soup, so nothing to match
    assert row["int_cons_coop"] == np.mean(joint.episodes.column("int_cons"))
    assert ignored.triggers.column("waited") == [None] * len(ignored.triggers)


def test_the_agent_under_test_is_judged_by_its_partners_triggers(joint):
    """Seen from the other side, the receiver is the partner, and it offers nothing."""
    traces = interplay.play(GAME, [PASSER, RECEIVER], episodes=3, seed=0)
    other = count_hand_overs(traces, partner=RECEIVER)
    assert set(other.episodes.column("agent")) == {PASSER}
    assert set(other.episodes.column("pct_trig_tot_sub")) == {0.0}
    assert set(other.episodes.column("pct_trig_not_accepted")) == {None}
    assert len(other.triggers) == 0
    assert other.episodes.column("int_cons") == joint.episodes.column("int_cons")
    by_metric = interplay.measure(traces, ["interdependence"]).where(seat=0, window="unlimited")
    told = by_metric.where(metric="percent_not_accepted").column("value")
    assert joint.episodes.column("pct_trig_not_accepted") == pytest.approx(told)


def test_people_hand_over_four_things_a_soup_where_they_must():
    from interplay.traces.importers.overcooked_ai import human_episodes

    games = [e for e in human_episodes() if e.game_id.endswith(("forced_coordination", "asymmetric_advantages"))]
    few = [e for e in games if e.index < 2]
    found = count_hand_overs(TraceSet.in_memory(few), channels="each")
    forced = found.episodes.where(channel="counters", layout="forced_coordination")
    assert len(forced) == 2
    assert all(row["int_cons"] == 4 * row["soups"] > 0 for row in forced)
    assert set(forced.column("seat_of_agent")) == {"any"}
    rows = {(r["layout"], r["channel"]): r for r in by_channel(found.episodes)}
    assert rows["forced_coordination", "counters"]["a_soup"] == 4
    assert rows["forced_coordination", "counters"]["least_a_soup"] == 4
    assert rows["asymmetric_advantages", "counters"]["int_cons"] is None  # no shared counter: null
    assert rows["asymmetric_advantages", "counters"]["a_soup"] is None
    assert rows["asymmetric_advantages", "pots"]["a_soup"] > 0


def test_who_is_under_test_has_to_be_told(joint):
    traces = interplay.play(GAME, [PASSER, RECEIVER], episodes=3, seed=0)
    for partner in (None, "human*"):
        with pytest.raises(InterplayError, match="who is under test in the team of overcooked/onion_passer"):
            count_hand_overs(traces, partner=partner)
    everyone = count_hand_overs(traces, partner="overcooked/*")
    assert set(everyone.episodes.column("seat_of_agent")) == {"any"}


def test_means_and_intervals_are_over_episodes_and_nulls_are_left_out():
    rows = [episode(episode=n, int_cons=n, pct_trig_not_accepted=None if n else 80.0) for n in range(5)]
    [row] = summary(Table.of(rows))
    assert row["episodes"] == 5
    assert row["int_cons"] == 2
    assert row["int_cons_low"] < 2 < row["int_cons_high"]
    assert row["pct_trig_not_accepted"] == 80
    assert row["pct_trig_not_accepted_low"] is None  # one value tells nothing of spread
    assert row["int_cons_coop"] is None


def test_the_bound_is_matched_to_the_soups_of_the_team():
    team = Table.of([episode(soups=2), episode(soups=4, episode=1)])
    coop = Table.of([episode(soups=10, int_cons=30), episode(soups=10, int_cons=20), episode(layout="other")])
    [row] = summary(team, coop=coop)
    assert row["int_cons_coop"] == 25
    assert row["int_cons_coop_matched"] == 2.5 * 3


def test_best_teams_are_those_of_the_highest_reward_and_ties_are_averaged():
    rows = [
        episode(task_reward=40, int_cons=9),
        episode(task_reward=60, int_cons=3, episode=1),
        episode(task_reward=60, int_cons=4, episode=2),
        episode(agent="c", task_reward=20, int_cons=1, episode=3),
    ]
    best = {r["agent"]: r for r in summary(best_teams(Table.of(rows)), intervals=False)}
    assert (best["a"]["task_reward"], best["a"]["int_cons"], best["a"]["episodes"]) == (60, 3.5, 2)
    assert (best["c"]["task_reward"], best["c"]["int_cons"]) == (20, 1)
    assert "int_cons_low" not in best["a"]


def test_acceptance_over_an_episode_leaves_out_what_time_did_not_allow():
    rows = [
        trigger(t=10),
        trigger(t=20, waited=None),
        trigger(t=120, waited=50),  # taken, but not within 20 steps
        trigger(t=250, waited=20),
        trigger(t=290, waited=None),  # ten steps before the end nobody can tell
    ]
    found = {r["part"]: r for r in over_episode(Table.of(rows))}
    taken = {part: (row["offers"], row["taken_percent"]) for part, row in found.items()}
    assert taken == {"first third": (2, 50), "middle third": (1, 0), "last third": (1, 100)}
    always = {r["part"]: r["offers"] for r in over_episode(Table.of(rows), window=Window("unlimited", None))}
    assert always["last third"] == 2


def test_acceptance_over_a_session_follows_the_episodes_index():
    rows = [trigger(episode=n, index=n, waited=5 if n >= 3 else None) for n in range(6)]
    found = over_session(Table.of(rows))
    assert [(r["part"], r["taken_percent"]) for r in found] == [
        ("episodes 0 to 1", 0), ("episodes 2 to 3", 50), ("episodes 4 to 5", 100),
    ]  # fmt: skip
    assert [r["part"] for r in over_session(Table.of(rows[:2]))] == ["episode 0", "episode 1"]


def test_reward_against_hand_overs_beside_the_published_r():
    rows = [episode(layout="forced_coordination", task_reward=20 * n, int_cons=4 * n) for n in range(6)]
    rows += [episode(layout="cramped_room", int_cons=0) for _ in range(6)]
    forced, room = correlations(Table.of(rows))
    assert forced["r"] == pytest.approx(1)
    assert forced["published"] == "0.81"
    assert room["r"] is None  # no spread, no correlation
    assert room["published"] is None


def test_sections_show_measured_and_printed_figures_and_every_number_of_a_table(joint, ignored):
    for number, found in ((1, joint + ignored), (2, None), (3, None), (4, joint)):
        made = Report("t", sections(number, found, coop=joint))
        text = made.html()
        Page(text)
        assert "disagrees with itself" in text
        for agent in ("COLE", "MEP", "HSP", "FCP"):
            assert f">{agent}<" in text
        assert ("Measured here" in text) == (found is not None)
    assert "4.425" in Report("t", sections(1, None)).html()
    with pytest.raises(InterplayError, match="tables 1 to 4, not 5"):
        sections(5, None)


def test_counts_of_several_sets_add_up(joint, ignored):
    both: HandOverCounts = joint + ignored
    assert len(both.episodes) == len(joint.episodes) + len(ignored.episodes)
    assert {r["agent"] for r in summary(both.episodes)} == {RECEIVER, "stay"}


@pytest.mark.parametrize("name", PRINTED)
def test_printed_figures_are_those_of_the_paper(name):
    folder = os.environ.get("INTERPLAY_DATA")
    if not folder:
        pytest.skip("INTERPLAY_DATA is not set: the published tables are not at hand")
    with (Path(folder) / "published" / f"s0_table{name}.csv").open() as file:
        expected = {(r["agent"], r["layout"], r["metric"]): r["value"] for r in csv.DictReader(file)}
    found = {
        (r["agent"], SETTINGS[r["layout"]], metric): r[metric]
        for r in published(name)
        for metric in METRICS
        if r.get(metric) is not None
    }
    assert found == expected
