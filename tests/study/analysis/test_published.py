"""The published numbers again: t tests of the interdependence paper, ranks and Spearman of ZSC-Eval's Table 2, and real
people's ratings of three Hanabi partners. Needs the folder that INTERPLAY_DATA names."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from interplay.study.analysis.analysis_list import Familiarity, Ranks, Ratings, Regression
from interplay.study.analysis.data import gather
from interplay.study.analysis.familiarity import familiar
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.ranks import HUMAN, rank
from interplay.study.analysis.ratings import _against, _difference, rate
from interplay.study.analysis.regress import regress
from interplay.study.db.records import Records
from interplay.study.export.columns import COLUMNS
from interplay.study.protocol.reading import parse
from interplay.table import Table
from tests.study.analysis.synthetic import _row
from tests.study.texts import form, game, repeat, study

BROKEN = {"3f79f9ed3a579d03", "793153978a8699c5", "abb33ad8748d61fc", "c2fc96267783e595"}  # a person in the AI's seat


@pytest.fixture(scope="module")
def folder():
    data = os.environ.get("INTERPLAY_DATA")
    if not data:
        pytest.skip("INTERPLAY_DATA is not set: the folder that holds published/ and hanabi_humans/")
    return Path(data)


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [{k.strip(): (v or "").strip() for k, v in row.items()} for row in csv.DictReader(file)]


def sample(mean, t, n, null=0.0):
    """Some n values with this mean and this t against a null."""
    x = np.random.default_rng(0).normal(size=n)
    sd = abs(mean - null) * np.sqrt(n) / abs(t)
    return (x - x.mean()) / x.std(ddof=1) * sd + mean


def test_t_tests_of_the_interdependence_paper(folder):
    printed = {}
    for row in read(folder / "published" / "s0_statistics.csv"):
        if row["value"]:
            printed.setdefault(row["test_id"], {})[row["quantity"]] = float(row["value"])
    for name in ("t_one_sample_q4", "t_one_sample_q5"):
        told = printed[name]
        found = _against(sample(told["mean"], told["t"], int(told["df"]) + 1, told["null_mean"]), told["null_mean"])
        assert found["df"] == told["df"]
        assert found["t"] == pytest.approx(told["t"])
        assert found["p"] == pytest.approx(told["p"], abs=0.00006)
        assert found["d_low"] > 0
    told = printed["t_paired_q4"]
    differences = sample(-0.3, told["t"], int(told["df"]) + 1)
    found = _difference(differences, np.zeros(len(differences)))
    assert found["p"] == pytest.approx(told["p"], abs=0.0003)  # t is printed with two digits
    assert found["difference_high"] < 0


@pytest.mark.parametrize("layout", ["Coord. Ring", "Counter Circ."])
def test_spearman_of_zsc_evals_table(folder, layout):
    rows = [row for row in read(folder / "published" / "s2_table2.csv") if row["layout"] == layout]
    given = {}
    for row in rows:
        if row["metric"] == "rank":
            given.setdefault(row["evaluation_partner"], {})[row["algorithm"].lower()] = float(row["value"])
    printed = {r["evaluation_partner"]: float(r["value"]) for r in rows if r["metric"] != "rank" and r["value"]}
    names = sorted(given["Human"], key=lambda name: given["Human"][name])
    protocol = parse(
        study(
            "ring",
            repeat("r", game("g", "ring", "$partner"), "{kind: ranking, id: o, title: O, of: all}", over="all"),
            games="{ring: {game: overcooked/coordination_ring}}",
            partners=f"{{{', '.join(f'{n}: random' for n in names)}}}",
            designs=f"{{all: {{factors: {{partner: [{', '.join(names)}]}}}}}}",
        )
    )
    held = {name: [] for name in COLUMNS}
    for who in ("x", "y", "z"):
        held["participants"].append(_row("participants", participant=who, status="done"))
        for turn, name in enumerate(names, start=1):
            page = f"r.{turn}.g"
            held["games"].append(
                _row("games", game=turn, participant=who, page=page, setting="ring", partner=name, practice=False,
                     status="done", score=float(turn), length=1)
            )  # fmt: skip
        held["answers"].append(
            _row("answers", participant=who, page="r.5.o", item="o", setting="ring", question="order", value=names)
        )
    records = Records(protocol, **{n: Table(tuple(COLUMNS[n]), rows) for n, rows in held.items()}, traces=None)
    measures = [
        {"agent": name, "measure": partner, "value": value, "direction": "lower"}
        for partner, values in given.items()
        if partner != "Human"
        for name, value in values.items()
    ]
    found = rank(gather(records), Ranks(kind="ranks", id="r", page="o"), Table.of(measures)).tables
    assert [row["partner"] for row in found["ranks"]] == names
    told = {row["other"]: row["spearman"] for row in found["objective"] if row["measure"] == HUMAN}
    for partner, value in printed.items():
        assert told[partner] == pytest.approx(value, abs=0.005)
    assert len(printed) == 3


@pytest.fixture(scope="module")
def surveys(folder):
    """239 people's first game with one of three partners, and what they thought of it, as a study."""
    asked = [
        f"{{id: {name}, type: likert, scale: five, label: {name}, required: false}}"
        for name in ("like", "skill", "intention")
    ]
    protocol = parse(
        study(
            "three",
            form("you", "{id: hanabiexp, type: number, label: Hanabi}"),
            repeat("r", game("g", "cards", "$partner"), form("f", *asked), over="one"),
            scales="{five: {points: 5}}",
            games="{cards: {game: hanabi/2p}}",
            partners="{outer: random, intentional: random, full: random}",
            designs="{one: {factors: {partner: [outer, intentional, full]}, draw: 1}}",
        )
    )
    held = {name: [] for name in COLUMNS}

    def number(text):
        return float(text) if text not in ("", "none", "None", "NA", "?") else None

    for row in read(folder / "hanabi_humans" / "surveys.csv"):
        if row["id"] in BROKEN:
            continue
        who = row["id"]
        held["participants"].append(_row("participants", participant=who, status="done"))
        held["games"].append(
            _row("games", game=len(held["games"]), participant=who, page="r.1.g", setting="cards", partner=row["ai"],
                 practice=False, status="done", score=float(row["score"]), length=1)
        )  # fmt: skip
        game_told = {"partner": row["ai"], "setting": "cards", "counted": 1}
        for page, item, told, questions in (
            ("you", "you", {}, ["hanabiexp"]),
            ("r.1.f", "f", game_told, ["like", "skill", "intention"]),
        ):
            held["answers"] += [
                _row("answers", participant=who, page=page, item=item, **told, question=q, value=number(row[q]))
                for q in questions
            ]
    return gather(Records(protocol, **{n: Table(tuple(COLUMNS[n]), rows) for n, rows in held.items()}, traces=None))


