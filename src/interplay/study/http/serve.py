"""Serve studies: in one process, or in several behind nginx that share a PostgreSQL database."""

from __future__ import annotations

import os
import secrets
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from interplay.errors import InterplayError
from interplay.server.app import Base
from interplay.server.database import Database
from interplay.server.lease import acquire
from interplay.server.logs import LogFormat, log_to_stderr
from interplay.server.nginx import nginx_config
from interplay.server.serve import Listen, run
from interplay.server.supervisor import Nginx, Supervisor
from interplay.study.admin.researchers import first_invitation
from interplay.study.db.connect import make_base, open_study_database
from interplay.study.http.app import build
from interplay.study.live.app_state import lease_name
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.reading import load

LARGEST_FRAME = 64 * 1024
# Asked often, so that a game soon waits for someone whose line has died without a word.
PING_S = (5.0, 10.0)
Note = Callable[[str], None]


@dataclass(frozen=True)
class ServeSettings:
    """How studies are served."""

    studies: tuple[Path, ...]
    database: str
    listen: Listen
    secure: bool = False
    batch: tuple[int, ...] = (1, 8, 64)
    prefix: str = ""
    test: bool = False
    recruiter_keys: Path | None = None
    workers: int = 1
    proxy_config: Path | None = None  # written instead of running nginx
    logs: LogFormat = "text"
    slot: int | None = None  # the number of this process among several
    unix_socket: Path | None = None  # where this process listens
    address_key: bytes | None = None  # with which addresses are hashed, the same in all processes

    @property
    def protocols(self) -> list[Protocol]:
        """The studies, read from their files; an `InterplayError` if two have the same name."""
        protocols = [load(path) for path in self.studies]
        names = [protocol.name for protocol in protocols]
        if len(set(names)) != len(names):
            raise InterplayError(f"two studies have the same name: {', '.join(names)}")
        return protocols


def serve(settings: ServeSettings, note: Note) -> None:
    """Serve until interrupted; `note` tells the person who started it where everything is."""
    log_to_stderr(settings.logs)
    protocols = settings.protocols
    if settings.workers > 1:
        _serve_together(settings, protocols, note)
        return
    database = open_study_database(settings.database)
    try:
        base = _base(settings, database)
        for protocol in protocols:
            name = lease_name(protocol)
            base.leases[name] = acquire(database, name)
        note("compiling the games and their partners, which takes a minute or two the first time ...")
        keys = _first_keys(database, base, protocols)
        _run_app(settings, base, protocols, lambda: _tell(settings, protocols, keys, database, note))
    finally:
        database.close()


def _base(settings: ServeSettings, database: Database) -> Base:
    return make_base(database, prefix=settings.prefix, address_key=settings.address_key)


def _run_app(
    settings: ServeSettings, base: Base, protocols: Sequence[Protocol], ready: Callable[[], None] = lambda: None
) -> None:
    app = build(
        protocols, base, sizes=settings.batch, secure=settings.secure, test=settings.test,
        recruiter_keys=settings.recruiter_keys, slot=settings.slot,
    )  # fmt: skip
    for study in app.state.studies:
        for engine in study.engines.values():
            engine.warm()
    run(
        app, settings.listen, base=base, ready=ready, largest_frame=LARGEST_FRAME, ping_s=PING_S,
        unix_socket=settings.unix_socket,
    )  # fmt: skip


def _first_keys(database: Database, base: Base, protocols: Sequence[Protocol]) -> dict[str, str]:
    """Return invitations by study, of those that no researcher can look into yet."""
    keys = {protocol.name: database.write(first_invitation, base.clock, protocol.name) for protocol in protocols}
    return {name: key for name, key in keys.items() if key is not None}


def _tell(
    settings: ServeSettings, protocols: Sequence[Protocol], keys: dict[str, str], database: Database, note: Note
) -> None:
    url = f"{settings.listen.url}{settings.prefix}"
    for protocol in protocols:
        own = f"/{protocol.name}" if len(protocols) > 1 else ""
        note(f"participants: {url}/study/{protocol.name}")
        note(f"researchers:  {url}/researcher{own}")
        if protocol.name in keys:
            link = f"{url}/researcher{own}/invite?key={keys[protocol.name]}"
            note(f"the first researcher chooses a password once at {link}")
    if settings.test:
        note("test mode: everyone who comes is marked as a test, and is not in the data")
    note(f"database {database.engine.url}; stop with Ctrl-C")


# Several processes.


def _serve_together(settings: ServeSettings, protocols: Sequence[Protocol], note: Note) -> None:
    """Start the processes and nginx, and keep them running; this process keeps the studies' leases."""
    database = open_study_database(settings.database)
    with ExitStack() as stack:
        stack.callback(database.close)
        if database.is_sqlite:
            raise InterplayError("several workers share a PostgreSQL database: give --database postgresql://...")
        base = make_base(database)
        for protocol in protocols:
            stack.callback(acquire(database, lease_name(protocol)).release)
        keys = _first_keys(database, base, protocols)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="interplay-")))
        # What the first process compiles, the others and those that are started again find.
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "compiled"))
        sockets = [folder / f"worker{number}" for number in range(1, settings.workers + 1)]
        text = nginx_config(sockets, settings.listen, folder, settings.prefix)
        shared = replace(settings, workers=1, address_key=secrets.token_bytes(32))
        supervisor = Supervisor(
            serve_worker,
            [(replace(shared, slot=n, unix_socket=path),) for n, path in enumerate(sockets, start=1)],
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: supervisor.stop())
        if settings.proxy_config is None:
            file = folder / "nginx.conf"
            file.write_text(text)
            stack.callback(Nginx(file).stop)
        else:
            settings.proxy_config.write_text(text)
            note(f"nginx's configuration: {settings.proxy_config}")
        note(f"{settings.workers} processes compile the games; the first visitors can come in a minute or two")
        _tell(settings, protocols, keys, database, note)
        supervisor.run()


def serve_worker(settings: ServeSettings) -> None:
    """Serve in one of several processes, at its own Unix socket."""
    log_to_stderr(settings.logs)
    database = open_study_database(settings.database)
    try:
        base, protocols = _base(settings, database), settings.protocols
        for protocol in protocols:
            name = lease_name(protocol, settings.slot)
            base.leases[name] = acquire(database, name)
        _run_app(settings, base, protocols)
    finally:
        database.close()
