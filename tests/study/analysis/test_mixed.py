"""The default models of a study: which random effects they take, that the old ones stay by name, and their power."""

import json

import numpy as np
import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.study.analysis.analysis_list import Ranks, Ratings, Regression
from interplay.study.analysis.mixed import groupings, partner_fit, slope_fit
from interplay.study.analysis.ranks import compare_ranks
from interplay.study.analysis.ratings import compare_partners
from interplay.study.analysis.regress import fit_measure
from interplay.study.analysis.simulated_power import ModelAim, default_analysis, model_needed, model_power
from interplay.study.protocol.reading import parse
from tests.study.analysis.conftest import SMALL
from tests.study.analysis.synthetic import Truth
from tests.study.analysis.test_truth import NOTHING, data_of

PLAN = """
analysis:
  - {kind: ratings, id: liked, of: [q1]}
  - {kind: regression, id: worth, of: [q1]}
  - {kind: ranks, id: ranks, page: order}
"""


def rated(people=30, partners=6, *, repeats=1, liking=0.5, slope=0.0, seed=0):
    rng = np.random.default_rng(seed)
    level, likes, x = rng.normal(0, 0.7, people), rng.normal(0, liking, partners), rng.normal(size=partners)
    rows = []
    for person in range(people):
        for partner in range(partners):
            for _ in range(repeats):
                score = x[partner] + rng.normal()
                value = 4 + level[person] + likes[partner] + slope * score + rng.normal()
                rows.append({"person": person, "partner": f"p{partner}", "game": "one", "value": value, "score": score})
    return rows


def test_repeated_ratings_of_a_partner_are_no_new_pairs():
    assert set(groupings(rated(), partners=True)) == {"person", "partner"}
    assert set(groupings(rated(repeats=2), partners=True)) == {"person", "partner", "person and partner"}
    once = [{**row, "person": k} for k, row in enumerate(rated())]
    assert set(groupings(once, partners=True)) == {"partner"}
    with pytest.raises(InterplayError, match="nobody rated twice"):
        partner_fit(once, model="mixed")


def test_partners_who_are_liked_make_no_slope():
    """The finding that this replaced: by person alone, a third of such studies found a relation that is not there."""
    old = Regression(kind="regression", id="r", of=("q",), model="clustered")
    new = Regression(kind="regression", id="r", of=("q",))
    made = [rated(30, 6, liking=0.8, seed=seed) for seed in range(60)]
    share = {
        part.model: np.mean([fit_measure(rows, "score", part)["p"] < 0.05 for rows in made]) for part in (old, new)
    }
    assert share["clustered"] > 0.2
    assert share["mixed"] < 0.13


def test_a_measure_of_partners_counts_partners():
    rows = [{**row, "known": float(row["partner"][1:])} for row in rated(40, 6)]
    estimate, _ = slope_fit(rows, "known", model="mixed")
    assert estimate.df == pytest.approx(4, abs=0.1)
    two = [row for row in rows if row["partner"] in ("p0", "p1")]
    row = fit_measure(two, "known", Regression(kind="regression", id="r", of=("q",)))
    assert "too few" in row["note"]
    assert row["partners"] == 2


def test_the_slope_its_margin_and_its_bayes_factor():
    part = Regression(kind="regression", id="r", of=("q",), margin=0.3)
    none, much = (fit_measure(rated(60, 8, slope=s, seed=4), "score", part) for s in (0.0, 0.6))
    assert none["p_equivalent"] < 0.01
    assert none["bf10"] < 0.3
    assert much["bf10"] > 100
    assert much["p_equivalent"] > 0.9
    assert much["p_not_worse"] < 0.001
    assert much["slope_low"] < 0.6 < much["slope_high"]
    assert much["within_low"] < 0.6 < much["within_high"]


def test_whether_partners_differ():
    test, pairs = compare_partners(rated(liking=2.0, seed=1), Ratings(kind="ratings", id="r", of=("q",), margin=0.2))
    assert test["p"] < 1e-6
    assert (test["df1"], len(pairs)) == (5, 15)
    assert {"difference_low", "d", "bf10", "p_equivalent"} <= set(pairs[0])
    whole = [{**row, "value": float(np.clip(round(row["value"]), 1, 7))} for row in rated(liking=2.0, seed=1)]
    ordinal, _ = compare_partners(whole, Ratings(kind="ratings", id="r", of=("q",), model="ordinal"))
    assert ordinal["p"] < 1e-4
    assert "sd_residual" in test
    assert "sd_residual" not in ordinal


def test_partial_rankings_are_used():
    test, strengths, pairs = compare_ranks([["a", "b", "c"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["b", "a"]])
    assert test["people"] == 5
    assert [row["partner"] for row in strengths] == ["a", "b", "c"]
    assert len(pairs) == 3
    assert compare_ranks([["a", "b"]])[0]["note"]


def test_the_study_file_chooses_the_model(tiny):
    from interplay.study.analysis.ranks import rank
    from interplay.study.analysis.ratings import rate

    data = data_of(tiny, Truth(NOTHING), 0)
    assert {"differ", "pairs"} <= set(rate(data, Ratings(kind="ratings", id="r", of=("q1",))).tables)
    assert set(rate(data, Ratings(kind="ratings", id="r", of=("q1",), model="means")).tables) == {"ratings", "spread"}
    assert "strengths" in rank(data, Ranks(kind="ranks", id="r", page="order")).tables
    assert "strengths" not in rank(data, Ranks(kind="ranks", id="r", page="order", model="friedman")).tables


def test_power_is_of_the_design_and_the_model_of_the_file():
    protocol = parse(SMALL + PLAN)
    aim = ModelAim(protocol, "liked", 1.0, simulations=60)
    rows = aim.schedule(4)
    assert [sum(r["person"] == k for r in rows) for k in range(4)] == [4, 4, 4, 4]  # two layouts, two partners
    assert {(r["partner"], r["game"]) for r in rows} == {(p, g) for p in "ab" for g in ("one", "two")}
    few, many = model_power(aim, 4)[1], model_power(aim, 24)[1]
    assert many > max(few, 0.9)
    nothing = ModelAim(protocol, "liked", 1e-9, simulations=120)
    assert model_power(nothing, 12)[1] < 0.13
    ranks = ModelAim(protocol, "ranks", 1.5, simulations=60)
    assert {r["partner"] for r in ranks.schedule(2)} == set("abcd")
    assert model_needed(ranks, 4).n <= 24
    with pytest.raises(InterplayError, match="has no such analysis; it has liked, worth, ranks"):
        model_power(ModelAim(protocol, "other", 1.0), 10)
    with pytest.raises(InterplayError, match="no study finds"):
        model_needed(ModelAim(protocol, "liked", 0.0))
    with pytest.raises(InterplayError, match="names no analysis"):
        default_analysis(parse(SMALL))


def test_power_of_a_model_from_the_command_line(tmp_path, capsys):
    file = tmp_path / "tiny.yaml"
    file.write_text(SMALL + PLAN)
    arguments = ["study", "power", "--test", "model", "--study", str(file), "--effect", "1", "--simulations", "250"]
    assert run([*arguments, "--analysis", "liked", "--people", "8", "16", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["people"] for row in rows] == [8, 16]
    assert rows[0]["model"] == "mixed"
    assert run(["study", "power", "--test", "model", "--effect", "1"]) == 2
