"""`interplay study ...`: run a study with people, or with stand-ins for them."""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from interplay.cli.bundled_examples import ExampleCommand
from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.progress import bar
from interplay.server.serve import Listen
from interplay.table import Table


@dataclass(frozen=True)
class StudyServe(Listen):
    """Run a study: participants come with a browser, and everything they do is stored as it happens.

    Examples:
      interplay study serve my_study.yaml
      interplay study serve kitchen_chat --test
      interplay study serve my.yaml --database postgresql://user@host/name --host 0.0.0.0 --port 443
        --certificate server.pem --private-key server.key
      interplay study serve first.yaml second.yaml --database postgresql://user@host/name --workers 4 --prefix /lab
    """

    study: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Study files, or names of studies that come with the package (`interplay study example`)."""
    database: str | None = None
    """The database: a path (SQLite) or postgresql://...; by default NAME.db here."""
    secure: bool = False
    """Cookies for TLS only: for a server behind a proxy that does TLS. With --certificate this is so by itself."""
    batch: tuple[int, ...] = (1, 8, 64)
    """Numbers of games for which steps are compiled; fewer start sooner."""
    workers: int = 1
    """Processes that serve together, on PostgreSQL; nginx is started in front of them."""
    proxy_config: Path | None = None
    """With --workers: write nginx's configuration here, for an nginx of your own, instead of starting one."""
    prefix: str = ""
    """A path before all addresses, such as /lab, for a server that shares its host with others."""
    test: bool = False
    """Try the study out: everyone who comes is marked as a test, takes no place in the design and is in no export."""
    recruiter_keys: Path | None = None
    """The recruiter's keys, for studies that take signed ids only (`completion: signature`)."""
    logs: Literal["text", "json"] = "text"
    """How the server's log is written to standard error."""
    check: bool = False
    """Only check the files, their games and partners, and stop."""

    def run(self) -> None:
        """Serve the studies until interrupted; with --check, only check their files."""
        from interplay.server.serve import check_listen
        from interplay.study.http.serve import ServeSettings, serve
        from interplay.study.protocol.translations import untranslated

        self._check()
        listen = Listen(
            host=self.host, port=self.port, certificate=self.certificate, private_key=self.private_key,
            proxies=self.proxies,
        )  # fmt: skip
        settings = ServeSettings(
            self.study, self.database or "", listen, self.secure or self.certificate is not None, self.batch,
            self.prefix, self.test, self.recruiter_keys, self.workers, self.proxy_config, self.logs,
        )  # fmt: skip
        protocols = settings.protocols
        for protocol in protocols:
            for language in protocol.languages:
                if lacking := untranslated(protocol.words, language):
                    note(
                        f"{len(lacking)} texts of the frame are English in {language}: interplay study words {language}"
                    )
        if self.check:
            self._try(settings)
            return
        check_listen(self)
        if not self.database and len(protocols) > 1:
            raise InterplayError("several studies share a database: name it, --database PATH")
        serve(replace(settings, database=self.database or f"{protocols[0].name}.db"), note)

    def _check(self) -> None:
        if not self.study:
            raise InterplayError("name a study file, or a study that comes with the package: interplay study example")
        if not self.batch or min(self.batch) < 1:
            raise InterplayError(f"--batch {' '.join(map(str, self.batch))}: numbers from 1")
        if self.workers < 1:
            raise InterplayError(f"--workers {self.workers}: at least 1")
        if not re.fullmatch(r"(/[A-Za-z0-9_-]+)*", self.prefix):
            raise InterplayError(f"--prefix {self.prefix!r}: a path such as /lab, of letters, digits, - and _")

    def _try(self, settings: Any) -> None:
        """Build the application, which checks games, partners and the recruiter's keys."""
        from interplay.study.db.connect import make_base, open_study_database
        from interplay.study.http.app import build

        for path, protocol in zip(self.study, settings.protocols, strict=True):
            database = open_study_database("sqlite://")
            app = build(protocol, make_base(database), sizes=self.batch, recruiter_keys=self.recruiter_keys)
            note(f"{path}: fine; {len(app.state.study.engines)} games, {len(protocol.partners)} partners")
            database.close()


@dataclass(frozen=True)
class Simulate(JsonOption):
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

    def run(self) -> None:
        """Send the simulated people through the study and print what each did."""
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
        from interplay.server.examples import STUDIES
        from interplay.study.protocol.reading import load
        from interplay.study.protocol.texts import say

        if self.write_named(STUDIES, "interplay study serve"):
            return
        rows = []
        for name, path in STUDIES.files().items():
            study = load(path)
            described = {"title": say(study.title, study.languages[0]), "languages": ", ".join(study.languages)}
            rows.append({"name": name, **described, "games": len(study.games), "partners": len(study.partners)})
        show(Table.of(rows, "Studies that come with interplay"), json=self.json)


@dataclass(frozen=True)
class Words(JsonOption):
    """All that pages, boards and errors say to participants, as `words:` of a study file, to be translated there.

    Examples:
      interplay study words de >> my_study.yaml
      interplay study words de --of kitchen
    """

    language: Annotated[str, tyro.conf.Positional]
    """The language, such as de; what we have in it is filled in, the rest is English."""
    of: Literal["frame", "kitchen", "all"] = "frame"
    """The frame of every study; what the kitchen of language models says; or both."""

    def run(self) -> None:
        """Print the phrases in this language."""
        import yaml
        from pydantic import TypeAdapter, ValidationError

        from interplay.study.live.kitchen_translations import PHRASES
        from interplay.study.protocol.model import Language
        from interplay.study.protocol.translations import all_phrases, frame_phrases, skeleton

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
