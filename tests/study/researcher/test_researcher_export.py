"""What is exported is what is in the books, in every format; traces verify by replay."""

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.study.db import records
from interplay.study.db.schema import answers, events, games, people
from interplay.study.db.withdrawals import withdraw
from interplay.study.export.columns import COLUMNS
from interplay.study.export.files import FORMATS, write_folder
from interplay.study.export.wide import GAME, PERSON, wide_table
from interplay.traces import TraceSet, same, verify


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_read_again_is_the_database(filled_anywhere, format, tmp_path):
    counts = write_folder(filled_anywhere.database, tmp_path / "out", format=format)
    wanted = records.read(filled_anywhere.database, steps=True)
    found = records.load(tmp_path / "out", steps=True)
    assert found.protocol == filled_anywhere.protocol
    for name in COLUMNS:
        assert getattr(found, name).rows == getattr(wanted, name).rows, name
        assert len(getattr(found, name)) == counts[name] > 0
    assert len(found.traces) == counts["traces"] == 6
    assert all(same(one, two) for one, two in zip(found.traces, wanted.traces, strict=True))
    for row in found.games:
        if row["status"] == "done":
            assert found.traces[row["episode"]].score == row["score"]
            assert found.traces[row["episode"]].index == row["game"]


def test_who_stopped_taking_part_is_told_and_counted(filled, tmp_path):
    filled.database.write(withdraw, filled.clock, filled.protocol, filled.numbers["eve"], 7)
    write_folder(filled.database, tmp_path / "out")
    about = (tmp_path / "out" / "README.txt").read_text()
    assert "3 done, 1 new, 1 screened, 1 withdrawn" in about
    found = records.load(tmp_path / "out")
    [eve] = [row for row in found.participants if row["status"] == "withdrawn"]
    assert (eve["participant"], eve["stopped_on"], eve["page"]) == (filled.names["eve"], "rounds.1.game", None)
    assert eve["finished"] == filled.clock.now().isoformat()
    [game] = [row for row in found.games if row["participant"] == filled.names["eve"]]
    assert (game["status"], game["episode"], game["score"]) == ("abandoned", None, None)
    assert len(found.traces) == 6
    assert [row["t"] for row in found.events if row["kind"] == "withdraw"] == [7]


@pytest.mark.parametrize("format", FORMATS)
def test_exports_of_older_versions_lack_a_column_and_are_read(held, tmp_path, format, monkeypatch):
    older = {name: kind for name, kind in COLUMNS["participants"].items() if name != "stopped_on"}
    with monkeypatch.context() as then:
        then.setitem(COLUMNS, "participants", older)
        write_folder(held.database, tmp_path / "out", format=format, traces=False)
    if format == "json":  # which is written with all that a row holds
        path = tmp_path / "out" / "participants.json"
        path.write_text(re.sub(r' "stopped_on": null,', "", path.read_text()))
    found = records.load(tmp_path / "out")
    assert [row["stopped_on"] for row in found.participants] == [None] * 6
    assert [row["status"] for row in found.participants][:3] == ["done"] * 3


def test_the_tables_hold_every_row_of_the_books(filled_anywhere):
    found = records.read(filled_anywhere.database, steps=True)

    def stored(table):
        return filled_anywhere.database.read(lambda tx: tx.execute(sa.select(table).order_by(table.c.id)).all())

    assert [row["participant"] for row in found.participants] == [row.public for row in stored(people)]
    assert [(r["game"], r["score"], r["seat"], r["partner"]) for r in found.games] == [
        (row.id, row.score, row.seat, row.partner) for row in stored(games)
    ]
    assert [(r["event"], r["kind"], r["t"], r["payload"]) for r in found.events] == [
        (row.id, row.kind, row._mapping["t"], row.payload) for row in stored(events)
    ]
    given = {(row.id, name): value for row in stored(answers) for name, value in row.answers.items()}
    assert {(r["answer"], r["question"]): r["value"] for r in found.answers} == given


