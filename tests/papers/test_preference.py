"""The preference paper's pool, Table 3, Table 5, figures and senses of G2, on a small pool of rule bots."""

from __future__ import annotations

import json
import math

import jax
import numpy as np
import pytest
from scipy import stats as scipy_stats

import interplay
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.hanabi.state import DISCARD
from interplay.metrics.hanabi.agent_pool import wide
from interplay.papers.preference import agent_pool as pool
from interplay.papers.preference import published
from interplay.papers.preference.figures import _drawable, figures
from interplay.papers.preference.g2_senses import NEAREST, OURS, SENSES, g2_senses, nearest_rows, sense_shares
from interplay.papers.preference.table5 import bare, simulated_ratings, table5
from interplay.table import Table

BOTS = ("random", "hanabi/holmes", "hanabi/smart")


@pytest.fixture(scope="module")
def games():
    return pool.play_pool(BOTS, episodes=3, seed=1)


@pytest.fixture(scope="module")
def table(games):
    return pool.pool_table(games)


@pytest.fixture(scope="module")
def ratings(games):
    return simulated_ratings(games, people=60, seed=0)


def test_the_pool_keeps_points_and_plays_every_seating(games):
    assert len(games) == 9 * 3
    assert all(episode.options == {"bomb": "keep"} for episode in games)
    by_team = {tuple(i.name for i in e.agents) for e in games}
    assert by_team == {(a, b) for a in BOTS for b in BOTS}


def test_table3_stands_beside_the_published_values_with_intervals(games, table):
    rows = pool.table3(table)
    cell = {(r["agent"], r["metric"]): r for r in rows}
    own = [e.score for e in games if [i.name for i in e.agents] == ["hanabi/holmes"] * 2]
    holmes = cell["HolmesBot", "self_play"]
    assert holmes["value"] == pytest.approx(np.mean(own))
    assert len(set(own)) > 1
    low, high = scipy_stats.t.interval(0.95, len(own) - 1, np.mean(own), np.std(own, ddof=1) / math.sqrt(len(own)))
    assert (holmes["low"], holmes["high"]) == pytest.approx((low, high))
    assert (holmes["published"], holmes["published_spread"], holmes["n"]) == (20.684, 2.667, 3)
    assert cell["HolmesBot", "intra_xp"]["value"] is None  # a rule bot has no other runs
    with_others = [e.score for e in games if {"hanabi/smart"} < {i.name for i in e.agents}]
    assert cell["SmartBot", "inter_xp"]["value"] == pytest.approx(np.mean(with_others))
    assert cell["SmartBot", "inter_xp"]["n"] == 2  # algorithms, not games
    both = next(row for row in wide(table) if row["agent"] == "random")
    assert cell["RandomBot", "ic"]["value"] == both["ic_corrected"] != both["ic"]
    assert cell["RandomBot", "ic_plug_in"]["value"] == both["ic"]
    assert "points kept after the third bomb" in rows.title
    printed = pool.as_printed(rows)
    assert [row["agent"] for row in printed] == ["RandomBot", "HolmesBot", "SmartBot"]
    assert printed.rows[1]["self_play"] == f"{np.mean(own):.1f} / 20.7"


def test_the_paper_prints_what_the_table_says():
    theirs = published.table3()
    assert len(theirs) == 8
    assert set(pool.AGENTS) | set(pool.MISSING) == set(theirs)
    assert theirs["OBL4"]["self_play"] == (24.168, 1.215)
    assert theirs["RandomBot"]["intra_xp"] == (None, None)
    assert published.table5()["g2", False] == {"r": 0.058, "slope": 137.098, "p": 0.242}


def test_table5_has_both_samples_and_a_parabola_for_ic(ratings, table):
    rows = {(r["sample"], r["metric"]): r for r in table5(ratings, table)}
    everybody = rows["all", "human_ai_score"]
    x, y = ratings.column("human_ai_score"), ratings.column("rating")
    reference = scipy_stats.linregress(x, y)
    assert everybody["r"] == pytest.approx(reference.rvalue)
    assert everybody["slope"] == pytest.approx(reference.slope)
    assert everybody["published_r"] == 0.350
    left = rows["without RandomBot", "human_ai_score"]
    assert left["n"] == sum(row["agent"] != "RandomBot" for row in ratings)
    assert rows["all", "self_play"]["p_mixed"] > rows["all", "self_play"]["p"]  # three agents, however many ratings


def test_ic_has_a_best_value_where_ratings_have_one(table):
    cells = {r["agent"]: r["value"] for r in pool.table3(table) if r["metric"] == "ic"}
    middle = sorted(cells.values())[1]
    rng = np.random.default_rng(0)
    rows = [
        {"person": f"p{i}", "agent": agent, "game": None, "human_ai_score": rng.normal(),
         "rating": 30 - 90 * (ic - middle) ** 2 + 0.001 * rng.normal()}
        for i in range(20) for agent, ic in cells.items()
    ]  # fmt: skip
    row = next(r for r in table5(Table.of(rows), table) if r["metric"] == "ic" and r["sample"] == "all")
    assert (row["shape"], row["slope"]) == ("parabola", None)
    assert row["peak"] == pytest.approx(middle, abs=0.05)


