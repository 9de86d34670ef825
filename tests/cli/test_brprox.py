"""`interplay brprox` as a user runs it."""

import json
import os
from pathlib import Path

import pytest

from interplay.cli.main import run
from tests.glossary import all_columns_explained  # noqa: F401

TABLE = """algorithm,population,seed,partner,skill,ego_seat,return,best_response_return
""" + "\n".join(
    f"{algorithm},{population},{seed},{partner},{skill},{seat},{base + seed + 3 * partner},{30 if partner else 0}"
    for algorithm, population, base in (("sp", "", 2), ("fcp", 12, 8), ("mep", 12, 20), ("hsp", 24, 26))
    for seed in (1, 2, 3)
    for partner in (0, 1, 2)
    for skill in ("mid", "final")
    for seat in (0, 1)
)
FAST = ["--replicates", "200"]


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE + "\n")
    return str(file)


def test_json_has_both_ways_of_counting_and_the_offenders(table, capsys):
    assert run(["brprox", table, "--json", *FAST]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {(r["algorithm"], r["population"]): r for r in found["rows"]}
    assert set(rows) == {("sp", None), ("fcp", 12), ("mep", 12), ("hsp", 24)}
    best = rows["hsp", 24]
    assert best["low"] <= best["iqm"] <= best["high"]
    assert best["honest_low"] <= best["honest_iqm"] <= best["honest_high"]
    assert (best["rank"], best["n"], best["n_excluded"], best["n_seeds"], best["n_partners"]) == (1, 36, 12, 3, 3)
    # 26 + seed + 3 partner above 30: seeds 2, 3 with partner 1, all three with partner 2; two skills, two seats
    assert best["n_above"] == len(best["above"]) == 20
    assert {(p["seed"], p["partner"]) for p in best["above"]} == {(2, 1), (3, 1), (1, 2), (2, 2), (3, 2)}
    assert {p["beyond_noise"] for p in best["above"]} == {None}
    assert {(e["partner"], e["ego_seats"]) for e in found["excluded"]} == {(0, "0"), (0, "1")}
    assert found["split_by"] == "best_response_return"


def test_ranks_given_ranks_and_a_page(table, tmp_path, capsys):
    ranks, page = tmp_path / "ranks.csv", tmp_path / "page" / "report.html"
    ranks.write_text("algorithm,rank\nhsp,1\nmep,2\nfcp,3\nsp,4\n")
    arguments = ["brprox", table, "--ranks", "--human", str(ranks), "--out", str(page), *FAST]
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {r["spearman"] for r in found["human"]} == {1.0}
    assert {r["measure"] for r in found["ranks"]} == {"compatible", "honest", "return"}
    assert len(found["agreement"]) == 3
    html = page.read_text()
    for words in ("Above the best response", "Best responses without a return", "Ranks under each measure"):
        assert words in html
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert "honest_iqm" in shown.out
    assert "by compatible" in shown.out
    assert "does not hold the partners&#39;" in html or "does not hold the partners" in shown.err


def test_several_tables_are_layouts(table, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text(Path(table).read_text())
    assert run(["brprox", table, str(other), "--json", *FAST]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [r["layout"] for r in rows] == ["other"] * 4 + ["table"] * 4
    assert run(["brprox", table, str(other), "--human", "counter_circuit", *FAST]) == 2
    assert "one layout" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a table"),
        (["nowhere.csv"], "no such file"),
        (["{table}", "--human", "kitchen"], "published for coordination_ring, counter_circuit"),
        (["{table}", "--human", "{table}"], "columns needed are algorithm and rank"),
        (["{table}", "--propagate"], "without spread"),
        (["{table}", "--replicates", "5"], "too few"),
        (["{table}", "--method", "magic"], "unknown method 'magic'"),
        (["{table}", "--level", "95"], "level must lie strictly between 0 and 1"),
        (["{table}", "--seats", "1"], "different seats from 0 of 1"),
    ],
)
def test_what_cannot_be_done_is_said(table, capsys, arguments, message):
    assert run(["brprox", *(a.format(table=table) for a in arguments)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err


@pytest.mark.skipif("INTERPLAY_DATA" not in os.environ, reason="INTERPLAY_DATA is not set: it names the data folder")
def test_the_public_results_work_as_they_are(capsys):
    file = Path(os.environ["INTERPLAY_DATA"]) / "zsc_eval" / "random0.csv.gz"
    assert run(["brprox", str(file), "--json", *FAST]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {(r["algorithm"], r["population"]): r for r in found["rows"]}
    assert len(rows) == 17
    assert round(rows["fcp", 24]["iqm"], 3) == 0.865
    assert round(rows["sp", None]["iqm"], 3) == 0.849
    assert round(rows["sp", None]["honest_iqm"], 3) == 0.666
