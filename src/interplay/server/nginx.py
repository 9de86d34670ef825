"""The configuration of nginx in front of several processes that serve together."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from pathlib import Path

from interplay.server.serve import Listen


def nginx_config(sockets: Sequence[Path], listen: Listen, folder: Path, prefix: str = "") -> str:
    """Return a configuration file.

    Args:
        sockets: The Unix sockets of the processes, in the order of their numbers from 1.
        listen: Where nginx listens, and its certificate.
        folder: A private folder for nginx's own files.
        prefix: Of all addresses, such as /lab.
    """
    servers = [f"server unix:{path} max_fails=1 fail_timeout=1s;" for path in sockets]
    each, routes = [], []
    for number, _ in enumerate(sockets, start=1):
        others = [server.replace(";", " backup;") for at, server in enumerate(servers, start=1) if at != number]
        each.append(f"  upstream worker_{number} {{ {' '.join([servers[number - 1], *others])} }}")
        pattern = f"^{prefix}/api/study/[^/]+/worker/{number}/"
        routes.append(f"    location ~ {pattern} {{ proxy_pass http://worker_{number}; }}")
    host = f"[{listen.host}]" if ":" in listen.host else listen.host
    tls = ""
    if listen.certificate is not None:
        tls = f"    ssl_certificate {listen.certificate};\n    ssl_certificate_key {listen.private_key};\n"
    # Started by root, nginx would become another user, who may not look into the folder of the sockets.
    user = f"user {getpass.getuser()};\n" if os.geteuid() == 0 else ""
    return (
        Path(__file__)
        .with_suffix(".conf")
        .read_text(encoding="utf-8")
        .format(
            user=user,
            folder=folder,
            all="\n".join(f"    {server}" for server in servers),
            each="\n".join(each),
            listen=f"{host}:{listen.port}{' ssl' if listen.certificate else ''}",
            tls=tls,
            routes="\n".join(routes),
        )
    )
