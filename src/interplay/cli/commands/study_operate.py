"""`interplay study backup | restore | close | open | readmit`: running a study from day to day."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.commands.study_admin import BY, StoredParticipant, StoredStudy, StudyDatabase, open_study
from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.table import Table


@dataclass(frozen=True, kw_only=True)
class Backup(JsonOption, StudyDatabase):
    """Write all of a study's database into one file, while the study runs.

    The file holds what participants said and the server's secrets: only you can read it, and it is yours to guard.

    Examples:
      interplay study backup two_chefs.db --out backups/monday.db
      interplay study backup postgresql://me@host/studies --out backups/monday.dump
    """

    out: Path
    """A new file."""

    def run(self) -> None:
        """Write the file and print its size."""
        from interplay.server.backup import backup

        size = backup(self.database, self.out)
        show(Table.of([{"file": str(self.out), "bytes": size}], "Backup"), json=self.json)


@dataclass(frozen=True)
class Restore:
    """Bring a backup back into a new or empty database. Its tables are brought up to date when it is next served.

    Examples:
      interplay study restore backups/monday.db --database two_chefs.db
      interplay study restore backups/monday.dump --database postgresql://me@host/empty
    """

    backup: Annotated[Path, tyro.conf.Positional]
    """A file that `interplay study backup` wrote."""
    database: str
    """A new file (SQLite), or an empty database postgresql://..."""

    def run(self) -> None:
        """Fill the database."""
        from interplay.server.backup import restore

        restore(self.backup, self.database)
        note(f"{self.backup} is brought back")


@dataclass(frozen=True)
class Close(StoredStudy):
    """Take no more new participants. Those who have consented go on to their end.

    Examples:
      interplay study close two_chefs.db
    """

    def run(self) -> None:
        """Close the study."""
        _set_closed(self.database, self.study, True)


@dataclass(frozen=True)
class Open(StoredStudy):
    """Take new participants again, after `interplay study close`.

    Examples:
      interplay study open two_chefs.db
    """

    def run(self) -> None:
        """Open the study."""
        _set_closed(self.database, self.study, False)


def _set_closed(address: str, study: str | None, value: bool) -> None:
    from interplay.study.db import admission

    with open_study(address, study) as (database, clock, protocol):
        database.write(admission.set_closed, clock, protocol, value, by=BY)
    note(f"{protocol.name} takes {'no more' if value else 'new'} participants")


@dataclass(frozen=True)
class Readmit(JsonOption, StoredParticipant):
    """Let a participant come back who was dropped, screened out, stopped, or lost their browser.

    Prints a link that opens their place in the study once, within a week, in any browser.

    Examples:
      interplay study readmit two_chefs.db 0a1b2c3d4e5f --url https://study.example.org
    """

    url: str = "http://127.0.0.1:8000"
    """Where the study is served, with its prefix, for the link."""

    def run(self) -> None:
        """Readmit the participant and print the link."""
        if not self.participant.isalnum():
            raise InterplayError(f"{self.participant!r} is no participant's name")
        from interplay.study.db import admission

        with open_study(self.database, self.study) as (database, clock, protocol):
            link = database.write(admission.readmit, clock, protocol, self.participant, by=BY)
        address = f"{self.url.rstrip('/')}/study/{protocol.name}?enter={link.key}"
        if self.json:
            row = {"participant": self.participant, "status": link.status, "link": address}
            show(Table.of([row]), json=True)
        else:
            print(address)
            note(f"{self.participant} ({link.status} before) can come back by this link, once and within a week")
