"""The client in the guide plays a whole evaluation, and the commands do what the guide says."""

import json
import re
from pathlib import Path

import pytest

from interplay.cli.main import run

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guide" / "challenge.md"


@pytest.mark.slow
def test_the_client_of_the_guide_plays_an_evaluation(served):
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 45
    names: dict = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    keys = served.entry("guide")
    scores = names["play_evaluation"](served.url, keys["evaluation_key"], names["any_legal"])
    assert len(scores) == 29


def test_the_commands_of_the_guide(served, clock, tmp_path, monkeypatch, capsys):
    clock.advance(3600)  # other tests have used up this address's registrations

    def command(*arguments):
        code = run(["challenge", *map(str, arguments)])
        out = capsys.readouterr().out
        return code, json.loads(out)["rows"] if out.startswith("{") else out

    url = ["--url", served.url]
    code, (team,) = command("register", *url, "--team", "cli", "--contact", "x", "--json")
    assert code == 0
    (tmp_path / "plan.md").write_text("We expect 12 points.")
    code, (entry,) = command(
        "enter", *url, "--key", team["team_key"], "--name", "simple", "--plan", tmp_path / "plan.md", "--json"
    )
    assert code == 0
    monkeypatch.setenv("INTERPLAY_KEY", entry["evaluation_key"])
    code, (found,) = command("play", *url, "--agent", "hanabi/simple", "--json")
    assert (code, found["DONE"], found["status"]) == (0, 29, "played")
    served.settled()
    result, traces = tmp_path / "result.json", tmp_path / "traces.jsonl"
    code, _ = command("result", *url, "--evaluation", entry["evaluation"], "--out", result, "--traces", traces)
    assert code == 0
    code, rows = command("verify", result, *url, "--traces", traces, "--json")
    assert code == 0
    assert all(row["fine"] for row in rows)
    result.write_text(result.read_text().replace('"team": "cli"', '"team": "other"'))
    assert command("verify", result, "--json")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "none.yaml"], "cannot read the challenge"),
        (["register", "--url", "http://127.0.0.1:9", "--team", "a", "--contact", "b"], "cannot reach"),
        (["enter", "--url", "x", "--key", "k", "--name", "a", "--plan", "none.md"], "cannot read none.md"),
        (["play", "--url", "http://127.0.0.1:9", "--agent", "random"], "give your key"),
        (["play", "--url", "http://127.0.0.1:9", "--key", "k", "--agent", "random", "--at-once", "0"], "at least 1"),
        (["verify", "none.json"], "cannot read"),
        (["books", "none.yaml"], "cannot read the challenge"),
        (["nonsense"], "unknown command"),
    ],
)
def test_bad_input_is_told(arguments, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INTERPLAY_KEY", raising=False)
    assert run(["challenge", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_issue_and_books(served, tmp_path, capsys, monkeypatch):
    import yaml

    from tests.challenge.conftest import SMALL

    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(yaml.safe_dump(SMALL))
    assert run(["challenge", "issue", "small.yaml", "--agent", "x", "--baseline", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["rows"][0]
    assert Path("small.db").exists()
    assert run(["challenge", "books", "small.yaml", "--json"]) == 0
    log = json.loads(capsys.readouterr().out)["rows"]
    assert {"register", "enter"} <= {row["action"] for row in log}
    assert run(["challenge", "books", "small.yaml", "--evaluation", made["evaluation"], "--out", "t"]) == 2
    assert "no game" in capsys.readouterr().err
    public = made["evaluation_key"].split(".")[1]
    assert run(["challenge", "books", "small.yaml", "--revoke", public]) == 0
    assert run(["challenge", "books", "small.yaml", "--revoke", public]) == 2
    assert run(["challenge", "books", "small.yaml", "--evaluation", made["evaluation"], "--void", "test"]) == 0
