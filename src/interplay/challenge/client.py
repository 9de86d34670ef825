"""The client: plays a whole evaluation with any agent, many games at once.

After a lost connection it goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx
import jax
import numpy as np
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from interplay.agents.api import as_agent
from interplay.challenge.array_encoding import pack_tree
from interplay.challenge.client_agents import ClientAgent, SeatMessage, client_agent
from interplay.errors import InterplayError
from interplay.games.api import is_jax
from interplay.games.registry import make_recorded
from interplay.trust import admit, is_reference

PATIENCE = 8  # connections in a row that fail before the client gives up
Progress = Callable[[int], None]
T = TypeVar("T")


def call(url: str, method: str, path: str, key: str | None = None, **body: Any) -> Any:
    """One request to a server; what it refuses is an error for people."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.request(method, url.rstrip("/") + path, headers=headers, json=body or None, timeout=60)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InterplayError(f"cannot reach {url}: {error}") from None
    if answer.status_code >= 400:
        raise InterplayError(f"{url} says: {_message(answer)}")
    kind = answer.headers.get("content-type", "").partition(";")[0]
    return answer.json() if kind == "application/json" else answer


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {answer.status_code}"


def socket_address(url: str, path: str, **query: str) -> str:
    """Return the WebSocket address of a server's path.

    Args:
        url: The server's address; http:// is assumed where no scheme is given.
        path: The path.
        query: Parameters.

    Raises:
        InterplayError: The scheme is neither http nor https.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    scheme = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}.get(parts.scheme)
    if scheme is None:
        raise InterplayError(f"the address {url!r} is neither http:// nor https://")
    return f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}?{urlencode(query)}"


@dataclass
class Candidate:
    """The agents of an evaluation, by setting; made when the first game of a setting comes."""

    agents: Mapping[str, str]  # setting -> name; "" for all others
    seed: int
    _made: dict[str, ClientAgent] = field(default_factory=dict)

    def agent(self, dealt: Mapping[str, Any]) -> ClientAgent:
        """Return the agent for a game that was dealt, made when its setting comes first."""
        setting = dealt["setting"]
        if setting not in self._made:
            self._made[setting] = self.make(setting, dealt["name"], dealt["options"])
        return self._made[setting]

    def make(self, setting: str, game: str, options: Mapping[str, Any]) -> ClientAgent:
        """Make the agent of a setting.

        Raises:
            InterplayError: No agent is named for the setting, or the server names a game that is not registered.
        """
        name = self.agents.get(setting, self.agents.get(""))
        if name is None:
            raise InterplayError(f"no agent for the setting {setting!r}: give {setting}=AGENT, or one for all")
        if not isinstance(game, str) or is_reference(game):
            raise InterplayError(f"the server names the game {game!r:.100}, which is not a registered one")
        world = make_recorded(game, options)
        return client_agent(as_agent(name, game=world), world, self.seed)

    def prepare(self, challenge: Mapping[str, Any]) -> str:
        """Make all agents now; the encoding that they read, which must be one."""
        for s in challenge["settings"]:
            self._made[s["name"]] = self.make(s["name"], s["game"], s["options"])
        encodings = {m.encoding for m in self._made.values()}
        if len(encodings) != 1:
            raise InterplayError(
                f"the agents read different encodings ({', '.join(sorted(encodings))}); one evaluation reads one"
            )
        return encodings.pop()

    async def try_out(self, challenge: Mapping[str, Any]) -> None:
        """Let every agent choose one move of a game of its own, so that what fails does so before a game is dealt.

        Raises:
            InterplayError: An agent fails, or chooses what is not legal.
        """
        for setting in challenge["settings"]:
            game, agent = make_recorded(setting["game"], setting["options"]), self._made[setting["name"]]
            if not is_jax(game):
                continue
            state = game.init(jax.random.key(0))
            seen = jax.tree_util.tree_map(lambda x: np.asarray(x[0]), game.observe(state, agent.encoding))
            legal, turn = np.asarray(game.legal(state))[0], bool(np.asarray(game.to_move(state))[0])
            content = {"observation": pack_tree(seen, "base64"), "legal": legal.tolist(), "turn": turn}
            try:
                choice = (await agent.act([SeatMessage(("try", 0), 0, content)]))[0]
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise InterplayError(f"the agent for {setting['name']!r} fails before any game: {why}") from error
            finally:
                agent.forget("try")
            if not legal[int(choice[0])]:
                raise InterplayError(f"the agent for {setting['name']!r} chooses action {int(choice[0])}: not legal")


@dataclass
class ClientGame:
    """A game in play, seen from here."""

    name: str
    agent: ClientAgent
    seats: Sequence[int]
    seq: int
    waiting: list[dict[str, Any]]  # steps that the agent has not seen
    turn: dict[int, bool] = field(default_factory=dict)
    chosen: dict[int, Any] = field(default_factory=dict)


def play(
    url: str,
    key: str,
    agents: Mapping[str, str],
    *,
    at_once: int = 64,
    connections: int = 2,
    seed: int | None = None,
    most: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Play all games that are left of an evaluation (or `most` of them); where it stands then."""
    standing = call(url, "GET", "/api/v1/evaluation", key)["games"]
    challenge, candidate, encoding = _ready(url, agents, int.from_bytes(os.urandom(4), "big") if seed is None else seed)
    asyncio.run(candidate.try_out(challenge))
    left = standing["total"] - standing["DONE"]
    left = left if most is None else min(most, left)
    tell = progress(left, standing["DONE"]) if progress else (lambda done: None)
    lanes = max(1, min(connections, left))
    each = max(1, min(at_once, challenge["rules"]["concurrency"]) // lanes)
    address = socket_address(url, "/api/v1/play", encoding=encoding, arrays="base64")
    asyncio.run(_Lanes(address, key, candidate, each, left, tell).play(lanes))
    return call(url, "GET", "/api/v1/evaluation", key)


def check_agents(url: str, agents: Mapping[str, str]) -> None:
    """Make the agents of all settings and let each choose one move, before a game is dealt.

    Raises:
        InterplayError: An agent cannot be made, or fails.
    """
    challenge, candidate, _ = _ready(url, agents, 0)
    asyncio.run(candidate.try_out(challenge))


def _ready(url: str, agents: Mapping[str, str], seed: int) -> tuple[dict[str, Any], Candidate, str]:
    """A challenge, the agents for all of its settings, and the encoding that they read."""
    admit(agents.values())
    challenge, candidate = call(url, "GET", "/api/v1/challenge"), Candidate(agents, seed)
    return challenge, candidate, candidate.prepare(challenge)


@dataclass
class _Lanes:
    """Connections that share the games that are left."""

    address: str
    key: str
    candidate: Candidate
    at_once: int  # on one connection
    left: int  # games that are still to be begun by this client
    tell: Progress
    answers: int = 0  # of the server to moves

    async def play(self, count: int) -> None:
        """Play on so many connections until there is nothing left."""
        await asyncio.gather(*(self._lane() for _ in range(count)))

    async def _lane(self) -> None:
        """One connection after another until there is nothing left to play."""
        failures, games = 0, {}
        while True:
            before = self.answers
            try:
                async with connect(
                    self.address, additional_headers={"authorization": f"Bearer {self.key}"}, max_size=None,
                    compression=None, open_timeout=60, ping_timeout=120,
                ) as socket:  # fmt: skip
                    await _receive(socket)
                    for game in games.values():
                        game.agent.forget(game.name)  # they are told from the start again
                    self.left += len(games)
                    games.clear()
                    await self._play(socket, games)
                    return
            except (ConnectionClosed, OSError, InvalidHandshake, TimeoutError) as error:
                failures = 1 if self.answers > before else failures + 1
                if failures > PATIENCE:
                    raise InterplayError(f"the connection failed {failures} times in a row: {error}") from None
                await asyncio.sleep(min(10.0, 0.25 * 2**failures))

    async def _play(self, socket: ClientConnection, games: dict[str, ClientGame]) -> None:
        """Play on one connection until nothing is left for it."""
        while True:
            wanted = min(self.at_once - len(games), self.left)
            if wanted > 0:
                self.left -= wanted
                try:
                    await _send(socket, {"type": "next", "count": wanted})
                    dealt = (await _receive(socket))["games"]
                except BaseException:
                    self.left += wanted  # none of them was begun here
                    raise
                self.left += wanted - len(dealt)
                for one in dealt:
                    game = ClientGame(
                        one["game"], self.candidate.agent(one), one["seats"], one["seq"], list(one["steps"])
                    )
                    game.agent.forget(game.name)
                    games[game.name] = game
                if not dealt:
                    self.left = 0  # all that is left is in play elsewhere, or there is none
            if not games:
                return
            await _think(games.values())
            moves = [
                {"game": g.name, "seq": g.seq, "actions": {str(s): a for s, a in g.chosen.items() if g.turn[s]}}
                for g in games.values()
            ]
            await _send(socket, {"type": "act", "moves": moves})
            answers = (await _receive(socket))["games"]
            self.answers += 1
            for update in answers:
                self._update(games, update)
            if any(update.get("error") == "unavailable" for update in answers):
                await asyncio.sleep(1.0)  # the server cannot book just now: the same moves are sent again

    def _update(self, games: dict[str, ClientGame], update: Mapping[str, Any]) -> None:
        game = games[update["game"]]
        if update.get("error") == "gone":  # it was dealt anew, or given to another connection: it is not lost
            game.agent.forget(game.name)
            del games[game.name]
            self.left += 1
        elif update.get("error") == "unavailable":
            return
        elif "error" in update:
            raise InterplayError(f"game {game.name}: the server says: {update['message']}")
        elif update["done"]:
            game.agent.forget(game.name)
            del games[game.name]
            self.tell(1)
        else:
            game.seq, game.waiting = update["seq"], list(update["steps"])


async def _receive(socket: ClientConnection) -> dict[str, Any]:
    frame = orjson.loads(await socket.recv())
    if "error" in frame and frame.get("type") in ("error", None):
        if frame["error"] == "unavailable":  # the server is full or cannot reach its database: come again
            raise OSError(frame["message"])
        raise InterplayError(f"the server says: {frame['message']}")
    return frame


async def _send(socket: ClientConnection, frame: dict[str, Any]) -> None:
    await socket.send(orjson.dumps(frame).decode())


async def _think(games: Any) -> None:
    """Show every agent all that it has not seen, one step at a time, all games together."""
    while waiting := [g for g in games if g.waiting]:
        asked: list[tuple[ClientGame, ClientAgent, SeatMessage]] = []
        for game in waiting:
            step = game.waiting.pop(0)
            for seat in game.seats:
                seat_step = step["seats"][str(seat)]
                game.turn[seat] = seat_step["turn"]
                asked.append((game, game.agent, SeatMessage((game.name, seat), step["t"], seat_step)))
        for game, seen, choice in await _choices(asked):
            game.chosen[seen.place[1]] = int(choice[0])


async def _choices(asked: Iterable[tuple[T, ClientAgent, SeatMessage]]) -> list[tuple[T, SeatMessage, np.ndarray]]:
    """What agents answer to these messages, every agent asked once; each with what it was asked for."""
    by_agent: dict[int, list[tuple[T, ClientAgent, SeatMessage]]] = {}
    for one in asked:
        by_agent.setdefault(id(one[1]), []).append(one)
    answered = []
    for some in by_agent.values():
        choices = await some[0][1].act([seen for *_, seen in some])
        answered += [(about, seen, choice) for (about, _, seen), choice in zip(some, choices, strict=True)]
    return answered


def predict(
    url: str,
    key: str,
    agents: Mapping[str, str],
    *,
    at_once: int = 32,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Answer all that is left of the action prediction; where the evaluation stands then."""
    _, candidate, encoding = _ready(url, agents, 0)
    address = socket_address(url, "/api/v1/predict", encoding=encoding, arrays="base64")
    asyncio.run(_predict(address, key, candidate, at_once, progress))
    return call(url, "GET", "/api/v1/evaluation", key)


async def _predict(address: str, key: str, candidate: Candidate, at_once: int, progress: Any) -> None:
    tell: Progress = lambda done: None  # noqa: E731 - until the server has said how much there is
    known = False
    headers = {"authorization": f"Bearer {key}"}
    async with connect(address, additional_headers=headers, max_size=None, compression=None) as socket:
        await _receive(socket)
        while True:
            await _send(socket, {"type": "next", "count": at_once})
            opened = await _receive(socket)
            if progress and not known:
                tell, known = progress(opened["decisions_left"], 0), True
            if not opened["games"]:
                return
            agents_of = {g["game"]: (candidate.agent(g), g["seat"]) for g in opened["games"]}
            waiting = {g["game"]: g for g in opened["games"]}
            while waiting:
                answers = await _probabilities(agents_of, waiting)
                await _send(socket, {"type": "predict", "answers": answers})
                for update in (await _receive(socket))["games"]:
                    if "error" in update:
                        raise InterplayError(f"game {update['game']}: the server says: {update['message']}")
                    waiting[update["game"]] = update
                tell(len(answers))
                waiting = {name: update for name, update in waiting.items() if not update["done"]}


async def _probabilities(
    agents_of: Mapping[str, tuple[ClientAgent, int]], waiting: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The distributions at the last step of each history, all steps before having been shown."""
    rest = {name: list(update["steps"]) for name, update in waiting.items()}
    odds: dict[str, list[float]] = {}
    while any(rest.values()):
        asked: list[tuple[str, ClientAgent, SeatMessage]] = []
        for name, steps in rest.items():
            if steps:
                step = steps.pop(0)
                agent, seat = agents_of[name]
                asked.append((name, agent, SeatMessage((name, seat), step["t"], step)))
        for name, _, choice in await _choices(asked):
            odds[name] = [float(p) for p in choice[1:]]
    for name, values in odds.items():
        if not values:
            raise InterplayError(f"the agent for {name!r} is a player: only policies say how likely each action is")
    return [{"game": n, "seq": update["seq"], "probabilities": odds[n]} for n, update in waiting.items()]


def read_agents(texts: Sequence[str]) -> dict[str, str]:
    """`AGENT`, or `SETTING=AGENT` for each setting."""
    by_setting: dict[str, str] = {}
    for text in texts:
        setting, equals, name = text.partition("=")
        by_setting[setting if equals else ""] = name if equals else text
    return by_setting


def save(content: Any, path: str | os.PathLike[str]) -> None:
    """Write a JSON file."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(content, out, indent=2, ensure_ascii=False)
        out.write("\n")
