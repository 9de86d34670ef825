"""Names of actions and further tables in SQL, and long tables as wide ones."""

import duckdb
import numpy as np
import pytest

import interplay
from interplay import api
from interplay.cli.main import run
from interplay.cli.show import _parts
from interplay.errors import InterplayError, TraceError
from interplay.table import Table
from interplay.traces import query


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sql") / "traces"
    traces = interplay.play("hanabi/2p", ["hanabi/smart", "random"], episodes=3, seed=0, out=folder)
    kitchen = interplay.make("overcooked/cramped_room", horizon=6)
    traces.append(interplay.play(kitchen, ["random", "stay"], episodes=1))
    return traces


def test_actions_have_their_names(games):
    rows = query(games, "SELECT * FROM named_actions ORDER BY episode, t, seat")
    worlds = {e.game_id: interplay.make(e.game_id, **e.options) for e in games}
    place = 0
    for number, episode in enumerate(games):
        names = worlds[episode.game_id].action_names
        for t, joint in enumerate(np.asarray(episode.actions)):
            for seat, action in enumerate(joint.tolist()):
                row = rows.rows[place]
                assert (row["episode"], row["t"], row["seat"], row["action"]) == (number, t, seat, action)
                assert (row["agent"], row["name"]) == (episode.agents[seat].name, names[action])
                place += 1
    assert place == len(rows)
    known = query(games, "SELECT game, count(*) AS actions FROM action_names GROUP BY game ORDER BY game")
    assert [row["actions"] for row in known] == [len(worlds[row["game"]].action_names) for row in known]


def test_measurements_join_with_episodes(games, tmp_path, capsys):
    table = interplay.measure(games, ["score"])
    sql = "SELECT score, m.value FROM episodes e JOIN measurements m USING (episode) WHERE m.metric = 'score'"
    rows = query(games, sql, {"measurements": table})
    assert len(rows) == len(games)
    assert all(row["score"] == row["value"] for row in rows)
    assert run(["sql", str(games.path), "select count(*) as n from measurements", "--metrics", "score", "--json"]) == 0
    assert f'"n": {len(table)}' in capsys.readouterr().out
    with pytest.raises(TraceError, match=r"measurements\(game, episode"):
        query(games, "SELECT nothing FROM measurements", {"measurements": table})
    with pytest.raises(TraceError, match="is a table of every trace set"):
        query(games, "SELECT 1", {"episodes": table})


def test_long_tables_become_wide(games):
    hanabi = games.select(game="hanabi/*")
    table = interplay.measure(hanabi, ["score", "hanabi/dominance"])
    wide = api.wide(table)
    assert len(wide) == 3 * 3  # a team and two seats in each episode
    assert wide.title == "measurements (points lost after the third bomb)"
    for row in table:
        kept = wide.where(**{c: row[c] for c in ("episode", "seat")}).rows
        name = row["metric"] + (f" {row['known']}" if row.get("known") else "")
        assert len(kept) == 1
        assert kept[0][name] == row["value"]
    pool = interplay.measure(hanabi, ["hanabi/pool"])
    whole = api.wide(pool)
    agents = [row for row in whole if row["partner"] is None and row["over"] == "mean of pairings"]
    assert {row["agent"] for row in agents} == {"hanabi/smart", "random"}
    assert all(row["g1 public"] is not None for row in agents)


def test_what_has_no_wide_form_is_told(games):
    hanabi = games.select(game="hanabi/*")
    with pytest.raises(InterplayError, match="list of moments"):
        api.wide(interplay.measure(hanabi, ["hanabi/conventions"], detail=True))
    twice = Table.of([{"unit": 1, "metric": "a", "value": 1}, {"unit": 1, "metric": "a", "value": 2}])
    with pytest.raises(InterplayError, match="two rows have 'a' of unit 1"):
        twice.pivot(["unit"])
    many = Table.of([{"unit": 1, "metric": f"m{i}", "value": i} for i in range(500)])
    with pytest.raises(InterplayError, match="501 columns"):
        many.pivot(["unit"])


def test_a_wide_table_is_printed_in_parts_that_repeat_the_keys():
    table = Table.of([{"agent": "a", **{f"metric {i}": 0.5 for i in range(12)}}])
    columns = list(table.columns)
    parts = _parts(table, columns, ["agent"], 60)
    assert len(parts) > 1
    assert all(part[0] == "agent" for part in parts)
    assert [c for part in parts for c in part[1:]] == columns[1:]
    assert _parts(table, columns, [], 60) == [columns]


def test_wide_and_mean_from_the_command_line(games, capsys, tmp_path):
    out = tmp_path / "wide.csv"
    folder = games.select(game="hanabi/*").save(tmp_path / "hanabi").path
    arguments = ["measure", str(folder), "--metrics", "score", "events", "--mean", "--wide", "--out", str(out)]
    assert run(arguments) == 0
    head = out.read_text().splitlines()[0].split(",")
    assert {"score", "length", "reward", "events played"} <= set(head)
    assert "points lost after the third bomb" in capsys.readouterr().out


def test_large_sets_are_averaged_and_written_as_they_are_measured(games, tmp_path, monkeypatch, capsys):
    table = interplay.measure(games, ["score", "events"])
    by = [c for c in table.columns if c not in ("episode", "value", "seed", *table.describing)]
    means = interplay.measure(games, ["score", "events"], mean=True)
    groups = table.groups(*by)
    assert len(means) == len(groups)
    for row in means:
        values = [v for v in groups[tuple(row[c] for c in by)].column("value") if v is not None]
        assert row["value"] == (sum(values) / len(values) if values else None)
        assert row["episodes"] == (len(values) or None)
    monkeypatch.setattr("interplay.cli.commands.measure.LARGE", 0)
    for ending in ("parquet", "csv"):
        whole, streamed = table.write(tmp_path / f"whole.{ending}"), tmp_path / f"streamed.{ending}"
        assert run(["measure", str(games.path), "--metrics", "score", "events", "--out", str(streamed)]) == 0
        assert f"has {len(table):,} rows" in capsys.readouterr().err
        with duckdb.connect() as con:
            rows = [con.execute(f"select * from '{path}'").fetchall() for path in (whole, streamed)]
            names = [con.execute(f"describe select * from '{path}'").fetchall() for path in (whole, streamed)]
        assert rows[0] == rows[1]
        assert names[0] == names[1]
