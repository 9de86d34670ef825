"""Erased is erased: in the tables, and in the bytes of the files."""

import re
import zlib
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server.signatures import secret
from interplay.study.admin import erase, payments
from interplay.study.db import records
from interplay.study.db.game_rows import unpack
from interplay.study.db.schema import METADATA, answers, events, games, members, people, recruits, slots
from interplay.study.live.game_session import person_identity
from interplay.traces import TraceSet, verify
from interplay.traces.export import to_record
from tests.study.researcher.conftest import Study
from tests.study.researcher.filling import protocol

ID = "62cc0aa1b2c3d4e5f6a7b8c9"
WORDS = "My grandmother's borscht is zanzibarian"
SAID = "hello-from-quixotic-person"


@pytest.fixture
def with_gus(filled_anywhere):
    """Someone whose words and id can be looked for in the files."""
    number = filled_anywhere.filler.person(ID)
    filled_anywhere.filler.finish(number, about=WORDS, said=SAID)
    filled_anywhere.gus = filled_anywhere.filler.public(number)
    filled_anywhere.gus_number = number
    return filled_anywhere


def rows(study, table):
    return study.database.read(lambda tx: tx.execute(sa.select(table)).all())


def everything(study):
    """All that the database holds, as text; traces unpacked."""
    found = []
    for table in METADATA.sorted_tables:
        for row in rows(study, table):
            held = dict(row._mapping)
            if held.get("episode"):
                held["episode"] = zlib.decompress(held["episode"]).decode()
            found.append(repr(held))
    return "\n".join(found)


def raw(study):
    """The bytes of the database's files, write-ahead file included."""
    if not study.database.is_sqlite:
        return b""
    return b"".join(path.read_bytes() for path in Path(study.address).parent.glob("tiny.db*"))


def needles(study):
    key = study.database.write(secret, study.clock, "recruits")
    return [payments.hashed(key, ID), WORDS, "zanzibarian", person_identity(study.gus).hash, study.gus]


def forget(study, public, games):
    browser = study.logged_in()
    return browser.fill_in(f"/researcher/participants/{public}/erase", {"confirm": public, "games": games})


def test_nothing_is_left_of_who_is_erased(with_gus):
    sought = needles(with_gus)
    assert all(needle in everything(with_gus) for needle in (*sought, SAID))
    if with_gus.database.is_sqlite:
        assert all(needle.encode() in raw(with_gus) for needle in sought if needle != sought[3])  # traces are packed
    traces = [row.episode for row in rows(with_gus, games) if row.person == with_gus.gus_number]
    assert not with_gus.database.is_sqlite or all(trace[-60:] in raw(with_gus) for trace in traces)
    answer = forget(with_gus, with_gus.gus, "erase")
    assert answer.headers["location"] == "/researcher/participants?done=erased"
    left = everything(with_gus)
    assert not [needle for needle in (*sought, SAID) if needle in left]
    bytes_left = raw(with_gus)
    # The name that the study gave stands in the audit log, which says that it was erased, and nowhere else.
    assert not [needle for needle in sought[:-1] if needle.encode() in bytes_left]
    assert not [trace for trace in traces if trace[-60:] in bytes_left]
    for table in (people, answers, games, events, slots, recruits):
        column = table.c.id if table is people else table.c.person
        assert not [row for row in rows(with_gus, table) if row._mapping[column] == with_gus.gus_number]
    [line] = with_gus.audit("erase")
    assert (line["actor"], line["subject"]) == ("ana", with_gus.gus)
    assert line["detail"] == {
        "study": "tiny", "answers": 7, "games_erased": 2, "games_kept": 0, "consent": ["3"]
    }  # fmt: skip


def test_games_can_be_kept_without_the_person(with_gus):
    sought = needles(with_gus)
    before = with_gus.database.read(
        lambda tx: records.trace_set(tx, with_gus.protocol, records.people(tx, with_gus.protocol))
    )
    answer = forget(with_gus, with_gus.gus, "keep")
    assert answer.headers["location"].endswith("done=kept")
    left = everything(with_gus)
    assert not [needle for needle in (*sought, SAID) if needle in left]
    assert not [needle for needle in sought[:-1] if needle.encode() in raw(with_gus)]
    found = records.read(with_gus.database)
    [person] = [row for row in found.participants if row["status"] == "erased"]
    kept = [row for row in found.games if row["participant"] == person["participant"]]
    assert len(kept) == 2
    assert {row["started"] for row in kept} == {with_gus.clock.now().isoformat()}
    assert [row["payment"] for row in found.participants if row["status"] == "erased"] == [None]
    assert len([row for row in found.flags if row["participant"] == person["participant"]]) == 2
    assert len(found.traces) == len(before) == 8
    if with_gus.database.is_sqlite:
        assert verify(TraceSet.in_memory(found.traces)).ok
    assert len(rows_of(with_gus, slots)) == 6  # its place stays taken


def rows_of(study, table):
    return [dict(row._mapping) for row in rows(study, table)]


def test_the_place_of_who_is_erased_with_the_games_is_free_again(filled):
    before = len(rows_of(filled, slots))
    forget(filled, filled.names["ann"], "erase")
    assert len(rows_of(filled, slots)) == before - 1


