"""Hostile files of every kind that interplay reads, and a watch over what reading them does."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LONGEST_S = 20  # a reader that takes longer hangs; on a quiet machine an answer takes less than a second
_seen: list[tuple[str, str]] | None = None
_DANGEROUS = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "os.fork", "socket.connect"}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    if event in _DANGEROUS:
        _seen.append((event, repr(arguments)[:200]))
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
    if event != "open":
        return
    path, _, flags = arguments
    if isinstance(flags, int) and flags & writes and not isinstance(path, int):  # a number is a file that is open
        _seen.append(("write", str(path)))


sys.addaudithook(_audit)


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Fail if the block runs a program, connects anywhere, writes outside of the folder, or does not come to an end."""
    global _seen
    _seen = []
    old = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
        seen, _seen = _seen, None
    allowed = (str(folder), "/dev/", str(Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", "/dev/"))), "/proc/")
    bad = [(event, what) for event, what in seen if event != "write" or not what.startswith(allowed)]
    bad = [(event, what) for event, what in bad if not what.endswith(".pyc") and "__pycache__" not in what]
    assert not bad, bad


def _too_long(*_: Any) -> None:
    raise AssertionError("reading hostile data hangs")


def deep(levels: int = 200_000) -> str:
    return "[" * levels + "]" * levels


JSON_TEXTS: dict[str, bytes] = {
    "nothing": b"",
    "no text": b"\x00\xff\xfe\x80" * 40,
    "not UTF-8": '{"name": "\xe9"}'.encode("latin-1"),
    "cut short": b'{"format": "interplay-',
    "deep lists": deep().encode(),
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a bit too deep": (b'{"a":' * 500 + b"1" + b"}" * 500),
    "a number": b"1e999",
    "a million digits": b"9" * 1_000_000,
    "a list": b"[1, 2, 3]",
    "a word": b'"interplay-panel"',
    "null": b"null",
    "an empty object": b"{}",
    "not a number": b'{"format_version": NaN}',
}

YAML_TEXTS: dict[str, str] = {
    "nothing": "",
    "python objects": "!!python/object/apply:os.system ['touch HERE']",
    "python names": "name: !!python/name:os.system",
    "aliases that explode": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij")),
    "an alias of itself": "a: &a [*a]",
    "merge that explodes": "a: &a {x: 1}\n"
    + "".join(f"b{i}: &b{i} {{<<: *a}}\n" for i in range(9))
    + "<<: [*a, *b1]\n",
    "deep lists": deep(5_000),
    "deep mappings": "".join(" " * i + "a:\n" for i in range(2_000)),
    "a list": "- 1\n- 2\n",
    "a list as key": "? [1, 2]\n: 3\n",
    "twice": "name: a\nname: b\n",
    "a tab": "\tname: x",
    "control characters": "name: \x07",
    "a date as name": "name: 2020-01-01\nsettings: []\nphases: []\n",
}


def gzip_bomb(path: Path, megabytes: int = 64, start: bytes = b"") -> None:
    """A small file that expands to gigabytes, all on one line."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(start)
        block = b" " * (1 << 20)
        for _ in range(megabytes):
            file.write(block)


def each_json(path: Path, read: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The file replaced by every hostile text in turn."""
    for name, text in JSON_TEXTS.items():
        path.write_bytes(text)
        yield name, read


def in_place_of(path: Path, read: Callable[[], Any], outside: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The file replaced by what is no regular file of this folder."""
    path.unlink()
    path.symlink_to(outside)
    yield "a link out of the folder", read
    path.unlink()
    path.symlink_to(path)
    yield "a link to itself", read
    path.unlink()
    path.mkdir()
    yield "a folder", read
    path.rmdir()
    os.mkfifo(path)
    yield "a pipe", read
    path.unlink()


NAMES: list[Any] = [
    "os:system",
    "subprocess:Popen",
    "builtins:eval",
    "interplay.trust:import_object",
    "overcooked/../../etc/passwd",
    "overcooked/cramped_room\x00",
    "/etc/passwd",
    "evil.py:thing",
    "",
    "x" * 100_000,
    None,
    7,
    ["overcooked/cramped_room"],
    {"a": 1},
]

OPTIONS: list[Any] = [
    {"command": "touch HERE"},
    {"layout_file": "/etc/passwd"},
    {"layout": "X" * 10_000_000},
    {"layout": {"a": 1}},
    {"layout": json.loads("[" * 90 + "]" * 90)},
    {"horizon": 10**30},
    {"horizon": -1},
    {"horizon": "400"},
    {"horizon": float("nan")},
    {"players": 10**9},
    {"orders": ["O" * 10_000]},
    {"__class__": "x", "self": 1},
    [],
    None,
    "horizon=3",
]