def test_answers_say_what_they_are_about(held):
    found = records.read(held.database)
    ann = [row for row in found.answers if row["participant"] == held.names["ann"]]
    order = next(row for row in found.participants if row["participant"] == held.names["ann"])["partners"]
    after = [row for row in ann if row["item"] == "after"]
    assert [(row["page"], row["turn"], row["partner"], row["setting"], row["after"]) for row in after] == [
        (f"rounds.{turn}.after", turn, order[turn - 1], "kitchen", f"rounds.{turn}.game") for turn in (1, 2)
    ]
    assert [(row["type"], row["value"]) for row in after] == [("likert", 4)] * 2
    ranks = [row for row in ann if row["type"] == "ranking"]
    assert sorted(ranks[-1]["value"]) == ["still", "wild"]
    about = next(row for row in ann if row["question"] == "about")
    assert (about["partner"], about["after"], about["type"]) == (None, None, "text")
    tries = [row for row in found.answers if row["participant"] == held.names["dan"] and row["item"] == "quiz"]
    assert [(row["attempt"], row["passed"]) for row in tries] == [(1, False), (2, False)]


def test_games_count_flags_and_lost_connections(held):
    found = records.read(held.database)
    for row in found.games:
        assert (row["flags"], row["leaves"], row["missed"]) == (1, 1, 0)
        assert row["late_ms"] == (20.5 if row["status"] == "done" else 7.5)
    assert [(row["flag"], row["t"], row["seen"]) for row in found.flags] == [("odd", 4, 3)] * 7
    assert not [row for row in found.events if row["kind"] == "step"]


def test_people_without_a_game_are_there_with_nulls(held):
    found = records.read(held.database)
    fay = next(row for row in found.participants if row["participant"] == held.names["fay"])
    assert (fay["status"], fay["consented"], fay["cells"], fay["payment"], fay["partners"]) == (
        "new",
        None,
        {},
        None,
        [],
    )


def test_a_researcher_downloads_a_zip(filled, tmp_path):
    browser = filled.logged_in()
    answer = browser.fill_in("/researcher/export", {"format": "parquet", "traces": "yes"})
    assert answer.status_code == 200
    assert 'filename="tiny-parquet.zip"' in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    found = records.load(tmp_path / "tiny")
    assert found.games.rows == records.read(filled.database).games.rows
    assert verify(TraceSet.open(tmp_path / "tiny" / "traces")).check().episodes == 6
    [line] = filled.audit("export")
    assert (line["actor"], line["subject"], line["detail"]["rows"]["games"]) == ("ana", "tiny", 7)
    plain = browser.fill_in("/researcher/export", {"format": "csv"})
    with zipfile.ZipFile(io.BytesIO(plain.content)) as archive:
        names = [name.rpartition("/")[2] for name in archive.namelist()]
    assert not [name for name in names if "traces" in name]
    page = browser.get("/researcher/export").text
    for name in names:  # the page says what is inside
        assert name in page or f'<th scope="row">{name.removesuffix(".csv")}</th>' in page, name
    assert browser.fill_in("/researcher/export", {"format": "xlsx"}).status_code == 400


def test_one_participant_can_be_exported(filled, tmp_path):
    ann = filled.names["ann"]
    answer = filled.logged_in().fill_in("/researcher/export", {"format": "json", "traces": "yes", "participant": ann})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    found = records.load(tmp_path / f"tiny-{ann}", steps=True)
    everyone = records.read(filled.database, steps=True)
    for name in ("participants", "answers", "flags", "events"):
        wanted = [row for row in getattr(everyone, name) if row["participant"] == ann]
        assert getattr(found, name).rows == wanted
    assert [row["episode"] for row in found.games] == [0, 1]
    assert len(found.traces) == 2
    assert filled.audit("export")[0]["subject"] == ann
    unknown = filled.logged_in().fill_in("/researcher/export", {"format": "json", "participant": "nobody"})
    assert unknown.status_code == 400


