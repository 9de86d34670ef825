"""Promises of the trace store: nothing is lost, nothing half-written is seen, and errors say what is wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from interplay.agents.api import Identity
from interplay.errors import TraceError
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces import TraceSet, query, same, verify
from interplay.traces.parquet_parts import write_part
from tests.traces.traces_toy import Fate, Toy, invented, play


@pytest.fixture(scope="module")
def mixed() -> list[Episode]:
    """Episodes of several games, seat counts and lengths, with remarks and without, one with recorded states."""
    two, three = Toy(), Toy(seats=3, horizon=9)
    return [
        play(two),
        play(three, index=1),
        play(two, index=2, events=False),
        play(Fate(horizon=6), index=3),
        *invented(2, 5),
    ]


def assert_same(found, expected):
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert same(a, b)
        assert a.actions.dtype == np.int16
        assert a.checks.dtype == np.uint32


def test_episodes_come_back_equal(tmp_path, mixed):
    traces = TraceSet.create(tmp_path / "set", meta={"command": "test"})
    assert traces.append(mixed) == len(mixed)
    assert_same(traces, mixed)
    again = TraceSet.open(tmp_path / "set")
    assert again.manifest.meta == {"command": "test"}
    assert_same(again, mixed)
    assert_same([again[i] for i in range(len(again))], mixed)
    assert again[0].start["slope"].dtype == np.float32
    assert again[0].start["goal"].shape == ()
    assert again[0].events[1].seat is None
    for name, values in mixed[3].states.items():
        np.testing.assert_array_equal(again[3].states[name], values)


def test_same_sees_every_difference(mixed):
    one = mixed[0]
    changes = {
        "actions": one.actions + 1,
        "checks": one.checks + np.uint32(1),
        "seed": 9,
        "terminated": not one.terminated,
        "start": {**one.start, "goal": one.start["goal"] + 1},
        "events": one.events[:-1],
        "states": b"x",
        "rewards": one.rewards + 1,
        "agents": (one.agents[1], one.agents[0]),
        "options": {"seats": 2},
    }
    for name, value in changes.items():
        assert not same(one, dataclasses.replace(one, **{name: value})), name


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ARRAYS = st.sampled_from(["?", "i1", "u1", "i4", "i8", "f2", "f4", "f8"]).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)


@st.composite
def episodes(draw) -> Episode:
    seats, length = draw(st.integers(1, 4)), draw(st.integers(0, 5))
    checks = draw(st.integers(0, 3))
    remark = st.builds(
        RecordedEvent,
        t=st.integers(0, length),
        seq=st.integers(0, 9),
        seat=st.none() | st.integers(0, seats - 1),
        kind=NAMES,
        payload=st.dictionaries(NAMES, PLAIN, max_size=3),
    )
    return Episode(
        game_id=draw(NAMES),
        options=draw(st.dictionaries(NAMES, PLAIN, max_size=2)),
        rules_version=draw(NAMES),
        agents=tuple(
            Identity(draw(NAMES), draw(NAMES), draw(st.booleans()), draw(st.dictionaries(NAMES, PLAIN, max_size=1)))
            for _ in range(seats)
        ),
        seed=draw(st.integers(-(2**63), 2**63 - 1)),
        index=draw(st.integers(0, 2**40)),
        start=draw(st.dictionaries(NAMES, ARRAYS, max_size=2)),
        actions=draw(hnp.arrays(np.int16, (length, seats))),
        check_steps=draw(hnp.arrays(np.int32, checks, elements=st.integers(0, length))),
        checks=draw(hnp.arrays(np.uint32, checks)),
        rewards=draw(hnp.arrays(np.float64, seats, elements=st.floats(-1e6, 1e6))),
        terminated=draw(st.booleans()),
        events=tuple(draw(st.lists(remark, max_size=3))),
        states=draw(st.none() | st.dictionaries(NAMES, ARRAYS, max_size=2)),
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(episodes(), min_size=1, max_size=4))
def test_any_episode_comes_back_equal(tmp_path_factory, played):
    traces = TraceSet.create(tmp_path_factory.mktemp("any") / "set")
    traces.append(played)
    assert_same(TraceSet.open(traces.path), played)


def test_memory_and_folder_have_one_interface(tmp_path, mixed):
    memory = TraceSet.in_memory(mixed, meta={"a": 1})
    saved = memory.save(tmp_path / "set")
    assert saved.manifest.meta == {"a": 1}
    for traces in (memory, saved):
        assert len(traces) == len(mixed)
        assert_same(traces, mixed)
        assert_same(traces[1:4], mixed[1:4])
        assert_same(traces[::-1], mixed[::-1])
        assert_same([traces[-1]], [mixed[-1]])
        assert_same(traces.select(game="*:Toy"), mixed[:3])
        assert_same(traces.select(game="invented"), mixed[4:])
        assert_same(traces.select(agents="walker/2"), [mixed[1]])
        assert_same(traces.select(agents=["walker/0", "walker/1"]), [mixed[0], mixed[2], mixed[3]])
        assert_same(traces.select(where=lambda row: row["length"] == 5), mixed[4:])
        assert len(traces.select(agents="nobody")) == 0
        assert [n for n, _ in traces[2:4].items()] == [2, 3]
        with pytest.raises(IndexError, match="has 6 here"):
            traces[6]
        with pytest.raises(TraceError, match="selection"):
            traces[1:].append(mixed)
    assert memory.summary().rows == saved.summary().rows
    assert memory[3:].summary().rows == saved[3:].summary().rows


def test_select_reads_across_parts(tmp_path):
    traces = TraceSet.create(tmp_path / "set")
    played = invented(30, 3)
    for i in range(0, 30, 7):
        traces.append(played[i : i + 7])
    assert_same(traces.select(where=lambda row: row["index"] % 4 == 1), [e for e in played if e.index % 4 == 1])
    assert_same(traces[25::-6], played[25::-6])
    joined = traces.save(tmp_path / "joined")
    assert len(list((tmp_path / "joined").glob("part-*"))) == 1
    assert_same(joined, played)


def test_writer_commits_as_it_goes(tmp_path):
    traces = TraceSet.create(tmp_path / "set")
    played = invented(7, 3)
    with traces.writer(episodes=3) as writer:
        for n, episode in enumerate(played, start=1):
            writer.add(episode)
            assert len(traces.refresh()) == n // 3 * 3
    assert_same(traces, played)
    with traces.writer(seconds=0.0) as writer:
        writer.add(played[0])
        assert len(traces.refresh()) == 8


def test_what_was_played_is_kept_when_the_program_fails(tmp_path):
    traces = TraceSet.create(tmp_path / "set")
    played = invented(3, 3)

    def fails_midway():
        yield played[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        traces.append(fails_midway())
    bad = dataclasses.replace(
        played[1], events=(RecordedEvent(t=0, seq=0, seat=0, kind="plan", payload={"a": object()}),)
    )
    with pytest.raises(TraceError, match="event 'plan' at t=0"):
        traces.append([played[1], bad, played[2]])
    assert_same(TraceSet.open(traces.path), played[:2])


KILLED = """
import sys
from tests.traces.traces_toy import invented
from interplay.traces import TraceSet
traces = TraceSet.create(sys.argv[1])
played = invented(40, 50)
while True:
    traces.append(played)
    print(len(traces), flush=True)
