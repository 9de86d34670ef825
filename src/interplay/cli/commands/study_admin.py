"""`interplay study participants | payments | export | erase | researcher | audit`: researchers without a browser."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.table import Table
from interplay.untrusted_files import read_text

if TYPE_CHECKING:
    from interplay.server.clock import Clock
    from interplay.server.database import Database
    from interplay.study.protocol.model import Protocol

BY = "command line"  # who it was, in the audit log


@contextmanager
def open_there(address: str) -> Iterator[Database]:
    """A database that is there already."""
    from interplay.study.db.connect import open_study_database

    if "://" not in address and not Path(address).is_file():
        raise InterplayError(f"there is no database {address}: `interplay study serve` makes one")
    database = open_study_database(address)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def open_study(address: str, study: str | None) -> Iterator[tuple[Database, Clock, Protocol]]:
    """A study of a database that is there already."""
    from interplay.server.clock import SystemClock
    from interplay.study.db import records

    with open_there(address) as database:
        yield database, SystemClock(), database.read(records.stored_protocol, study)


@dataclass(frozen=True)
class StudyDatabase:
    """The options of commands that open a study's database."""

    database: Annotated[str, tyro.conf.Positional]
    """The study's database: a path (SQLite) or postgresql://..."""


@dataclass(frozen=True)
class StoredStudy(StudyDatabase):
    """The options of commands that are about one study of a database."""

    study: str | None = None
    """Which study, where the database holds several."""


@dataclass(frozen=True)
class StoredParticipant(StudyDatabase):
    """The options of commands that are about one participant."""

    participant: Annotated[str, tyro.conf.Positional]
    """The participant, by the name that the study gave them."""
    study: str | None = None
    """Which study, where the database holds several."""


@dataclass(frozen=True, kw_only=True)
class StudyExport(JsonOption, StoredStudy):
    """Write everything of a study into a folder.

    It holds participants, answers, games, flags and events as tables, the games as a trace set, and the study file.
    `interplay study analyse FOLDER` reads it, and so does any other program.

    Examples:
      interplay study export hanabi_preference.db --out exported
      interplay study export postgresql://me@host/studies --study two_chefs --out exported --format parquet
      interplay study export two_chefs.db --participant 0a1b2c3d4e5f --out one_person
    """

    out: Path
    """A new folder."""
    format: Literal["csv", "parquet", "json"] = "csv"
    """Of the tables."""
    traces: bool = True
    """Also the games, as a trace set in FOLDER/traces."""
    participant: str | None = None
    """Only this one."""

    def run(self) -> None:
        """Write the folder, note it in the audit log, and print the numbers of rows."""
        with open_there(self.database) as database:
            from interplay.server import audit
            from interplay.server.clock import SystemClock
            from interplay.study.export.files import write_folder

            counts = write_folder(
                database, self.out, study=self.study, format=self.format, traces=self.traces,
                participant=self.participant,
            )  # fmt: skip
            database.write(
                audit.note, SystemClock(), BY, "export", self.participant or self.study or "", format=self.format,
                traces=self.traces, rows=counts,
            )  # fmt: skip
        show(Table.of([{"table": name, "rows": rows} for name, rows in counts.items()], "Exported"), json=self.json)
        note(f"written: {self.out}")


@dataclass(frozen=True)
class Participants(StoredStudy):
    """Who takes part: state, place in the design, progress, payment.

    Examples:
      interplay study participants two_chefs.db --status done --json
    """

    status: Literal["new", "active", "done", "screened", "dropped", "withdrawn", "erased"] | None = None
    """Only those."""
    json: bool = False
    """Print one JSON object with all columns."""

    def run(self) -> None:
        """Print the participants."""
        with open_there(self.database) as database:
            from interplay.study.db import records

            protocol, participants = database.read(records.everyone, self.study)
        rows = [row for row in participants if self.status in (None, row["status"])]
        columns_shown = (
            "participant",
            "status",
            "page",
            "position",
            "pages",
            "cells",
            "created",
            "finished",
            "payment",
            "paid",
        )
        selected = rows if self.json else [{name: row[name] for name in columns_shown} for row in rows]
        columns = None if self.json else list(columns_shown)
        show(Table.of(selected, f"Participants of {protocol.name}", columns), json=self.json)


