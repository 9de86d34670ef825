"""What an answer is about: stored with it, and the same in exports and analyses, for every form that we ship."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from interplay.server.database import SERVER, open_database
from interplay.study.analysis.data import gather
from interplay.study.db import game_rows, participants, records
from interplay.study.db.schema import HISTORY, answers, games
from interplay.study.export.files import read_folder, write_folder
from interplay.study.protocol.reading import load
from tests.manual_clock import ManualClock

STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.yaml"))


def answer(question):
    match question.type:
        case "choice":
            return question.right_answer or question.options[0].value
        case "multi":
            return [question.options[0].value]
        case "number":
            return question.min or 0
        case "text":
            return "so"
    return 3


def submitted(protocol, who, page):
    match page.item.kind:
        case "consent":
            return {box.id: True for box in page.item.checkboxes}
        case "form" | "quiz":
            return {question.id: answer(question) for question in page.item.questions}
        case "ranking":
            known = who.aliases(protocol)
            return {"order": [known[name].id for name in page.met]}
    return {}


def walk(database, protocol):
    """One person goes through the whole study; games end at once, and nobody else is in the waiting rooms."""
    clock = ManualClock()
    database.write(participants.open_study, clock, protocol)
    number = database.write(participants.enter, clock, protocol, protocol.languages[0], None)[0].id

    def turn(tx):
        clock.advance(1)
        who = participants.person(tx, number)
        if who.status in participants.OVER:
            return False
        page = who.pages(protocol)[who.position]
        if page.item.kind == "game":
            record = game_rows.begin_or_resume(tx, clock, protocol, number, dict.fromkeys(protocol.games, 2))
            done = {"status": "done", "score": 1.0, "length": 1, "finished": clock.now()}
            tx.execute(sa.update(games).where(games.c.id == record.id).values(**done))
            participants.advance(tx, clock, protocol, who)
        elif page.item.kind == "wait":
            from interplay.study.db.groups import join

            assert join(tx, clock, protocol, [number], page.id) == []
        else:
            errors = participants.submit(tx, clock, protocol, number, page.id, submitted(protocol, who, page), 1.0)
            assert errors == {}, (page.id, errors)
        return True

    while database.write(turn):
        pass


@pytest.fixture(scope="module", params=STUDIES, ids=lambda path: path.stem)
def walked(request, tmp_path_factory):
    protocol = load(request.param)
    database = open_database(str(tmp_path_factory.mktemp("about") / "study.db"), (SERVER, HISTORY))
    walk(database, protocol)
    yield protocol, database
    database.close()


FIELDS = {"partner": "partner", "game": "setting", "first": "first", "second": "second"}


def by_page(rows, fields):
    return {row["page"]: tuple(row[name] for name in fields) for row in rows}


def compare(exported):
    """Which pages export and analysis tell differently."""
    data = gather(exported)
    forms = [row for row in exported.answers if row["type"] not in ("consent", "instructions")]
    told = by_page(forms, FIELDS.values())
    analysed = by_page(data.answers, FIELDS)
    ranked = by_page(data.rankings, ("game",))
    for page, (partner, setting, first, second) in told.items():
        if page in analysed:
            assert analysed[page] == (partner, setting, first, second), page
        if page in ranked:
            assert ranked[page] == (setting,), page
    return told


def test_export_and_analysis_agree_on_every_form(walked, tmp_path):
    protocol, database = walked
    told = compare(records.read(database, traces=False))
    assert told
    for format in ("csv", "json", "parquet"):
        write_folder(database, tmp_path / format, format=format, traces=False)
        assert compare(read_folder(tmp_path / format)) == told
    names = set(protocol.partners) | {None}
    if protocol.name == "overcooked_ranking":
        assert len(told) == 17
        kitchens = [told[f"layouts.{turn}.confirm"] for turn in (1, 2)]
        assert {partner for partner, _, _, _ in kitchens} == {None}, "a whole ranking is about no single partner"
        assert {setting for _, setting, _, _ in kitchens} == {"coordination_ring", "counter_circuit"}
        assert all(told[page][0] in names - {None} for page in told if page.endswith("insert"))
        assert told["about_you"] == (None, None, None, None)
    if protocol.name == "hanabi_preference":
        assert told["familiarity"] == (None, None, None, None), "asked before any game"
        first, second = told["bots.1.block"][0], told["bots.2.block"][0]
        assert {first, second} <= names - {None}
        assert told["both"] == (None, "hanabi", first, second)


def test_answers_of_older_versions_are_told_the_same(walked):
    protocol, database = walked
    before = compare(records.read(database, protocol.name, traces=False))
    stored = database.read(lambda tx: list(tx.execute(sa.select(answers.c.about)).scalars()))
    assert None not in stored
    with database.engine.connect() as tx, tx.begin() as undone:
        tx.execute(sa.update(answers).values(about=sa.null()))
        known = records.people(tx, protocol)
        rows = list(records.answers(tx, protocol, known))
        undone.rollback()
    asked = [row for row in rows if row["type"] not in ("consent", "instructions")]
    assert by_page(asked, FIELDS.values()) == before


def test_exports_of_older_versions_are_told_the_same(walked, tmp_path):
    import csv

    _, database = walked
    write_folder(database, tmp_path / "now", traces=False)
    told = compare(read_folder(tmp_path / "now"))
    path = tmp_path / "now" / "answers.csv"
    with path.open() as file:
        rows = list(csv.DictReader(file))
    with path.open("w") as file:
        old = [name for name in rows[0] if name not in ("first", "second", "counted")]
        writer = csv.DictWriter(file, old, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    assert compare(read_folder(tmp_path / "now")) == told
