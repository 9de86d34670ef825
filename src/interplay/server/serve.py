"""Run an application: uvicorn with the limits that the rest of this package counts on."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError

if TYPE_CHECKING:
    from interplay.server.app import Base


@dataclass(frozen=True, kw_only=True)
class Listen:
    """Where to listen. The fields are options of the commands that serve."""

    host: str = "127.0.0.1"
    """The address to listen at; 0.0.0.0 for everyone."""
    port: int = 8000
    """The port to listen at."""
    certificate: Path | None = None
    """A TLS certificate, so that https:// and wss:// work without a proxy."""
    private_key: Path | None = None
    """The certificate's private key."""
    proxies: str = ""
    """Addresses of proxies in front of this server, separated by commas."""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"{'https' if self.certificate else 'http'}://{self.host}:{self.port}"


def check_listen(listen: Listen) -> None:
    """An error now, rather than after minutes of compiling, if this address cannot be listened at."""
    _check_tls(listen)
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((listen.host, listen.port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InterplayError(f"cannot listen at {listen.host}, port {listen.port}: {reason}") from None


def _check_tls(listen: Listen) -> None:
    for path in (listen.certificate, listen.private_key):
        if path is not None and not path.is_file():
            raise InterplayError(f"no such file: {path}")
    if (listen.certificate is None) != (listen.private_key is None):
        raise InterplayError("TLS needs both a certificate and its private key")


def config(
    app: Any,
    listen: Listen,
    *,
    largest_frame: int = 256 * 1024,
    ping_s: tuple[float, float] = (20, 60),
    unix_socket: Path | None = None,
) -> Any:
    """Return uvicorn's configuration.

    Args:
        app: The application.
        listen: Where to listen.
        largest_frame: Bytes of a socket's frame.
        ping_s: How often sockets are asked whether anyone is there, and how long the answer may take.
        unix_socket: Listen here instead, behind a proxy, whose headers are trusted.
    """
    import uvicorn

    _check_tls(listen)
    return uvicorn.Config(
        app,
        host=listen.host,
        port=listen.port,
        uds=str(unix_socket) if unix_socket else None,
        ssl_certfile=str(listen.certificate) if listen.certificate and not unix_socket else None,
        ssl_keyfile=str(listen.private_key) if listen.private_key and not unix_socket else None,
        proxy_headers=bool(listen.proxies) or unix_socket is not None,
        forwarded_allow_ips="*" if unix_socket is not None else listen.proxies or None,
        ws_max_size=largest_frame,
        ws_per_message_deflate=False,  # costs more than it saves on a local network, and bombs cannot be hidden in it
        ws_ping_interval=ping_s[0],
        ws_ping_timeout=ping_s[1],
        access_log=False,  # it would hold keys (the published protocol puts them into addresses) and people's addresses
        server_header=False,
        log_level="warning",
        log_config=None,  # its own would close the handlers of every other library in the process
        timeout_graceful_shutdown=5,
    )


def run(
    app: Any, listen: Listen, *, base: Base | None = None, ready: Callable[[], None] = lambda: None, **options: Any
) -> None:
    """Serve until interrupted, or until the lease of `base` is lost; `ready` is called once visitors can come."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    reduce_latency()
    server = Server(config(app, listen, **options))
    for lease in base.leases.values() if base is not None else ():
        lease.on_lost = lambda: setattr(server, "should_exit", True)
    try:
        server.run()
    finally:
        gc.unfreeze()  # at the end everything is let go of; what is not, libraries complain about in many lines


@contextlib.contextmanager
def serving(app: Any, listen: Listen | None = None, **options: Any) -> Iterator[tuple[str, asyncio.AbstractEventLoop]]:
    """Serve in a thread of this process while the block runs.

    Args:
        app: The application.
        listen: Where to listen; None: at a free port of this machine.
        options: As `config` takes them.

    Yields:
        The address, and the event loop in which the application runs.

    Raises:
        InterplayError: The application does not start.
    """
    import uvicorn

    if listen is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            listen = Listen(port=probe.getsockname()[1])
    server, loops = uvicorn.Server(config(app, listen, **options)), []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise InterplayError("nothing could be served on this machine; see the messages above")
        time.sleep(0.02)
    try:
        yield listen.url, loops[0]
    finally:
        server.should_exit = True
        thread.join(60)


SWITCH_S = 0.0005


def reduce_latency() -> None:
    """Set this process up to answer at once while other threads of it compute.

    The event loop gives the interpreter away with every frame it sends, and would wait up to five milliseconds to get
    it back from a thread that computes. Objects made until now are frozen: the garbage collector need not look through
    compiled programs again and again.
    """
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
