"""Part 2, action prediction: recorded games shown step by step, distributions answered, scored by cross-entropy.

Of each game one seat is shown, the same for everyone: whoever saw two seats of a game would know its cards, and its
later moves. A step is shown only when the answer to the one before is on disk, so that no answer can be given twice.
"""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import sqlalchemy as sa
from fastapi import FastAPI, WebSocket

from interplay.challenge import repository
from interplay.challenge.app_state import ChallengeState, PreparedSetting
from interplay.challenge.array_encoding import Arrays, pack_tree
from interplay.challenge.play_socket import MOST_AT_ONCE, Connections, converse, serve_socket
from interplay.challenge.repository import Submission
from interplay.challenge.schema import predictions, submissions
from interplay.challenge.spec import PredictionSpec
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.action_prediction import top
from interplay.rollout.engine import run
from interplay.rollout.episode import Episode
from interplay.rollout.teams import Team
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.sockets import Frames
from interplay.traces import TraceSet, game_of, replay


@dataclass(frozen=True)
class PredictionHistory:
    """A recorded game from one seat."""

    seat: int
    observations: Sequence[Any]  # by step
    legal: np.ndarray  # [step, action]
    turn: np.ndarray  # [step]
    actions: np.ndarray  # [step] what the seat did

    @functools.cached_property
    def decisions(self) -> list[int]:
        """The steps at which the seat was to move."""
        return [int(t) for t in np.flatnonzero(self.turn)]


class RecordedGames:
    """The held-out games of a setting."""

    def __init__(self, spec: PredictionSpec, stage: PreparedSetting):
        self.spec, self.stage = spec, stage
        self.episodes = _episodes(spec, stage)
        self.game = stage.game
        self._histories = functools.lru_cache(maxsize=256)(self._replay_history)
        self.decisions = [len(self.history(n, "nothing").decisions) for n in range(len(self.episodes))]

    def seat(self, number: int) -> int:
        """Return the seat from which a game is shown."""
        return number % self.game.num_seats

    def history(self, number: int, encoding: str) -> PredictionHistory:
        """Return a game as its seat saw it.

        Args:
            number: The game.
            encoding: The encoding of the observations.
        """
        return self._histories(number, encoding)

    def _replay_history(self, number: int, encoding: str) -> PredictionHistory:
        seat, episode = self.seat(number), self.episodes[number]
        game = game_of(episode)  # by whose options it was played, which may not be the setting's
        replayed = replay(game, episode)
        states = [replayed.state(t) for t in range(episode.length)]
        seen = [
            jax.tree_util.tree_map(lambda x: np.asarray(x[seat]), game.observe(state, encoding)) for state in states
        ]
        legal = np.array([np.asarray(game.legal(state))[seat] for state in states])
        turn = np.array([bool(np.asarray(game.to_move(state))[seat]) for state in states])
        return PredictionHistory(seat, seen, legal, turn, np.asarray(episode.actions)[:, seat])


def _episodes(spec: PredictionSpec, stage: PreparedSetting) -> list[Episode]:
    if spec.traces is None:
        line_up = Team.of(stage.game, spec.agents)
        return list(run(stage.game, [line_up], episodes=spec.games, seed=spec.seed))
    traces = TraceSet.open(spec.traces)
    fitting = [e for e in traces if e.game_id == stage.game.id and _reads_alike(game_of(e), stage.game)]
    if len(fitting) < spec.games:
        raise InterplayError(
            f"prediction for {spec.setting!r}: {spec.traces} holds {len(fitting)} games of {stage.game.id} with the "
            f"setting's actions and observations, but {spec.games} are to be predicted"
        )
    order = np.random.default_rng(spec.seed).permutation(len(fitting))[: spec.games]
    return [fitting[i] for i in order]


def _reads_alike(game: Game, other: Game) -> bool:
    """Whether two games have the same seats, actions and encodings, though perhaps other rules."""
    shapes = [{name: e.shape for name, e in one.encodings.items()} for one in (game, other)]
    seats = (game.num_seats, game.action_names) == (other.num_seats, other.action_names)
    return seats and shapes[0] == shapes[1]


@dataclass
class Forecast:
    """One candidate at one game of the library."""

    library: RecordedGames
    number: int
    position: int  # decisions answered
    holder: Any = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last: tuple[int, list[Any]] | None = None  # the last answer, to be given again

    @property
    def name(self) -> str:
        """The name of the game on the wire."""
        return f"{self.library.spec.setting}-{self.number}"