"""


def test_a_killed_run_leaves_a_readable_set(tmp_path):
    for n in range(3):
        folder = tmp_path / f"set{n}"
        run = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(3):
            said = int(run.stdout.readline())
        time.sleep(0.013 * n)  # somewhere in the middle of writing
        run.send_signal(signal.SIGKILL)
        said = int((run.stdout.read().split() or [said])[-1])
        assert run.wait() == -signal.SIGKILL
        traces = TraceSet.open(folder)
        assert len(traces) >= said  # all that was reported is there, and no part of anything else
        assert len(traces) % 40 == 0
        assert_same(traces, invented(40, 50) * (len(traces) // 40))
        traces.append(invented(1, 3))
        assert len(TraceSet.open(folder)) == len(traces)


KILLED_BEFORE_COMMIT = """
import os, signal, sys
from tests.traces.traces_toy import invented
from interplay.traces import TraceSet
traces = TraceSet.create(sys.argv[1])
traces.append(invented(4, 5))
os.rename = lambda source, target: os.kill(os.getpid(), signal.SIGKILL)
traces.append(invented(9, 5))
"""


def test_a_run_killed_just_before_its_commit_leaves_the_parts_before(tmp_path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", KILLED_BEFORE_COMMIT, str(tmp_path / "set")], env=env, check=False)
    assert run.returncode == -signal.SIGKILL
    (hidden,) = (tmp_path / "set").glob(".writing-*")
    assert len(list(hidden.iterdir())) == 4  # all was written, only the commit is missing
    traces = TraceSet.open(tmp_path / "set")
    assert_same(traces, invented(4, 5))
    traces.append(invented(2, 5))
    assert traces.numbers.tolist() == list(range(6))


def test_left_overs_are_not_seen(tmp_path, mixed):
    traces = TraceSet.in_memory(mixed).save(tmp_path / "set")
    hidden = traces.path / ".writing-77-abcdef"
    shutil.copytree(traces.path / "part-000000", hidden)
    (hidden / "events.parquet").unlink()
    (hidden / "actions.parquet").write_bytes(b"PAR1")
    (traces.path / "README.txt").write_text("notes of a person")
    assert_same(TraceSet.open(traces.path), mixed)
    assert len(query(traces.path, "SELECT * FROM episodes")) == len(mixed)


def test_writers_do_not_clash(tmp_path):
    folder = tmp_path / "set"
    TraceSet.create(folder)
    script = """
