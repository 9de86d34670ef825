"""Bring agents and panels into the cache: from a folder, from an https address, or files of one's own.

What arrives is checked for size and sha256 before it gets its place; nothing of it is executed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from interplay.errors import InterplayError, UnknownName
from interplay.hub.manifest import (
    AGENT,
    MANIFEST,
    MANIFEST_LIMIT,
    PANEL_FILES,
    HubFile,
    HubItem,
    describe,
    file_of,
    kind_of,
    parse_manifest,
    paths_of,
    read_file,
    write_manifest,
)
from interplay.hub.store import RECORDS, Located, MissingWeights, check, folders, index, items, locate

TIMEOUT = 60  # seconds without a byte


def get(name: str, source: str | None = None) -> Located:
    """Bring an item into the cache, unless it is on this machine already.

    Args:
        name: The agent or panel.
        source: A folder of the hub, or the https address of one. A name of the index must have its sha256 there; any
            other is described by the source's own manifest.

    Raises:
        UnknownName: Neither the index nor the source knows the name.
        MissingWeights: It is known, not here, and no source is given.
        InterplayError: The source cannot be read, or what it gives is not the file that is meant.
    """
    kind_of(name)
    known = items()
    if name in known and (located := locate(known[name])) is not None:
        check(located)
        return located
    if source is None:
        if name in known:
            raise MissingWeights(known[name])
        raise UnknownName("agent or panel", name, list(known))
    read = _source(source)
    item = index().get(name) or _described(name, parse_manifest(read(MANIFEST, MANIFEST_LIMIT), f"{source}/{MANIFEST}"))
    return _keep(item, {file.path: _checked(read(file.path, file.bytes), file, source) for file in item.files})


def add(path: str | os.PathLike[str], name: str, *, licence: str, made: str = "") -> Located:
    """Copy an agent's file or a panel's folder of one's own into the cache, under a name.

    Args:
        path: A `.safetensors` file as training writes it, or the folder of a panel.
        name: `trained/GAME/NAME` or `GAME:NAME`; the game is the one that the files name.
        licence: An SPDX identifier, or words.
        made: How it was made; by default what the files say of it.

    Raises:
        InterplayError: The name is taken, or the files are no agent or panel of this game.
    """
    path = Path(path)
    if name in items():
        raise InterplayError(f"{name} is there already; choose another name")
    base = path.parent if kind_of(name) == AGENT else path
    if kind_of(name) == AGENT:
        files = {paths_of(name)[0]: path.name}
    elif not path.is_dir():
        raise InterplayError(f"{path} is no folder; a panel is a folder with {', '.join(PANEL_FILES[:2])}")
    else:
        files = dict(zip(paths_of(name), PANEL_FILES, strict=True))
        files = {target: own for target, own in files.items() if own != PANEL_FILES[2] or (base / own).exists()}
    with tempfile.TemporaryDirectory() as temporary:
        staged = Path(temporary)
        data = {target: read_file(base, own) for target, own in files.items()}
        _write(staged, data)
        item = describe(staged, name, licence=licence, made=made)
    return _keep(item, data)


def _described(name: str, manifest: Mapping[str, HubItem]) -> HubItem:
    if name not in manifest:
        raise UnknownName("agent or panel", name, list(manifest))
    return manifest[name]


def _keep(item: HubItem, data: Mapping[str, bytes]) -> Located:
    """Write checked files to the cache, and a record of what is not in the index."""
    folder = folders()["cache"]
    try:
        _write(folder, data)
        if item.name not in index():
            record = hashlib.sha256(item.name.encode()).hexdigest()[:16]
            write_manifest(folder / RECORDS / f"{record}.json", [item])
    except OSError as error:
        raise InterplayError(f"cannot write to the cache {folder}: {error.strerror}") from None
    located = Located(item, "cache", folder)
    check(located)
    return located


def _write(folder: Path, data: Mapping[str, bytes]) -> None:
    for path, content in data.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            file_of(folder, path)  # no link may lead out of the cache
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".writing.", delete=False) as file:
            file.write(content)
        Path(file.name).replace(target)


def _checked(data: bytes, file: HubFile, source: str) -> bytes:
    if len(data) != file.bytes or hashlib.sha256(data).hexdigest() != file.sha256:
        raise InterplayError(f"{source}: {file.path} is not the file that is meant: its sha256 differs; not kept")
    return data


def _source(source: str) -> Any:
    """Return a function that reads at most so many bytes of a path of the source."""
    scheme = urlsplit(source).scheme if "://" in source else ""
    if scheme == "https":
        return lambda path, limit: _download(f"{source.rstrip('/')}/{quote(path)}", limit)
    if scheme:
        raise InterplayError(f"{source!r:.200}: only https addresses are fetched from, or give a folder")
    if not Path(source).is_dir():
        raise InterplayError(f"{source!r:.200} is neither a folder nor an https address")
    return lambda path, limit: read_file(Path(source), path, limit)


class _HttpsOnly(HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme != "https":
            raise InterplayError(f"{req.full_url} leads on to {newurl!r:.200}, which is not https; nothing was fetched")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(address: str, limit: int) -> bytes:
    try:
        request = Request(address, headers={"User-Agent": "interplay"})
        with build_opener(_HttpsOnly).open(request, timeout=TIMEOUT) as reply:
            data = reply.read(limit + 1)
    except (URLError, OSError, ValueError) as error:
        if isinstance(error, InterplayError):
            raise
        raise InterplayError(f"cannot fetch {address}: {getattr(error, 'reason', error)!s:.200}") from None
    if len(data) > limit:
        raise InterplayError(f"{address} holds more than the {limit} bytes that are meant; it was not kept")
    return data
