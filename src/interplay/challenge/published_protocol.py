"""The published challenge's wire format, so that agents written for its client play here by a change of base URL.

    GET /evaluation-info/{key}
    WebSocket /play-next?submission_key=KEY
    WebSocket /play-random-agent?num_players=N&candidate_positions=I&candidate_positions=J&test_submission_key=KEY

One socket plays one game. The first frame is a handshake; then {info, agent_i: {obs, legal_moves}}; the client sends
{agent_i: action} for every seat it holds at every step, the no-op off turn; answers carry agent_i, score and done.
What goes wrong is {error_details}. Its faults are its own: the key is in the address, and there are no move numbers;
a lost connection is resumed by the next `play-next`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from fastapi import FastAPI, Query, Request, WebSocket

from interplay.challenge import repository
from interplay.challenge.app_state import ChallengeState, Match
from interplay.challenge.candidate_table import CandidateView
from interplay.challenge.play_socket import Connections, serve_socket
from interplay.challenge.schema import games
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key
from interplay.server.database import Tx
from interplay.server.sockets import Frames

ERROR = "error_details"


def add_published(app: FastAPI, host: ChallengeState, connections: Connections, refusals: dict[int | str, Any]) -> None:
    """Add the routes of the published challenge to an application."""
    base = host.base

    @app.get("/evaluation-info/{key}", responses=refusals, tags=["published protocol"])
    async def evaluation_info(request: Request, key: str) -> dict[str, Any]:
        """All games of an evaluation: their state, score, and the candidate's seats."""
        evaluation_key = await base.key(request, (repository.EVALUATION,), key)
        own = await base.database.aread(repository.submission_of, evaluation_key)
        return await base.database.aread(info, own)

    @app.websocket("/play-next")
    async def play_next(socket: WebSocket, submission_key: str = "") -> None:
        async def talk(frames: Frames, key: Key) -> None:
            await frames.send({"status": "connected"})
            own = await base.database.aread(repository.submission_of, key)
            holder = object()
            try:
                dealt = await host.deal(key, own, 1, host.challenge.published_protocol, holder, skip=False)
                if not dealt:
                    standing = await base.database.aread(repository.standing, own)
                    busy = standing[repository.ACTIVE] and "all games that this key may have at once are in play"
                    raise ApiError("not_allowed", busy or "all games of this evaluation are played")
                await _play(host, frames, dealt[0], holder)
            finally:
                host.release(holder)

        await serve_socket(host, socket, connections, (repository.EVALUATION,), talk, submission_key, ERROR)

    @app.websocket("/play-random-agent")
    async def play_random(
        socket: WebSocket,
        num_players: str = "",
        candidate_positions: list[str] = Query(default=[]),  # noqa: B008 - FastAPI's way
        test_submission_key: str = "",
    ) -> None:
        async def talk(frames: Frames, key: Key) -> None:
            await frames.send({"status": "connected"})
            seats = _whole(candidate_positions)
            players = _whole([num_players])[0]
            setting = next((n for n, s in host.stages.items() if s.game.num_seats == players), None)
            if setting is None:
                raise ApiError("bad_request", "num_players: no game of this challenge has so many seats")
            holder = object()
            try:
                wanted = host.challenge.published_protocol
                match = await host.test(key, setting, seats, wanted, holder, skip=False)
                await _play(host, frames, match, holder)
            finally:
                host.release(holder)

        await serve_socket(host, socket, connections, (repository.TEST,), talk, test_submission_key, ERROR)


def _whole(texts: list[str]) -> list[int]:
    """Whole numbers of a query, which are read here so that what is wrong is told in the protocol's own words."""
    if not all(text.isascii() and text.isdigit() and len(text) < 4 for text in texts):
        raise ApiError("bad_request", "num_players and candidate_positions are whole numbers")
    return [int(text) for text in texts]


async def _play(host: ChallengeState, frames: Frames, match: Match, holder: Any) -> None:
    """One game, step by step."""
    seats = match.table.candidate
    first = {
        "num_players": len(match.table.seats),
        "candidate_controlling": [f"agent_{seat}" for seat in seats],
        "is_debug": match.claim is None,
        "game_id": match.claim.id if match.claim else 0,
    }
    await frames.send({"info": first, **_seen(match.view)})
    while not match.view.done:
        actions = _actions(await frames.receive(), seats)
        view = (await host.move(match, match.seq, actions, False, holder))[-1]
        await frames.send({**_seen(view), "score": view.score, "done": view.done})


def _actions(frame: dict[str, Any], seats: tuple[int, ...]) -> dict[int, int]:
    wanted = {f"agent_{seat}": seat for seat in seats}
    for name, action in frame.items():
        if name not in wanted:
            raise ApiError("wrong_seat", f"you hold {', '.join(wanted)}")
        if not isinstance(action, int) or isinstance(action, bool):
            raise ApiError("bad_request", f"the action of {name} is a whole number")
    missing = [name for name in wanted if name not in frame]
    if missing:
        raise ApiError("bad_request", f"give an action for {', '.join(missing)}; off turn it is the no-op")
    return {wanted[name]: action for name, action in frame.items()}


def _seen(view: CandidateView) -> dict[str, Any]:
    return {
        f"agent_{seat}": {"obs": np.asarray(seen), "legal_moves": view.legal[seat].astype(np.int32)}
        for seat, seen in view.observations.items()
    }


def info(tx: Tx, own: repository.Submission) -> dict[str, Any]:
    """The state of every game, in the published form."""
    query = sa.select(games.c.status, games.c.score, games.c.seats).where(games.c.submission == own.id)
    rows = [
        {
            "status": row.status,
            "score": None if row.score is None else round(row.score),
            "num_players": len(row.seats),
            "candidate_controlling": [f"agent_{seat}" for seat, who in enumerate(row.seats) if who is None],
        }
        for row in tx.execute(query.order_by(games.c.number))
    ]
    active = next((row for row in rows if row["status"] == repository.ACTIVE), None)
    done = all(row["status"] == repository.DONE for row in rows)
    return {"current_env": active, "all_envs": rows, "human_ai_eval_done": done}
