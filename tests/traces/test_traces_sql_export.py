"""Promises of SQL and export: all of a set can be asked and taken along, and asking changes nothing."""

from __future__ import annotations

import csv
import io
import json

import pytest

from interplay.errors import TraceError
from interplay.traces import TraceSet, episodes_csv, query, read_jsonl, same, verify, write_jsonl
from interplay.traces.sql import VIEWS
from tests.traces.traces_toy import Fate, Toy, invented, play


@pytest.fixture(scope="module")
def played():
    return [play(Toy()), play(Toy(seats=3, horizon=9)), play(Fate(horizon=5)), *invented(2, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, played):
    traces = TraceSet.create(tmp_path_factory.mktemp("it's") / "set")  # a quote in the path
    traces.append(played[:2])
    traces.append(played[2:])
    return traces.path


@pytest.fixture(params=["folder", "memory"])
def traces(request, folder, played):
    return TraceSet.open(folder) if request.param == "folder" else TraceSet.in_memory(played)


def test_sql_over_every_table(traces, played):
    one = query(traces, "SELECT episode, score, length FROM episodes ORDER BY episode")
    assert one.columns == ("episode", "score", "length")
    assert one.rows == [{"episode": i, "score": e.score, "length": e.length} for i, e in enumerate(played)]
    counted = query(traces, "SELECT count(*) AS n, sum(action) AS total FROM actions").rows
    assert counted == [{"n": sum(e.actions.size for e in played), "total": sum(int(e.actions.sum()) for e in played)}]
    said = query(
        traces, "SELECT episode, payload->>'text' AS text FROM events WHERE kind = 'message' ORDER BY ALL"
    ).rows
    assert said[0] == {"episode": 0, "text": "I go first, ∀ of us’ll arrive"}
    assert query(traces, "SELECT count(*) n FROM events WHERE seat IS NULL").rows == [{"n": 3}]
    assert query(traces, "SELECT value FROM checksums WHERE episode = 1 AND t = 0").rows == [
        {"value": int(played[1].checks[0])}
    ]
    seats = query(
        traces, "SELECT seat, agent, privileged, reward, config->>'pace' AS pace FROM seats WHERE episode = 1"
    )
    assert seats.rows == [
        {"seat": i, "agent": f"walker/{i}", "privileged": i == 1, "reward": played[1].rewards[i], "pace": str(i)}
        for i in range(3)
    ]


def test_the_tables_are_as_described(traces):
    for name, columns in VIEWS.items():
        described = query(traces, f"DESCRIBE {name}")
        assert {r["column_name"]: r["column_type"] for r in described} == dict(columns)


def test_a_selection_keeps_the_numbers_of_the_whole(folder):
    chosen = TraceSet.open(folder).select(game="invented")
    assert query(chosen, "SELECT DISTINCT episode FROM actions ORDER BY 1").column("episode") == [3, 4]
    assert query(chosen, "SELECT episode FROM episodes ORDER BY 1").column("episode") == [3, 4]


def test_values_are_plain(folder):
    row = query(folder, "SELECT 1.5 d, 2::DECIMAL(9,2) w, DATE '2020-01-02' t, [1.5, NULL] l, {'a': 1} s, NULL n").rows[
        0
    ]
    assert row == {"d": 1.5, "w": 2, "t": "2020-01-02", "l": [1.5, None], "s": {"a": 1}, "n": None}
    joined = query(folder, "SELECT a.episode, b.episode FROM episodes a JOIN episodes b USING (seed) LIMIT 1")
    assert joined.columns == ("episode", "episode_2")
    assert json.loads(query(folder, "SELECT states FROM episodes").to_json())["rows"][2]["states"]
    assert query(folder, "SELECT score FROM episodes WHERE false").columns == ("score",)


def test_bad_sql_lists_the_tables(traces):
    for sql in ("SELECT points FROM episodes", "SELECT * FROM rounds", "SELEC 1"):
        with pytest.raises(TraceError, match=r"(?s)Error.*The tables are:.*checksums\(episode BIGINT, t INTEGER"):
            query(traces, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM columns",  # a variable of our own
        "SELECT * FROM traces",
        "SET enable_external_access = true",
        "COPY episodes TO '{secret}'",
        "EXPLAIN ANALYZE COPY episodes TO '{secret}'",
        "ATTACH '{secret}.db'",
        "INSTALL httpfs",
        "DROP VIEW episodes",
        "CREATE TABLE mine AS SELECT 1",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_sql_reads_the_set_and_nothing_else(traces, tmp_path, sql):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with pytest.raises(TraceError):
        query(traces, sql.format(secret=secret))
    assert secret.read_text() == "a\n1\n"
    assert list(tmp_path.iterdir()) == [secret]


def test_sql_on_an_empty_set_and_a_relative_path(tmp_path, monkeypatch, played):
    TraceSet.create(tmp_path / "set")
    monkeypatch.chdir(tmp_path)
    assert query("set", "SELECT count(*) n FROM actions").rows == [{"n": 0}]
    assert query("set", "SELECT * FROM seats").rows == []
    TraceSet.open("set").append(played)
    assert query("set", "SELECT count(*) n FROM seats").rows == [{"n": 11}]


def test_sql_on_a_damaged_part_says_so(tmp_path, played):
    traces = TraceSet.in_memory(played).save(tmp_path / "set")
    (traces.path / "part-000000" / "events.parquet").write_bytes(b"PAR1")
    with pytest.raises(TraceError, match="damaged part"):
        query(traces.path, "SELECT * FROM events")


def test_json_lines_lose_nothing(traces, played, tmp_path):
    assert write_jsonl(traces, tmp_path / "out.jsonl") == len(played)
    back = list(read_jsonl(tmp_path / "out.jsonl"))
    assert len(back) == len(played)
    assert all(same(a, b) for a, b in zip(back, played, strict=True))
    assert verify(TraceSet.in_memory(back[:3])).check().episodes == 2
    out = io.StringIO()
    write_jsonl(traces, out)
    lines = out.getvalue().splitlines()
    assert [json.loads(line)["episode"] for line in lines] == list(range(len(played)))
    assert len(list(read_jsonl(lines))) == len(played)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2 is not JSON"),
        ("[1]", "line 2"),
        ('{"a": 1}', "line 2: its format is None"),
        ('{"format": "interplay-traces", "format_version": 9}', "format version 9 is newer"),
        ('{"format": "interplay-traces", "format_version": 1}', "line 2 has no 'agents'"),
    ],
)
def test_a_foreign_line_is_named(played, line, says):
    out = io.StringIO()
    write_jsonl(TraceSet.in_memory(played[:1]), out)
    with pytest.raises(TraceError, match=says):
        list(read_jsonl([out.getvalue(), line]))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TraceError, match=r"cannot read .*none\.jsonl"):
        list(read_jsonl(tmp_path / "none.jsonl"))


def test_csv_of_episodes(traces, played):
    rows = list(csv.DictReader(io.StringIO(episodes_csv(traces))))
    assert [float(r["score"]) for r in rows] == [e.score for e in played]
    assert json.loads(rows[1]["agents"]) == ["walker/0", "walker/1", "walker/2"]
