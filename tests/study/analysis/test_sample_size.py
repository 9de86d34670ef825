"""Numbers of people: against the exact t tests, against plain simulation with scipy, from pilots."""

import json

import numpy as np
import pytest
from scipy.stats import friedmanchisquare
from scipy.stats import wilcoxon as signed_rank

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.stats import t_test_power
from interplay.study.analysis.sample_size import (
    Aim,
    _friedman_p,
    _friedman_parts,
    _wilcoxon_p,
    curve,
    from_pilot,
    from_rankings,
    needed,
    recruits,
)


def test_t_tests_are_exact():
    """34 pairs for half a standard deviation and 52 for 0.4, as every table of power has it."""
    assert (needed(Aim("paired"), 0.5).n, needed(Aim("paired"), 0.4).n) == (34, 52)
    assert needed(Aim("one_sample", one_sided=True), -0.5).n == 27
    assert needed(Aim("paired", tests=4), 0.5).n > 34
    assert curve(Aim("paired"), 0.5, [34])[0]["power"] == pytest.approx(t_test_power(0.5, 34, kind="paired"))


def test_simulated_p_values_are_scipys():
    rng = np.random.default_rng(0)
    x = np.rint(rng.normal(0.5, 1.5, size=(6, 25)))
    theirs = [signed_rank(row[row != 0], method="approx").pvalue for row in x]
    assert _wilcoxon_p(x, False) == pytest.approx(theirs)
    scores = rng.integers(0, 4, size=(5, 12, 4)).astype(float)
    theirs = [friedmanchisquare(*table.T).pvalue for table in scores]
    assert _friedman_p(_friedman_parts(scores).sum(axis=1)) == pytest.approx(theirs)


def test_without_an_effect_power_is_the_level():
    rng = np.random.default_rng(0)
    p = _friedman_p(_friedman_parts(rng.normal(size=(3000, 30, 5))).sum(axis=1))
    assert 0.035 < np.mean(p < 0.05) < 0.065
    p = _wilcoxon_p(rng.normal(size=(3000, 30)), False)
    assert 0.035 < np.mean(p < 0.05) < 0.065


def test_the_number_has_the_power_and_the_interval_is_of_the_simulation():
    aim = Aim("wilcoxon", simulations=600)
    found = needed(aim, 0.5)
    assert found.low <= 34 * np.pi / 3 <= found.high  # normal differences: 3 / π as good as the t test of 34 pairs
    assert found.low <= found.n <= found.high
    assert found.power >= 0.8
    assert found.power_low < found.power < found.power_high
    assert needed(Aim("wilcoxon", simulations=600, points=1.0), 0.5).n >= found.n  # rounding costs
    ranked = needed(Aim("friedman", partners=7, simulations=600), 1.0)
    rows = curve(Aim("friedman", partners=7, simulations=600), 1.0, [ranked.n // 2, ranked.n, 2 * ranked.n])
    assert rows[0]["power"] < 0.8 <= rows[1]["power"] < rows[2]["power"]


def test_a_pilot_leaves_a_range():
    rng = np.random.default_rng(1)
    told, numbers = from_pilot(Aim("paired"), rng.normal(0.8, 1, 20))
    assert told["effect_low"] < 0.8 < told["effect_high"]
    assert numbers["fewest"].n < numbers["effect"].n < numbers["careful"].n < numbers["most"].n
    assert numbers["effect"].n == needed(Aim("paired"), told["effect"]).n
    told, numbers = from_pilot(Aim("paired"), [-1.0, 1.2, -0.5, 0.9, 0.1])
    assert numbers["most"] is None
    assert numbers["careful"] is None
    down = from_pilot(Aim("paired"), -rng.normal(0.8, 1, 20))[0]
    assert down["effect"] < 0 < down["careful"]
    with pytest.raises(InterplayError, match="tells no effect"):
        from_pilot(Aim("paired"), [1.0, 1.0, 1.0])


def test_rankings_of_a_pilot():
    rng = np.random.default_rng(0)
    scores = rng.normal(np.linspace(0, 1.2, 5), 1.0, size=(14, 5))
    places = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    told, whole, spread = from_rankings(Aim("friedman", simulations=400), places, pilots=15)
    assert told["partners"] == 5
    assert 0 < told["w"] < 1
    assert spread is not None
    assert spread.n == whole.n
    assert spread.low <= whole.n
    assert spread.high is None or spread.high >= whole.n


def test_people_who_leave_and_whole_rounds():
    assert recruits(52, dropout=0.1, orders=16) == 64
    assert recruits(48) == 48
    assert recruits(None) is None
    with pytest.raises(InterplayError, match="dropout"):
        recruits(10, dropout=1.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"test": "anova"}, "one_sample"),
        ({"test": "paired", "power": 1.0}, "between 0 and 1"),
        ({"test": "friedman", "one_sided": True}, "no sides"),
        ({"test": "paired", "points": 1.0}, "wilcoxon only"),
        ({"test": "friedman", "partners": 1}, "partners"),
    ],
)
def test_aims_that_make_no_sense(given, told):
    with pytest.raises(InterplayError, match=told):
        Aim(**given)


def test_no_effect_and_tiny_effects():
    with pytest.raises(InterplayError, match="not 0"):
        needed(Aim("paired"), 0.0)
    with pytest.raises(InterplayError, match="too small"):
        needed(Aim("friedman", simulations=100), 0.001)


def test_the_command(capsys):
    assert run(["study", "power", "--test", "paired", "--effect", "0.4", "--dropout", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["people"] == 52
    assert found["rows"][0]["recruit"] == 58
    assert len(found["curve"]) == 6
    assert run(["study", "power", "--test", "paired"]) == 2
    assert "either --effect" in capsys.readouterr().err
    assert run(["study", "power", "--test", "paired", "--pilot", "nowhere.db", "--rating", "q1"]) == 2
    assert "nowhere.db" in capsys.readouterr().err
