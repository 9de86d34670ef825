"""The page of learned Hanabi agents, from files as the benchmark's scripts write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interplay.papers.ah2ac2 import page


@pytest.fixture(scope="module")
def study():
    return page


def keep(folder: Path, stage: str, *attempts: dict) -> None:
    (folder / "stages").mkdir(exist_ok=True)
    held = {"kind": "stage", "stage": stage, "attempts": list(attempts)}
    (folder / "stages" / f"{stage}.json").write_text(json.dumps(held))


def row(agent: str, partner: str, seat: int, points: list[int]) -> dict:
    counts = [points.count(p) for p in range(26)]
    return {"agent": agent, "partner": partner, "seat": seat, "n": len(points), "counts": counts,
            "mean": sum(points) / len(points), "sd": 1.0}  # fmt: skip


HOLD = [0, 0.2]


@pytest.fixture
def results(tmp_path):
    line = {"update": 5, "steps": 2e8, "returns": [12.5, 13.0], "steps_per_s": 1_000_000}
    measures = {f"{m}s": [0.1, 0.2, 0.3, None] for m in ("g1", "g2", "g3", "ad_entropy", "ard_entropy", "ic")}
    paid = {"seeds": 2, "variants": {"score only": {}, "dominant": {"g3": 0.2}}}
    earlier = {"config": {"runs": 1}, "curve": [line | {"steps": 1e6, "returns": [1.0]}], "device": "two cores"}
    keep(tmp_path, "op_2p", {"config": {"runs": 2}, "curve": [line], "wall_s": 90.0, "device": "H200"}, earlier)
    options = {"name": "hdr", "options": {"hold": HOLD}}
    held = [line | {"steps": s, "anchor_kls": [2.0, 0.1]} for s in (1e8, 2e8)]
    keep(tmp_path, "hdr_2p", {"config": {"runs": 2, "algorithm": options}, "curve": held, "wall_s": 90.0})
    config = {"runs": 4, "game": {"name": "hanabi/2p"}, "algorithm": {"options": paid}}
    keep(
        tmp_path,
        "metric_rewards_2p",
        {"config": config, "curve": [line | {"returns": [1.0, 2.0, 3.0, 5.0]} | measures]},
    )
    curve = [line | {"steps": s, "returns": [r]} for s, r in ((1e7, 5.0), (1e8, 11.0), (1e9, 17.0))]
    keep(tmp_path, "ippo_ff_2p", {"config": {"runs": 1}, "curve": curve})
    speed = {"configuration": "ff", "flags": "plain", "device": "H200", "update_ms": 20.0}
    speed |= {"steps_per_s": 5_500_000, "times_jaxmarl": 5.0}
    (tmp_path / "speed.json").write_text(json.dumps({"jaxmarl": {"steps_per_s": 1.1e6, "what": "it"}, "rows": [speed]}))
    evaluation(tmp_path)
    crossed(tmp_path)
    return tmp_path


def evaluation(folder: Path) -> None:
    def alone(mean, perfect):
        return {"mean": mean, "se": 0.1, "median": 9.0, "perfect": perfect, "zero": 0.2, "min": 0.0, "games": 5000}

    def share(mean):
        return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}

    def people(loss, accuracy):
        tops = {"top_10_percent": share(accuracy + 0.1), "top_20_percent": share(accuracy + 0.2)}
        return {"cross_entropy": share(loss), "accuracy": share(accuracy)} | tops

    held = {
        "kind": "evaluation",
        "game": "hanabi/2p",
        "self_play": {"bc_2p/3": alone(1.0, 0.0), "hdr_2p/0": alone(9.0, 0.01), "hdr_2p/0.2": alone(7.0, 0.1)},
        "foreseen": {"bc_2p/3": people(1.9, 0.4), "hdr_2p/0": people(3.9, 0.2), "hdr_2p/0.2": people(2.0, 0.35)},
        "ablation": {
            "hdr_2p": {
                "agents": ["bc_2p/3", "hdr_2p/0", "hdr_2p/0.2"],
                "mean": [[1.0, 0.5, 4.0], [0.5, 9.0, 3.0], [4.0, 3.0, 7.0]],
                "games": 200,
            }
        },
    }
    (folder / "evaluation_2p.json").write_text(json.dumps(held))
    told = {"ipp": 0.592, "communicativeness": 0.568}
    clones = {"hdr_2p/0.2": {"ipp": 0.55, "communicativeness": 0.5}}
    alike = {"kind": "likeness", "players": 2, "people": told, "clones": clones}
    (folder / "likeness_2p.json").write_text(json.dumps(alike))


def crossed(folder: Path) -> None:
    points = {("bc-1", "bc-1"): [4], ("op-1", "op-1"): [12], ("op-2", "op-2"): [12], ("op-1", "op-2"): [10, 10]}
    points |= {("op-1", "bc-1"): [2, 8, 8], ("op-2", "bc-1"): [3], ("hanabi/smart", "hanabi/smart"): [20]}
    points |= {(a, "hanabi/smart"): [1] for a in ("bc-1", "op-1", "op-2")}
    rows = []
    for (a, b), games in points.items():
        for first, second in {(a, b), (b, a)}:
            rows += [row(first, second, seat, games) for seat in range(1 if a == b else 2)]
    names = ["bc-1", "op-1", "op-2", "hanabi/smart"]
    agents = [{"name": n, "stage": "op_2p", "run": 0} if n.startswith("op") else {"name": n} for n in names]
    held = {"kind": "crossplay", "players": 2, "agents": agents, "rows": rows, "search": []}
    (folder / "crossplay_2p.json").write_text(json.dumps(held))


@pytest.fixture
def found(study, results):
    return study.load(results)._replace(proxies={2: ["bc-1"], 3: []})


def test_the_page_tells_budgets_matrices_and_published_rows(study, found):
    text = study.page(found)
    assert "| hdr_2p | 2 | 2e8 | 1e10 | 1/50 | 1,000,000 | 90 | – |" in text
    assert "| op_2p | 2 | 2e8 | – | – | 1,000,000 | 90 | H200 |" in text
    assert "| op_2p (another) | 1 | 1e6 |" in text  # no attempt is lost
    assert "| op_2p | 12.50, 13.00 | – | 13.91 | AH2AC2 |" in text
    assert "fcp_2p" not in text  # it was not trained, so nothing is said of it
    assert "| op-1 | 6.0 | **12.0** | 10.0 | 1.0 |" in text
    assert "| dominant | g3 +0.2 | 4.000 ± 1.414 |" in text
    assert "| ff | H200 | 5,500,000 | 20.0 | 5.00 |" in text


def test_the_ablation_has_the_papers_form(study, found):
    text = "\n".join(study.ablation(found, 2))
    assert "| BC | 1.00 ± 0.20 (19.53) | 0 (–) | 1000 (–) | 0 (–) |" in text
    assert "| λ = 0.2 | 7.00 ± 0.20 | 500 (1821) | 1000 (0) | 0 (15) |" in text
    assert "| λ = 0 | 3.900 [3.800, 4.000] (14.770) | 0.200 [0.100, 0.300] (0.327) |" in text
    assert "| λ 0.2 | 4.0 | 3.0 | **7.0** |" in text
    assert "2.000 (λ = 0), 0.100 (λ = 0.2)" in text
    told = "\n".join(study.proxies(found, 2))
    assert "| people of the data | – | – | – | – | 0.59 | 0.57 |" in told
    assert "| λ = 0.2 | 7.00 | 2.00 | 0.35 | 0.45, 0.55 | 0.55 | 0.50 |" in told
    assert "| *human proxy, published* | 22.55 | 1.06 | 0.63 | 0.82, 0.95 | 0.43 | 0.45 |" in told


def test_rows_of_the_challenges_table_pool_games_with_all_proxies(study, found):
    text = "\n".join(study.table5(found))
    assert "| OP | 5.25 | 6 | – | 13.91 | 19 | 7.81 | op-1, op-2 |" in text  # of 2, 8, 8 twice and 3 twice
    assert "| OBL (L4) | – | – | – | 21.04 | 22 | 1.33 | – |" in text


def test_returns_are_read_off_at_the_published_steps(study, found, tmp_path):
    text = "\n".join(study.curves(found))
    assert "| IPPO, feed-forward, 2 players | 5.00 | 11.00 | 17.00 | 17.00 | 1e9 |" in text
    assert "| *JaxMARL, feed-forward, 2 players, published* | – | – | 15.78 | 15.78 | 1e9 |" in text
    assert "| Other-Play, 2 players | 12.75 | 12.75 | – | 12.75 | 2e8 |" in text  # never so far: no number
    made = study.draw(found, tmp_path / "images")
    assert [path.name for path in made] == ["hanabi_learning_curves.svg", "hanabi_hdr.svg"]
    first = made[0].read_text()
    assert "JaxMARL" in first
    study.draw(found, tmp_path / "images")
    assert made[0].read_text() == first  # the same data, the same picture


def test_sentences_are_said_only_where_the_numbers_hold(study, found):
    said = "\n".join(study.findings(found))
    assert "Feed-forward IPPO returns 17.0 after 1e9 steps: more than the 15.78 of JaxMARL" in said
    assert "5.0 times as fast without memory (ff)" in said
    assert "λ = 0.2 (accuracy -0.050, +0.10 nats, score 7.0)" in said  # λ = 0 is beyond the margins
    assert "λ = 0 (accuracy" not in said
    assert "with themselves): op-1, op-2. By themselves: bc-1, hanabi/smart." in said
    together = "op-1 and op-2 make 10.0 ± 1.0 together (4 games; published 23.00"
    assert together in said
    assert "), 12.0 each with itself" in said
    assert "With the proxies of 2 players (bc-1 4.0 with themselves) do best: op-1 6.0, op-2 3.0" in said
    assert "At 2 players, with clones of people (4.0 with themselves), do best: op-1 6.0, op-2 3.0." in said
    people = found.evaluation[2]["foreseen"]
    people["hdr_2p/0.2"]["cross_entropy"]["mean"] = 3.0
    assert "no weight wins more than its clone within the published margins" in "\n".join(study.findings(found))


def test_without_results_nothing_is_claimed(study, tmp_path):
    assert "Nothing has been trained yet" in study.page(study.load(tmp_path))


def test_clones_stand_beside_the_published_ones(study, tmp_path):
    share = {"mean": 1.9, "low": 1.8, "high": 2.0}
    fit = {"cross_entropy": share, "accuracy": {"mean": 0.4, "low": 0.3, "high": 0.5}}
    stage = {"config": {"runs": 3}, "curve": [{"update": 9}], "last": {"held_out": fit, "chance": fit}}
    keep(tmp_path, "bc_2p", stage)
    keep(tmp_path, "bc_3p", stage)
    lines = study.clones(study.load(tmp_path))
    assert "| bc_2p | 1.900 [1.800, 2.000] | 0.400 [0.300, 0.500] | 1.90 | 0.40 | 1.74 | 0.46 |" in lines
    assert any(line.startswith("| bc_3p (of H-Group bots) |") for line in lines)
    assert any("No games of three people are here" in line for line in lines)


def test_the_page_is_that_of_the_results(study):
    """Whoever adds results writes the page anew."""
    assert study.PAGE.read_text() == study.page(study.load())
