"""Everything that a running study holds in memory: games by person, engines by setting."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from interplay.rollout.live_compiled import SIZES
from interplay.server.api_error import ApiError
from interplay.server.app import Base
from interplay.server.database import DatabaseUnavailable
from interplay.server.sockets import REFUSED, TRY_LATER, ClientDisconnected, Frames
from interplay.study.db import game_rows, participants, withdrawals
from interplay.study.db.game_rows import GameRecord
from interplay.study.db.participants import Person
from interplay.study.live.browser_views import browser_view
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.kitchen_view import ENGLISH
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.live_game import LiveGame
from interplay.study.live.staging import faster, figure, make_engine
from interplay.study.live.waiting_room import WaitingRooms
from interplay.study.protocol.model import Protocol

T = TypeVar("T")
LOG = logging.getLogger("interplay.study")
OUTBOX = 200  # messages that a slow browser may be behind
LARGEST_FRAME = 4096
FRAMES_A_SECOND = 60
PAUSED = {"type": "pause", "reason": "server", "grace_s": 0}


class StudyState:
    """One study."""

    def __init__(self, protocol: Protocol, base: Base, *, sizes: Sequence[int] = SIZES, speed: float = 1.0):
        self.protocol, self.base = protocol, base
        self.speed = speed  # above 1 for simulated people only
        self.engines = {name: make_engine(protocol, name, sizes) for name in protocol.games}
        self.figures = {name: figure(engine.game) for name, engine in self.engines.items()}
        self.rooms = WaitingRooms(protocol, base, speed)
        self.games_by_person: dict[int, LiveGame] = {}  # by person, of those who have come to their game
        self.late_s: deque[float] = deque(maxlen=100_000)  # of the last ticks of games that are over
        self._games_by_id: dict[int, LiveGame] = {}  # by game
        self._tasks: dict[int, asyncio.Task] = {}  # by game
        self._locks: dict[int, asyncio.Lock] = {}  # by person
        self._speech = {one: Speech(one, protocol.words) for one in protocol.languages}
        self._stopped: set[int] = set()  # people who have stopped taking part since the server was started
        self._opening = asyncio.Lock()  # of games of several people, which are opened once
        self._event_log: GameEventLog | None = None
        self._sweeper: asyncio.Task | None = None

    @property
    def event_log(self) -> GameEventLog:
        assert self._event_log is not None, "the study is not open"
        return self._event_log

    async def open(self) -> None:
        await self.base.database.awrite(participants.open_study, self.base.clock, self.protocol)
        self._event_log = GameEventLog(self.base.database, self.base.clock)
        self._event_log.open()
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        for task in [self._sweeper, *self._tasks.values()]:
            if task is not None:
                task.cancel()
        await self.event_log.close()
        for engine in self.engines.values():
            engine.close()

    async def _sweep(self) -> None:
        """Give the places of those who stay away to others."""
        opened = self.base.clock.now()
        while True:
            await asyncio.sleep(30)
            try:
                for number, live in list(self.games_by_person.items()):
                    if live.slots[number].here:
                        await self.base.database.awrite(game_rows.touch, self.base.clock, number)
                # After a restart everyone has the full time to come back, however long the server was down.
                if self.base.clock.now() - opened > timedelta(minutes=self.protocol.away_min):
                    await self.base.database.awrite(participants.drop_away, self.base.clock, self.protocol)
            except DatabaseUnavailable:
                LOG.warning("the database is away")
            except Exception:
                LOG.exception("looking after those who are away failed")

    # Games.

    async def play(self, frames: Frames, who: Person) -> None:
        """Serve a person's socket until it ends or the game does."""
        outbox: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(OUTBOX)

        def send(message: dict[str, Any]) -> None:
            try:
                outbox.put_nowait(message)
                if message["type"] == "elsewhere":
                    outbox.put_nowait(None)  # whoever opens one line after the other holds the last one
            except asyncio.QueueFull:  # the reader is far behind: it may come back and be told everything anew
                live.leave(who.id, send, "slow")
                sender.cancel()
                closing.append(asyncio.create_task(frames.close(TRY_LATER, "slow")))

        closing: list[asyncio.Task[None]] = []
        seen, page = _hello(await frames.receive(timeout_s=20))
        ended = None
        if page:
            ended = await self._patiently(frames, lambda: self.base.database.aread(game_rows.ended, who.id, page))
        if ended is not None:  # the end got lost on its way, and the browser asks for it again
            await frames.send(_end(ended.score, ended.left))
            await frames.close()
            return
        live = await self._patiently(frames, lambda: self._live(who.id, page))
        due = live.slots[who.id].seated.page
        alias = who.aliases(self.protocol)[due.value(due.item.partner)].record(who.language)
        sender = asyncio.create_task(_send_all(frames, outbox))
        told = {name: alias[name] for name in ("label", "colour", "shape")}
        live.join(who.id, send, told, seen, self._speech.get(who.language, ENGLISH))
        ender = asyncio.create_task(self._tell_end(live, who.id, outbox))
        try:
            while not sender.done():
                message = await frames.receive()
                try:
                    live.told(who.id, message)
                except ApiError as refusal:
                    send({"type": "error", "message": refusal.message})
        except ClientDisconnected:
            pass
        finally:
            ender.cancel()
            sender.cancel()
            live.leave(who.id, send, "gone")
            asyncio.get_running_loop().call_later(self.protocol.grace_s, self.release, live)

    async def _patiently(self, frames: Frames, ask: Callable[[], Awaitable[T]]) -> T:
        """What is asked for; while the database is away the browser is told to wait."""
        while True:
            try:
                return await ask()
            except DatabaseUnavailable:
                await frames.send(PAUSED)
                await asyncio.sleep(1)

    async def _tell_end(self, live: LiveGame, number: int, outbox: asyncio.Queue[dict[str, Any] | None]) -> None:
        """The end is told when the game is in the participants."""
        await live.over.wait()
        if live.failed:
            await outbox.put({"type": "error", "message": "the server had to stop this game: load the page again"})
        else:
            await outbox.put(_end(live.stored_score, live.abandoned and not live.slots[number].stopped))
        await outbox.put(None)

    async def _live(self, number: int, page: str | None) -> LiveGame:
        """The game that a person is in, or the one that is due: of the page that the browser shows, and no other."""
        async with self._locks.setdefault(number, asyncio.Lock()):
            held = self.games_by_person.get(number)
            if held is not None and not held.over.is_set():
                if page not in (None, held.slots[number].seated.page.id):
                    raise ApiError("conflict", "this page is not the one that is open: load it again")
                return held
            seats = {name: engine.game.num_seats for name, engine in self.engines.items()}
            record = await self.base.database.awrite(
                game_rows.begin_or_resume, self.base.clock, self.protocol, number, seats, page
            )
            self.games_by_person[number] = found = await self._opened(record)
            return found

    async def _opened(self, record: GameRecord) -> LiveGame:
        """The game in memory, brought there if nobody has yet."""
        if len(record.people) == 1:
            return await self._open(record)
        async with self._opening:
            held = self._games_by_id.get(record.id)
            return held if held is not None and not held.over.is_set() else await self._open(record)

    async def _open(self, record: GameRecord) -> LiveGame:
        engine = self.engines[record.setting]
        setting = faster(self.protocol.games[record.setting], self.speed)
        grace_s = self.protocol.grace_s / self.speed
        live = LiveGame(record, setting, engine, browser_view(engine.game), self.event_log, self.base.clock, grace_s)
        await live.open()
        for number in self._stopped & live.slots.keys():  # while it was opened
            live.stop(number)
        self._games_by_id[record.id] = live
        self._tasks[record.id] = asyncio.create_task(self._run(live))
        return live

    async def _run(self, live: LiveGame) -> None:
        try:
            await live.run()
            episode, record, gone = live.episode(), live.record, live.gone()
            status = game_rows.ABANDONED if live.abandoned else game_rows.DONE
            while True:
                try:
                    live.stored_score = await self.base.database.awrite(
                        game_rows.finish, self.base.clock, self.protocol, record.id, episode, gone, status
                    )
                    break
                except (
                    DatabaseUnavailable
                ):  # what was played is in the event_log, and the end is told only when it is stored
                    await asyncio.sleep(0.5)
            self.late_s.extend(live.late_s)
            live.over.set()
        except asyncio.CancelledError:
            raise
        except Exception:
            LOG.exception("game %d failed; it can be taken up again", live.record.id)
            live.failed = True
            live.over.set()
        finally:
            self._forget(live)

    async def withdraw(self, number: int) -> None:
        """Someone stops taking part: on disk when this returns. They are in no waiting room any more, and their game
        ends; those who play along are told."""
        async with self._locks.setdefault(number, asyncio.Lock()):
            live = self._game_of(number)
            t = live.table.t if live is not None and live.slots[number].came else None
            write = self.base.database.awrite
            if not await write(withdrawals.withdraw, self.base.clock, self.protocol, number, t):
                return  # it was over for them already, in another way
            self._stopped.add(number)
            self.rooms.forget(number)
            live = self._game_of(number)
            if live is not None:
                live.stop(number)

    async def let_go(self, number: int, patience_s: float = 30.0) -> None:
        """Wait until the game of someone who has stopped is stored, though not for ever."""
        live = self._game_of(number)
        if live is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(live.over.wait(), patience_s)

    def _game_of(self, number: int) -> LiveGame | None:
        """The game in memory in which someone sits, whether they have come to it or not."""
        games = (live for live in self._games_by_id.values() if number in live.slots and not live.over.is_set())
        return next(games, None)

    def _forget(self, live: LiveGame) -> None:
        for number in live.slots:
            if self.games_by_person.get(number) is live:
                del self.games_by_person[number]
        if self._games_by_id.get(live.record.id) is live:
            del self._games_by_id[live.record.id]
            self._tasks.pop(live.record.id, None)
        live.table.close()

    def release(self, live: LiveGame) -> None:
        """A game whose people stayed away is no longer held in memory. What was played is in the participants."""
        if not live.present and self._games_by_id.get(live.record.id) is live:
            self._tasks[live.record.id].cancel()
            self._forget(live)


