"""The configuration of nginx in front of several processes that serve together."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from pathlib import Path

from interplay.server.serve import Listen

_TEMPLATE = """\
# Written by interplay: several processes serve together, and a game is played by one of them.
# A request goes to any of them; the socket of a game goes to the process that its address names, and to another one
# while that process is down.
{user}worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr emerg;  # lesser ones would hold participants' addresses and ids
events {{ worker_connections 8192; }}
http {{
  access_log off;  # it would hold participants' addresses
  server_tokens off;
  client_max_body_size 256k;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" ""; }}
  upstream workers {{
{all}
  }}
{each}
  server {{
    listen {listen};
{tls}    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_connect_timeout 2s;
    proxy_read_timeout 1h;
    proxy_buffering off;
    # What is sent twice has the effect of being sent once, so another process may be asked again.
    proxy_next_upstream error timeout http_502 non_idempotent;
    location / {{ proxy_pass http://workers; }}
{routes}
  }}
}}
"""


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
    return _TEMPLATE.format(
        user=user,
        folder=folder,
        all="\n".join(f"    {server}" for server in servers),
        each="\n".join(each),
        listen=f"{host}:{listen.port}{' ssl' if listen.certificate else ''}",
        tls=tls,
        routes="\n".join(routes),
    )
