"""Every command from outside: what it prints, what `--json` holds, how it refuses."""

import json
import re
import subprocess
import sys

import pytest

from interplay.cli.main import COMMANDS, run
from tests.glossary import all_columns_explained  # noqa: F401

GAME = ["--game", "overcooked/cramped_room", "--options", "horizon=60"]


def command(capsys, *arguments):
    """Exit code, standard output and standard error of a command line."""
    try:
        code = run([str(a) for a in arguments])
    except SystemExit as error:  # argument errors end the program
        code = error.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answer(capsys, *arguments):
    """The JSON object that a command prints, and nothing else on standard output."""
    code, out, err = command(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "traces"
    given = ["crossplay", *GAME, "--agents", "random", "stay", "--episodes", "3", "--out", str(folder)]
    assert run(given) == 0
    return folder


def test_help_names_every_command(capsys):
    code, out, _ = command(capsys, "--help")
    assert code == 0
    assert all(name in out for name in COMMANDS if name.count(" ") < 2)  # `paper PAPER RESULT`: in `paper list`


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(capsys, name):
    code, out, _ = command(capsys, *name.split(), "--help")
    assert code == 0
    assert f"interplay {name}" in out.split("Examples:")[1]


def test_help_does_not_load_jax():
    code = "import sys; from interplay.cli.main import run; run(['--help']); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("arguments", [["--help"], ["list", "agents"]])
def test_a_reader_that_has_seen_enough_sees_no_error(arguments):
    ours = subprocess.Popen(
        [sys.executable, "-m", "interplay.cli.main", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    ours.stdout.close()
    assert (ours.stderr.read(), ours.wait()) == (b"", 1)


def test_list(capsys):
    rows = answer(capsys, "list", "games")["rows"]
    assert {"overcooked/counter_circuit", "overcooked/counter_circuit_multi"} <= {r["name"] for r in rows}
    assert {r["kind"] for r in answer(capsys, "list")["rows"]} == {"game", "agent", "metric", "panel"}


def test_play_prints_what_its_json_holds(capsys):
    arguments = ["play", *GAME, "--agents", "random", "stay", "--episodes", "2"]
    (row,) = answer(capsys, *arguments)["rows"]
    assert row["agents"] == "random | stay"
    assert row["episodes"] == 2
    _, out, _ = command(capsys, *arguments)
    assert "random | stay" in out


def test_crossplay_keeps_traces_that_verify(capsys, traces):
    found = answer(capsys, "replay", traces, "--verify")
    assert found["episodes"] == 12
    assert found["ok"] is True
    assert found["rows"] == []


def test_measure(capsys, traces, tmp_path):
    rows = answer(capsys, "measure", traces, "--metrics", "score", "events")["rows"]
    assert {r["metric"] for r in rows} == {"score", "length", "reward", "events"}
    stays = [r for r in rows if r["metric"] == "events" and r["event"] == "STAY" and r["agent"] == "stay"]
    assert {r["value"] for r in stays} == {60}
    means = answer(capsys, "measure", traces, "--mean", "--csv", tmp_path / "t.csv")["rows"]
    assert {r["episodes"] for r in means} == {3}
    assert (tmp_path / "t.csv").read_text().count("\n") == len(means) + 1


def test_grade_ends_in_a_table_and_a_report(capsys, tmp_path):
    given = ["grade", *GAME, "--agent", "random", "--partners", "stay", "random+0.5", "--out", tmp_path / "g"]
    found = answer(capsys, *given)
    assert [r["partner"] for r in found["rows"]] == ["stay", "random+0.5"]
    assert found["grade"]["episodes"] == 2 * 2 * 20
    assert found["grade"]["low"] <= found["grade"]["iqm"] <= found["grade"]["high"]
    assert "<html" in (tmp_path / "g" / "report.html").read_text()


def test_report_and_bundle(capsys, traces, tmp_path):
    found = answer(capsys, "report", traces, "--out", tmp_path / "r.html", "--replays", "1")
    assert (tmp_path / "r.html").stat().st_size == found["rows"][0]["bytes"] > 10_000
    code, _, _ = command(capsys, "report", traces, "--out", tmp_path / "bundle", "--bundle")
    assert code == 0
    names = {p.suffix for p in (tmp_path / "bundle").rglob("*")}
    assert {".html", ".svg", ".csv", ".json"} <= names


def test_export_and_import_give_the_same_set(capsys, traces, tmp_path):
    assert command(capsys, "export", traces, "--out", tmp_path / "t.jsonl")[0] == 0
    found = answer(capsys, "import", "jsonl", tmp_path / "t.jsonl", "--out", tmp_path / "again")
    assert found["episodes"] == 12
    assert answer(capsys, "replay", tmp_path / "again", "--verify")["episodes"] == 12
    _, out, _ = command(capsys, "export", traces, "--to", "csv")
    assert out.count("\n") == 13


def test_sql(capsys, traces):
    found = answer(capsys, "sql", traces, "select count(*) n from actions")
    assert found["rows"] == [{"n": 12 * 60 * 2}]


def test_watching_an_episode(capsys, traces, tmp_path):
    code, out, _ = command(capsys, "replay", traces, "--episode", "2", "--at", "10")
    assert code == 0
    assert "X" in out or "#" in out
    for form in ("png", "svg"):
        assert command(capsys, "replay", traces, "--at", "5", f"--{form}", tmp_path / f"a.{form}")[0] == 0
        assert (tmp_path / f"a.{form}").stat().st_size > 500


def test_bench(capsys):
    (row,) = answer(capsys, "bench", "overcooked/cramped_room", "--envs", "8", "--steps", "10")["rows"]
    assert row["steps_per_second"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "unknown command 'bogus'"),
        (["gade"], "did you mean grade?"),
        (
            ["play", "--game", "overcooked/cramped_rom", "--agents", "stay", "stay"],
            "did you mean overcooked/cramped_room",
        ),
        (["play", *GAME, "--agents", "stay"], "2 seats, but 1 agents"),
        (["play", *GAME, "--agents", "stay", "stay", "--episodes", "0"], "play at least one"),
        (
            ["play", "--game", "overcooked/cramped_room", "--options", "horizon", "--agents", "stay", "stay"],
            "name=value",
        ),
        (
            ["play", "--game", "overcooked/cramped_room", "--options", "hurry=1", "--agents", "stay", "stay"],
            "unknown option",
        ),
        (["play", "--game", "overcooked", "--options", "layout=XXX/X1X/XXX", "--agents", "stay"], "no pot"),
        (["play", "--game", "nowhere:Thing", "--agents", "stay"], "cannot import 'nowhere'"),
        (["grade", *GAME, "--agent", "stay", "--episodes", "3"], "at least 20"),
        (["grade", *GAME, "--agent", "stay", "--panel", "royal"], "unknown panel 'royal'"),
        (["measure", "/nowhere"], "/nowhere"),
        (["sql", "/nowhere", "select 1"], "/nowhere"),
        (["import", "jsonl", "/nowhere.jsonl", "--out", "/tmp/never"], "nowhere.jsonl"),
    ],
)
def test_bad_input_is_refused_with_a_reason(capsys, arguments, message):
    code, out, err = command(capsys, *arguments)
    assert code == 2
    assert re.search(re.escape(message), err), err
    assert out == ""
    assert "Traceback" not in err


def test_bad_requests_on_a_good_set(capsys, traces):
    for arguments, message in [
        (["measure", traces, "--metrics", "charm"], "unknown metric 'charm'"),
        (["measure", traces, "--options", "window=3"], "no metric here takes the option 'window'"),
        (["replay", traces, "--episode", "99"], "no episode 99"),
        (["replay", traces, "--at", "999"], "states 0 to 60"),
        (["sql", traces, "select nothing from nowhere"], "nowhere"),
        (["crossplay", *GAME, "--agents", "stay", "--out", traces], "already holds a trace set"),
        (["report", traces, "--replays", "77"], "no episode 77"),
        (["report", traces, "--out", "/proc/page.html"], "/proc/page.html: no such file"),
    ]:
        code, _, err = command(capsys, *arguments)
        assert (code, message in err) == (2, True), err


def test_a_changed_record_is_found(capsys, traces, tmp_path):
    """Someone who edits a score in the export is told so after the import."""
    command(capsys, "export", traces, "--out", tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    first["rewards"] = [20.0, 0.0]
    (tmp_path / "t.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    assert command(capsys, "import", "jsonl", tmp_path / "t.jsonl", "--out", tmp_path / "edited")[0] == 0
    code, out, _ = command(capsys, "replay", tmp_path / "edited", "--verify", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["ok"] is False
    assert found["episodes"] == 11
    assert found["rows"][0]["episode"] == 0