def test_ratings_of_three_hanabi_partners(surveys):
    """The means, and r with the score, that docs/results/hanabi_humans.md has from another program."""
    ratings = ("like", "skill", "intention")
    table = rate(surveys, Ratings(kind="ratings", id="r", of=ratings)).tables["ratings"]
    told = {(row["rating"], row["partner"]): row["mean"] for row in table}
    printed = {"like": (2.66, 2.46, 2.92), "skill": (2.22, 2.27, 2.64), "intention": (3.05, 2.96, 3.34)}
    for name, means in printed.items():
        assert [told[name, ai] for ai in ("outer", "intentional", "full")] == pytest.approx(means, abs=0.01)
    part = Regression(kind="regression", id="g", of=ratings, measures=("score",))
    made = regress(surveys, part, Measured(surveys), None).tables["regression"]
    assert [row["r"] for row in made] == pytest.approx([0.13, 0.21, 0.14], abs=0.01)
    assert [row["people"] for row in made] == [row["n"] for row in made]
    assert all("within any person" in row["note"] for row in made)  # one each: nothing within a person


def test_those_who_know_hanabi_rate_lower(surveys):
    part = Familiarity(kind="familiarity", id="f", of=("skill", "like"), by="hanabiexp", split=3)
    found = familiar(surveys, part).tables
    trend = {(row["rating"], row["partner"]): row for row in found["trend"]}
    assert trend["skill", "all partners"]["spearman_high"] < -0.2
    assert trend["like", "all partners"]["p_holm"] < 0.001
    difference = found["difference"].where(rating="skill", partner="all partners").rows[0]
    assert (difference["a"], difference["b"]) == ("from 3", "below 3")
    assert difference["difference_high"] < 0
