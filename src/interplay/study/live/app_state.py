"""The state of a running study in memory: games by participant, engines by setting."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from interplay.rollout.live_compiled import SIZES
from interplay.server.api_error import ApiError
from interplay.server.app import Base
from interplay.server.clock import GAP_S, SteadyTime
from interplay.server.database import DatabaseUnavailable, repeat
from interplay.server.lease import LeaseLost, LeaseWatch
from interplay.server.sockets import REFUSED, TRY_LATER, ClientDisconnected, Frames
from interplay.study.db import game_rows, participants, withdrawals
from interplay.study.db.game_rows import GameElsewhere, GameRecord
from interplay.study.db.participants import Person
from interplay.study.live.browser_messages import LiveGame
from interplay.study.live.browser_views import browser_view
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.game_session import SharedTicks
from interplay.study.live.kitchen_view import ENGLISH
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.monitor import elsewhere, publish, running
from interplay.study.live.partner_engines import faster, figure, make_engine
from interplay.study.live.waiting_room import WaitingRooms
from interplay.study.protocol.model import Protocol

T = TypeVar("T")
LOG = logging.getLogger("interplay.study")
WATCH_S = 1.0  # between two looks at the processes that serve the same study
SWEEP_S = 30.0  # between two looks for participants who stay away
OUTBOX = 200  # messages that a slow browser may be behind
LARGEST_FRAME = 4096
FRAMES_A_SECOND = 60
PAUSED = {"type": "pause", "reason": "server", "grace_s": 0}


class StudyState:
    """One running study.

    Args:
        protocol: The study.
        base: The server's base, with the database and the clock.
        sizes: Batch sizes for which engines are compiled.
        speed: How many times faster than real time games run; above 1 for simulated participants only.
        slot: The number of this process among several that serve together; None if it serves alone.
    """

    def __init__(
        self,
        protocol: Protocol,
        base: Base,
        *,
        sizes: Sequence[int] = SIZES,
        speed: float = 1.0,
        slot: int | None = None,
    ):
        self.protocol, self.base = protocol, base
        self.speed, self.slot = speed, slot
        self.engines = {name: make_engine(protocol, name, sizes) for name in protocol.games}
        self.figures = {name: figure(engine.game) for name, engine in self.engines.items()}
        self.rooms = WaitingRooms(protocol, base, speed)
        self.games_by_person: dict[int, LiveGame] = {}  # by participant, of those who have connected to their game
        self.late_s: deque[float] = deque(maxlen=100_000)  # lateness of the last ticks of games that are over
        self._games_by_id: dict[int, LiveGame] = {}  # by game
        self._tasks: dict[int, asyncio.Task] = {}  # by game
        self._locks: dict[int, asyncio.Lock] = {}  # by person
        self._speech = {language: Speech(language, protocol.words) for language in protocol.languages}
        self._stopped: set[int] = set()  # participants who have withdrawn since the server was started
        self._ticks = SharedTicks()
        self._opening = asyncio.Lock()  # so that a shared game is opened once
        self._event_log: GameEventLog | None = None
        self._owner = ""  # of the study's lease
        self._tasks_beside: list[asyncio.Task] = []

    @property
    def event_log(self) -> GameEventLog:
        """The log of game events; the study must be open."""
        assert self._event_log is not None, "the study is not open"
        return self._event_log

    async def open(self) -> None:
        """Acquire the study's lease, store its file, and start the event log and the sweep of absent participants.

        Raises:
            InterplayError: Another server serves the study from this database.
        """
        self._owner = (await self.base.own(lease_name(self.protocol, self.slot))).owner
        await self.base.database.awrite(participants.open_study, self.base.clock, self.protocol)
        self._event_log = GameEventLog(self.base.database, self.base.clock, self._owner)
        self._event_log.open()
        self._steady = SteadyTime(self.base.clock, SWEEP_S + GAP_S)
        self._repeat(SWEEP_S, self._sweep, "looking after those who are away")
        if self.slot is not None:
            self._leases = LeaseWatch(self.base.database, worker_leases(self.protocol))
            self._repeat(WATCH_S, self._watch_others, "looking after the other processes")

    def _repeat(self, every_s: float, look: Callable[[], Awaitable[None]], what: str) -> None:
        self._tasks_beside.append(asyncio.create_task(repeat(every_s, look, what, LOG)))

    async def close(self) -> None:
        """Stop all games, write the pending events, and close the engines."""
        for task in [*self._tasks_beside, *self._tasks.values()]:
            task.cancel()
        await self.event_log.close()
        for engine in self.engines.values():
            engine.close()
        await self.base.disown()

    async def _sweep(self) -> None:
        """Release the sequences of participants who stay away."""
        for number, live in list(self.games_by_person.items()):
            if live.slots[number].here:
                await self.base.database.awrite(game_rows.touch, self.base.clock, number)
        # After a restart everyone has the full time to return, however long the server was down; likewise when
        # the clock was set, which makes everyone look as if they had been away.
        if self._steady.seconds() > 60 * self.protocol.away_min:
            await self.base.database.awrite(participants.drop_away, self.base.clock, self.protocol)

    # Other processes that serve the same study.

    async def _watch_others(self) -> None:
        """Free the games of processes that are gone, end those of people who withdrew elsewhere, publish our own."""
        database = self.base.database
        await self._leases.look(self._owner)
        here = {number for live in self._games_by_id.values() for number in live.slots}
        for number in await database.aread(withdrawals.withdrawn, sorted(here)) if here else ():
            live = self._game_of(number)
            if live is not None and not live.slots[number].stopped:
                self._stopped.add(number)
                live.stop(number)
        rows = running(self.games_by_person)
        await database.awrite(publish, self.base.clock, self.protocol, self._owner, rows)

    async def running(self) -> list[dict[str, Any]]:
        """List the games in play, of this process and of those that serve with it."""
        rows = running(self.games_by_person)
        if self.slot is None:
            return rows
        return rows + await self.base.database.aread(elsewhere, self.base.clock, self.protocol, self._owner)

    async def socket(self, number: int, page: str) -> str:
        """Return the address of the socket on which a participant's game is played."""
        api = f"{self.base.prefix}/api/study/{self.protocol.name}"
        if self.slot is None:
            return f"{api}/play"
        slot = await self.base.database.aread(game_rows.placed, worker_leases(self.protocol), number, page)
        return f"{api}/worker/{slot or self.slot}/play"

    # Games.

    async def play(self, frames: Frames, who: Person) -> None:
        """Serve a participant's socket until it closes or the game ends."""
        outbox: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(OUTBOX)

        def send(message: dict[str, Any]) -> None:
            try:
                outbox.put_nowait(message)
                if message["type"] == "elsewhere":
                    outbox.put_nowait(None)  # only the newest socket of a participant stays open
            except asyncio.QueueFull:  # the browser is far behind: it may reconnect and get the whole state
                live.leave(who.id, send, "slow")
                sender.cancel()
                closing.append(asyncio.create_task(frames.close(TRY_LATER, "slow")))

        closing: list[asyncio.Task[None]] = []
        hello = _hello(await frames.receive(timeout_s=20))
        page = hello.page
        ended = None
        if page:
            ended = await self._patiently(frames, lambda: self.base.database.aread(game_rows.ended, who.id, page))
        if ended is not None:  # the message of the end was lost, and the browser asks for it again
            await frames.send(_end(ended.score, ended.left))
            await frames.close()
            return
        try:
            live = await self._patiently(frames, lambda: self._live(who.id, page))
        except GameElsewhere:
            if self.slot is None or page is None:
                raise
            await frames.send({"type": "moved", "socket": await self.socket(who.id, page)})
            await frames.close(TRY_LATER, "moved")
            return
        due = live.slots[who.id].seated.page
        alias = who.aliases(self.protocol)[due.value(due.item.partner)].record(who.language)
        sender = asyncio.create_task(_send_all(frames, outbox))
        appearance = {name: alias[name] for name in ("label", "colour", "shape")}
        speech = self._speech.get(who.language, ENGLISH)
        live.join(who.id, send, appearance, hello.seen, speech, hello.acknowledges)
        ender = asyncio.create_task(self._tell_end(live, who.id, outbox))
        try:
            while not sender.done():
                message = await frames.receive()
                try:
                    live.receive(who.id, message)
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
        """Return what `ask` reads, and tell the browser to wait while the database is unavailable."""
        while True:
            try:
                return await ask()
            except DatabaseUnavailable:
                await frames.send(PAUSED)
                await asyncio.sleep(1)

    async def _tell_end(self, live: LiveGame, number: int, outbox: asyncio.Queue[dict[str, Any] | None]) -> None:
        """Send the end of a game once it is stored."""
        await live.over.wait()
        if live.failed:
            await outbox.put({"type": "error", "message": "the server had to stop this game: load the page again"})
        else:
            await outbox.put(_end(live.stored_score, live.abandoned and not live.slots[number].stopped))
        await outbox.put(None)

    async def _live(self, number: int, page: str | None) -> LiveGame:
        """Return the game that a participant is in, or open the one of the page that the browser shows."""
        async with self._locks.setdefault(number, asyncio.Lock()):
            current = self.games_by_person.get(number)
            if current is not None and not current.over.is_set():
                if page not in (None, current.slots[number].seated.page.id):
                    raise ApiError("conflict", "this page is not the one that is open: load it again")
                return current
            seats = {name: engine.game.num_seats for name, engine in self.engines.items()}
            write = self.base.database.awrite
            record = await write(
                game_rows.begin_or_resume, self.base.clock, self.protocol, number, seats, page, self._owner
            )
            self.games_by_person[number] = opened = await self._opened(record)
            return opened

    async def _opened(self, record: GameRecord) -> LiveGame:
        """Return a game in memory, and open it if nobody has yet."""
        if len(record.people) == 1:
            return await self._open(record)
        async with self._opening:
            current = self._games_by_id.get(record.id)
            return current if current is not None and not current.over.is_set() else await self._open(record)

    async def _open(self, record: GameRecord) -> LiveGame:
        engine = self.engines[record.setting]
        setting = faster(self.protocol.games[record.setting], self.speed)
        grace_s = self.protocol.grace_s / self.speed
        view, clock = browser_view(engine.game), self.base.clock
        live = LiveGame(record, setting, engine, view, self.event_log, clock, grace_s, self._ticks)
        await live.open()
        for number in self._stopped & live.slots.keys():  # withdrawn while it was opened
            live.stop(number)
        self._games_by_id[record.id] = live
        self._tasks[record.id] = asyncio.create_task(self._run(live))
        return live

    async def _run(self, live: LiveGame) -> None:
        try:
            await live.run()
            episode, record, gone = live.episode(), live.record, live.gone()
            status = game_rows.ABANDONED if live.abandoned else game_rows.DONE
            # Meanwhile the steps are in the event log; browsers get the end once it is stored.
            live.stored_score = await self.base.database.awrite_patiently(
                game_rows.finish, self.base.clock, self.protocol, record.id, episode, gone, status, self._owner
            )
            self.late_s.extend(live.late_s)
            live.over.set()
        except Exception as error:
            if isinstance(error, LeaseLost | GameElsewhere):
                LOG.error("game %d is left to another server: %s", live.record.id, error)
            else:
                LOG.exception("game %d failed; it can be taken up again", live.record.id)
            live.failed = True
            live.over.set()
        finally:
            self._forget(live)

    async def withdraw(self, number: int) -> None:
        """Withdraw a participant: stored when this returns.

        They leave their waiting room, and their game ends; those who play along are told.
        """
        async with self._locks.setdefault(number, asyncio.Lock()):
            live = self._game_of(number)
            t = live.table.t if live is not None and live.slots[number].came else None
            write = self.base.database.awrite
            if not await write(withdrawals.withdraw, self.base.clock, self.protocol, number, t):
                return  # their study had ended already, in another way
            self._stopped.add(number)
            live = self._game_of(number)
            if live is not None:
                live.stop(number)

    async def wait_stored(self, number: int, patience_s: float = 30.0) -> None:
        """Wait until the game of a withdrawn participant is stored, at most `patience_s` seconds."""
        live = self._game_of(number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                if live is not None:
                    await live.over.wait()
                while self.slot is not None and await self.base.database.aread(game_rows.in_play, number):
                    await asyncio.sleep(0.25)  # another process plays it

    def _game_of(self, number: int) -> LiveGame | None:
        """Return the game in memory in which a participant has a seat, whether they have connected to it or not."""
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
        """Drop a game from memory if all of its participants are away; what was played is in the database."""
        if not live.present and self._games_by_id.get(live.record.id) is live:
            self._tasks[live.record.id].cancel()
            self._forget(live)


def lease_name(protocol: Protocol, slot: int | None = None) -> str:
    """Return the name of a study's lease, which one server at a time owns, or that of one of its processes."""
    return f"study {protocol.name}" if slot is None else f"{worker_leases(protocol)}{slot}"


def worker_leases(protocol: Protocol) -> str:
    """Return how the names of the leases of a study's processes begin; their numbers follow."""
    return f"study {protocol.name} worker "


def _end(score: float | None, left: bool) -> dict[str, Any]:
    """Return the message of a game's end; `left`: because someone else stopped taking part."""
    return {"type": "end", "score": score, "next": True, **({"reason": "stopped"} if left else {})}


class Hello(NamedTuple):
    """What a browser says first."""

    seen: int  # the last tick that it has drawn; -1 for none
    page: str | None  # that it shows
    acknowledges: bool  # whether it will say which ticks it has drawn


def _hello(frame: dict[str, Any]) -> Hello:
    """Return what a browser says first."""
    seen, page, acknowledges = frame.get("seen", -1), frame.get("page"), frame.get("acknowledges", False)
    right = isinstance(seen, int) and isinstance(page, str | None) and isinstance(acknowledges, bool)
    if frame.get("type") != "hello" or not right:
        raise ApiError("bad_frame", "the first frame is a hello, with the last tick seen and the page shown")
    return Hello(seen, page, acknowledges)


async def _send_all(frames: Frames, outbox: asyncio.Queue[dict[str, Any] | None]) -> None:
    while (message := await outbox.get()) is not None:
        await frames.send(message)
    await frames.close()


async def hold_off(frames: Frames) -> None:
    """Tell a browser that the database is unavailable, and close its socket so that it reconnects."""
    with contextlib.suppress(ClientDisconnected):
        await frames.send(PAUSED)
        await frames.close(TRY_LATER, "unavailable")


async def refuse(frames: Frames, refusal: ApiError) -> None:
    """Tell a browser why it is refused, and close its socket."""
    try:
        await frames.send({"type": "error", "message": refusal.message})
    except ClientDisconnected:
        return
    await frames.close(TRY_LATER if refusal.code == "too_many" else REFUSED, refusal.code)
