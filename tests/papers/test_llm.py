"""The paper's tables on teams of language models, from a study that scripts play."""

import json

import pytest

from interplay.agents.llm.settings import LLMSettings
from interplay.cli.main import run as command
from interplay.errors import InterplayError
from interplay.papers.llm import PRINTED, PaperStudy, StudyPlan, figure3, model_name, play_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    models = ("scripted/reference", "scripted/clumsy")
    plan = StudyPlan(models=models, frameworks=("baseline",), dishes=("boiled egg",), episodes=1)
    assert play_study(plan, out, alone=False) is None
    again = StudyPlan(models=models, frameworks=("baseline",), dishes=("boiled egg",), episodes=1)
    before = sorted(out.rglob("part-*"))
    assert play_study(again, out, alone=False) is None
    assert sorted(out.rglob("part-*")) == before  # nothing is played twice
    alone = StudyPlan(models=models[:1], frameworks=(), levels=(1,), episodes=1)
    assert play_study(alone, out) is None
    return out


def rows(capsys, *arguments):
    assert command(["paper", "llm", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def test_ours_stand_beside_what_was_printed(folder, capsys):
    table3 = rows(capsys, "table3", folder)
    ours = {r["model"]: r for r in table3 if r["source"] == "ours"}
    assert (ours["reference"]["success"], ours["reference"]["adr"], ours["reference"]["episodes"]) == (1, 1, 1)
    assert len([r for r in table3 if r["source"] == "printed"]) == 6
    table4 = rows(capsys, "table4", folder)
    assert len([r for r in table4 if r["source"] == "printed"]) == 3 * sum(map(len, PRINTED["table4"].values())) == 27
    assert {r["level"] for r in table4 if r["source"] == "ours"} == {1}
    (level,) = [r for r in rows(capsys, "table5", folder) if r["source"] == "ours"]
    assert (level["pairings"], level["adr"]) == (4, 1)
    (alone,) = [r for r in rows(capsys, "table2", folder) if r["source"] == "ours"]
    assert (alone["success_percent"], alone["solo_episodes"]) == (100, 2)


def test_figures(folder, tmp_path, capsys):
    refused = {
        (r["chef"], r["assistant"]): r["refused_per_episode"]
        for r in rows(capsys, "figure2", folder, "--svg", tmp_path / "2.svg")
        if r["source"] == "ours"
    }
    assert refused["reference", "reference"] == 0 < refused["reference", "clumsy"]
    assert (tmp_path / "2.svg").read_text().startswith("<svg")
    assert len(rows(capsys, "figure3", folder)) == 2  # one object: outcomes as rows, pairings beside
    outcomes, pairings, picture = figure3(PaperStudy(folder))
    ours = outcomes.rows[0]
    assert ours["effective"] + ours["assisted"] == pytest.approx(1)
    assert len(pairings) == 4
    assert picture.count("<circle") == 4


def test_bad_input(tmp_path):
    with pytest.raises(InterplayError, match="holds no study"):
        PaperStudy(tmp_path)
    with pytest.raises(InterplayError, match="framework 'tom'"):
        StudyPlan(models=("scripted/reference",), frameworks=("tom",))
    assert model_name("llm:local/qwen2.5[belief,max_tokens=160]") == "qwen2.5"
    assert StudyPlan(models=("a/b",), settings=LLMSettings(turn_cap=2)).pairings("belief").settings.scaffold == "belief"


def test_hanabi_models(tmp_path, capsys):
    command(["llm", "play", "--game", "hanabi/2p", "--agents", "llm:scripted/first", "llm:scripted/first",
             "--episodes", "1", "--out", str(tmp_path / "games")])  # fmt: skip
    capsys.readouterr()
    command(["paper", "ah2ac2", "models", str(tmp_path / "games"), "--json"])
    table = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["agent"], r["games"]) for r in table if r["source"] == "ours"] == [("first | first", 1)]
    assert len([r for r in table if r["source"] == "printed"]) == 4
