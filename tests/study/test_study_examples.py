"""The studies that come with the package are in it, and can be listed, copied and started by their names."""

import json
from pathlib import Path

import pytest

from interplay.challenge.spec import load as challenge
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.server.examples import CHALLENGES, STUDIES, ExampleFiles
from interplay.study.protocol.reading import load

ROOT = Path(__file__).parents[2]
NAMES = [
    "hanabi_preference",
    "human_human",
    "kitchen_chat",
    "overcooked_interdependence",
    "overcooked_ranking",
    "rescue_teams",
]


@pytest.fixture(scope="module")
def wheel():
    """What a wheel would hold, by the path in it: the builder's own list."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="the list of the wheel's files needs hatchling")
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the sources of the package are not here")
    found = builders.WheelBuilder(str(ROOT)).recurse_included_files()
    return {file.distribution_path.replace("\\", "/"): Path(file.path) for file in found}


def test_the_wheel_holds_every_example_and_what_a_study_needs(wheel):
    shipped = {path: source for path, source in wheel.items() if path.startswith("interplay/study/examples/")}
    assert sorted(shipped) == [f"interplay/study/examples/{path.name}" for path in sorted(ROOT.glob("studies/*.yaml"))]
    assert all(source.read_bytes() == (ROOT / "studies" / source.name).read_bytes() for source in shipped.values())
    for needed in (
        "static/app.js",
        "static/index.html",
        "db/migrations/0001_study.py",
        "admin/templates/page.html.j2",
    ):
        assert f"interplay/study/{needed}" in wheel
    assert not [path for path in wheel if path.startswith("interplay/study/web/")]


def test_the_wheel_holds_every_challenge(wheel):
    shipped = sorted(path for path in wheel if path.startswith("interplay/challenge/examples/"))
    assert shipped == [f"interplay/challenge/examples/{path.name}" for path in sorted(ROOT.glob("challenges/*.yaml"))]


def test_an_installed_package_finds_them_beside_itself(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    assert list(ExampleFiles("study", tmp_path, STUDIES.written).files()) == ["mine"]
    assert list(ExampleFiles("study", tmp_path / "not here", STUDIES.written).files()) == NAMES


def test_challenges_are_listed_written_and_read_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["challenge", "example", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]] == list(CHALLENGES.files())
    assert run(["challenge", "example", "hanabi_demo", "--out", "mine.yaml"]) == 0
    assert challenge("mine.yaml") == challenge("hanabi_demo")
    with pytest.raises(InterplayError, match=r"cannot read the challenge nothing: .*by its name: hanabi_demo, "):
        challenge("nothing")
    assert run(["challenge", "example", "hanabi_demos"]) == 2
    assert "hanabi_demo" in capsys.readouterr().err


def test_a_bare_name_is_an_example_unless_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("kitchen_chat").name == "kitchen_chat"
    Path("kitchen_chat").write_text("name: [")
    with pytest.raises(InterplayError, match="not YAML"):
        load("kitchen_chat")
    with pytest.raises(InterplayError, match=r"cannot read the study nothing: .*by its name: hanabi_preference, "):
        load("nothing")


def test_they_are_listed_and_written_by_a_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["study", "example", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == NAMES
    assert rows[-2]["languages"] == "en, zh"
    assert run(["study", "example", "human_human"]) == 0
    assert run(["study", "example", "human_human", "--out", "other.yaml"]) == 0
    assert load("human_human.yaml").hash == load("other.yaml").hash == load("human_human").hash
    Path("human_human.yaml").write_text("mine")
    capsys.readouterr()
    assert run(["study", "example", "human_human"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert Path("human_human.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["human_humans"], "human_human"),
        (["human_human", "--out", "no/such/folder.yaml"], "cannot write"),
        (["--out", "x.yaml"], "name the study"),
    ],
)
def test_what_cannot_be_done_is_told(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["study", "example", *arguments]) == 2
    assert told in capsys.readouterr().err
