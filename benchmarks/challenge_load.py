"""How much a challenge server bears, and where its time goes.

    python benchmarks/challenge_load.py                      # games per second with 1, 10 and 100 connections
    python benchmarks/challenge_load.py --evaluation         # a full evaluation by our client, both settings
    python benchmarks/challenge_load.py --evaluation --published

The server runs in this process, the clients in others; CPU time is told by thread. Clients of the load test play random
legal moves, so that what is measured is the server.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

FILE = Path(__file__).parent.parent / "challenges" / "hanabi_demo.yaml"
TICK = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def server(games: int, address: str) -> Iterator[tuple[str, str]]:
    """The shipped challenge with so many games a setting; its address and a new evaluation's key."""
    import socket

    import uvicorn

    from interplay.challenge import admin
    from interplay.challenge.http_app import build
    from interplay.challenge.spec import load
    from interplay.server.app import Base
    from interplay.server.serve import Listen, config

    shipped = load(FILE)
    settings = tuple(s.model_copy(update={"games": games}) for s in shipped.settings)
    rules = shipped.rules.model_copy(update={"concurrency": 256, "connections": 256})
    challenge = shipped.model_copy(update={"settings": settings, "rules": rules})
    database = admin.open_challenge_database(address)
    made = admin.issue(database, challenge, f"bench {time.time()}", "bench", "bench", "a benchmark", baseline=True)
    began = time.perf_counter()
    app = build(challenge, Base(database))
    for stage in app.state.host.stages.values():
        stage.engine.warm("belief")
        stage.engine.warm("seen")
    print(f"server ready after {time.perf_counter() - began:.0f} s (compiling)", file=sys.stderr)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = uvicorn.Server(config(app, Listen(port=port)))
    thread = threading.Thread(target=running.run, name="event loop", daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}", made["evaluation_key"]
    engines = [stage.engine for stage in app.state.host.stages.values()]
    joined = sum(e.steps for e in engines) / max(1, sum(e.batches for e in engines))
    print(f"games joined in a step: {joined:.1f} on average", file=sys.stderr)
    running.should_exit = True
    thread.join(20)
    database.close()


def cpu_by_thread() -> dict[str, float]:
    """CPU seconds of this process so far, by the names of its threads; XLA's own are one."""
    names = {t.native_id: t.name.partition("_")[0] for t in threading.enumerate()}
    seconds_by_thread: dict[str, float] = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            name = names.get(int(task.name), "XLA and others")
            seconds_by_thread[name] = seconds_by_thread.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / TICK
    return seconds_by_thread


def client(url: str, key: str, connections: int, games: int, published: bool) -> int:
    """A process with so many connections that play so many games; its CPU seconds go to standard output."""
    code = f"import benchmarks.challenge_load as b; b.clients({url!r}, {key!r}, {connections}, {games}, {published})"
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def clients(url: str, key: str, connections: int, games: int, published: bool) -> None:
    left, played = [games], []

    async def lanes() -> None:
        one = _published if published else _ours
        await asyncio.gather(*(one(url.replace("http", "ws"), key, left, played) for _ in range(connections)))

    began = time.perf_counter()
    asyncio.run(lanes())
    used = sum(os.times()[:2])
    print(json.dumps({"games": len(played), "steps": sum(played), "s": time.perf_counter() - began, "cpu_s": used}))


def _pick(legal: list[int]) -> int:
    return random.choice([i for i, ok in enumerate(legal) if ok])


async def _ours(url: str, key: str, left: list[int], played: list[int]) -> None:
    """Our protocol, one game at a time on each connection."""
    from websockets.asyncio.client import connect

    headers = {"authorization": f"Bearer {key}"}
    address = f"{url}/api/v1/play?encoding=belief"
    async with connect(address, additional_headers=headers, max_size=None, compression=None) as socket:
        await socket.recv()
        while left[0] > 0:
            left[0] -= 1
            await socket.send('{"type":"next"}')
            games = orjson.loads(await socket.recv())["games"]
            if not games:
                return
            game = games[0]
            while not game["done"]:
                last = game["steps"][-1]
                actions = {s: _pick(v["legal"]) for s, v in last["seats"].items() if v["turn"]}
                move = {"game": game["game"], "seq": game["seq"], "actions": actions}
                await socket.send(orjson.dumps({"type": "act", "moves": [move]}).decode())
                game = orjson.loads(await socket.recv())["games"][0]
            played.append(game["steps"][-1]["t"])


async def _published(url: str, key: str, left: list[int], played: list[int]) -> None:
    """The published protocol: a connection for each game."""
    from websockets.asyncio.client import connect

    while left[0] > 0:
        left[0] -= 1
        async with connect(f"{url}/play-next?submission_key={key}", max_size=None, compression=None) as socket:
            await socket.recv()
            message = orjson.loads(await socket.recv())
            own, steps = message["info"]["candidate_controlling"], 0
            while not message.get("done"):
                await socket.send(orjson.dumps({c: _pick(message[c]["legal_moves"]) for c in own}).decode())
                message, steps = orjson.loads(await socket.recv()), steps + 1
            played.append(steps)


def load(address: str) -> None:
    print("| protocol | connections | games/s | steps/s | server CPU ms/game | client CPU ms/game |")
    print("|---|---:|---:|---:|---:|---:|")
    with server(2000, address) as (url, key):
        client(url, key, 4, 8, False)  # nothing is measured cold
        where: dict[str, float] = {}
        for published in (False, True):
            for connections in (1, 10, 100):
                games = 40 if connections == 1 else 200
                before = cpu_by_thread()
                result = client(url, key, connections, games, published)
                used = {n: v - before.get(n, 0.0) for n, v in cpu_by_thread().items()}
                for name, value in used.items():
                    where[name] = where.get(name, 0.0) + value
                count, seconds = result["games"], result["s"]
                name = "published" if published else "ours"
                print(
                    f"| {name} | {connections} | {count / seconds:.1f} | {result['steps'] / seconds:.0f} | "
                    f"{1000 * sum(used.values()) / count:.0f} | {1000 * result['cpu_s'] / count:.0f} |",
                    flush=True,
                )
        total = sum(where.values())
        threads = sorted(where.items(), key=lambda item: -item[1])
        print("\nserver CPU: " + ", ".join(f"{n} {100 * v / total:.0f} %" for n, v in threads if v / total > 0.005))


def evaluation(address: str, agent: str, published: bool, games: int) -> None:
    with server(games, address) as (url, key):
        began, before = time.perf_counter(), cpu_by_thread()
        if published:
            print(client(url, key, 64, 2 * games, True))
        else:
            command = [sys.executable, "-m", "interplay.cli.main", "challenge", "play", "--url", url, "--key", key]
            subprocess.run([*command, "--agent", agent, "--at-once", "128", "--json"], check=True)
        seconds = time.perf_counter() - began
        used = sum(v - before.get(n, 0.0) for n, v in cpu_by_thread().items())
        print(f"{2 * games} games in {seconds:.0f} s: {2 * games / seconds:.1f} games/s; server CPU {used:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluation", action="store_true", help="a full evaluation")
    parser.add_argument("--published", action="store_true", help="by the published protocol")
    parser.add_argument("--agent", default="hanabi/smart", help="who plays the evaluation")
    parser.add_argument("--games", type=int, default=1000, help="of each setting")
    parser.add_argument("--db", help="the database; by default SQLite in a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        books = options.db or str(Path(folder) / "books.db")
        if options.evaluation:
            evaluation(books, options.agent, options.published, options.games)
        else:
            load(books)