def _end(score: float | None, left: bool) -> dict[str, Any]:
    """The end of a game, as browsers are told; `left`: because someone else stopped taking part."""
    return {"type": "end", "score": score, "next": True, **({"reason": "stopped"} if left else {})}


def _hello(frame: dict[str, Any]) -> tuple[int, str | None]:
    """What a browser says when it comes: the last tick that it has seen, and the page that it shows."""
    seen, page = frame.get("seen", -1), frame.get("page")
    if frame.get("type") != "hello" or not isinstance(seen, int) or not isinstance(page, str | None):
        raise ApiError("bad_frame", "the first frame is a hello, with the last tick seen and the page shown")
    return seen, page


async def _send_all(frames: Frames, outbox: asyncio.Queue[dict[str, Any] | None]) -> None:
    while (message := await outbox.get()) is not None:
        await frames.send(message)
    await frames.close()


async def hold_off(frames: Frames) -> None:
    """The database is away: the browser waits and comes again."""
    with contextlib.suppress(ClientDisconnected):
        await frames.send(PAUSED)
        await frames.close(TRY_LATER, "unavailable")


async def refuse(frames: Frames, refusal: ApiError) -> None:
    """Tell why, and close."""
    try:
        await frames.send({"type": "error", "message": refusal.message})
    except ClientDisconnected:
        return
    await frames.close(TRY_LATER if refusal.code == "too_many" else REFUSED, refusal.code)
