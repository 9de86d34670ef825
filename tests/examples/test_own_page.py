"""A page type in a package of its own, installed for real, is written, shown, answered and exported as ours are."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "examples" / "own_page"
ANSWERED = """
import asyncio, json, sys
import httpx
from interplay.server.app import Base
from interplay.study.db.connect import open_study_database
from interplay.study.http.app import build
from interplay.study.protocol.reading import load
from interplay.study.simulation.run import serving

async def main():
    base = Base(open_study_database("served.db"))
    said = {}
    async with serving(build(load(sys.argv[1]), base)) as url, httpx.AsyncClient(base_url=url) as client:
        api = "/api/study/own_page_study"
        state = (await client.get(f"{api}/state")).json()
        async def answer(page, **answers):
            headers = {"x-csrf": state["csrf"], "origin": url}
            return (await client.post(f"{api}/answer", json={"page": page, "answers": answers}, headers=headers)).json()
        page = (await answer("consent", agree=True))["page"]
        said["page"] = page
        script = await client.get(page["scripts"][0])
        said["script"] = [script.status_code, script.headers["content-type"], script.text]
        said["refused"] = [
            (await answer("shares", **answers))["errors"]
            for answers in ({"me": 60, "partner": 60}, {"me": "all"}, {"me": -1, "partner": 101})
        ]
        said["last"] = (await answer("shares", me=70, partner=30))["page"]["kind"]
    print(json.dumps(said))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python or interplay where the package is installed."""
    target, folder = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("own_page")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(PACKAGE)], check=True, capture_output=True)
    paths = [str(target), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}

    def command(*words, code=0):
        call = [sys.executable, *words]
        done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr[-2000:]
        return done.stdout if code == 0 else done.stderr

    command.folder = folder
    return command


def test_the_page_is_shown_checked_and_stored(run):
    said = json.loads(run("-c", ANSWERED, str(PACKAGE / "study.yaml")))
    page = said["page"]
    assert (page["kind"], page["points"]) == ("allocation", 100)
    assert [option["label"] for option in page["options"]] == ["I myself", "My partner"]
    assert "<strong>100 points</strong>" in page["text"]
    status, kind, text = said["script"]
    assert (status, kind.partition(";")[0]) == (200, "text/javascript")
    assert text == (PACKAGE / "own_page" / "allocation.js").read_text()
    too_many, no_number, negative = said["refused"]
    assert "add up to 100" in too_many["partner"]
    assert set(no_number) == {"me", "partner"}
    assert set(negative) == {"me"}
    assert said["last"] == "done"


def test_simulated_people_answer_it_and_it_is_exported(run):
    main = ("-m", "interplay.cli.main")
    run(*main, "study", "simulate", str(PACKAGE / "study.yaml"), "--participants", "3", "--out", "study", "--json")
    run(*main, "study", "export", "study/own_page_study.db", "--out", "exported")
    with (run.folder / "exported" / "answers.csv").open() as file:
        shares = [row for row in csv.DictReader(file) if row["page"] == "shares"]
    assert {row["type"] for row in shares} == {"allocation"}
    assert len(shares) == 6
    assert sum(int(row["value"]) for row in shares) == 300


def test_errors_of_the_file_name_the_line(run, tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text((PACKAGE / "study.yaml").read_text().replace("    options:", "    points: 0\n    options:"))
    error = run("-m", "interplay.cli.main", "study", "simulate", str(study), code=2)
    line = study.read_text().splitlines().index("    points: 0") + 1
    assert f"line {line}:" in error
    assert "points" in error


def test_without_the_package_the_kind_is_not_known():
    call = [sys.executable, "-m", "interplay.cli.main", "study", "simulate", str(PACKAGE / "study.yaml")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'allocation'" in done.stderr
