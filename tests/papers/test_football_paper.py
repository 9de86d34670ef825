"""ZSC-Eval's football from its public results: the inter-quartile means, the intervals, and what is refused."""

import os
from pathlib import Path

import pytest

from interplay.errors import InterplayError
from interplay.papers import football

HEADER = "algorithm,population,seed,ego_seat,partner_a,partner_b,return,best_response_return"


@pytest.fixture
def table(tmp_path):
    """Two methods, two seeds, two partners of two skills in all ordered pairs and seats."""
    names = [f"bias{i}_{s}" for i in (1, 2) for s in ("mid", "final")]
    rows = [HEADER]
    for method, share in (("hsp", 0.75), ("sp", 0.25)):
        for seed in (1, 2):
            for seat in range(3):
                for a in names:
                    for b in names:
                        best = 0.0 if a == b == "bias1_mid" else 0.4
                        rows.append(f"{method},9,{seed},{seat},{a},{b},{share * 0.4},{best}")
    rows.append("fcp,,1,0,bias1_mid,bias1_mid,0.1,0.0")  # the incomplete run
    path = tmp_path / "football.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_ratios_are_means_over_pairs_of_partners_and_seats(table):
    rows = {r["method"]: r for r in football.comparison(football.br_prox_of(table))}
    assert set(rows) == {"hsp", "sp"}
    assert rows["hsp"]["br_prox"] == pytest.approx(0.75)
    assert rows["sp"]["br_prox"] == pytest.approx(0.25)
    assert rows["sp"]["cells"] == 2 * 3 * 16
    assert rows["sp"]["undefined"] == 2 * 3
    assert rows["hsp"]["published"] == 0.80
    assert rows["hsp"]["inside_published"] is True
    assert rows["sp"]["inside_published"] is False


def test_a_table_of_something_else_is_refused(tmp_path, table):
    other = tmp_path / "other.csv"
    other.write_text("algorithm,seed\nsp,1\n")
    with pytest.raises(InterplayError, match="not the football table"):
        football.public_cells(other)
    table.write_text(table.read_text().replace("bias2_mid", "bias2"))
    with pytest.raises(InterplayError, match="has no skill"):
        football.public_cells(table)


def test_the_public_results():
    """Clipped inter-quartile means over positive best responses, as anyone can compute them from the file."""
    folder = os.environ.get("INTERPLAY_DATA")
    path = Path(folder or ".") / football.FILE
    if folder is None or not path.exists():
        pytest.skip("set INTERPLAY_DATA to the folder that holds zsc_eval/football.csv.gz")
    rows = {r["method"]: r for r in football.comparison(football.br_prox_of(path))}
    expected = {"sp": 0.32, "e3t": 0.41, "fcp": 0.92, "mep": 0.90, "trajedi": 0.92, "hsp": 0.90, "cole": 0.83}
    assert {m: round(r["br_prox"], 2) for m, r in rows.items()} == expected
    assert all(r["cells"] == 324 and r["low"] < r["br_prox"] < r["high"] for r in rows.values())


def test_teams_in_the_light_engine_are_counted():
    team = ["football/passer", "football/shooter", "football/shooter"]
    both = football.in_both_engines({"pass and shoot": [team, team]}, light=20, real=0)
    (row,) = both.methods
    assert row["engine"] == "light"
    assert row["episodes"] == 40
    assert row["goals"] >= row["assist"] > 0
    assert row["constructive"] == row["assist"]  # one pass before each goal, and each is an assist
    assert row["catch"] > row["constructive"]
    assert len(both.teams) == 2
    keepers = ["football/passer", "stay", "stay"]
    (never,) = football.in_both_engines({"nobody shoots": [keepers]}, light=5, real=0).methods
    assert never["goals"] == never["low"] == 0
    assert never["high"] > 0.4  # none of five is not surely none
    assert sum(r["passes"] for r in both.helps) == pytest.approx(100 * row["catch"])
    assert {r["giver"] for r in both.helps} == {"centre"}  # the others never pass
    assert not len(both.carried)  # nothing was played in the real engine


def test_the_order_of_teams_is_compared():
    """The light engine orders teams as the real one does, and agrees with itself; halves of the real one do not."""
    names = ("pass", "catch", "shot", "constructive", "length")
    values, goals = dict.fromkeys(names, 0.0), (0.1, 0.2, 0.3, 0.4)
    each = [values | {"engine": e, "goals": g} for e in ("light", "real") for g in goals]
    halves = [[row, row if row["engine"] == "light" else row | {"goals": -row["goals"]}] for row in each]
    (row,) = football._carried(each, halves)
    assert (row["of"], row["spearman"], row["teams"]) == ("goals", 1.0, 4)
    assert (row["light_with_itself"], row["real_with_itself"]) == (1.0, -1.0)
    assert not football._carried(each[:6], halves[:6])
