"""From records to tables, pages and JSON: the three studies, who is in and out, files that cannot be used."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.study.analysis.analysis_list import Exclude, default_plan
from interplay.study.analysis.data import gather
from interplay.study.analysis.exclusion import gaps, people_tables, sort_people
from interplay.study.analysis.report import on_screen, report, screen_tables
from interplay.study.analysis.result import with_holm
from interplay.study.analysis.run import analyse
from interplay.study.analysis.sources import read_measures
from interplay.study.export.files import PROTOCOL, write_table
from interplay.study.protocol.reading import load, parse
from interplay.table import Table
from tests.study.analysis.conftest import SMALL
from tests.study.analysis.synthetic import Truth, synthetic

STUDIES = Path(__file__).parents[3] / "studies"
LIKED = {
    "hanabi_preference": {"random": 2.0, "obl1": 3.5, "obl2": 4.0, "holmes": 4.2, "op": 4.6, "smart": 5.5},
    "overcooked_interdependence": {"method_a": 3.4, "method_b": 3.2, "method_c": 2.8, "method_d": 3.0},
    "overcooked_ranking": {
        name: 4 - 0.5 * i for i, name in enumerate(("sp", "e3t", "fcp", "mep", "trajedi", "hsp", "cole"))
    },
}


@pytest.fixture(scope="module")
def records():
    return {
        name: synthetic(load(STUDIES / f"{name}.yaml"), 20, Truth(liked), seed=1, status={3: "dropped", 5: "screened"})
        for name, liked in LIKED.items()
    }


def write_export(records, folder):
    folder.mkdir()
    (folder / PROTOCOL).write_text(records.protocol.model_dump_json())
    for name in ("participants", "answers", "games", "flags", "events"):
        write_table(name, getattr(records, name), folder, "csv")
    return folder


@pytest.mark.parametrize("name", LIKED)
def test_a_papers_study_gives_its_tables(records, name):
    found = analyse(records[name])
    assert [result.id for result in found.results[1:]] == [
        part.id for part in records[name].protocol.analysis if part.kind not in ("scale", "exclude")
    ]
    wanted = {
        "hanabi_preference": {"alpha", "ratings", "regression", "pairs", "strengths", "means", "difference", "trend"},
        "overcooked_interdependence": {"alpha", "ratings", "one_sample", "paired", "regression", "means"},
        "overcooked_ranking": {"ranks", "agreement", "above", "objective", "by_person"},
    }[name]
    assert wanted <= {table for result in found.results for table in result.tables}
    page = report(found).html()
    for result in found.results:
        assert result.title in page or result.title.replace("'", "&#39;") in page
        for table in screen_tables(result):
            assert len(table)
    assert len(json.loads(found.table.to_json())["rows"]) == sum(
        len(table) for result in found.results for table in result.tables.values()
    )


def test_the_teamwork_rating_is_the_sum_of_six_items_from_zero(records):
    data = analyse(records["hanabi_preference"]).data
    assert data.bounds("teamwork") == (0, 36)
    rows = data.ratings("teamwork")
    one = rows.rows[0]
    items = [r["value"] for r in data.answers if (r["person"], r["page"]) == (one["person"], one["page"])]
    assert one["value"] == sum(items[2:8]) - 6
    assert len(rows) == 18 * 2
    assert {row["turn"] for row in rows} == {3, 6}


def test_ratings_are_about_the_game_of_their_turn_and_practice_is_not_rated(records):
    held = records["overcooked_interdependence"]
    data = gather(held)
    played = {(g["person"], g["page"]): g for g in data.games}
    for row in data.ratings("q1"):
        game = played[row["person"], row["page"].replace("questions", "round")]
        assert (row["partner"], row["game"], row["turn"]) == (game["partner"], game["game"], game["turn"])
    assert "demo" not in {row["partner"] for row in data.answers}
    assert len(data.counted()) == 20 * 16
    assert len(data.games) == 20 * 17


def test_everyone_is_listed_with_the_reason(tiny):
    held = synthetic(
        tiny, 8, Truth({}), seed=0, status={0: "new", 1: "active", 2: "dropped", 3: "screened"},
        answers={"check": lambda rng: 2},
    )  # fmt: skip
    wrong = [{**r, "value": 4} if r["participant"] == "p0004" and r["question"] == "check" else r for r in held.answers]
    wrong = [{**r, "seconds": 1.0} if r["participant"] == "p0005" else r for r in wrong]
    wrong = [{**r, "value": 3} if r["participant"] == "p0006" and r["question"] in ("q1", "q2", "skill") else r
             for r in wrong]  # fmt: skip
    held = replace(held, answers=Table(held.answers.columns, wrong))
    rule = Exclude(kind="exclude", id="x", attention={"check": 2}, least_seconds=3, same_answers=True)
    data = sort_people(gather(held), rule)
    why = {row["person"]: row["why"] for row in data.people}
    assert [why[f"p000{n}"] for n in range(4)] == [
        "did not consent", "has not finished", "left, and the place was given away", "screened out by the quiz",
    ]  # fmt: skip
    assert "check answered 4, not 2" in why["p0004"]
    assert "hasty: 1 s" in why["p0005"]
    assert "the answer 3 to all 9 questions" in why["p0006"]
    assert why["p0007"] is None
    assert {row["person"] for row in data.answers} == {"p0007"}
    counted, each = people_tables(data)
    assert sum(row["people"] for row in counted) == len(each) == 8
    everyone = sort_people(gather(held), Exclude(kind="exclude", id="x", unfinished="in"))
    assert everyone.people.where(person="p0001").rows[0]["included"]


def test_who_stopped_taking_part_is_out_counted_and_in_only_if_the_plan_says_so(tiny):
    held = synthetic(tiny, 6, Truth({}), seed=0, status=dict.fromkeys((0, 1, 2), "withdrawn"))
    stopped = {who: {"consented": "2026-01-01", "stopped_on": "rounds.2.after"} for who in ("p0000", "p0001")}
    stopped["p0002"] = {"stopped_on": "consent"}
    told = [{**row, **stopped.get(row["participant"], {})} for row in held.participants]
    held = replace(held, participants=Table(held.participants.columns, told))
    found = analyse(held)
    people = found.results[0]
    assert {row["what"]: row["people"] for row in people.tables["counts"]} == {
        "in the analysis": 3, "stopped taking part": 2, "did not consent": 1,
    }  # fmt: skip
    assert people.tables["stopped"].rows == [{"page": "rounds.2.after", "people": 2}]
    assert people.notes == ("2 stopped taking part, which people may at any time",)
    assert {row["person"] for row in sort_people(gather(held), None).answers} == {"p0003", "p0004", "p0005"}
    everyone = sort_people(gather(held), Exclude(kind="exclude", id="x", withdrawn="in"))
    assert {row["person"] for row in everyone.answers} == {f"p000{n}" for n in (0, 1, 3, 4, 5)}
    assert "stopped" not in analyse(synthetic(tiny, 3, Truth({}), seed=0)).results[0].tables


def test_those_who_are_out_anyway_have_one_reason(tiny):
    held = synthetic(tiny, 3, Truth({}), seed=0, status={0: "withdrawn"}, answers={"check": lambda rng: 4})
    rule = Exclude(kind="exclude", id="x", attention={"check": 2})
    why = {row["person"]: row["why"] for row in sort_people(gather(held), rule).people}
    assert why["p0000"] == "did not consent"  # these have no time of consent
    assert why["p0001"].startswith("attention")


def test_what_is_missing_is_told(tiny):
    held = synthetic(tiny, 5, Truth({}), seed=0, answers={"check": lambda rng: None})
    games = [{**g, "status": "playing", "score": None} if g["game"] == 3 else g for g in held.games]
    games = [g for g in games if not (g["participant"] == "p0001" and g["page"] == "rounds.2.round")]
    data = gather(replace(held, games=Table(held.games.columns, games)))
    told = {row["what"]: row for row in gaps(data)}
    assert told["answers about a partner without a game on record"]["times"] == 3
    assert told["games that were not played to their end"]["people"] == 1
    assert (told["no answer to check"]["times"], told["no answer to check"]["people"]) == (20, 5)
    nobody = synthetic(tiny, 3, Truth({}), status={0: "new", 1: "dropped", 2: "active"})
    with pytest.raises(InterplayError, match="nobody is in the analysis of tiny"):
        analyse(nobody)


def test_partners_left_out(records):
    found = analyse(records["hanabi_preference"], without=["random"])
    table = next(result for result in found.results if result.id == "ratings").tables["ratings"]
    assert {row["sample"] for row in table} == {"all", "without random"}
    assert {row["partner"] for row in table.where(sample="without random")} == set(LIKED["hanabi_preference"]) - {
        "random"
    }
    pairs = next(result for result in found.results if result.id == "preferences").tables["pairs"]
    assert not any("random" in (row["partner"], row["over"]) for row in pairs.where(sample="without random"))
    with pytest.raises(InterplayError, match="no such partner"):
        analyse(records["hanabi_preference"], without=["nobody"])


def test_a_study_that_names_no_analyses_gets_the_usual_ones(tiny):
    plan = default_plan(tiny)
    assert [part.kind for part in plan] == ["ratings", "regression", "ranks", "interdependence"]
    found = analyse(synthetic(tiny, 8, Truth({}), seed=0))
    assert any("usual ones" in note for note in found.notes)
    assert any("traces" in note for result in found.results for note in result.notes)


def test_measures_from_elsewhere(records, tmp_path):
    held = records["overcooked_ranking"]
    file = tmp_path / "known.csv"
    lines = [f"{agent},br_prox,{1 - 0.1 * i},higher" for i, agent in enumerate(LIKED["overcooked_ranking"])]
    lines += [f"{agent},rank elsewhere,{i},lower" for i, agent in enumerate([*LIKED["overcooked_ranking"]][:3])]
    file.write_text("agent,measure,value,direction\n" + "\n".join(lines))
    found = analyse(held, objective=read_measures(file))
    rows = next(result for result in found.results if result.id == "ranks").tables["objective"]
    made = {(row["game"], row["measure"], row["other"]): row for row in rows}
    assert made["counter_circuit", "people's ranks", "br_prox"]["spearman"] > 0.9
    assert made["counter_circuit", "people's ranks", "rank elsewhere"]["agents"] == 3
    strange = Table.of(
        [*read_measures(file).rows, {"agent": "nobody", "measure": "x", "value": 1, "game": "elsewhere"}]
    )
    assert any("1 of 11 measures" in n and "nobody in elsewhere" in n for n in analyse(held, objective=strange).notes)
    prox = tmp_path / "prox.json"
    rows = [{"algorithm": a, "layout": None, "iqm": 0.1, "honest_iqm": 1 - 0.1 * i}
            for i, a in enumerate(LIKED["overcooked_ranking"])]  # fmt: skip
    prox.write_text(json.dumps({"rows": rows}))
    assert read_measures(prox).rows[1] == {"agent": "e3t", "game": None, "measure": "br_prox", "value": 0.9}
    prox.write_text("[1]")
    with pytest.raises(InterplayError, match="one object"):
        read_measures(prox)
    for text, told in (
        ("agent,value\na,1", "no column 'measure'"),
        ("agent,measure,value\na,x,much", "not a number"),
        ("agent,measure,value\na,score,1", "another name"),
        ("agent,measure,value,direction\na,x,1,down", "lower or higher"),
        ("agent,measure,value", "no measures"),
    ):
        file.write_text(text)
        with pytest.raises(InterplayError, match=told):
            read_measures(file)


def test_another_plan_for_the_same_study(tiny):
    held = synthetic(tiny, 12, Truth({}), seed=0)
    later = parse(SMALL + "analysis:\n  - {kind: ratings, id: mine, of: [q1]}\n")
    assert later.hash == tiny.hash  # people took part in the same study
    found = analyse(held, study=later)
    assert [result.id for result in found.results] == ["people", "mine"]
    assert found.notes == ("2 tests are on this page; p (all) is Holm's correction over every one of them",)
    again = analyse(
        replace(held, protocol=later), study=parse(SMALL + "analysis:\n  - {kind: ratings, id: b, of: [q2]}\n")
    )
    assert "not those that the file named" in again.notes[0]
    other = analyse(held, study=parse(SMALL.replace("title: Tiny", "title: Other")))
    assert any("not the one that people took part in" in note for note in other.notes)
    with pytest.raises(InterplayError, match="records are of 'tiny'"):
        analyse(held, study=parse(SMALL.replace("name: tiny", "name: other")))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{kind: ratings, id: r, of: [q9]}", "no question 'q9'"),
        ("{kind: ratings, id: r, of: [played]}", "of the type choice"),
        ("{kind: ranks, id: r, page: after}", "no ranking page 'after'"),
        ("{kind: clicks, id: r, flag: odd}", "no flag 'odd'"),
        ("{kind: preferences, id: r, of: [q1]}", "not two_sided"),
        ("{kind: paired, id: r, of: [q1], factor: game, levels: [one]}", "at least two"),
        ("{kind: paired, id: r, of: [q1], factor: game, levels: [one, three]}", "no game 'three'"),
        ("{kind: one_sample, id: r, of: [q1], only: [one]}", "say `by:`"),
        ("{kind: regression, id: r, of: [q1], measures: [charm]}", "score"),
        ("{kind: familiarity, id: r, of: [q1], by: played, split: 3}", "no numbers"),
        ("{kind: scale, id: q1, of: [q1, q2]}", "name of a question"),
        ("{kind: scale, id: s, of: [q1]}", "at least two"),
        ("{kind: scale, id: s, of: [q1, q2], reverse: [check]}", "not among"),
        ("{kind: exclude, id: x, attention: {q9: 1}}", "no question 'q9'"),
        ("{kind: anova, id: r}", "anova"),
    ],
)
def test_a_wrong_plan_is_told_with_its_line(line, told):
    text = SMALL + f"analysis:\n  - {{kind: ratings, id: first, of: [q1]}}\n  - {line}\n"
    with pytest.raises(InterplayError, match=told) as caught:
        parse(text)
    assert f"line {len(text.splitlines())}" in str(caught.value)


def test_two_analyses_with_one_name(tiny):
    twice = "analysis:\n  - {kind: ratings, id: r, of: [q1]}\n  - {kind: ratings, id: r, of: [q2]}\n"
    with pytest.raises(InterplayError, match="two analyses have the id 'r'"):
        parse(SMALL + twice)
    with pytest.raises(InterplayError, match="said once"):
        parse(SMALL + "analysis:\n  - {kind: exclude, id: a}\n  - {kind: exclude, id: b}\n")


def test_the_command_on_an_export(records, tmp_path, capsys):
    folder = write_export(records["hanabi_preference"], tmp_path / "export")
    out = tmp_path / "report.html"
    assert run(["study", "analyse", str(folder), "--json", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    alpha = next(row for row in told["rows"] if row["table"] == "alpha")
    assert alpha["scale"] == "teamwork"
    assert alpha["answers"] == 36
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert run(["study", "analyse", str(folder), "--without", "random"]) == 0
    assert "Who is in and who is out" in capsys.readouterr().out
    (tmp_path / "text.db").write_text("hello")
    (tmp_path / "empty").mkdir()
    for name, wrong in (("none.db", "none.db"), ("text.db", "not a database"), ("empty", "no export")):
        assert run(["study", "analyse", str(tmp_path / name)]) == 2
        assert wrong in capsys.readouterr().err
    assert run(["study", "power", "--test", "one_sample", "--pilot", str(folder), "--rating", "charm"]) == 2
    assert "no rating 'charm'" in capsys.readouterr().err


def test_power_from_a_pilot(records, tmp_path, capsys):
    folder = write_export(records["overcooked_interdependence"], tmp_path / "export")
    pilot = ["study", "power", "--test", "paired", "--pilot", str(folder), "--rating", "q4"]
    assert run([*pilot, "--levels", "method_a", "method_c", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["effect_is"] == "as in the pilot"
    assert rows[0]["people"] >= 2
    for levels, told in ((["method_a"], "two games or two partners"), (["method_a", "trial"], "neither two games")):
        assert run([*pilot, "--levels", *levels]) == 2
        assert told in capsys.readouterr().err
    ranked = write_export(records["overcooked_ranking"], tmp_path / "ranked")
    pilot = [
        "study",
        "power",
        "--test",
        "friedman",
        "--pilot",
        str(ranked),
        "--page",
        "confirm",
        "--simulations",
        "200",
    ]
    assert run([*pilot, "--game", "counter_circuit", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["partners"] == 7
    assert row["people_low"] <= row["people"]
    assert run(pilot) == 2
    assert "several games" in capsys.readouterr().err


def test_small_p_and_intervals_on_screen():
    table = Table.of([{"mean": 3.14159, "mean_low": 3.0, "mean_high": 3.3, "p": 0.00001, "spearman_p": 0.04567}])
    assert on_screen(table).rows == [{"mean": "3.14 [3, 3.3]", "p": "<0.001", "spearman_p": "0.046"}]


def test_holm_stands_beside_p_and_leaves_tests_that_were_not_made():
    rows = with_holm([{"a": 1, "p": 0.04, "b": 2}, {"a": 2, "p": None, "b": 3}, {"a": 3, "p": 0.01, "b": 4}, {"a": 4}])
    assert list(rows[0]) == ["a", "p", "p_holm", "b"]
    assert [row["p_holm"] for row in rows] == [pytest.approx(0.04), None, pytest.approx(0.02), None]
    assert with_holm([]) == []
    assert with_holm([{"p": None}]) == [{"p": None, "p_holm": None}]
