"""Transcripts from elsewhere: what is wrong is told with its line, and what is written is read back."""

from __future__ import annotations

import json

import pytest

from interplay.errors import InterplayError
from interplay.metrics.communication import AuditSettings, parse_transcripts, read_transcripts, rows, write_transcripts
from tests.metrics.communication.scripts import lines
from tests.metrics.communication.test_measures import COOKED, SERVED

GOOD = lines(COOKED, **SERVED)


def changed(number: int, **change) -> list[str]:
    """The good lines with one of them changed; None drops a key."""
    record = json.loads(GOOD[number]) | change
    record = {key: value for key, value in record.items() if value is not None}
    return [*GOOD[:number], json.dumps(record), *GOOD[number + 1 :]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "holds no episode"),
        (["{"], "line 1 is not JSON"),
        ([GOOD[0], "", "[1]"], "line 3: a list; each line is one JSON object"),
        (GOOD[1:], "line 1: an event of episode 'e' before its header"),
        ([GOOD[0], GOOD[0]], "line 2: a second header"),
        (changed(0, episode=None), "line 1: episode is missing"),
        (changed(0, sucess=True), "unknown key 'sucess'; did you mean success"),
        (changed(0, dish="fried egg"), "line 1: unknown dish 'fried egg'"),
        (changed(0, dish=None), "line 1: dish is missing"),
        (changed(0, roles=[]), "line 1: roles is"),
        (changed(0, roles=[{"name": "chef", "verbs": ["fry"]}, {"name": "b"}]), "line 1: verb is 'fry'"),
        (changed(0, horizon=-3), "line 1: horizon is -3"),
        (changed(0, needs=["cut potato"]), "line 1: 'cut potato' is no need"),
        (changed(0, needs=[{"verb": "cut", "object": "potato", "count": 0}]), "line 1: the count of"),
        (changed(0, success="yes"), "line 1: success is 'yes'"),
        (changed(0, length=-2), "line 1: length is -2"),
        (changed(0, rewards=[20]), "line 1: rewards is [20]"),
        (changed(2, lineage=7), "line 3: lineage is 7"),
        (changed(1, kind="shout"), "line 2: kind is 'shout'"),
        (changed(1, kind=None), "line 2: kind is missing"),
        (changed(1, t=-1), "line 2: t is -1"),
        (changed(1, t=1.5), "line 2: t is 1.5"),
        (changed(1, agent="waiter"), "line 2: the agent 'waiter' is not one of the cooks"),
        (changed(1, agent=7), "line 2: the agent 7"),
        (changed(1, text=3), "line 2: text is 3"),
        (changed(1, tokens="many"), "line 2: tokens is 'many'"),
        (changed(1, acts=["dance()"]), "line 2: 'dance()' is no act"),
        (changed(2, verb="fry"), "line 3: verb is 'fry'"),
        (changed(2, object=None), "line 3: object is None"),
        (changed(2, seq=0, t=0), "line 3: t 0 and seq 0 are those of line 2"),
        (changed(2, kind="verdict"), "line 3: ok is None"),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(given, message):
    with pytest.raises(InterplayError) as error:
        parse_transcripts(given, "file.jsonl")
    assert message in str(error.value)


def test_files(tmp_path):
    with pytest.raises(InterplayError, match="no such file"):
        read_transcripts(tmp_path / "none.jsonl")
    file = tmp_path / "binary.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InterplayError, match="UTF-8"):
        read_transcripts(file)
    file.write_text("\n".join(GOOD), encoding="utf-8")
    assert read_transcripts(file)[0].success


def test_what_is_written_is_read_back():
    needs = [{"verb": "cut", "object": "potato", "count": 2}]
    own = lines(
        "0 chef: Cut it.\n 1 assistant plans cut()", needs=needs, objects=["potato", "yam"], level=2, episode="f"
    )
    own = [line.replace('"episode": "e"', '"episode": "f"') for line in own]
    first = parse_transcripts([*GOOD, *own])
    written: list[str] = []
    assert write_transcripts(first, written.append) == 2
    again = parse_transcripts(written)
    assert again == first
    assert list(rows(again[0], AuditSettings())) == list(rows(first[0], AuditSettings()))


def test_what_may_be_left_out():
    short = [
        {"kind": "episode", "episode": 1, "dish": "boiled egg", "roles": [{"name": "chef"}, {"name": "assistant"}]},
        {"episode": 1, "t": 0, "agent": "chef", "kind": "message", "text": "Bring me an egg."},
        {"episode": 1, "t": 4, "agent": 1, "kind": "exec", "verb": "place_obj_on_counter", "object": "egg"},
        {"episode": 1, "t": 9, "agent": 0, "kind": "exec", "verb": "deliver", "object": "boiled(egg)"},
    ]
    found = parse_transcripts(map(json.dumps, short))[0]
    assert (found.horizon, found.length, found.success, found.task.level) == (100, 10, True, 1)
    values = {r["metric"]: r["value"] for r in rows(found, AuditSettings()) if r["seat"] is None}
    assert (values["follow_rate"], values["tokens_completion"]) == (1, None)
