"""`interplay paper zsc`: figures and tables hold what the data hold; the converter takes the right best responses."""

import json

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.papers.zsc import figures, printed
from interplay.papers.zsc.convert import convert
from interplay.papers.zsc.data import METHODS, load, published
from interplay.stats import spearman


def test_published_ranges_stand_beside_ours():
    rows = {(r["layout"], r["method"]): r for r in figures.figure4(["coordination_ring", "asymmetric_advantages"])}
    assert len(rows) == 2 * (len(METHODS) + 1)
    mep = rows["coordination_ring", "MEP"]
    assert (mep["published_low"], mep["published_high"]) == (min(published("coordination_ring")["mep"]), 0.751)
    assert mep["low"] < mep["br_prox"] < mep["high"]
    assert rows["asymmetric_advantages", "HSP"]["published_low"] is None  # its public table does not exist
    assert rows["coordination_ring", "greedy"]["br_prox"] > 0.5


def test_dead_seeds_are_counted_in_figure_5():
    rows = {(r["layout"], r["method"]): r for r in figures.figure5(["counter_circuit_multi"])}
    trajedi = rows["counter_circuit_multi", "TrajeDi"]
    assert (trajedi["seeds"], trajedi["dead"], trajedi["br_prox"]) == (0, 3, None)


def test_subsets_by_br_div_are_at_least_as_diverse_in_best_responses():
    rows = figures.figure2(["counter_circuit"]).rows
    assert [r["size"] for r in rows] == list(range(2, len(rows) + 2))
    for row in rows:
        assert row["by_p_div"] is None or row["by_br_div"] >= row["by_p_div"] - 1e-9
    assert any(row["by_p_div"] is None or row["by_br_div"] > row["by_p_div"] + 0.5 for row in rows)


def test_figure_6_splits_in_both_ways():
    rows = {r["method"]: r for r in figures.figure6(["counter_circuit"])}
    hsp, overall = rows["HSP"], load("counter_circuit").baselines["hsp"]
    assert {"expert", "moderate", "expert_by_response", "moderate_by_response"} <= hsp.keys()
    assert hsp["expert_by_response"] == pytest.approx(overall["br_prox_expert_by_response"])
    assert hsp["partners_that_score_with_themselves"].endswith("of 20")


def test_table_2_has_the_printed_correlations_and_ours():
    rows = figures.table2().rows
    for row in rows:
        if row["whose"] == "printed" and row["evaluated_by"] != printed.HUMAN:
            assert f"{row['spearman']:.2f}" == printed.SPEARMAN[row["layout"], row["evaluated_by"]]
    ours = next(r for r in rows if r["whose"] == "ours" and r["evaluated_by"] == printed.GENERATED)
    human = printed.human_ranks(ours["layout"])
    assert ours["spearman"] == spearman([human[m] for m in figures.RANKED], [ours[m] for m in figures.RANKED]).r


def test_table_9_shares_add_up():
    for row in figures.table9().rows:
        total = sum(row[str(k)] for k in range(1, 8))
        assert total == pytest.approx(100, abs=0.2) or (row["whose"] == "ours" and total < 100)  # dead ones have none


def test_football_tables_are_the_printed_ones():
    assert next(r for r in figures.table3() if r["method"] == "hsp")["printed_value"] == 0.80
    assert next(r for r in figures.table10() if r["method"] == "sp")["printed_value"] == 0.09
    assert [r["br_prox"] for r in figures.table11().rows[:4]] == [0.60, 0.60, 0.58, 0.66]


def repository(folder, *, candidates=(7, 3)):
    """Made-up files in the repository's form: two partners, candidates 7 and 3, whose best responses differ."""
    bias = folder / "random1" / "bias"
    bias.mkdir(parents=True)
    for candidate in (1, 2, *candidates):
        names = [f"hsp{candidate}_final_w{side}" for side in (0, 1)]
        values = {"-".join(names): 10.0 * candidate, "-".join(reversed(names)): 10.0 * candidate + 1}
        text = {f"{k}-eval_ep_sparse_r": v for k, v in values.items()}
        (bias / f"eval-hsp{candidate}.json").write_text(json.dumps(text | {"either-x-eval_ep_sparse_r": 1}))
    fresh = {f"br_agent-bias{p}_mid-eval_ep_sparse_r": 5.0 + p for p in (1, 2)}
    fresh |= {f"bias{p}_mid-br_agent-eval_ep_sparse_r": 8.0 + p for p in (1, 2)}
    (bias / "eval-br_1.json").write_text(json.dumps(fresh))
    ego = "fcp-S2-s12-4"
    pairs = {f"{ego}-bias{p}_{s}": p + 0.5 for p in (1, 2) for s in ("mid", "final")}
    pairs |= {f"bias{p}_{s}-{ego}": p + 0.25 for p in (1, 2) for s in ("mid", "final")}
    (folder / "random1" / "fcp").mkdir()
    content = {f"{k}-eval_ep_sparse_r": v for k, v in pairs.items()}
    (folder / "random1" / "fcp" / f"eval-{ego}.json").write_text(json.dumps(content))
    return folder


def test_the_converter_takes_the_selected_candidates_best_responses(tmp_path):
    rows = convert(repository(tmp_path), "random1", (7, 3))
    assert len(rows) == 8
    of = {(r["partner"], r["skill"], r["ego_seat"]): r for r in rows}
    assert of[1, "final", 0]["best_response_return"] == 71.0  # candidate 7, its response in the first seat
    assert of[1, "final", 1]["best_response_return"] == 70.0
    assert of[2, "final", 1]["best_response_return"] == 30.0
    assert of[2, "mid", 0]["best_response_return"] == 7.0
    assert {(r["algorithm"], r["population"], r["seed"]) for r in rows} == {("fcp", "12", 4)}
    assert of[1, "final", 0]["return"] == 1.5


def test_what_is_missing_is_told(tmp_path):
    with pytest.raises(InterplayError, match="eval/results"):
        convert(tmp_path, "random1")
    folder = repository(tmp_path)
    with pytest.raises(InterplayError, match="which candidates are partners of kitchen"):
        convert(folder, "kitchen")
    with pytest.raises(InterplayError, match="no such file"):
        convert(folder, "random1", (7, 99))
    with pytest.raises(InterplayError, match="no best response to bias2_final"):
        convert(folder, "random1", (7,))


@pytest.mark.slow
def test_figure_3_places_every_partner():
    points = figures.figure3("coordination_ring", episodes=1)
    kinds = {row["kind"] for row in points}
    assert kinds == {"generated", "people", "self_play", "chefs"}
    assert np.all(np.isfinite([row["first"] for row in points]))
    assert {row["kind"] for row in figures.spread_of(points)} == kinds
