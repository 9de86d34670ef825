"""Our own protocol: one socket plays many games at once, moves are numbered, a lost connection loses nothing.

The key is in a header, never in an address. Frames are JSON objects with a `type`:

    next {count}                                   -> games {games, standing}
    next {setting, seats} (test keys)              -> games {games}
    act {moves: [{game, seq, actions: {seat: n}}]} -> turns {games}
    resume {game}                                  -> games {games} with all that was seen so far

Each game in an answer has `steps`, what its seats saw since the last answer, one entry for each step of the game;
the last one is where the candidate is to move, unless `done`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI, WebSocket
from starlette.websockets import WebSocketDisconnect

from interplay.challenge import repository
from interplay.challenge.app_state import ChallengeState, Match
from interplay.challenge.array_encoding import Arrays, pack_view
from interplay.challenge.candidate_table import CandidateView
from interplay.challenge.repository import Submission
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key
from interplay.server.sessions import check_origin
from interplay.server.sockets import BAD_FRAME, REFUSED, TOO_LARGE, TRY_LATER, ClientDisconnected, Frames

MOST_AT_ONCE = 256  # games or moves in one frame
MOST_REFUSALS = 100  # of one connection, which is then closed
_CLOSING = {"bad_frame": BAD_FRAME, "too_large": TOO_LARGE, "too_many": TRY_LATER}


class Connections:
    """How many sockets each team has open for tests, and each evaluation for its games."""

    def __init__(self, most: int):
        self._most = most
        self._open: dict[str, int] = {}

    def enter(self, key: Key) -> None:
        """Count a new connection of a key.

        Raises:
            ApiError: The key, or its team, has as many as it may have.
        """
        count = self._open.get(key.subject, 0)
        if count >= self._most:
            raise ApiError(
                "too_many", f"{count} connections are open with this key or the team's others: no more may be"
            )
        self._open[key.subject] = count + 1

    def leave(self, key: Key) -> None:
        """Forget a connection of a key."""
        self._open[key.subject] -= 1
        if not self._open[key.subject]:
            del self._open[key.subject]


class PlayConnection:
    """One connection of one key."""

    def __init__(
        self, host: ChallengeState, key: Key, submission: Submission | None, encoding: str | None, arrays: Arrays
    ):
        self._host, self._key, self._submission = host, key, submission
        self._encoding = encoding
        self._arrays: Arrays = arrays

    async def answer(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Answer one frame of the client.

        Raises:
            ApiError: The frame is not understood or not allowed.
        """
        kind = frame.get("type")
        if kind == "act":
            return await self._act(frame)
        if kind == "next":
            return await self._next(frame)
        if kind == "resume":
            match = self._host.take_over(self._key, frame.get("game"), self)
            return {"type": "games", "games": [self._opening(match)]}
        raise ApiError("bad_request", "type: one of next, act, resume")

    async def _next(self, frame: dict[str, Any]) -> dict[str, Any]:
        host = self._host
        if self._submission is None:
            seats = frame.get("seats")
            if not isinstance(seats, list) or not all(_is_int(seat) for seat in seats):
                raise ApiError("bad_request", "seats: a list of the seats that you take")
            match = await host.test(self._key, frame.get("setting"), seats, self._encoding, self, skip=True)
            return {"type": "games", "games": [self._opening(match)]}
        count = frame.get("count", 1)
        if not _is_int(count) or not 1 <= count <= MOST_AT_ONCE:
            raise ApiError("bad_request", f"count: a whole number from 1 to {MOST_AT_ONCE}")
        dealt = await host.deal(self._key, self._submission, count, self._encoding, self, skip=True)
        standing = await host.base.database.aread(repository.standing, self._submission)
        return {"type": "games", "games": [self._opening(match) for match in dealt], "standing": standing}

    async def _act(self, frame: dict[str, Any]) -> dict[str, Any]:
        moves = frame.get("moves")
        if not isinstance(moves, list) or not 1 <= len(moves) <= MOST_AT_ONCE:
            raise ApiError("bad_request", f"moves: a list of 1 to {MOST_AT_ONCE} moves")
        return {"type": "turns", "games": await asyncio.gather(*(self._one(move) for move in moves))}

    async def _one(self, move: Any) -> dict[str, Any]:
        """One move; what is wrong with it is told in its place, so that the others go on."""
        game = move.get("game") if isinstance(move, dict) else None
        name = game if isinstance(game, str) else None
        try:
            seq, actions = _read_move(move)
            match = self._host.mine(self._key, game)
            views = await self._host.move(match, seq, actions, True, self)
            return {"game": name, "seq": seq + 1, **self._turn(views)}
        except ApiError as refusal:
            self._host.base.refusals.note(self._key.name, refusal.code, refusal.message)
            return {"game": name, **refusal.record()}

    def _opening(self, match: Match) -> dict[str, Any]:
        """A game that is new to this connection, with all that its seats have seen."""
        setting = match.stage.setting
        return {
            "game": match.id,
            "setting": setting.name,
            "name": setting.game,
            "options": dict(setting.options),
            "seats": list(match.table.candidate),
            "encoding": match.table.encoding,
            "seq": match.seq,
            **self._turn(match.history),
        }

    def _turn(self, views: Sequence[CandidateView]) -> dict[str, Any]:
        last = views[-1]
        return {
            "steps": [pack_view(view, self._arrays) for view in views],
            "done": last.done,
            "score": last.score,
        }


