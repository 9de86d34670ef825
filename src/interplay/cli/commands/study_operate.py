"""`interplay study backup | restore | close | open | readmit`: running a study from day to day."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.commands.study_admin import BY, _open_database
from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.table import Table


@dataclass(frozen=True)
class Backup(JsonOption):
    """Write all of a study's database into one file, while the study runs.

    The file holds what participants said and the server's secrets: only you can read it, and it is yours to guard.

    Examples:
      interplay study backup two_chefs.db --out backups/monday.db
      interplay study backup postgresql://me@host/studies --out backups/monday.dump
    """

    database: Annotated[str, tyro.conf.Positional]
    """The study's database: a path (SQLite) or postgresql://..."""
    out: Path
    """A new file."""

    def run(self) -> None:
        """Write the file and print its size."""
        from interplay.cli.commands.study import _needs_server

        _needs_server()
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
        from interplay.cli.commands.study import _needs_server

        _needs_server()
        from interplay.server.backup import restore

        restore(self.backup, self.database)
        note(f"{self.backup} is brought back")


@dataclass(frozen=True)
class _StoredStudy:
    database: Annotated[str, tyro.conf.Positional]
    """The study's database."""
    study: str | None = None
    """Which study, where the database holds several."""


@dataclass(frozen=True)
class Close(_StoredStudy):
    """Take no more new participants. Those who have consented go on to their end.

    Examples:
      interplay study close two_chefs.db
    """

    def run(self) -> None:
        """Close the study."""
        _set_closed(self.database, self.study, True)


@dataclass(frozen=True)
class Open(_StoredStudy):
    """Take new participants again, after `interplay study close`.

    Examples:
      interplay study open two_chefs.db
    """

    def run(self) -> None:
        """Open the study."""
        _set_closed(self.database, self.study, False)


def _set_closed(address: str, study: str | None, value: bool) -> None:
    with _open_database(address) as database:
        from interplay.server.clock import SystemClock
        from interplay.study.db import admission, records

        protocol = database.read(records.stored_protocol, study)
        database.write(admission.set_closed, SystemClock(), protocol, value, by=BY)
    note(f"{protocol.name} takes {'no more' if value else 'new'} participants")


@dataclass(frozen=True)
class Readmit(JsonOption):
    """Let a participant come back who was dropped, screened out, stopped, or lost their browser.

    Prints a link that opens their place in the study once, within a week, in any browser.

    Examples:
      interplay study readmit two_chefs.db 0a1b2c3d4e5f --url https://study.example.org
    """

    database: Annotated[str, tyro.conf.Positional]
    """The study's database."""
    participant: Annotated[str, tyro.conf.Positional]
    """The participant, by the name that the study gave them."""
    url: str = "http://127.0.0.1:8000"
    """Where the study is served, with its prefix, for the link."""
    study: str | None = None
    """Which study, where the database holds several."""

    def run(self) -> None:
        """Readmit the participant and print the link."""
        if not self.participant.isalnum():
            raise InterplayError(f"{self.participant!r} is no participant's name")
        with _open_database(self.database) as database:
            from interplay.server.clock import SystemClock
            from interplay.study.db import admission, records

            protocol = database.read(records.stored_protocol, self.study)
            link = database.write(admission.readmit, SystemClock(), protocol, self.participant, by=BY)
        address = f"{self.url.rstrip('/')}/study/{protocol.name}?enter={link.key}"
        if self.json:
            row = {"participant": self.participant, "status": link.status, "link": address}
            show(Table.of([row]), json=True)
        else:
            print(address)
            note(f"{self.participant} ({link.status} before) can come back by this link, once and within a week")