def test_simulated_ratings_need_agents_of_the_paper():
    with pytest.raises(InterplayError, match="at least 3 are needed"):
        simulated_ratings(pool.play_pool(["random"], episodes=1))


def test_all_figures_are_on_the_page(ratings, table, games):
    html = figures(ratings, table, games, about="simulated", familiarity=[1, 2, 2]).html()
    for number in range(1, 12):
        assert f"Figure {number}:" in html


def test_two_values_are_no_panel():
    rows = [{"ic": 0.1}, {"ic": None}, {"ic": 0.3}]
    assert not _drawable(rows, "ic")
    assert _drawable([*rows, {"ic": 0.2}], "ic")


def test_senses_of_g2_are_the_metric_and_counts_by_hand(games, table):
    shares = sense_shares(games)
    rows = [r for r in table.where(metric="g2", known="public", over="pairing") if r["agent"] == "random"]
    for row in rows:
        assert shares["random"][row["partner"]][SENSES.index(OURS)] == pytest.approx(row["value"])
    # Cards that are truly dead or laid cannot be more often discarded than cards are discarded at all.
    world = pool.make(pool.GAME[0], **pool.GAME[1])
    kinds = world.rules.moves.kind
    discards = {}
    for episode in games:
        for seat, identity in enumerate(episode.agents):
            mine = np.asarray(episode.actions)[seat::2, seat]
            pair = (identity.name, episode.agents[1 - seat].name)
            discards.setdefault(pair, []).append(float(np.mean(kinds[mine] == DISCARD)) if len(mine) else 0.0)
    for agent, parts in shares.items():
        for partner, share in parts.items():
            most = np.mean(discards[agent, partner])
            truth = share[SENSES.index(("discard", "unplayable", "truth"))]
            assert share[SENSES.index(NEAREST)] <= truth + 1e-9 <= most + 2e-9


def test_senses_of_g2_are_ranked_by_their_distance(games):
    rows = g2_senses(games)
    assert len(rows) == len(SENSES) == 48
    errors = rows.column("error")
    assert errors == sorted(errors)
    row = next(r for r in rows if r["ours"])
    gaps = [row[name] - published.table3()[name]["g2"][0] for name in ("RandomBot", "HolmesBot", "SmartBot")]
    assert row["error"] == pytest.approx(math.sqrt(np.mean(np.square(gaps))))
    nearest = {r["agent"]: r for r in nearest_rows(games)}
    by_name = next(r for r in rows if (r["move"], r["card"], r["known by"]) == NEAREST)
    assert nearest["SmartBot"]["value"] == pytest.approx(by_name["SmartBot"])
    assert nearest["SmartBot"]["published"] == 0.008
    with pytest.raises(InterplayError, match="none of the paper's own agents"):
        g2_senses(pool.play_pool(["hanabi/value"], episodes=1))


def test_commands_read_a_saved_pool(games, tmp_path, capsys):
    games.save(tmp_path / "pool")
    assert run(["paper", "preference", "table3", "--traces", str(tmp_path / "pool"), "--out", str(tmp_path / "p.json"),
                "--json"]) == 0  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    assert printed["scoring"] == "points kept after the third bomb"
    assert {"g2", "g2_nearest", "ic_plug_in"} <= {row["metric"] for row in printed["rows"]}
    measures = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert set(measures[0]) == {"agent", "measure", "value"}  # what `study analyse --objective` reads


def test_any_score_allows_what_only_changes_the_score():
    keep = interplay.make("hanabi/2p", bomb="keep")
    name = "greedy:trained/hanabi/2p/op-1"
    with pytest.raises(InterplayError, match="any_score:NAME"):
        interplay.play(keep, [name, name], episodes=1)
    free = f"any_score:{name}"
    assert bare(free) == "trained/hanabi/2p/op-1"
    kept = interplay.play(keep, [free, "random"], episodes=4, seed=3)
    assert any(0 < e.score < 25 and e.length < 50 for e in kept)  # ended by bombs, and the points stand
    weights = [jax.tree_util.tree_leaves(interplay.agent(one).policy.core) for one in (free, name)]
    for one, other in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, other)
    other = interplay.make("hanabi/2p", bomb="keep", lives=2)
    with pytest.raises(InterplayError, match="any_game"):
        interplay.play(other, [free, free], episodes=1)


def test_titles_of_tables_say_how_games_were_scored(games):
    rule = "points kept after the third bomb"
    assert set(interplay.measure(games, ["score"]).where(metric="score").column("scoring")) == {rule}
    assert set(interplay.measure(games, ["crossplay"]).column("scoring")) == {rule}
    zero = interplay.play("hanabi/2p", ["random", "random"], episodes=2)
    from interplay.api import team_scores

    assert team_scores(zero).rows[0]["scoring"] == "points lost after the third bomb"
    assert team_scores(games).rows[0]["scoring"] == rule
    kitchen = interplay.play(interplay.make("overcooked/cramped_room", horizon=5), ["stay", "stay"], episodes=1)
    assert "scoring" not in team_scores(kitchen).columns
    assert isinstance(team_scores(kitchen), Table)