@dataclass(frozen=True)
class Payments(JsonOption, StoredStudy):
    """Who is owed what; with --ids, the lines for a recruiter's bulk payment.

    The lines are made of the recruiter's own list: recruiters' ids are not stored, so that only whoever brings them can
    pay by them.

    Examples:
      interplay study payments two_chefs.db
      interplay study payments two_chefs.db --ids prolific_export.csv --already 2.50 > bulk.csv
      interplay study payments two_chefs.db --mark 0a1b2c3d4e5f 1a2b3c4d5e6f
    """

    ids: Path | None = None
    """A recruiter's list: one id a line, or its CSV with the column Participant id or WorkerId."""
    already: float = 0.0
    """What the recruiter pays everyone anyway; the lines hold the rest."""
    mark: tuple[str, ...] = ()
    """Note that these participants were paid."""
    unmark: tuple[str, ...] = ()
    """Take such notes back."""

    def run(self) -> None:
        """Mark what is named as paid or unpaid, then print the payments or the bulk lines."""
        from interplay.study.admin import payments

        with open_study(self.database, self.study) as (database, clock, protocol):
            for public in self.unmark:
                database.write(payments.unmark, clock, protocol, public, by=BY)
            if self.mark:
                count = database.write(payments.mark, clock, protocol, self.mark, by=BY)
                note(f"{count} marked as paid")
            if self.ids is not None:
                self._bulk(database.write(payments.bulk, clock, protocol, read_text(self.ids), already=self.already))
                return
            rows = database.read(payments.rows, protocol)
        rule = f"Payments of {protocol.name}, by the rule {protocol.payment.formula}"
        show(Table.of(rows, rule, columns=payments.COLUMNS), json=self.json)

    def _bulk(self, bulk: Any) -> None:
        sys.stdout.write(bulk.text)
        note(f"{len(bulk.participants)} people, {bulk.total:.2f} in all")
        for many, what in ((bulk.settled, "were paid before"), (bulk.unfinished, "are owed nothing")):
            if many:
                note(f"{many} {what} and are left out")
        if bulk.unknown:
            note(f"{len(bulk.unknown)} ids never came here: {', '.join(bulk.unknown[:10])}")


@dataclass(frozen=True, kw_only=True)
class Settle(JsonOption, StoredStudy):
    """Approve and pay participants at Prolific by its API. Without --approve and --bonus, only say what would be done.

    The token is read from the environment variable PROLIFIC_TOKEN. Who finished is approved; the bonus is what the
    study's formula gives beyond --already. Whoever was paid is marked, and never paid again.

    Examples:
      interplay study settle two_chefs.db --prolific 60d9aadeb86739de712faee0 --already 2.50
      interplay study settle two_chefs.db --prolific 60d9aadeb86739de712faee0 --already 2.50 --approve --bonus
    """

    prolific: str
    """The study's id at Prolific."""
    already: float = 0.0
    """What Prolific pays everyone who is approved; the bonus is the rest."""
    approve: bool = False
    """Approve the submissions of those who finished."""
    bonus: bool = False
    """Pay the bonuses."""
    address: str = "https://api.prolific.com"
    """Where the API is."""

    def run(self) -> None:
        """Ask for the submissions, plan, carry out what was asked for, and print the plan."""
        from interplay.study.admin import recruiters

        with open_study(self.database, self.study) as (database, clock, protocol):
            token = os.environ.get("PROLIFIC_TOKEN", "")
            api = recruiters.ProlificApi(token, self.prolific, self.address)
            plan = database.write(recruiters.plan, clock, protocol, api.submissions(), already=self.already)
            if self.approve or self.bonus:
                approved, total = recruiters.settle(
                    database, clock, protocol, api, plan, approve=self.approve, bonus=self.bonus, by=BY
                )
                note(f"{approved} approved, {total:.2f} {protocol.payment.currency} paid as bonuses")
            else:
                note("nothing was done: add --approve, --bonus or both")
        show(Table.of([item.row() for item in plan], f"Submissions to {protocol.name}"), json=self.json)


