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
from interplay.study.db.game_rows import Dealt
from interplay.study.db.participants import Person
from interplay.study.live.browser_views import browser_view
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.kitchen_view import ENGLISH
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.live_game import Live
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
        self.lives: dict[int, Live] = {}  # by person, of those who have come to their game
        self.late_s: deque[float] = deque(maxlen=100_000)  # of the last ticks of games that are over
        self._held: dict[int, Live] = {}  # by game
        self._tasks: dict[int, asyncio.Task] = {}  # by game
        self._locks: dict[int, asyncio.Lock] = {}  # by person
        self._speech = {one: Speech(one, protocol.words) for one in protocol.languages}
        self._stopped: set[int] = set()  # people who have stopped taking part since the server was started
        self._opening = asyncio.Lock()  # of games of several people, which are opened once
        self._journal: GameEventLog | None = None
        self._sweeper: asyncio.Task | None = None

    @property
    def journal(self) -> GameEventLog:
        assert self._journal is not None, "the study is not open"
        return self._journal

    async def open(self) -> None:
        await self.base.database.awrite(participants.open_study, self.base.clock, self.protocol)
        self._journal = GameEventLog(self.base.database, self.base.clock)
        self._journal.open()
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        for task in [self._sweeper, *self._tasks.values()]:
            if task is not None:
                task.cancel()
        await self.journal.close()
        for engine in self.engines.values():
            engine.close()

    async def _sweep(self) -> None:
        """Give the places of those who stay away to others."""
        opened = self.base.clock.now()
        while True:
            await asyncio.sleep(30)
            try:
                for number, live in list(self.lives.items()):
                    if live.chairs[number].here:
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
        due = live.chairs[who.id].sitter.page
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
            asyncio.get_running_loop().call_later(self.protocol.grace_s, self._put_away, live)

    async def _patiently(self, frames: Frames, ask: Callable[[], Awaitable[T]]) -> T:
        """What is asked for; while the database is away the browser is told to wait."""
        while True:
            try:
                return await ask()
            except DatabaseUnavailable:
                await frames.send(PAUSED)
                await asyncio.sleep(1)

    async def _tell_end(self, live: Live, number: int, outbox: asyncio.Queue[dict[str, Any] | None]) -> None:
        """The end is told when the game is in the participants."""
        await live.over.wait()
        if live.failed:
            await outbox.put({"type": "error", "message": "the server had to stop this game: load the page again"})
        else:
            await outbox.put(_end(live.stored_score, live.abandoned and not live.chairs[number].stopped))
        await outbox.put(None)

    async def _live(self, number: int, page: str | None) -> Live:
        """The game that a person is in, or the one that is due: of the page that the browser shows, and no other."""
        async with self._locks.setdefault(number, asyncio.Lock()):
            held = self.lives.get(number)
            if held is not None and not held.over.is_set():
                if page not in (None, held.chairs[number].sitter.page.id):
                    raise ApiError("conflict", "this page is not the one that is open: load it again")
                return held
            seats = {name: engine.game.num_seats for name, engine in self.engines.items()}
            dealt = await self.base.database.awrite(game_rows.deal, self.base.clock, self.protocol, number, seats, page)
            self.lives[number] = found = await self._opened(dealt)
            return found

    async def _opened(self, dealt: Dealt) -> Live:
        """The game in memory, brought there if nobody has yet."""
        if len(dealt.sitters) == 1:
            return await self._open(dealt)
        async with self._opening:
            held = self._held.get(dealt.id)
            return held if held is not None and not held.over.is_set() else await self._open(dealt)

    async def _open(self, dealt: Dealt) -> Live:
        engine = self.engines[dealt.setting]
        setting = faster(self.protocol.games[dealt.setting], self.speed)
        grace_s = self.protocol.grace_s / self.speed
        live = Live(dealt, setting, engine, browser_view(engine.game), self.journal, self.base.clock, grace_s)
        await live.open()
        for number in self._stopped & live.chairs.keys():  # while it was opened
            live.stop(number)
        self._held[dealt.id] = live
        self._tasks[dealt.id] = asyncio.create_task(self._run(live))
        return live

    async def _run(self, live: Live) -> None:
        try:
            await live.run()
            episode, dealt, gone = live.episode(), live.dealt, live.gone()
            status = game_rows.ABANDONED if live.abandoned else game_rows.DONE
            while True:
                try:
                    live.stored_score = await self.base.database.awrite(
                        game_rows.finish, self.base.clock, self.protocol, dealt.id, episode, gone, status
                    )
                    break
                except (
                    DatabaseUnavailable
                ):  # what was played is in the journal, and the end is told only when it is stored
                    await asyncio.sleep(0.5)
            self.late_s.extend(live.late_s)
            live.over.set()
        except asyncio.CancelledError:
            raise
        except Exception:
            LOG.exception("game %d failed; it can be taken up again", live.dealt.id)
            live.failed = True
            live.over.set()
        finally:
            self._forget(live)

    async def withdraw(self, number: int) -> None:
        """Someone stops taking part: on disk when this returns. They are in no waiting room any more, and their game
        ends; those who play along are told."""
        async with self._locks.setdefault(number, asyncio.Lock()):
            live = self._game_of(number)
            t = live.table.t if live is not None and live.chairs[number].came else None
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

    def _game_of(self, number: int) -> Live | None:
        """The game in memory in which someone sits, whether they have come to it or not."""
        games = (live for live in self._held.values() if number in live.chairs and not live.over.is_set())
        return next(games, None)

    def _forget(self, live: Live) -> None:
        for number in live.chairs:
            if self.lives.get(number) is live:
                del self.lives[number]
        if self._held.get(live.dealt.id) is live:
            del self._held[live.dealt.id]
            self._tasks.pop(live.dealt.id, None)
        live.table.close()

    def _put_away(self, live: Live) -> None:
        """A game whose people stayed away is no longer held in memory. What was played is in the participants."""
        if not live.present and self._held.get(live.dealt.id) is live:
            self._tasks[live.dealt.id].cancel()
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
