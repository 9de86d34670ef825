"""The session of a game with participants: it waits, keeps time, asks partners, steps, and stores every step.

Real-time games step at every tick, with the latest key of each participant and with what partners have chosen by then;
whoever has not chosen stays. Turn-based games step when everyone who is to move has moved. A game pauses while one of
its participants is away; the others wait for a limited time.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

import numpy as np

from interplay.agents.api import Identity, TraceEvent
from interplay.rollout.live import LiveEngine, LiveTable, default_action
from interplay.rollout.worker_threads import result_now, wait_for
from interplay.server.clock import Clock
from interplay.study.db.game_events import SILENT
from interplay.study.db.game_rows import DepartedPerson, GameRecord
from interplay.study.live.browser_views import BrowserView
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.kitchen_view import ENGLISH, CookMemory
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.participant_slot import ParticipantSlot, PressedAction
from interplay.study.protocol.model import GameSetting

KINDS_OF_STAY = ("stay", "noop")
PERSON = "person"  # the name of participants in traces
PHASES = 4  # groups of games within a tick
SILENT_S = 0.75  # a tick that is not acknowledged for so long pauses the game
SUSPENDED_S = 1.0  # a tick that comes so late says that this process did not run


class SharedTicks:
    """Wakes all games that tick at the same time together, so that they are played as one batch and stored at once."""

    def __init__(self) -> None:
        self._due: dict[float, asyncio.Event] = {}

    async def wait(self, due: float) -> None:
        """Wait until a time on the monotonic clock."""
        if due not in self._due:
            self._due[due] = asyncio.Event()
            asyncio.get_running_loop().call_at(due, self._wake, due)
        await self._due[due].wait()

    def _wake(self, due: float) -> None:
        self._due.pop(due).set()


class GameSession:
    """One game from its start to its trace.

    Args:
        record: The game as it is stored.
        setting: How it is played in this study.
        engine: The engine that steps it and asks its partners.
        viewer: What browsers are shown.
        event_log: Where events are stored.
        clock: The server's clock.
        grace_s: How long the others wait for a participant who has gone.
        ticks: The ticks of all games of the server.
    """

    def __init__(
        self,
        record: GameRecord,
        setting: GameSetting,
        engine: LiveEngine,
        viewer: BrowserView,
        event_log: GameEventLog,
        clock: Clock,
        grace_s: float,
        ticks: SharedTicks,
    ):
        self.record, self.setting, self.engine, self.viewer = record, setting, engine, viewer
        self.event_log, self.clock, self.grace_s, self._ticks = event_log, clock, grace_s, ticks
        self.fold = record.stored
        self.slots = {
            seated.person: ParticipantSlot(seated, event_log, self._cook(seated.seat), self.fold)
            for seated in record.people
        }
        self.taken = set(record.taken)  # seats of people in which bots play
        self.table = self._new_table()
        self.over, self.failed = asyncio.Event(), False
        self.abandoned = False  # ended early, because someone in it stopped taking part
        self.late_s: list[float] = []
        self.stored_score: float | None = None  # once the game is stored
        self._trace_made = False  # whether the trace is made: later messages are not in it and are refused
        self._changed = asyncio.Event()  # somebody moved, connected or left
        self._waited_since = 0.0  # when the first participant connected who now waits for others
        self._running = False  # whether ticks follow one another: not before the start, nor while someone is away
        self._countdown_until: float | None = None  # on the event loop's clock
        self._asked_at: float | None = None  # since when participants are waited for whose moves have a time limit
        self._overdue: dict[int, Future] = {}  # by seat: the answer to an earlier step that a partner still owes
        names = engine.game.action_names
        self._actions = {name: number for number, name in enumerate(names)}
        self._stay = next((self._actions[name] for name in KINDS_OF_STAY if name in self._actions), len(names) - 1)

    @property
    def _lead(self) -> ParticipantSlot:
        """The first participant, with whose row the events of the whole game are stored."""
        return next(iter(self.slots.values()))

    def _cook(self, seat: int) -> CookMemory | None:
        game: Any = self.engine.game
        return CookMemory(game, seat, self.record.doing.get(seat)) if self.viewer.macro_actions else None

    def _new_table(self) -> LiveTable:
        """Return a table with bots in all seats without a participant, or whose participant has left."""
        room = self.record.room
        instead = dict.fromkeys(self.taken, room.item.otherwise) if room else {}
        bots, watch = {**self.record.bots, **instead}, self.viewer.watch(self.engine.game)
        table = LiveTable(self.record.chance, bots, watch, self.viewer.real_time)
        loop = asyncio.get_running_loop()
        table.emit = lambda seat, event: loop.call_soon_threadsafe(self._record_event, table, seat, event)
        return table

    async def open(self) -> None:
        """Start the game, or replay its stored steps."""
        await asyncio.wrap_future(self.engine.begin(self.table, self.record.joints))
        for t, seat, kind, payload in self.record.remarks:
            self.table.add_event(seat, kind, payload, t)
        self.table.macro_actions = {slot.seat: self.record.doing.get(slot.seat) for slot in self.slots.values()}
        self.engine.resume(self.table)

    @property
    def present(self) -> bool:
        """Whether any participant is connected."""
        return any(slot.here for slot in self.slots.values())

    @property
    def attended(self) -> bool:
        """Whether any participant is connected and sees what is sent."""
        return any(slot.attending for slot in self.slots.values())

    def _record_event(self, table: LiveTable, seat: int | None, event: TraceEvent) -> None:
        """Add an event of a partner or of the server to the trace, and store it."""
        if table is not self.table or table.done:
            return
        table.add_event(seat, event.kind, event.payload)
        self._lead.note(table.t, "remark", seat=seat, what=event.kind, payload=dict(event.payload))
        if event.kind == "message":
            self._show_all()

    def _show(self, slot: ParticipantSlot) -> None:
        if not slot.here:
            return
        t, hz = self.table.t, self.setting.tick_hz
        left = (self.engine.game.horizon - t) / hz if self.viewer.real_time else None
        view = self.viewer.view(self.engine.game, self.table, slot.seat)
        slot.tell({"type": "tick", "t": t, "score": self.table.score, "left_s": left, "view": view})
        slot.ticked(t, asyncio.get_running_loop().time())

    def _show_all(self) -> None:
        for slot in self.slots.values():
            self._show(slot)

    async def run(self) -> None:
        """Play until the game is over and all of it is stored."""
        stored: asyncio.Future[None] | None = None
        tick = 0
        while not self._handle_withdrawn():
            self._find_silent()
            if self._paused():
                await self._wait()
                tick, self._running = 0, False
                if not self._paused():
                    self._show_all()  # a tick ends the pause in browsers
                continue
            await self._reseat()
            if self.viewer.real_time:
                if not self._running:
                    await self._start()
                    continue
                tick = await self._tick(tick)
                if not self._running:  # this process was suspended
                    continue
            elif not await self._turn():
                continue
            if stored is not None and stored.done():
                stored.result()  # raises if the step cannot be stored, since its participant was erased
            stored = await self._play()
        if stored is not None:
            await stored
        self.table.close()

    def _handle_withdrawn(self) -> bool:
        """End the game, or put bots in, for participants who have withdrawn; return whether the game is over.

        A game that they took part in ends; in one to which they never connected a bot takes their seat.
        """
        for slot in self.slots.values():
            if not slot.stopped or slot.seat in self.taken or self.table.done:
                continue
            if slot.came or self.record.room is None:
                self.abandoned = True
                self._record_event(self.table, slot.seat, TraceEvent("end", {"reason": "stopped"}))
                self.table.break_off()
            else:
                self._give_up(slot)
        return self.table.done

    def _paused(self) -> bool:
        return bool(self._missing()) or self.event_log.behind

    def _missing(self) -> list[ParticipantSlot]:
        """Return the participants who are away and for whom no bot plays; all participants if nobody attends."""
        away = [slot for slot in self.slots.values() if not slot.attending]
        return away if not self.attended else [slot for slot in away if slot.seat not in self.taken]

    # Silent lines.

    def _find_silent(self) -> None:
        """Mark the participants whose browsers have not acknowledged a tick for too long."""
        now = asyncio.get_running_loop().time()
        for slot in self.slots.values():
            if slot.attending and slot.unseen_s(now) > SILENT_S:
                slot.note(self.table.t, SILENT, **self._unseen_steps(slot))
                slot.silent, slot.gone_at = True, now

    def _unseen_steps(self, slot: ParticipantSlot) -> dict[str, int]:
        """Return since which step a participant has not seen the game; nothing if their browser does not say."""
        return {"since": min(slot.seen_t + 1, self.table.t)} if slot.acknowledges and not slot.silent else {}

    def _saw(self, slot: ParticipantSlot, t: int) -> None:
        """Take the acknowledgement of a tick; a line on which it comes is no longer silent."""
        slot.saw(min(t, self.table.t))
        if slot.silent:
            if not self.attended:
                self._waited_since = asyncio.get_running_loop().time()
            slot.silent, slot.gone_at = False, None
            slot.note(self.table.t, "heard")
            self._changed.set()

    # The start, and the end of a pause.

    async def _start(self) -> None:
        """Wait until everyone has pressed a key, if the study asks for it, and count down; then ticks follow."""
        self._changed.clear()
        if self.setting.begin == "press" and self.table.t == 0:
            waiting = [slot for slot in self._playing() if not slot.pressed_start]
            for slot in self.slots.values():
                slot.tell({"type": "ready", "pressed": slot not in waiting})
            if waiting:
                await self._change(1.0)
                return
        loop = asyncio.get_running_loop()
        if self.setting.countdown_s > 0:
            self._countdown_until = loop.time() + self.setting.countdown_s
            for slot in self.slots.values():
                self._tell_countdown(slot)
            while (left := self._countdown_until - loop.time()) > 0 and not self._interrupted():
                await self._change(min(left, 0.25))
                self._changed.clear()
            self._countdown_until = None
        if not self._interrupted():
            self._running = True
            self._show_all()

    async def _change(self, timeout: float | None) -> None:
        """Wait until somebody moved, connected or left, at most so many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout)

    def _interrupted(self) -> bool:
        self._find_silent()
        return self._paused() or any(slot.stopped for slot in self._playing())

    def _tell_countdown(self, slot: ParticipantSlot) -> None:
        if self._countdown_until is not None:
            left = self._countdown_until - asyncio.get_running_loop().time()
            slot.tell({"type": "countdown", "seconds": round(max(0.0, left), 2)})

    async def _wait(self) -> None:
        """Wait while a participant is away, for a limited time if others are there, or while the database is behind."""
        self._changed.clear()
        if self.event_log.behind:
            self._tell_all({"type": "pause", "reason": "server", "grace_s": 0})
            await asyncio.sleep(0.25)
            return
        timeout, missing = None, self._missing()
        if self.attended:
            left = {slot.person: self._left_s(slot) for slot in missing}
            for person, seconds in left.items():
                if seconds <= 0:
                    self._give_up(self.slots[person])
            if not self._missing() or self.table.done:
                return
            timeout = max(0.01, min(left.values()))
            self._tell_pause(round(max(left.values()), 1))
        else:
            self._tell_pause(0)
        await self._change(timeout)

    def _tell_pause(self, grace_s: float) -> None:
        """Tell everyone who is connected why the game waits: their own line, or the absence or line of another."""
        missing = self._missing()
        theirs = "partner_line" if all(slot.silent and slot.here for slot in missing) else "partner"
        for slot in self.slots.values():
            slot.tell({"type": "pause", "reason": "line" if slot.silent else theirs, "grace_s": grace_s})

    def _left_s(self, slot: ParticipantSlot) -> float:
        """Return how many seconds the others still wait for a participant: more before the first connection."""
        room = self.record.room
        busy = room is not None and not slot.joined and not room.directly
        patience = room.item.patience_s if room is not None and busy else self.grace_s
        since = max(self._waited_since, slot.gone_at or 0.0)
        return since + patience - asyncio.get_running_loop().time()

    def _give_up(self, slot: ParticipantSlot) -> None:
        """Replace a participant who stayed away by a bot, or end the game, as the study file says."""
        room = self.record.room
        assert room is not None, "someone who plays alone is waited for"
        if room.item.someone_leaves == "end" and slot.came:
            self._record_event(self.table, slot.seat, TraceEvent("end", {"reason": "left"}))
            self.table.break_off()
            return
        self.taken.add(slot.seat)
        payload = {"seat": slot.seat, "partner": room.item.otherwise}
        self._lead.note(self.table.t, "takeover", **payload)
        self.table.add_event(slot.seat, "takeover", payload)

    async def _reseat(self) -> None:
        """Give seats to bots where participants have left, and back to participants who have returned.

        The new table replays the game up to this step.
        """
        for slot in self.slots.values():
            if slot.here and slot.seat in self.taken and not slot.stopped:
                self.taken.discard(slot.seat)
                self._lead.note(self.table.t, "back", seat=slot.seat)
                self.table.add_event(slot.seat, "back", {"seat": slot.seat})
        people = {slot.seat for slot in self.slots.values()}
        if people & set(self.table.bots) == self.taken:
            return
        old, table = self.table, self._new_table()
        await asyncio.wrap_future(self.engine.begin(table, [joint.tolist() for joint in old.actions]))
        table.log, table.macro_actions, table.speech = old.log, old.macro_actions, old.speech
        self.table = table
        self._overdue.clear()
        self.engine.resume(table)
        old.close()

    async def _tick(self, last: int) -> int:
        """Wait for the next tick, and return its number.

        Games tick in a few groups, each of which is played as one batch: if all ticked at once, the last ones would be
        late.

        Args:
            last: The number of the tick before; 0 after a pause.
        """
        hz, now = self.setting.tick_hz, time.monotonic()  # the event loop caches its own clock while it works
        first = self.record.id % PHASES / PHASES
        next_number = math.floor(now * hz - first) + 1
        number = last + 1 if last and last + 1 >= next_number - 1 else next_number
        due = (number + first) / hz
        await self._ticks.wait(due)
        late = time.monotonic() - due
        self.late_s.append(max(0.0, late))
        if late > SILENT_S / 2:  # acknowledgements may lie unread
            for slot in self.slots.values():
                slot.rebase(asyncio.get_running_loop().time())
        if late > SUSPENDED_S:
            self._running = False
            self._tell_all({"type": "pause", "reason": "server", "grace_s": 0})
        return number

    async def _turn(self) -> bool:
        """Wait, at most a second, until everyone who is to move has chosen; return whether they have."""
        self._changed.clear()
        self._drop_impossible()
        idle = [slot for slot in self._playing() if not slot.ready(self.table)]
        if idle:
            await self._change(
                min(1.0, self._hurry(idle))
            )  # return to `run`, which checks participants and the database
            return False
        self._asked_at = None
        self.engine.ask_partners(self.table)
        moving = [seat for seat in self.table.bots if self.table.turn[seat]]
        if moving or self.viewer.macro_actions:
            await asyncio.sleep(self.setting.partner_delay_s)
        await self._settled(moving)
        return all(slot.ready(self.table) for slot in self._playing())

    def _hurry(self, idle: list[ParticipantSlot]) -> float:
        """Return how many seconds the idle participants may still take, and move for those who have taken too long."""
        limit, now = self.setting.move_s, time.monotonic()
        if limit is None:
            return 1.0
        self._asked_at = self._asked_at or now
        left = self._asked_at + limit - now
        if left <= 0:
            for slot in idle:
                self._record_event(self.table, slot.seat, TraceEvent("timeout", {"seconds": limit}))
                self._move_for(slot)
        return max(0.01, left)

    def _move_for(self, slot: ParticipantSlot) -> None:
        if slot.cook is None:
            slot.pressed = PressedAction(int(np.argmax(self.table.legal[slot.seat])), ())
            return
        slot.cook.choose(self.table.state, "wait(1)")
        self.table.macro_actions[slot.seat] = str(slot.cook.act)

    def _speech(self, slot: ParticipantSlot) -> Speech:
        return self.table.speech.get(slot.seat, ENGLISH)

    def _playing(self) -> list[ParticipantSlot]:
        return [slot for slot in self.slots.values() if slot.seat not in self.taken]

    def _drop_impossible(self) -> None:
        """Give up macro actions that have become impossible, and tell the participants why."""
        for slot in self.slots.values():
            dropped = slot.cook.dropped(self.table.state) if slot.cook is not None else None
            if dropped is not None:
                self.table.macro_actions[slot.seat] = None
                self._record_event(self.table, slot.seat, dropped)
                why = self._speech(slot).why(dropped.payload["error"], dropped.payload["message"])
                slot.tell({"type": "error", "message": why})
                self._show(slot)

    async def _settled(self, seats: Iterable[int]) -> None:
        """Wait for partners who are still thinking, up to `think_s`; not for those that still owe an earlier answer."""
        owing = {seat for seat, answer in self._overdue.items() if not answer.done()}
        await wait_for([self.table.pending.get(seat) for seat in seats if seat not in owing], self.setting.think_s)

    async def _play(self) -> asyncio.Future[None]:
        """Step with what everyone has chosen, and return the future that is done when the step is stored."""
        table = self.table
        if self.viewer.real_time:
            joint = np.full(self.engine.game.num_seats, self._stay, np.int32)
        else:
            joint = np.argmax(table.legal, axis=-1).astype(np.int32)
        missed = self._ask_bots(joint)
        lead = self._lead
        payload: dict[str, Any] = {}
        acknowledged: list[tuple[ParticipantSlot, asyncio.Future[None] | None, tuple[int, ...]]] = []
        for slot in self._playing():
            pressed, slot.pressed = slot.pressed, None
            if slot.cook is not None and slot.cook.act is not None:
                joint[slot.seat] = slot.cook.next(table.state)
            elif pressed is not None:
                if table.legal[slot.seat][pressed.action]:
                    joint[slot.seat] = pressed.action
                if slot is lead:
                    payload["seqs"] = list(pressed.seqs)
                    acknowledged.append((slot, None, pressed.seqs))
                else:  # a step belongs to the first participant's row, the keys of others to theirs
                    noted = slot.note(table.t, "press", action=pressed.action, seqs=list(pressed.seqs))
                    acknowledged.append((slot, noted, pressed.seqs))
        late = round(1000 * self.late_s[-1], 1) if self.late_s else 0.0
        payload |= {"joint": joint.tolist(), "late_ms": late}
        if missed:
            payload["missed"] = missed
        if self.viewer.macro_actions:
            doing = {c.seat: str(c.cook.act) if c.cook and c.cook.act else None for c in self.slots.values()}
            payload["doing"] = {str(seat): act for seat, act in doing.items()}
        t = table.t
        before: Any = table.state if self.viewer.macro_actions else None
        stored = lead.note(t, "step", **payload)
        await asyncio.wrap_future(self.engine.step(table, joint))
        for slot, noted, seqs in acknowledged:
            slot.acknowledge(noted or stored, seqs, t)
        for slot in self.slots.values():
            if slot.cook is not None:
                slot.cook.stepped(before, table.state, joint)
                table.macro_actions[slot.seat] = str(slot.cook.act) if slot.cook.act else None
        self._show_all()
        return stored

    def _ask_bots(self, joint: np.ndarray) -> list[int]:
        """Put the choices of bots into the joint action, and return the seats that have not chosen in time."""
        table, missed = self.table, []
        for seat in table.bots:
            if not table.turn[seat]:
                continue
            choice = table.pending.get(seat)
            move = result_now(choice)
            if move is None:
                missed.append(seat)
                table.add_event(seat, "deadline", {"late": True})
                if not self.viewer.real_time:
                    joint[seat] = default_action(table, seat)
                if isinstance(choice, Future) and (seat not in self._overdue or self._overdue[seat].done()):
                    self._overdue[seat] = choice
                continue
            self._overdue.pop(seat, None)
            joint[seat] = move.action
            for event in move.events:
                self._record_event(table, seat, event)
        return missed

    def _tell_all(self, message: dict[str, Any]) -> None:
        for slot in self.slots.values():
            slot.tell(message)

    def gone(self) -> DepartedPerson | None:
        """Return who of a shared game was away at its end or has withdrawn; None for a game with one participant."""
        if self.record.room is None:
            return None
        away = [slot for slot in self.slots.values() if slot.seat in self.taken or slot.stopped]
        # A game that was abandoned before someone came to it is still to be played by them.
        never = [slot.person for slot in self.slots.values() if not slot.came]
        return DepartedPerson(self.record.room, [slot.person for slot in away], never)

    def episode(self) -> Any:
        """Return the trace of the game, which is over, without participants who never connected."""
        self._trace_made = True
        for t, seat, kind, payload in self.fold.attention():
            self.table.add_event(seat, kind, payload, t)
        for slot in self.slots.values():
            slot.shut = not slot.came
        own = [slot for slot in self.slots.values() if slot.came or slot.seat not in self.table.bots]
        people = {slot.seat: person_identity(slot.seated.public) for slot in own}
        seats = range(self.engine.game.num_seats)
        agents = [people[seat] if seat in people else self._partner_identity(seat) for seat in seats]
        return self.table.episode(agents, self.record.id)

    def _partner_identity(self, seat: int) -> Identity:
        return self.engine.registry.identities[self.engine.registry.at(self.table, seat)]


def person_identity(public: str) -> Identity:
    """Return the identity of a participant in traces: a hash that tells them from others, and nothing more."""
    return Identity(PERSON, hashlib.sha256(public.encode()).hexdigest()[:16], False)
