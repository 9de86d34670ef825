"""What people were told, held against what the database holds."""

import hashlib

import sqlalchemy as sa

from interplay.server.schema import sessions
from interplay.study.db import game_rows
from interplay.study.db.connect import open_study_database
from interplay.study.db.game_events import fold
from interplay.study.db.schema import answers, consents, events, games, people, slots
from interplay.traces.replay import game_of, replay


def held(address):
    """All rows that matter, by table."""
    database = open_study_database(address)
    tables = {table.name: table for table in (sessions, people, answers, consents, events, games, slots)}
    try:
        return database.read(
            lambda tx: {
                name: [dict(row._mapping) for row in tx.execute(sa.select(table).order_by(table.c.id))]
                for name, table in tables.items()
            }
        )
    finally:
        database.close()


def check(address, everyone, *, done=True):
    """Nothing that was acknowledged is lost, nothing is there twice, and all that was shown is true."""
    rows = held(address)
    subjects = {row["hash"]: int(row["subject"].removeprefix("person:")) for row in rows["sessions"]}
    began = [row for row in rows["study_people"] if row["status"] != "new"]
    found = {}
    for seen in everyone:
        number = subjects[hashlib.sha256(seen.token.encode()).hexdigest()]
        found[number] = seen
        _check_answers(rows, number, seen)
        for page, seqs in seen.acked.items():
            _check_game(rows, number, page, seqs, seen)
        if done:
            _check_end(rows, number, seen)
    assert len(found) == len(everyone)
    if done:
        assert {row["id"] for row in began} == set(found), "someone began twice"
    return rows


def _own(rows, table, number, **wanted):
    return [r for r in rows[table] if r["person"] == number and all(r[k] == v for k, v in wanted.items())]


def _check_answers(rows, number, seen):
    for page, sent in seen.answers.items():
        (stored,) = _own(rows, "study_answers", number, page=page)
        assert stored["passed"]
        if page.endswith("rank"):
            assert len(stored["answers"]["order"]) == len(sent["order"])
        else:
            assert stored["answers"] == sent
    if "consent" in seen.answers:
        assert len(_own(rows, "study_consents", number)) == 1
        held = _own(rows, "study_slots", number)
        assert len(held) == len({row["key"] for row in held})
        assert held or not rows["study_slots"]  # of a study with designs everyone has a place in them


def _check_game(rows, number, page, seqs, seen):
    games = _own(rows, "study_games", number, page=page)
    if not seqs and not games:
        return
    (game,) = games
    events = [row for row in rows["study_events"] if row["game"] == game["id"]]
    lead = game["joint"] or game["id"]
    taken = [seq for row in events for seq in row["payload"].get("seqs", ())]
    assert len(taken) == len(set(taken)), "an action was stored twice"
    assert seqs <= set(taken), f"{page}: acknowledged and lost: {sorted(seqs - set(taken))}"
    flagged = {seq for row in events if row["kind"] == "flag" for seq in row["payload"]["seqs"]}
    assert seen.flags[page] <= flagged
    steps = [row["t"] for row in rows["study_events"] if row["kind"] == "step" and row["game"] == lead]
    assert steps == list(range(len(steps)))
    if page in seen.scores:
        assert game["status"] == "done"
        assert game["score"] == seen.scores[page]


def _check_end(rows, number, seen):
    (person,) = [row for row in rows["study_people"] if row["id"] == number]
    assert person["status"] == "done"
    assert (person["code"], f"EUR {person['payment']:.2f}") == (seen.done["code"], seen.done["payment"])
    games = _own(rows, "study_games", number)
    assert {game["status"] for game in games} == {"done"}
    assert person["payment"] == round(5 + sum(game["score"] for game in games) / len(games), 2)


def replayed(rows, most=8):
    """Games that went through restarts are ordinary traces: they replay to the stored score."""
    done = [row for row in rows["study_games"] if row["status"] == "done" and row["joint"] is None]
    for row in done[-most:]:
        episode = game_rows.unpack(row["episode"])
        seats = {r["id"]: r["seat"] for r in rows["study_games"] if row["id"] in (r["id"], r["joint"])}
        own = [e for e in rows["study_events"] if e["game"] in seats]
        assert [e["payload"]["joint"] for e in own if e["kind"] == "step"] == episode.actions.tolist()
        flags = [e for e in own if e["kind"] == "flag"]
        assert len(flags) == sum(remark.kind == "flag" for remark in episode.events)
        folded = fold(((e["game"], e["kind"], e["t"], e["payload"]) for e in own), seats)
        assert folded.joints == episode.actions.tolist()
        kept = [(e.t, e.seat, e.kind, dict(e.payload)) for e in episode.events]
        assert sorted(map(repr, [*folded.remarks, *folded.attention()])) == sorted(map(repr, kept)), (
            "events and trace tell different games"
        )
        again = replay(game_of(episode), episode)
        assert float(again.steps.reward.sum()) == row["score"] == episode.score
    return len(done)
