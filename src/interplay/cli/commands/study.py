"""`interplay study ...`: run a study with people, or with stand-ins for them."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from interplay.cli.bundled_examples import ExampleCommand
from interplay.cli.show import note, show
from interplay.errors import InterplayError
from interplay.progress import bar
from interplay.server.serve import Listen
from interplay.table import Table


def _needs_server() -> None:
    try:
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError as error:
        raise InterplayError(f"studies need more packages: pip install 'interplay[server]' ({error})") from None


@dataclass(frozen=True)
class StudyServe(Listen):
    """Run a study: participants come with a browser, and everything they do is stored as it happens.

    Examples:
      interplay study serve my_study.yaml
      interplay study serve kitchen_chat
      interplay study serve my.yaml --database postgresql://user@host/name --host 0.0.0.0 --port 443
        --certificate server.pem --private-key server.key
    """

    study: Annotated[Path, tyro.conf.Positional]
    """The study file, or the name of a study that comes with the package (`interplay study example`)."""
    database: str | None = None
    """The database: a path (SQLite) or postgresql://...; by default NAME.db here."""
    secure: bool = False
    """Cookies for TLS only: for a server behind a proxy that does TLS. With --certificate this is so by itself."""
    batch: tuple[int, ...] = (1, 8, 64)
    """Numbers of games for which steps are compiled; fewer start sooner."""
    check: bool = False
    """Only check the file, its games and its partners, and stop."""

    def run(self) -> None:
        """Serve the study until interrupted; with --check, only check its file."""
        _needs_server()
        from interplay.server.lease import acquire
        from interplay.server.serve import check_listen, run
        from interplay.study.admin.researchers import first_invitation
        from interplay.study.db.connect import make_base, open_study_database
        from interplay.study.http.app import build
        from interplay.study.live.app_state import lease_name
        from interplay.study.protocol.frame_words import untranslated
        from interplay.study.protocol.reading import load

        if not self.batch or min(self.batch) < 1:
            raise InterplayError(f"--batch {' '.join(map(str, self.batch))}: numbers from 1")
        protocol = load(self.study)
        for language in protocol.languages:
            if missing := untranslated(protocol.words, language):
                note(f"{len(missing)} texts of the frame are English in {language}: interplay study words {language}")
        if self.check:
            database = open_study_database("sqlite://")
            app = build(protocol, make_base(database), sizes=self.batch)
            note(f"{self.study}: fine; {len(app.state.study.engines)} games, {len(protocol.partners)} partners")
            database.close()
            return
        check_listen(self)
        database = open_study_database(self.database or f"{protocol.name}.db")
        try:
            secure = self.secure or self.certificate is not None
            base = make_base(database)
            base.lease = acquire(database, lease_name(protocol))
            app = build(protocol, base, sizes=self.batch, secure=secure)
            note("compiling the games and their partners, which takes a minute or two the first time ...")
            for engine in app.state.study.engines.values():
                engine.warm()
            key = database.write(first_invitation, base.clock, protocol.name)

            def ready() -> None:
                note(f"participants: {self.url}/study/{protocol.name}")
                note(f"researchers:  {self.url}/researcher")
                if key is not None:
                    note(f"the first researcher chooses a password once at {self.url}/researcher/invite?key={key}")
                note(f"database {database.engine.url}; stop with Ctrl-C")

            # Asked often, so that a game soon waits for someone whose line has died without a word.
            run(app, self, base=base, ready=ready, largest_frame=64 * 1024, ping_s=(5, 10))
        finally:
            database.close()


