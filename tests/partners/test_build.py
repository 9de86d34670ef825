"""A panel from nothing: candidates, features, selection, two skills, best responses, rulers; and after a kill."""

import dataclasses
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.partners import build as building
from interplay.partners import features as feature_files
from interplay.partners.__main__ import main
from interplay.partners.config import Build
from interplay.partners.diversity import diversity
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.reward_space import least_return
from interplay.training.config import GameChoice
from interplay.training.loader import as_json

GAME = GameChoice("tests.training.toys:Match", {"horizon": 4})
CONFIG = Build(
    GAME,
    candidates=4,
    k=2,
    steps=16 * 8 * 24,
    response_steps=16 * 8 * 36,
    snapshots=4,
    training={
        "envs": 16,
        "rollout": 8,
        "network": {"encoding": "vector", "widths": [16]},
        "ppo": {"learning_rate": 1e-2, "minibatches": 2, "epochs": 2, "gamma": 0.9},
    },
    choices={"right": [-2, -1, 0, 1], "wrong": [-1, 0, 1], "task": [0.1, 1]},
    least_return=1.0,
    feature_episodes=20,
    trial_episodes=20,
    ruler_episodes=40,
    known=("random",),
    closing_steps=16 * 8 * 36,
    closing={},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Killed in its last stage, then begun again."""
    out = tmp_path_factory.mktemp("build") / "toy"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "Contest", killed)
        with pytest.raises(KeyboardInterrupt):
            building.build(CONFIG, out, quiet=True)
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*.safetensors")}
    building.build(CONFIG, out, quiet=True)
    assert {p: p.stat().st_mtime_ns for p in before} == before  # nothing was trained again
    return out


def killed(*_):
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def panel(folder):
    return building.build(CONFIG, folder, quiet=True)  # finished: read, not made again


def test_two_skills_of_each_selected_candidate(panel):
    stages = panel.provenance["stages"]
    selected = stages["selection"]["selected"]
    assert len(selected) == 2
    assert [(m.candidate, m.skill) for m in panel.members] == [(c, s) for c in selected for s in ("final", "mid")]
    for m in panel.members:
        assert m.notes["preference"] == dict(m.notes["preference"])
        wanted = CONFIG.steps if m.skill == "final" else m.notes["steps"]
        assert m.notes["steps"] == wanted > 0
    for place, c in enumerate(selected):
        mid, final = (next(m for m in panel.members if (m.candidate, m.skill) == (c, s)) for s in ("mid", "final"))
        assert mid.notes["steps"] < final.notes["steps"]
        assert stages["skills"]["mid_return"][place] == mid.notes["return_with_its_response_then"]


def test_selection_is_the_most_different_able_set(folder, panel):
    stages = panel.provenance["stages"]
    features = feature_files.read(folder / building.BR_FEATURES)
    assert features.names == (
        "right@seat0",
        "right@seat1",
        "wrong@seat0",
        "wrong@seat1",
        "points@seat0",
        "points@seat1",
    )
    able = feature_files.able(features, CONFIG.least_return)
    assert len(able.ids) == stages["features"]["able"] >= 2
    assert diversity(able, stages["selection"]["selected"]) == pytest.approx(stages["selection"]["br_div"])


def test_features_count_the_response_where_it_sits(folder):
    """In this game a seat earns a point for each right answer, so the two columns must agree."""
    for file in (building.BR_FEATURES, building.P_FEATURES):
        features = feature_files.read(folder / file)
        column = dict(zip(features.names, features.values.T, strict=True))
        for seat in range(2):
            np.testing.assert_allclose(column[f"right@seat{seat}"], column[f"points@seat{seat}"], atol=1e-6)
    br, own = (feature_files.read(folder / f) for f in (building.BR_FEATURES, building.P_FEATURES))
    points = [c for c, n in enumerate(br.names) if n.startswith("points")]
    # Seats swap over the two seatings, so both sides' points over both seats make up both seatings' scores.
    np.testing.assert_allclose(br.values[:, points].sum(1) + own.values[:, points].sum(1), 2 * br.returns, atol=1e-6)


def test_rulers_are_best_and_measured_anew(panel):
    game = make(GAME.name, **GAME.options)
    for m in panel.members:
        assert [r.seat for r in m.responses] == [0, 1]
        for r in m.responses:
            assert r.worth.low <= r.worth.mean <= r.worth.high
            assert r.worth.episodes == CONFIG.ruler_episodes
            assert m.notes["trial"]["best"][r.seat] >= max(
                m.notes["trial"]["fresh"][r.seat], m.notes["trial"]["together"][r.seat]
            )
            partner, response = PolicyStack.of_agents(game, [m.agent]), PolicyStack.of_agents(game, [r.agent])
            played = play_pairs(game, partner, response, [(0, 0)], episodes=50, seed=9)
            assert played.returns[0, r.seat] == pytest.approx(r.worth.mean, abs=1.5)
    best = max(r.worth.mean for m in panel.members for r in m.responses)
    assert best > 5  # of at most 8: trained best responses name the cue


def test_everything_is_written_down(panel):
    told = panel.provenance
    assert told["config"] == json.loads(json.dumps(as_json(CONFIG)))
    assert set(told["stages"]) == {"candidates", "features", "selection", "skills", "responses", "contest"}
    assert told["stages"]["contest"]["known"] == ["random"]
    assert told["stages"]["contest"]["not_closed"] == []
    assert all(stage["wall_s"] >= 0 for stage in told["stages"].values())
    assert told["stages"]["candidates"]["steps_of_each"] == CONFIG.steps
    assert told["stages"]["responses"]["runs"] == 4


def test_no_response_is_below_a_known_agent(folder, tmp_path, capsys):
    """One who has learnt is above one at random: a response is trained on from it; without, the cell is named."""
    learnt = sorted((folder / "candidates" / "policies").glob("*-response.safetensors"))[0]
    given = dataclasses.replace(
        CONFIG,
        partners=("random",),
        kind="scripted",
        response_steps=0,
        known=(f"learnt={learnt}",),
        ruler_episodes=100,
    )
    panel = building.build(dataclasses.replace(given, closing_rounds=0), tmp_path / "open")
    assert "not closed: random, seat 0: learnt returns" in capsys.readouterr().err
    contest = panel.provenance["stages"]["contest"]
    assert [(c["partner"], c["seat"], c["agent"]) for c in contest["not_closed"]] == [
        ("random", 0, "learnt"),
        ("random", 1, "learnt"),
    ]
    (member,) = panel.members
    for r in member.responses:
        assert r.agent.name == "learnt"
        assert r.how == "a known agent, which no trained response reached: learnt"
        assert r.worth.mean == pytest.approx(6.0, abs=0.7)  # 4 of its own, half of the other's 4
    rival = dataclasses.replace(given, known=(), responses_from=given.known, closing_rounds=0)
    (member,) = building.build(rival, tmp_path / "rival", quiet=True).members
    assert [(r.agent.name, r.how) for r in member.responses] == [("learnt", "another's: learnt")] * 2
    panel = building.build(given, tmp_path / "closed", quiet=True)
    contest = panel.provenance["stages"]["contest"]
    assert (contest["open"], contest["not_closed"]) == (2, [])
    for r in panel.members[0].responses:
        assert r.how == "trained on from a known agent"
        assert r.worth.mean == pytest.approx(6.0, abs=0.7)


def test_a_partner_to_whom_no_response_scores_is_left_out_and_named(folder, tmp_path, capsys):
    """What was made for the others is not lost with it."""
    stages = json.loads((folder / building.STATE).read_text())["stages"]
    returns = {int(i): np.mean(row) for i, row in stages["features"]["returns"].items()}
    worst, best = min(returns, key=returns.__getitem__), max(returns, key=returns.__getitem__)
    files = [str(folder / "candidates" / "policies" / f"run{i}-biased.safetensors") for i in (worst, best)]
    least = (returns[worst] + returns[best]) / 2
    given = dataclasses.replace(CONFIG, partners=tuple(files), kind="self-play", least_return=float(least), known=())
    panel = building.build(given, tmp_path / "out")
    assert [m.agent.name for m in panel.members] == ["p001"]
    without = panel.provenance["stages"]["contest"]["without"]
    assert [(cell["partner"], cell["seat"]) for cell in without] == [("p000", 0), ("p000", 1)]
    assert all(cell["return"] <= least for cell in without)
    told = capsys.readouterr().err
    assert f"p000 (seat 0: {without[0]['return']:.3g})" in told
    assert "1 of 2 partners remain" in told


def test_what_counts_as_no_return_is_of_the_game():
    """Half a soup in kitchens; games whose points are smaller have their own."""
    least = {name: least_return(make(name)) for name in ("overcooked/cramped_room", "rescue/required_1", GAME.name)}
    assert least == {"overcooked/cramped_room": 10.0, "rescue/required_1": 1.0, GAME.name: 0.0}


def test_a_panel_is_closed_again_when_more_is_known(folder, panel, tmp_path):
    """Its partners stay as they are, with skill, candidate and preference; its best responses compete once more."""
    given = dataclasses.replace(CONFIG, partners=(str(folder / "panel"),), response_steps=0, seed=5)
    again = building.build(given, tmp_path / "again", quiet=True)
    assert [m.agent.config["sha256"] for m in again.members] == [m.agent.config["sha256"] for m in panel.members]
    assert again.provenance["behaviour"] == panel.provenance["behaviour"]
    assert again.provenance["before"]["sha256"] == panel.file_hash
    assert again.provenance["before"]["stages"] == panel.provenance["stages"]
    assert again.provenance["config"]["partners"] == ["toy/panel"]  # a shared file names no folders of a machine
    for mine, theirs in zip(again.members, panel.members, strict=True):
        assert (mine.skill, mine.candidate, mine.kind) == (theirs.skill, theirs.candidate, theirs.kind)
        assert mine.notes["preference"] == theirs.notes["preference"]
        for one, other in zip(mine.responses, theirs.responses, strict=True):
            assert one.worth.mean == pytest.approx(other.worth.mean, abs=1.5)


def test_another_configuration_is_refused(folder, tmp_path):
    with pytest.raises(InterplayError, match=r"config\.k is 2 there and 1 here"):
        building.build(dataclasses.replace(CONFIG, k=1), folder, quiet=True)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InterplayError, match="holds something else"):
        building.build(CONFIG, tmp_path, quiet=True)
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


def test_given_partners_become_a_panel(folder, tmp_path, capsys):
    """Partners that exist already: only best responses are trained."""
    files = sorted((folder / "candidates" / "policies").glob("*-response.safetensors"))
    given = dataclasses.replace(CONFIG, partners=tuple(map(str, files)), kind="self-play", name="clones")
    (tmp_path / "config.json").write_text(json.dumps(as_json(given)))
    assert main([str(tmp_path / "config.json"), "--out", str(tmp_path / "out"), "--quiet", "trial_episodes=20"]) == 0
    assert json.loads(capsys.readouterr().out)["partners"] == ["p000", "p001", "p002", "p003"]
    found = building.read_panel(tmp_path / "out" / "panel")
    assert {(m.kind, m.skill) for m in found.members} == {("self-play", None)}
    assert all(m.self_play.mean > 0 for m in found.members)


def test_configurations_that_cannot_be_used(tmp_path, capsys):
    with pytest.raises(InterplayError, match="select fewer"):
        Build(GAME, candidates=4, k=5)
    with pytest.raises(InterplayError, match=r"training\.steps: this is decided by the panel"):
        Build(GAME, training={"steps": 5})
    with pytest.raises(InterplayError, match=r"training\.gate: this is decided by the panel"):
        Build(GAME, training={"gate": {"least_return": 5.0}})
    with pytest.raises(InterplayError, match=r"training\.ppo.*epoch"):
        building.build(dataclasses.replace(CONFIG, responses={"ppo": {"epoch": 3}}), tmp_path / "late", quiet=True)
    with pytest.raises(InterplayError, match="comes without a reward space"):
        building.build(dataclasses.replace(CONFIG, choices={}), tmp_path / "a", quiet=True)
    with pytest.raises(InterplayError, match="unknown feature"):
        building.build(dataclasses.replace(CONFIG, features=("leaps",)), tmp_path / "b", quiet=True)
    with pytest.raises(InterplayError, match=r"only \d+ different preferences of 40 \(split: evaluation\)"):
        building.build(dataclasses.replace(CONFIG, candidates=40), tmp_path / "d", quiet=True)
    assert list(tmp_path.iterdir()) == []  # nothing was begun
    (tmp_path / "c.json").write_text('{"game": {"name": "overcooked/cramped_room"}, "candidate": 3}')
    assert main([str(tmp_path / "c.json"), "--out", str(tmp_path / "c")]) == 2
    assert "did you mean candidates" in capsys.readouterr().err


def test_a_bare_machine_is_enough():
    """No tyro, pydantic, duckdb, jinja2: what a GPU machine lacks is not needed."""
    code = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tyro", "pydantic", "duckdb", "jinja2", "pandas", "pyarrow"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
import interplay.partners.build, interplay.partners.__main__, interplay.partners.panels, interplay.partners.returns
from interplay.partners.panel import ReturnEstimate
ReturnEstimate.of([1.0, 2.0])
from interplay.partners.reward_space import draw, reward_space
from interplay.games.registry import make
game = make("overcooked/counter_circuit")
assert len(draw(game, reward_space(game), 64, 0)) == 64
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_panel_is_shown_and_has_a_page(folder, tmp_path, capsys):
    assert run(["partners", "show", str(folder / "panel"), "--out", str(tmp_path / "p.html"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(r["partner"], r["seat"]) for r in told["rows"]] == [
        (m.agent.name, seat) for m in building.read_panel(folder / "panel").members for seat in (0, 1)
    ]
    assert all(r["worth_low"] <= r["worth"] <= r["worth_high"] for r in told["rows"])
    page = (tmp_path / "p.html").read_text()
    for words in ("Best responses: main axes", "Partners: what they do", "Diversity by size", told["rows"][0]["hash"]):
        assert words in page
    assert run(["partners", "show", "overcooked/nowhere"]) == 2
    assert "neither a folder" in capsys.readouterr().err


def test_the_command_goes_on_with_a_finished_panel(folder, tmp_path, capsys):
    (tmp_path / "c.json").write_text(json.dumps(as_json(CONFIG)))
    assert run(["partners", "build", "--config", str(tmp_path / "c.json"), "--out", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sha256"] == building.read_panel(folder / "panel").file_hash
    given = ["--config", str(tmp_path / "c.json"), "--out", str(folder), "--set", "training.envs=32"]
    assert run(["partners", "build", *given]) == 2
    assert "config.training is" in capsys.readouterr().err
    assert run(["partners", "build", "--out", str(tmp_path / "new")]) == 2
    assert "name a game" in capsys.readouterr().err


def test_baselines_from_the_command_line(folder, tmp_path, capsys):
    copy = tmp_path / "panel"
    shutil.copytree(folder / "panel", copy)
    agents = ["--agents", f"answers={folder / 'responses'}", "chance=random", "--episodes", "2"]
    assert run(["partners", "baselines", str(copy), *agents, "--json"]) == 0
    answers, chance = json.loads(capsys.readouterr().out)["rows"]
    assert answers["seeds"] == 4
    assert 0 <= chance["br_prox"] < answers["br_prox"] <= 1
    assert [row["agent"] for row in building.read_panel(copy).baselines["rows"]] == ["answers", "chance"]
    assert run(["partners", "baselines", str(copy), "--agents", "random"]) == 2
    assert "write NAME=AGENT" in capsys.readouterr().err


def test_an_audit_finds_no_agent_above_a_best_response(folder, capsys):
    assert run(["partners", "audit", str(folder / "panel"), "--agents", "random", "--trial", "10", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["above"] == 0
    assert told["cells"] == 8
    assert "random" in told["agents"]
