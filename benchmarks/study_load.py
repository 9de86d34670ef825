"""How many people can play at once, and how late the server's ticks are.

    python benchmarks/study_load.py                      # 100, 150, 200 and 300 games of Overcooked at 6 Hz
    python benchmarks/study_load.py --games 100 --seconds 60 --db postgresql://... --workers 2

The server is `interplay study serve` in its own process; the people are WebSocket clients in another, each with an
address of its own on the loopback network, a cookie from the consent page and one game with a trained network as its
partner. They press two keys a second. Told are:

- late: from when a tick was due to when the server began it (stored with every step);
- shown: from when a tick was due to when its picture was at the client;
- answer: from a key to its acknowledgement, which comes after the step is on disk: up to one tick and a commit;
- lost: keys that were acknowledged and are not in the database. There must be none.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
HZ = 6.0
TICK = os.sysconf("SC_CLK_TCK")
TICKED = '{"type":"tick","t":'
ACTIONS = ("north", "south", "east", "west", "stay", "interact")
STUDY = """
name: load
title: Load
games:
  kitchen: {{game: overcooked/{layout}, options: {{horizon: {ticks}}}, seat: alternate, tick_hz: {hz}, countdown_s: 0}}
partners: {{a: trained/overcooked/{layout}/hsp-1, b: trained/overcooked/{layout}/mep-1,
  c: trained/overcooked/{layout}/fcp-1, d: trained/overcooked/{layout}/sp-1}}
designs:
  one: {{factors: {{partner: [a, b, c, d]}}, draw: 1}}
flow:
  - {{kind: consent, id: consent, title: Consent, version: "1", checkboxes: [{{id: agree, label: I agree}}]}}
  - kind: repeat
    id: once
    over: one
    pages: [{{kind: game, id: game, title: Game, game: kitchen, partner: $partner}}]
end: Thanks
"""


# The server.


@contextlib.contextmanager
def server(folder: Path, layout: str, seconds: float, address: str, workers: int) -> Iterator[tuple[str, int]]:
    """The real server in its own process, or in several behind nginx; its address and its number."""
    file = folder / "load.yaml"
    file.write_text(STUDY.format(layout=layout, ticks=round(seconds * HZ), hz=HZ))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "interplay.cli.main", "study", "serve", str(file), "--database", address]
    command += ["--workers", str(workers)] if workers > 1 else []
    process = subprocess.Popen([*command, "--host", "0.0.0.0", "--port", str(port)], cwd=ROOT, stderr=subprocess.PIPE)
    try:
        _await_port(process, port)
        _await_health(f"http://127.0.0.1:{port}/health", workers)
        yield f"127.0.0.1:{port}", process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def _await_port(process: subprocess.Popen, port: int) -> None:
    began = time.perf_counter()
    while process.poll() is None and time.perf_counter() - began < 300:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            print(f"server ready after {time.perf_counter() - began:.0f} s (compiling)", file=sys.stderr)
            return
        time.sleep(0.25)
    raise SystemExit(f"the server did not start: {process.stderr.read().decode() if process.stderr else ''}")


def _await_health(url: str, workers: int) -> None:
    """Wait until the server answers, several times in a row where several processes take turns."""
    import httpx

    good = 0
    while good < 4 * workers:
        with contextlib.suppress(httpx.TransportError):
            good = good + 1 if httpx.get(url, timeout=10).status_code == 200 else 0
        time.sleep(0.25)


def processes(process: int) -> list[int]:
    """A process and all that it started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(pid for child in children for pid in processes(int(child)))]


def cpu_s(process: int) -> float:
    """CPU seconds of a process and of all that it started, so far."""
    total = 0
    for pid in processes(process):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def cpu_by_thread(process: int) -> dict[str, float]:
    seconds_by_thread: dict[str, float] = {}
    for task in [task for pid in processes(process) for task in Path(f"/proc/{pid}/task").iterdir()]:
        with contextlib.suppress(OSError):
            name, fields = (task / "comm").read_text().strip(), (task / "stat").read_text().rpartition(")")[2].split()
            seconds_by_thread[name] = seconds_by_thread.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / TICK
    return seconds_by_thread