@dataclass(frozen=True)
class Simulate:
    """Send simulated people through a study, by the same HTTP and sockets as real ones: bots play, a model answers.

    Examples:
      interplay study simulate hanabi_preference --participants 4 --out simulated
    """

    study: Annotated[Path, tyro.conf.Positional]
    """The study file, or the name of a study that comes with the package (`interplay study example`)."""
    participants: int = 4
    """How many."""
    at_once: int = 2
    """How many at the same time."""
    speed: float = 20.0
    """How many times faster than real games theirs go."""
    seed: int = 0
    """Decides what the stand-ins do and answer."""
    out: Path | None = None
    """A folder for the database and the traces; by default nothing is kept."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Send the simulated people through the study and print what each did."""
        _needs_server()
        from interplay.study.db.connect import make_base, open_study_database, write_traces
        from interplay.study.protocol.reading import load
        from interplay.study.simulation.run import simulate

        for name, value in (("--participants", self.participants), ("--at-once", self.at_once)):
            if value < 1:
                raise InterplayError(f"{name} {value}: at least 1")
        if not 0 < self.speed <= 1000:
            raise InterplayError(f"--speed {self.speed}: above 0, at most 1000")
        protocol = load(self.study)
        with tempfile.TemporaryDirectory() as scratch:
            folder = self.out or Path(scratch)
            file = folder / f"{protocol.name}.db"
            if file.exists():
                raise InterplayError(
                    f"{file} exists: give another --out, so that simulated people stay among themselves"
                )
            database = open_study_database(str(file))
            try:
                with bar("walking", self.participants) as advance:
                    work = simulate(
                        protocol, make_base(database), self.participants, seed=self.seed, speed=self.speed,
                        at_once=self.at_once, done=advance,
                    )  # fmt: skip
                    walks = asyncio.run(work)
                if self.out and protocol.games:
                    note(f"traces: {write_traces(database, protocol, folder / 'traces').path}")
            finally:
                database.close()
        rows = [
            {
                "participant": walk.number,
                "pages": len(walk.pages),
                "games": len(walk.scores),
                "mean_score": sum(walk.scores) / len(walk.scores) if walk.scores else None,
                "code": walk.code,
                "payment": walk.payment,
                "seconds": round(walk.seconds, 1),
            }
            for walk in walks
        ]
        show(Table.of(rows, f"Simulated people in {protocol.name}"), json=self.json)


@dataclass(frozen=True)
class StudyExample(ExampleCommand):
    """Studies that come with the package: list them, or write one as a file to change.

    Examples:
      interplay study example
      interplay study example overcooked_ranking --out my_study.yaml
    """

    def run(self) -> None:
        """Write the example that is named, or list all."""
        _needs_server()
        from interplay.server.examples import STUDIES
        from interplay.study.protocol.reading import load
        from interplay.study.protocol.words import say

        if self.write_named(STUDIES, "interplay study serve"):
            return
        rows = []
        for name, path in STUDIES.files().items():
            study = load(path)
            described = {"title": say(study.title, study.languages[0]), "languages": ", ".join(study.languages)}
            rows.append({"name": name, **described, "games": len(study.games), "partners": len(study.partners)})
        show(Table.of(rows, "Studies that come with interplay"), json=self.json)


@dataclass(frozen=True)
class Words:
    """All that pages, boards and errors say to participants, as `words:` of a study file, to be translated there.

    Examples:
      interplay study words de >> my_study.yaml
      interplay study words de --of kitchen
    """

    language: Annotated[str, tyro.conf.Positional]
    """The language, such as de; what we have in it is filled in, the rest is English."""
    of: Literal["frame", "kitchen", "all"] = "frame"
    """The frame of every study; what the kitchen of language models says; or both."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Print the phrases in this language."""
        _needs_server()
        import yaml
        from pydantic import TypeAdapter, ValidationError

        from interplay.study.live.kitchen_phrases import PHRASES
        from interplay.study.protocol.frame_words import all_phrases, frame_phrases, skeleton
        from interplay.study.protocol.model import Language

        try:
            language = TypeAdapter(Language).validate_python(self.language)
        except ValidationError:
            raise InterplayError(f"{self.language!r} is no language; write one as de or pt-BR") from None
        phrases = skeleton({"frame": frame_phrases(), "kitchen": PHRASES, "all": all_phrases()}[self.of], language)
        if self.json:
            rows = [{"phrase": phrase, "said": translations[language]} for phrase, translations in phrases.items()]
            show(Table.of(rows, "What can be translated"), json=True)
            return
        print(yaml.safe_dump({"words": phrases}, allow_unicode=True, sort_keys=False, width=120), end="")