class Forecasts:
    """All predictions that are going on."""

    def __init__(self, host: ChallengeState):
        self.host = host
        self.libraries = {p.setting: RecordedGames(p, host.stages[p.setting]) for p in host.challenge.prediction}
        self.total = sum(sum(library.decisions) for library in self.libraries.values())
        self._live: dict[int, dict[str, Forecast]] = {}  # by submission, by name

    async def of(self, own: Submission) -> dict[str, Forecast]:
        """Return the predictions of a submission by the names of their games, loaded on first use."""
        if own.id not in self._live:
            answered = await self.host.base.database.aread(positions, own)
            self._live.setdefault(
                own.id,
                {
                    f.name: f
                    for setting, library in self.libraries.items()
                    for n in range(len(library.episodes))
                    for f in [Forecast(library, n, answered.get((setting, n), 0))]
                },
            )
        return self._live[own.id]

    def release(self, holder: Any) -> None:
        """Free all predictions that a connection holds."""
        for forecasts in self._live.values():
            for forecast in forecasts.values():
                if forecast.holder is holder:
                    forecast.holder = None


class PredictionConnection:
    """One connection of one key."""

    def __init__(self, forecasts: Forecasts, own: Submission, encoding: str | None, arrays: Arrays):
        self._all, self._own, self._encoding = forecasts, own, encoding
        self._arrays: Arrays = arrays

    async def answer(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Answer one frame of the client.

        Raises:
            ApiError: The frame is not understood or not allowed.
        """
        if frame.get("type") == "next":
            return await self._next(frame.get("count", 1))
        if frame.get("type") == "predict":
            answers = frame.get("answers")
            if not isinstance(answers, list) or not 1 <= len(answers) <= MOST_AT_ONCE:
                raise ApiError("bad_request", f"answers: a list of 1 to {MOST_AT_ONCE} answers")
            return {"type": "turns", "games": await asyncio.gather(*(self._one(a) for a in answers))}
        raise ApiError("bad_request", "type: one of next, predict")

    async def _next(self, count: Any) -> dict[str, Any]:
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_AT_ONCE:
            raise ApiError("bad_request", f"count: a whole number from 1 to {MOST_AT_ONCE}")
        forecasts = await self._all.of(self._own)
        free = [
            f for f in forecasts.values() if f.holder is None and f.position < f.library.decisions[f.number]
        ][:count]  # fmt: skip
        for forecast in free:
            forecast.holder = self
        games = [await asyncio.to_thread(self._opening, f) for f in free]
        left = sum(f.library.decisions[f.number] - f.position for f in forecasts.values())
        return {"type": "histories", "games": games, "decisions_left": left}

    def _opening(self, forecast: Forecast) -> dict[str, Any]:
        library = forecast.library
        setting = library.stage.setting
        return {
            "game": forecast.name,
            "setting": setting.name,
            "name": setting.game,
            "options": dict(setting.options),
            "seat": library.seat(forecast.number),
            "encoding": self._view(forecast),
            **self._turn(forecast, 0, forecast.position),
        }

    def _view(self, forecast: Forecast) -> str:
        return self._all.host.encoding(forecast.library.stage, self._encoding)

    def _turn(self, forecast: Forecast, since: int, position: int) -> dict[str, Any]:
        """The steps after decision `since`, up to the one at `position`, whose action is not told."""
        history = forecast.library.history(forecast.number, self._view(forecast))
        decisions = history.decisions
        done = position >= len(decisions)
        first = 0 if since == 0 else decisions[since - 1] + 1
        last = len(history.actions) - 1 if done else decisions[position]
        steps = []
        for t in range(first, last + 1):
            step = {
                "t": t,
                "observation": pack_tree(history.observations[t], self._arrays),
                "legal": history.legal[t].astype(int).tolist(),
                "turn": bool(history.turn[t]),
            }
            if t < last or done:
                step["action"] = int(history.actions[t])
            steps.append(step)
        before = int(history.actions[decisions[since - 1]]) if since else None
        return {"seq": position, "before": before, "steps": steps, "done": done}

    async def _one(self, answer: Any) -> dict[str, Any]:
        name = answer.get("game") if isinstance(answer, dict) else None
        name = name if isinstance(name, str) else None
        try:
            forecast = (await self._all.of(self._own)).get(name or "")
            if forecast is None:
                raise ApiError("not_found", "there is no such game to predict")
            async with forecast.lock:
                return {"game": name, **await self._take(forecast, answer)}
        except ApiError as refusal:
            actor = f"submission:{self._own.public}"
            self._all.host.base.refusals.note(actor, refusal.code, refusal.message)
            return {"game": name, **refusal.record()}

    async def _take(self, forecast: Forecast, answer: dict[str, Any]) -> dict[str, Any]:
        if forecast.holder is not self:
            raise ApiError("not_yours", "another connection predicts this game, or none does: ask for `next`")
        seq, odds = answer.get("seq"), answer.get("probabilities")
        if not isinstance(seq, int) or isinstance(seq, bool) or not isinstance(odds, list):
            raise ApiError("bad_request", "an answer has `game`, `seq` (a whole number) and `probabilities` (a list)")
        if forecast.last is not None and seq == forecast.position - 1:
            if forecast.last != (seq, odds):
                raise ApiError("conflict", f"decision {seq} was answered already, and otherwise")
        else:
            await self._store_answer(forecast, seq, odds)
        return await asyncio.to_thread(self._turn, forecast, forecast.position, forecast.position)

    async def _store_answer(self, forecast: Forecast, seq: int, odds: list[Any]) -> None:
        library, base = forecast.library, self._all.host.base
        history = library.history(forecast.number, self._view(forecast))
        if forecast.position >= len(history.decisions):
            raise ApiError("gone", "all decisions of this game are answered")
        if seq != forecast.position:
            raise ApiError("conflict", f"decision {seq} is out of order: this game waits for {forecast.position}")
        t = history.decisions[seq]
        scored = score(odds, history.legal[t], int(history.actions[t]), library.spec.floor)
        place = (library.spec.setting, forecast.number, seq)
        done = await base.database.awrite(store_answer, base.clock, self._own, *place, scored, self._all.total)
        forecast.position, forecast.last = seq + 1, (seq, odds)
        if done:
            self._all.host.played(self._own)


def score(answer: Any, legal: np.ndarray, action: int, floor: float) -> dict[str, Any]:
    """Score a distribution against the action that was taken. Probability of illegal actions is lost.

    Args:
        answer: The distribution as the client sent it.
        legal: Which actions were legal.
        action: The action that was taken.
        floor: The least probability that counts.

    Raises:
        ApiError: It is no distribution over the actions.
    """
    size = len(legal)
    plain = isinstance(answer, list) and all(isinstance(p, int | float) and not isinstance(p, bool) for p in answer)
    if not plain or len(answer) != size:
        raise ApiError("bad_request", f"probabilities: a list of {size} numbers, one for each action")
    odds = np.array(answer, np.float64)
    if not np.isfinite(odds).all() or (odds < 0).any() or abs(odds.sum() - 1) > 1e-3:
        raise ApiError("bad_request", "probabilities are not negative and add up to 1")
    own = odds[action] / odds.sum()
    choices = np.where(legal, odds, -1.0)
    above, level = int((choices > odds[action]).sum()), int((choices == odds[action]).sum())
    hit = float(top(1, np.array(above), np.array(max(level, 1))))
    return {"loss": -math.log(max(own, floor)), "ruled_out": bool(own < floor), "hit": hit}


def positions(tx: Tx, own: Submission) -> dict[tuple[str, int], int]:
    """How many decisions of each game are answered."""
    query = (
        sa.select(predictions.c.setting, predictions.c.game, sa.func.count())
        .where(predictions.c.submission == own.id)
        .group_by(predictions.c.setting, predictions.c.game)
    )
    return {(setting, game): count for setting, game, count in tx.execute(query)}


def store_answer(
    tx: Tx, clock: Clock, own: Submission, setting: str, game: int, seq: int, scored: Mapping[str, Any], total: int
) -> bool:
    """Book an answer; whether it was the last one. The same decision cannot be booked twice."""
    place = {"submission": own.id, "setting": setting, "game": game, "position": seq}
    tx.execute(sa.insert(predictions).values(**place, **scored))
    count = sa.select(sa.func.count()).select_from(predictions).where(predictions.c.submission == own.id)
    if tx.execute(count).scalar_one() < total:
        return False
    tx.execute(
        sa.update(submissions)
        .where(submissions.c.id == own.id, submissions.c.status == repository.PLAYED)
        .values(status=repository.FINISHED)
    )
    repository.note(tx, clock, f"submission:{own.public}", "predicted")
    return True


def add_predict(app: FastAPI, host: ChallengeState, forecasts: Forecasts, connections: Connections) -> None:
    """The socket `/api/v1/predict?encoding=NAME&arrays=base64|lists`."""
    base = host.base

    @app.websocket("/api/v1/predict")
    async def predict(socket: WebSocket, encoding: str | None = None, arrays: str = "base64") -> None:
        async def talk(frames: Frames, key: Key) -> None:
            if arrays not in ("base64", "lists"):
                raise ApiError("bad_request", "arrays: base64 or lists")
            own = await base.database.aread(repository.submission_of, key)
            await base.database.aread(may_predict, base.clock, host, own)
            for library in forecasts.libraries.values():
                host.encoding(library.stage, encoding)
            predicting = PredictionConnection(forecasts, own, encoding, arrays)  # type: ignore[arg-type]
            await converse(host, frames, key, predicting, forecasts.release)

        await serve_socket(host, socket, connections, (repository.EVALUATION,), talk)


def may_predict(tx: Tx, clock: Clock, host: ChallengeState, own: Submission) -> None:
    """Check that a submission may predict now.

    Raises:
        ApiError: The challenge has no prediction, games are left to play, or the phase is not open.
    """
    if not host.challenge.prediction:
        raise ApiError("not_found", "this challenge has no action prediction")
    if own.status == repository.PLAYING:
        raise ApiError("not_allowed", "action prediction opens when all games of the evaluation are played")
    if own.status == repository.VOID:
        raise ApiError("not_allowed", "the host has declared this evaluation void")
    phase = host.challenge.phase(own.phase)
    if phase is None or not phase.is_open(clock.now()):
        raise ApiError("not_allowed", f"the phase {own.phase!r} of this evaluation is not open now")