@dataclass(frozen=True)
class Erase(JsonOption, StoredParticipant):
    """Forget a participant for good.

    Recruiter's id, consent, answers and visits are erased, and the games too unless they are kept without the person.
    It is noted in the audit log. Backups are yours to clean.

    Examples:
      interplay study erase two_chefs.db 0a1b2c3d4e5f
      interplay study erase two_chefs.db 0a1b2c3d4e5f --games keep --yes
    """

    games: Literal["keep", "erase"] | None = None
    """Keep their games under a new name, without times and words, or erase them too; by default as the file says."""
    yes: bool = False
    """Do not ask."""

    def run(self) -> None:
        """Ask, erase the participant, and print what was erased."""
        from interplay.study.admin import erase

        with open_study(self.database, self.study) as (database, clock, protocol):
            database.read(erase.find, protocol, self.participant)
            keep = protocol.erasure == "keep_games" if self.games is None else self.games == "keep"
            if not self.yes:
                _confirm(self.participant, "keep their games without them" if keep else "erase their games too")
            erased = database.write(erase.erase, clock, protocol, self.participant, keep_games=keep, by=BY)
            clean = erase.scrub(database)
        show(
            Table.of([{"participant": self.participant, **erased._asdict(), "clean": clean}], "Erased"), json=self.json
        )
        if not clean:
            note("another program reads the database: old pages of its file are overwritten when it lets go")


def _confirm(participant: str, games: str) -> None:
    if not sys.stdin.isatty():
        raise InterplayError("add --yes to erase without being asked")
    note(f"This erases {participant} for good, and will {games}.")
    if input("Type the participant's name to go on: ").strip() != participant:
        raise InterplayError("nothing was erased")


@dataclass(frozen=True)
class Researcher(JsonOption):
    """Who may look into a study.

    `add` and `invite` print a link that is good once, within a week, for choosing a password; with --ask the password
    is typed here instead.

    Examples:
      interplay study researcher add ana --database two_chefs.db --url https://study.example.org
      interplay study researcher add bob --database two_chefs.db --study two_chefs --ask
      interplay study researcher disable bob --database two_chefs.db
      interplay study researcher list --database two_chefs.db
    """

    action: Annotated[Literal["add", "invite", "disable", "list"], tyro.conf.Positional]
    """Make an account; invite someone again who forgot the password; shut someone out; or list all."""
    name: Annotated[str, tyro.conf.Positional] = ""
    """The researcher's name."""
    database: str = ""
    """The study's database: a path (SQLite) or postgresql://..."""
    study: str | None = None
    """Only this study; by default all in the database."""
    ask: bool = False
    """Type a password here."""
    url: str = "http://127.0.0.1:8000"
    """Where the study is served, for the link."""

    def run(self) -> None:
        """Add, invite, disable or list researchers."""
        if not self.database:
            raise InterplayError("name the database: --database PATH")
        if (self.action == "list") == bool(self.name):
            raise InterplayError("`list` takes no name" if self.name else f"name the researcher to {self.action}")
        with open_there(self.database) as database:
            from interplay.server.clock import SystemClock
            from interplay.study.admin import researchers

            clock = SystemClock()
            if self.action == "list":
                show(Table.of(database.read(researchers.listing), "Researchers"), json=self.json)
                return
            if self.action == "disable":
                database.write(researchers.disable, clock, self.name)
                note(f"{self.name} is shut out")
                return
            password = _new_password() if self.ask else None
            if self.action == "add":
                database.write(researchers.add, clock, self.name, study=self.study, password=password)
            if password is not None:
                note(f"{self.name} can log in at {self.url}/researcher")
                return
            key = database.write(researchers.invite, clock, self.name)
        row = {"researcher": self.name, "link": f"{self.url.rstrip('/')}/researcher/invite?key={key}"}
        if self.json:
            show(Table.of([row]), json=True)
        else:
            print(row["link"])
            note(f"{self.name} chooses a password by this link, once and within a week")


def _new_password() -> str:
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("The same again: "):
        raise InterplayError("the two passwords differ")
    return password


@dataclass(frozen=True)
class StudyAudit(JsonOption, StudyDatabase):
    """The audit log: who did what, when. Newest first.

    Examples:
      interplay study audit two_chefs.db --action erase
    """

    action: str | None = None
    """Only this action, such as erase, export, paid, login."""
    most: int = 1000
    """So many lines at most."""

    def run(self) -> None:
        """Print the audit log."""
        if self.most < 1:
            raise InterplayError(f"--most {self.most}: at least 1")
        with open_there(self.database) as database:
            from interplay.server import audit

            show(database.read(audit.read, action=self.action, most=self.most), json=self.json)