import dataclasses, sys
from tests.traces.traces_toy import invented
from interplay.traces import TraceSet
traces = TraceSet.open(sys.argv[1])
for i in range(15):
    traces.append([dataclasses.replace(e, seed=int(sys.argv[2]), index=i) for e in invented(1, 4)])
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [subprocess.Popen([sys.executable, "-c", script, str(folder), str(seed)], env=env) for seed in (1, 2)]
    assert [run.wait() for run in runs] == [0, 0]
    rows = TraceSet.open(folder).summary()
    assert rows.column("episode") == list(range(30))
    for seed in (1, 2):  # each writer's episodes are all there, in its order
        assert rows.where(seed=seed).column("index") == list(range(15))


def test_the_slower_writer_takes_the_next_number(tmp_path, monkeypatch):
    traces = TraceSet.create(tmp_path / "set")
    played = invented(3, 4)
    rename = os.rename

    def overtaken(source, target):
        monkeypatch.setattr(os, "rename", rename)
        write_part(traces.path, played[:2])  # another writer commits just before we do
        rename(source, target)

    monkeypatch.setattr(os, "rename", overtaken)
    traces.append(played[2:])
    assert traces.numbers.tolist() == [0, 1, 2]
    assert_same(traces, played)
    assert sorted(f.name for f in traces.path.iterdir()) == ["manifest.json", "part-000000", "part-000001"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"actions": np.zeros((3, 5), np.int16)}, "2 agents but actions of shape"),
        ({"actions": np.zeros((3, 2))}, "must be integers"),
        ({"actions": np.full((3, 2), 70000)}, "outside of 16 bits"),
        ({"rewards": np.zeros(3)}, "rewards of shape"),
        ({"checks": np.zeros(7, np.uint32)}, "checksums of shape"),
        ({"check_steps": np.array([0, 99])}, "checksum at step 99 but 4 steps"),
        ({"seed": 2**70}, "64 bits"),
        ({"options": {"x": {1, 2}}}, "cannot be recorded as JSON"),
        ({"start": {"deck": np.array([object()])}}, "start value 'deck' has dtype object"),
        ({"events": (RecordedEvent(t=0, seq=0, seat=4, kind="a", payload={}),)}, "of seat 4, but 2 seats"),
    ],
)
def test_an_episode_that_cannot_be_recorded_is_refused(change, says):
    episode = invented(1, 4)[0]
    with pytest.raises(TraceError, match=says):
        TraceSet.in_memory([dataclasses.replace(episode, **change)])


@pytest.fixture
def folder(tmp_path) -> Path:
    traces = TraceSet.create(tmp_path / "set")
    traces.append(invented(4, 5))
    traces.append(invented(3, 5))
    return traces.path


def edit_manifest(folder, **change):
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))


def rewrite(folder, table, select, part="part-000001"):
    file = folder / part / f"{table}.parquet"
    duckdb.sql(f"CREATE OR REPLACE TEMP TABLE held AS {select} FROM '{file}'")
    duckdb.sql(f"COPY held TO '{file}' (FORMAT parquet)")


def truncate(file, share=0.5):
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])