def _read_move(move: Any) -> tuple[int, dict[int, int]]:
    if not isinstance(move, dict) or not _is_int(move.get("seq")) or not isinstance(move.get("actions"), dict):
        raise ApiError("bad_request", "a move has `game`, `seq` (a whole number) and `actions` (seat: action)")
    actions: dict[int, int] = {}
    for seat, action in move["actions"].items():
        if not (seat.isascii() and seat.isdigit() and len(seat) < 4) or not _is_int(action):
            raise ApiError("bad_request", "actions: seats and actions are whole numbers")
        actions[int(seat)] = action
    return move["seq"], actions


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def add_play(app: FastAPI, host: ChallengeState, connections: Connections) -> None:
    """The socket `/api/v1/play?encoding=NAME&arrays=base64|lists`."""
    base = host.base

    @app.websocket("/api/v1/play")
    async def play(socket: WebSocket, encoding: str | None = None, arrays: str = "base64") -> None:
        async def talk(frames: Frames, key: Key) -> None:
            if arrays not in ("base64", "lists"):
                raise ApiError("bad_request", "arrays: base64 or lists")
            own = None
            if key.kind == repository.EVALUATION:
                own = await base.database.aread(repository.submission_of, key)
            for stage in host.stages.values():
                host.encoding(stage, encoding)
            playing = PlayConnection(host, key, own, encoding, arrays)  # type: ignore[arg-type]
            await converse(host, frames, key, playing, host.release)

        await serve_socket(host, socket, connections, (repository.EVALUATION, repository.TEST), talk)


async def converse(
    host: ChallengeState, frames: Frames, key: Key, connection: Any, release: Callable[[Any], None]
) -> None:
    """Frames in, answers out, until the other side leaves or goes too far; what it held is then released."""
    await frames.send({"type": "welcome", "key": key.name, "challenge": host.challenge.name})
    refusals = 0
    try:
        while refusals <= MOST_REFUSALS:
            frame = await frames.receive()
            try:
                reply = await connection.answer(frame)
            except ApiError as refusal:
                host.base.refusals.note(key.name, refusal.code, refusal.message)
                reply = {"type": "error", **refusal.record()}
            refusals += reply.get("type") == "error" or any("error" in game for game in reply.get("games", ()))
            await frames.send(reply)
        raise ApiError("not_allowed", "too many refused requests on this connection")
    finally:
        release(connection)


async def serve_socket(
    host: ChallengeState,
    socket: WebSocket,
    connections: Connections,
    kinds: tuple[str, ...],
    talk: Any,
    key_text: str | None = None,
    error_name: str | None = None,
) -> None:
    """Accept a socket, check the key and talk; a refusal is sent, noted, and closes the socket."""
    base = host.base
    await socket.accept()
    frames = Frames(socket, base.clock)
    key: Key | None = None
    counted = False
    try:
        check_origin(socket)
        key = await base.key(socket, kinds, key_text)
        connections.enter(key)
        counted = True
        await talk(frames, key)
        await frames.close()
    except ApiError as refusal:
        base.refused(socket, refusal, key.name if key else None)
        message = {"type": "error", **refusal.record()} if error_name is None else {error_name: refusal.message}
        try:
            await frames.send(message)
            await frames.close(_CLOSING.get(refusal.code, REFUSED), refusal.code)
        except ClientDisconnected:
            pass
    except (ClientDisconnected, WebSocketDisconnect):
        pass
    finally:
        if counted and key is not None:
            connections.leave(key)
