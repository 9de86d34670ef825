"""Plans that are dated and hashed, departures from them, codebooks, R scripts, and p over everything on a page."""

import csv
import json
import shutil
import subprocess

import pytest

from interplay.errors import InterplayError
from interplay.stats.multiple_testing import holm, over_everything
from interplay.study.analysis import preregistration
from interplay.study.analysis.analysis_list import Exclude, Ratings, Regression
from interplay.study.analysis.r_script import write_r_script
from interplay.study.analysis.run import analyse
from interplay.study.export.codebook import codebook
from interplay.table import Table
from tests.study.analysis.synthetic import Truth, synthetic

PLAN = (
    Ratings(kind="ratings", id="ratings", of=("q1",)),
    Regression(kind="regression", id="regression", of=("q1",), measures=("score",)),
)


@pytest.fixture(scope="module")
def records(tiny):
    planned = tiny.model_copy(update={"analysis": PLAN})
    return synthetic(planned, people=24, truth=Truth({"a": 3.4, "b": 2.6}), seed=1)


def registered(records, **changes):
    analysed = sum(row["status"] == "done" for row in records.participants)
    return preregistration.make(records.protocol, people=changes.pop("people", analysed), **changes)


def test_a_plan_that_was_changed_is_refused(records, tmp_path):
    path = preregistration.write(registered(records, hypotheses=["a is liked"]), tmp_path / "plan.json")
    assert preregistration.read(path)["hypotheses"] == ["a is liked"]
    with pytest.raises(InterplayError, match="not overwritten"):
        preregistration.write(registered(records), path)
    content = json.loads(path.read_text())
    content["people"] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(InterplayError, match="was changed after it was written"):
        preregistration.read(path)
    path.write_text("{}")
    with pytest.raises(InterplayError, match="no pre-registration"):
        preregistration.read(path)


def test_departures_are_told(records):
    content = registered(records)
    findings = analyse(records, preregistration=content)
    [result] = [r for r in findings.results if r.id == "preregistration"]
    told = {row["what"] for row in result.tables["departures"]}
    assert told <= {"registered before anyone took part"}  # the synthetic people came long ago
    other = records.protocol.model_copy(
        update={
            "analysis": (
                Exclude(kind="exclude", id="out", same_answers=True),
                Ratings(kind="ratings", id="ratings", of=("q1", "q2"), model="means"),
            )
        }
    )
    content = registered(records, people=99)
    findings = analyse(records, study=other, without=["d"], preregistration=content)
    [result] = [r for r in findings.results if r.id == "preregistration"]
    told = {row["what"] for row in result.tables["departures"]}
    assert {
        "people analysed", "analysis 'regression'", "analysis 'out'", "analysis 'ratings': of",
        "analysis 'ratings': model", "asked for beside the plan",
    } <= told  # fmt: skip


def test_every_question_is_in_the_codebook(tiny):
    rows = codebook(tiny)
    [liked] = [row for row in rows if row["column"] == "q1"]
    assert liked["text"] == "Liked"
    assert liked["values"] == "1 = low; 5 = high"
    [played] = [row for row in rows if row["column"] == "played"]
    assert played["values"] == "yes = has; no = not"
    [seconds] = [row for row in rows if row["table"] == "answers" and row["column"] == "seconds"]
    assert seconds["meaning"] == "on the page"


def test_p_is_corrected_over_all_tests_of_all_tables(records):
    tables = {"a": Table.of([{"p": 0.01}, {"p": None}]), "b": Table.of([{"p": 0.02, "p_within": 0.5, "p_holm": 0.04}])}
    made, tests = over_everything(tables)
    assert tests == 3
    assert [made["a"].rows[0]["p_all"], made["b"].rows[0]["p_all"], made["b"].rows[0]["p_within_all"]] == list(
        holm([0.01, 0.02, 0.5])
    )
    findings = analyse(records)
    plain = [
        row["p"] for result in findings.results for table in result.tables.values() for row in table if row.get("p")
    ]
    assert findings.tests > len(plain) >= 3
    assert any(f"{findings.tests} tests are on this page" in note for note in findings.notes)


def test_a_folder_is_not_overwritten(records, tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(InterplayError, match="not empty"):
        write_r_script(analyse(records).data, PLAN, tmp_path)


@pytest.mark.r
def test_r_repeats_the_analysis(records, tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not there: make test-r installs it")
    findings = analyse(records)
    script = write_r_script(findings.data, findings.plan, tmp_path / "repeat")
    run = subprocess.run(["Rscript", script.name], cwd=script.parent, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    with (script.parent / "results.csv").open() as file:
        theirs = {(row["analysis"], row["rating"], row["measure"]): row for row in csv.DictReader(file)}
    by_id = {result.id: result for result in findings.results}
    [differ] = by_id["ratings"].tables["differ"].rows
    assert float(theirs["ratings", "q1", "partner"]["p"]) == pytest.approx(differ["p"], rel=1e-3, abs=1e-6)
    [slope] = by_id["regression"].tables["regression"].rows
    made = theirs["regression", "q1", "score"]
    assert float(made["estimate"]) == pytest.approx(slope["slope"], rel=1e-3)
    assert float(made["p"]) == pytest.approx(slope["p"], rel=1e-2, abs=1e-6)