WRONG = {
    "no such folder": (lambda f: shutil.rmtree(f), "there is no such folder"),
    "a file": (lambda f: (shutil.rmtree(f), f.write_text("x")), "is a file; a trace set is a folder"),
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "its manifest.json is missing"),
    "another folder": (lambda f: (shutil.rmtree(f), f.mkdir()), "is not a trace set: it has no manifest.json"),
    "damaged manifest": (lambda f: truncate(f / "manifest.json"), "manifest.json is not JSON"),
    "foreign manifest": (
        lambda f: (f / "manifest.json").write_text('{"name": "web app"}'),
        "another program: it names no",
    ),
    "other format": (lambda f: edit_manifest(f, format="zarr"), "another program: its format is 'zarr'"),
    "newer": (lambda f: edit_manifest(f, format_version=99, interplay="7.0"), "format version 99.*interplay 7.0"),
    "wrong type": (lambda f: edit_manifest(f, meta=3), "wrong value for 'meta'"),
    "truncated episodes": (
        lambda f: truncate(f / "part-000001/episodes.parquet"),
        "part-000001/episodes.parquet cannot",
    ),
    "truncated actions": (lambda f: truncate(f / "part-000001/actions.parquet"), "part-000001/actions.parquet cannot"),
    "not Parquet": (
        lambda f: (f / "part-000000/events.parquet").write_text("hi"),
        "events.parquet cannot be read as Par",
    ),
    "missing table": (
        lambda f: (f / "part-000000/checksums.parquet").unlink(),
        "checksums.parquet: there is no such file: restore",
    ),
    "part is a file": (lambda f: (f / "part-000007").write_text(""), "part-000007 should be a folder"),
    "foreign part": (lambda f: shutil.copytree(f / "part-000000", f / "part-000002"), "comes from another trace set"),
    "missing column": (lambda f: rewrite(f, "actions", "SELECT * EXCLUDE action"), "no column 'action'"),
    "missing key": (lambda f: rewrite(f, "episodes", "SELECT * EXCLUDE episode"), "no column 'episode'"),
    "wrong column type": (
        lambda f: rewrite(f, "checksums", "SELECT * REPLACE (value::VARCHAR AS value)"),
        "column 'value' has the type VARCHAR, a trace set has UINTEGER",
    ),
    "gap": (lambda f: rewrite(f, "episodes", "SELECT * REPLACE (episode * 2 AS episode)"), "must follow one another"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_damaged_or_foreign_set_says_what_is_wrong(folder, case):
    harm, says = WRONG[case]
    harm(folder)
    with pytest.raises(TraceError, match=says):
        list(TraceSet.open(folder))


def test_missing_and_reordered_actions_are_noticed(folder):
    file = folder / "part-000001" / "actions.parquet"
    held = f"CREATE OR REPLACE TEMP TABLE held AS SELECT * FROM '{file}'"
    duckdb.sql(f"{held} ORDER BY action, t DESC")
    duckdb.sql(f"COPY held TO '{file}' (FORMAT parquet)")
    with pytest.raises(TraceError, match="not in the order"):
        list(TraceSet.open(folder))
    duckdb.sql(f"{held} WHERE NOT (episode = 5 AND t = 2) ORDER BY episode, t, seat")
    duckdb.sql(f"COPY held TO '{file}' (FORMAT parquet)")
    with pytest.raises(TraceError, match=r"episode 5 should have 10 actions .*, it has 8"):
        list(TraceSet.open(folder))


def test_the_rest_survives_the_removal_of_a_damaged_part(folder):
    truncate(folder / "part-000000" / "episodes.parquet")
    shutil.rmtree(folder / "part-000000")
    traces = TraceSet.open(folder)
    assert traces.numbers.tolist() == [4, 5, 6]  # the numbers stay, so that older tables still fit
    assert_same(traces, invented(3, 5))
    traces.append(invented(1, 5))
    assert traces.numbers.tolist() == [4, 5, 6, 7]


def test_an_empty_set_opens_and_says_that_it_is_empty(tmp_path):
    traces = TraceSet.create(tmp_path / "set")
    assert len(TraceSet.open(tmp_path / "set")) == 0
    assert list(traces) == []
    assert traces.summary().rows == []
    assert traces.append([]) == 0
    with pytest.raises(TraceError, match="holds no episodes, so there is nothing to verify"):
        verify(traces)
    with pytest.raises(IndexError, match="has 0 here"):
        traces[0]


def test_create_never_touches_what_is_there(folder, tmp_path):
    with pytest.raises(TraceError, match="already holds a trace set"):
        TraceSet.create(folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(TraceError, match="not empty and not a trace set"):
        TraceSet.create(tmp_path / "mine")
    with pytest.raises(TraceError, match="a file is there"):
        TraceSet.create(tmp_path / "mine" / "thesis.tex")
    with pytest.raises(TraceError, match="description of a trace set cannot be recorded"):
        TraceSet.create(tmp_path / "new", meta={"x": object()})
    assert not (tmp_path / "new").exists()


def test_ten_thousand_episodes_take_seconds(tmp_path):
    played = invented(10_000)
    begin = time.perf_counter()
    traces = TraceSet.create(tmp_path / "set")
    traces.append(played)
    written = time.perf_counter()
    count = sum(episode.length for episode in TraceSet.open(tmp_path / "set"))
    read = time.perf_counter()
    assert count == 4_000_000
    # About 1.5 s each on two cores; the bound is wide for a busy machine and far below a query per episode.
    assert written - begin < 30
    assert read - written < 30