# The people, in a process of their own.


class Person:
    """One client: the consent, then one game, with as little work as can be."""

    def __init__(self, number: int, place: str):
        self.number, self.place = number, place
        self.source = f"127.{1 + number // 60000}.{number // 250 % 240}.{1 + number % 250}"
        self.chance = random.Random(number)
        self.sent: dict[int, float] = {}
        self.answer_s: list[float] = []
        self.acked: list[int] = []
        self.shown: list[tuple[int, float]] = []  # ticks, and when they were here
        self.score: float | None = None
        self.socket: Any = None

    async def agree(self) -> None:
        import httpx

        api = f"http://{self.place}/api/study/load"
        transport = httpx.AsyncHTTPTransport(local_address=self.source, verify=False)
        async with httpx.AsyncClient(transport=transport, timeout=120) as client:
            state = (await client.get(f"{api}/state")).raise_for_status().json()
            body = {"page": state["page"]["id"], "answers": {"agree": True}, "seconds": 1.0}
            headers = {"x-csrf": state["csrf"], "origin": f"http://{self.place}"}
            state = (await client.post(f"{api}/answer", json=body, headers=headers)).raise_for_status().json()
            self.path = state["page"]["socket"]
            ((self.cookie, self.token),) = client.cookies.items()

    async def play(self) -> None:
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed

        origin: Any = f"http://{self.place}"
        options: dict[str, Any] = {"compression": None, "local_addr": (self.source, 0), "ping_interval": None}
        headers = {"cookie": f"{self.cookie}={self.token}"}
        async with connect(f"ws://{self.place}{self.path}", origin=origin, additional_headers=headers, **options) as it:
            await it.send('{"type":"hello","seen":-1}')
            seq = 0
            async for frame in it:
                text, now = str(frame), time.monotonic()
                if text.startswith(TICKED):
                    t = int(text[len(TICKED) : text.index(",", len(TICKED))])
                    self.shown.append((t, time.time()))
                    if t % 3 == self.number % 3:
                        self.sent[seq] = time.monotonic()
                        with contextlib.suppress(ConnectionClosed):  # the end is on its way
                            await it.send(f'{{"type":"act","seq":{seq},"action":"{self.chance.choice(ACTIONS)}"}}')
                        seq += 1
                elif text.startswith('{"type":"ack"'):
                    at = json.loads(text)["seq"]
                    self.acked.append(at)
                    self.answer_s.append(now - self.sent[at])
                elif text.startswith('{"type":"end"'):
                    self.score = json.loads(text)["score"]
                    return


def people(place: str, first: int, count: int) -> None:
    async def all_of_them() -> list[Person]:
        persons = [Person(first + number, place) for number in range(count)]
        for at in range(0, count, 10):  # nobody consents in crowds of hundreds
            await asyncio.gather(*(person.agree() for person in persons[at : at + 10]))

        async def later(person: Person) -> None:
            await asyncio.sleep(person.number % count * 5 / count)
            await person.play()

        await asyncio.gather(*(later(person) for person in persons))
        return persons

    persons = asyncio.run(all_of_them())
    results = {
        "acked": {person.token: person.acked for person in persons},
        "scores": {person.token: person.score for person in persons},
        "shown": {person.token: person.shown for person in persons},
        "answer_s": [s for person in persons for s in person.answer_s],
        "cpu_s": sum(os.times()[:2]),
    }
    print(json.dumps(results))


# What came of it.


@dataclass
class Stored:
    """What the database holds of one person's game."""

    status: str
    score: float | None
    seqs: set[int] = field(default_factory=set)
    late_s: list[float] = field(default_factory=list)
    due: dict[int, float] = field(default_factory=dict)  # by step: when it was due
    missed: int = 0