def test_what_is_no_export_is_told(tmp_path, held):
    with pytest.raises(InterplayError, match="no export of a study"):
        records.load(tmp_path)
    with pytest.raises(InterplayError, match="no database and no export"):
        records.load(tmp_path / "nowhere")
    write_folder(held.database, tmp_path / "out", format="json", traces=False)
    with pytest.raises(InterplayError, match="export of 'tiny', not of 'big'"):
        records.load(tmp_path / "out", "big")
    with pytest.raises(InterplayError, match="not empty"):
        write_folder(held.database, tmp_path / "out")
    (tmp_path / "out" / "games.json").write_text("[{}]")
    with pytest.raises(InterplayError, match=r"games\.json is not what interplay writes"):
        records.load(tmp_path / "out")
    (tmp_path / "out" / "games.json").unlink()
    with pytest.raises(InterplayError, match="has no games"):
        records.load(tmp_path / "out")
    with pytest.raises(InterplayError, match="format 'xlsx'"):
        write_folder(held.database, tmp_path / "two", format="xlsx")
    with pytest.raises(InterplayError, match="holds no study 'big'"):
        records.read(held.database, "big")


def test_the_guide_reads_an_export(held, tmp_path, monkeypatch):
    write_folder(held.database, tmp_path / "exported")
    assert (tmp_path / "exported").stat().st_mode & 0o077 == 0  # for its owner only
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "study.md").read_text()
    [example] = [
        block for block in re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL) if "records.load" in block
    ]
    names = {}
    exec(example, names)
    assert len(names["found"].games) == 7


def test_the_wide_table_holds_what_the_long_ones_do(filled_anywhere, tmp_path):
    """One row a participant: every last answer and every game is in it, and nothing else."""
    write_folder(filled_anywhere.database, tmp_path / "out")
    found = records.load(tmp_path / "out")
    with (tmp_path / "out" / "wide.csv").open(newline="") as file:
        wide = {row["participant"]: row for row in csv.DictReader(file)}
    assert list(wide) == [row["participant"] for row in found.participants]
    filled = dict.fromkeys(wide, len(PERSON))
    last = {(row["participant"], f"{row['page']}.{row['question']}"): row["value"] for row in found.answers}
    games = {(row["participant"], f"{row['page']}.{name}"): row[name] for row in found.games for name in GAME}
    for (who, column), value in (last | games).items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
        assert wide[who][column] == ("" if text is None else str(text)), (who, column)
        filled[who] += 1
    for who, row in wide.items():
        assert sum(value != "" for value in row.values()) <= filled[who]


def test_columns_of_the_wide_table_stand_in_the_order_of_the_pages():
    people = [dict.fromkeys(PERSON, "x") | {"participant": who} for who in ("ana", "bob")]
    game = dict.fromkeys(GAME, 1)
    answers = [
        {"at": "3", "participant": "ana", "page": "r.1.after", "question": "liked", "value": 4},
        {"at": "5", "participant": "bob", "page": "r.1.extra", "question": "why", "value": ["a"]},
        {"at": "6", "participant": "bob", "page": "r.1.after", "question": "liked", "value": 2},
        {"at": "7", "participant": "bob", "page": "r.1.after", "question": "liked", "value": 3},
    ]
    games = [
        {"started": at, "participant": who, "page": "r.1.game", **game} for at, who in (("2", "ana"), ("4", "bob"))
    ]
    table = wide_table(people, answers, games)
    assert list(table.columns) == [*PERSON, *(f"r.1.game.{n}" for n in GAME), "r.1.extra.why", "r.1.after.liked"]
    assert [row.get("r.1.after.liked") for row in table] == [4, 3]
    assert table.rows[1]["r.1.extra.why"] == '["a"]'