def test_others_are_untouched(with_gus):
    before = records.read(with_gus.database, steps=True)
    forget(with_gus, with_gus.gus, "erase")
    after = records.read(with_gus.database, steps=True)
    for name in ("participants", "answers", "flags", "events"):
        wanted = [row for row in getattr(before, name) if row["participant"] != with_gus.gus]
        assert getattr(after, name).rows == wanted
    assert len(after.traces) == 6


def test_who_confirms_wrongly_erases_nothing(filled):
    browser, ann = filled.logged_in(), filled.names["ann"]
    path = f"/researcher/participants/{ann}/erase"
    assert browser.fill_in(path, {"confirm": "ann", "games": "erase"}).status_code == 400
    assert browser.fill_in(path, {"confirm": ann}).status_code == 400
    assert browser.fill_in("/researcher/participants/x/erase", {"confirm": "x", "games": "keep"}).status_code == 400
    assert not filled.audit("erase")
    assert len(rows_of(filled, people)) == 6


@pytest.mark.parametrize(("chosen", "value"), [("erase_games", "erase"), ("keep_games", "keep")])
def test_the_file_says_what_is_chosen_beforehand(filled, chosen, value):
    study = Study(filled.database, filled.clock, protocol(erasure=chosen), add=False)
    page = study.logged_in().get(f"/researcher/participants/{filled.names['ann']}").text
    assert re.findall(r'value="(\w+)" checked', page) == [value]


def test_who_played_with_another_is_erased_from_their_trace_too(filled_anywhere):
    """Two people in one game: the first leaves, the second keeps the game, without the first one's words."""
    study, filler = filled_anywhere, filled_anywhere.filler
    pair = [filler.person(), filler.person()]
    for number in pair:
        filler.begin(number)
        filler.answer(number, "you", about=None)
    lead, other = (filler.play(number, said=SAID) for number in pair)

    def join(tx):
        tx.execute(sa.update(games).where(games.c.id == other).values(joint=lead, seat=1))
        tx.execute(sa.delete(events).where(events.c.game == other, events.c.kind == "step"))  # they are the lead's
        row = {"group": "g", "page": "wait", "left": False, "at": study.clock.now()}
        tx.execute(sa.insert(members), [row | {"person": p, "place": at} for at, p in enumerate(pair)])

    study.database.write(join)
    found = records.read(study.database)
    together = [row for row in found.games if row["joint"] == lead]
    assert len(together) == 2
    assert len({row["episode"] for row in together}) == 1
    assert len(found.traces) == 7  # six of others, and this one once
    public = filler.public(pair[0])
    study.database.write(erase.erase, study.clock, study.protocol, public, keep_games=False, by="me")
    [row] = [row for row in rows(study, games) if row.id == other]
    assert row.joint is None
    assert SAID not in orjson.dumps(to_record(unpack(row.episode), 0)).decode()
    assert [row.person for row in rows(study, members)] == [pair[1]]
    assert len(records.read(study.database).traces) == 7


def test_a_joint_game_that_is_not_over_begins_anew_for_the_other(filled):
    filler = filled.filler
    pair = [filler.person(), filler.person()]
    for number in pair:
        filler.begin(number)
        filler.answer(number, "you", about=None)
    lead, other = (filler.play(number, done=False) for number in pair)
    filled.database.write(lambda tx: tx.execute(sa.update(games).where(games.c.id == other).values(joint=lead)))
    public = filler.public(pair[1])
    filled.database.write(erase.erase, filled.clock, filled.protocol, public, keep_games=True, by="me")
    assert not [row for row in rows(filled, games) if row.id in (lead, other)]
    assert filler.who(pair[0]).status == "active"


def test_of_an_abandoned_game_the_other_keeps_theirs(filled):
    filler = filled.filler
    pair = [filler.person(), filler.person()]
    for number in pair:
        filler.begin(number)
        filler.answer(number, "you", about=None)
    lead, other = (filler.play(number) for number in pair)

    def end(tx):
        tx.execute(sa.update(games).where(games.c.id == other).values(joint=lead, seat=1))
        tx.execute(sa.update(games).where(games.c.id.in_((lead, other))).values(status="abandoned"))

    filled.database.write(end)
    public = filler.public(pair[0])
    filled.database.write(erase.erase, filled.clock, filled.protocol, public, keep_games=True, by="me")
    [row] = [row for row in rows(filled, games) if row.id in (lead, other)]
    assert (row.id, row.joint, row.status) == (other, None, "abandoned")
    assert filler.who(pair[1]).status == "active"


def test_nobody_cannot_be_erased(filled):
    with pytest.raises(InterplayError, match="no participant 'x'"):
        filled.database.write(erase.erase, filled.clock, filled.protocol, "x", keep_games=True, by="me")


def test_a_reader_holds_up_the_cleaning_and_is_told(filled, monkeypatch):
    monkeypatch.setattr(erase, "PATIENCE_S", 0.2)
    filled.database.write(erase.erase, filled.clock, filled.protocol, filled.names["ann"], keep_games=False, by="me")
    with filled.database.engine.connect().execution_options(reading=True) as tx, tx.begin():
        tx.execute(sa.select(people)).all()
        filled.database.write(erase.shut, filled.clock, filled.protocol, filled.names["ben"])
        assert erase.scrub(filled.database, vacuum=False) is False
    assert erase.scrub(filled.database) is True