def stored(address: str, tokens: list[str]) -> dict[str, Stored]:
    """By cookie: whose game is whose is told by the hash under which a visit is stored."""
    import sqlalchemy as sa

    from interplay.server.schema import sessions
    from interplay.study.db.connect import open_study_database
    from interplay.study.db.schema import events, games

    hashes = {hashlib.sha256(token.encode()).hexdigest(): token for token in tokens}
    database = open_study_database(address)
    with database.engine.connect() as tx:
        visits = {r.subject: hashes[r.hash] for r in tx.execute(sa.select(sessions)) if r.hash in hashes}
        played = {r.id: r for r in tx.execute(sa.select(games)) if f"person:{r.person}" in visits}
        by_game = {key: Stored(row.status, row.score) for key, row in played.items()}
        steps = sa.select(events.c.game, events.c.t, events.c.at, events.c.payload).where(events.c.kind == "step")
        for game, t, at, payload in tx.execute(steps):
            if game in by_game:
                by_game[game].due[t] = at.timestamp() - payload["late_ms"] / 1000
                by_game[game].seqs.update(payload.get("seqs", ()))
                by_game[game].late_s.append(payload["late_ms"] / 1000)
                by_game[game].missed += bool(payload.get("missed"))
    database.close()
    return {visits[f"person:{played[key].person}"]: value for key, value in by_game.items()}


def measure(place: str, process: int, address: str, games: int, first: int, seconds: float) -> bool:
    before, threads, began = cpu_s(process), cpu_by_thread(process), time.perf_counter()
    code = f"import benchmarks.study_load as b; b.people({place!r}, {first}, {games})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    used, wall = cpu_s(process) - before, time.perf_counter() - began
    heard = json.loads(done.stdout)
    by_visit = stored(address, list(heard["acked"]))
    nothing = Stored("", None)
    gone = sum(len(set(seqs) - by_visit.get(token, nothing).seqs) for token, seqs in heard["acked"].items())
    late = [value for one in by_visit.values() for value in one.late_s]
    missed, acked = sum(one.missed for one in by_visit.values()), sum(map(len, heard["acked"].values()))
    ended = all(by_visit.get(token, nothing).score == score is not None for token, score in heard["scores"].items())
    complete = all(one.status == "done" and len(one.late_s) == round(seconds * HZ) for one in by_visit.values())
    fine = gone == 0 and ended and complete and len(by_visit) == games
    per = 1000 * used / (games * seconds)
    # Tick t shows what came of step t - 1.
    at_the_client = [at - by_visit[token].due[t - 1] for token, ticks in heard["shown"].items() for t, at in ticks if t]
    times = [1000 * np.array(measured) for measured in (late, at_the_client, heard["answer_s"])]
    cells = [f"{np.percentile(v, 50):.1f} / {np.percentile(v, 99):.1f} / {v.max():.0f}" for v in times]
    print(
        f"| {games} | {' | '.join(cells)} | {missed} of {len(late)} | {acked} | {gone} | {per:.2f} | "
        f"{heard['cpu_s']:.0f} |",
        flush=True,
    )
    after = cpu_by_thread(process)
    spent = sorted(((after[n] - threads.get(n, 0.0), n) for n in after), reverse=True)
    print(
        f"{games} games, {wall:.0f} s; server CPU {used:.1f} s: "
        + ", ".join(f"{name} {value:.1f}" for value, name in spent if value > 0.2),
        file=sys.stderr,
    )
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, nargs="+", default=[100, 150, 200, 300], help="at once, one after another")
    parser.add_argument("--seconds", type=float, default=40, help="of each game")
    parser.add_argument("--layout", default="counter_circuit", help="of the kitchen, with trained partners")
    parser.add_argument("--db", help="the database; by default SQLite in a temporary folder")
    parser.add_argument("--workers", type=int, default=1, help="processes that serve together, on PostgreSQL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        address = options.db or str(Path(scratch) / "load.db")
        with server(Path(scratch), options.layout, options.seconds, address, options.workers) as (place, process):
            people_before, fine = 0, True
            columns = "late ms p50 / p99 / max | shown ms | answer ms | partner missed | keys acknowledged | lost"
            print(f"| games | {columns} | server CPU ms a game-second | clients' CPU s |")
            print("|---:|---|---|---|---|---:|---:|---:|---:|")
            for games in options.games:
                fine &= measure(place, process, address, games, people_before, options.seconds)
                people_before += games
    if not fine:
        raise SystemExit("something that was acknowledged is not in the database, or a game did not end as told")


if __name__ == "__main__":
    main()
