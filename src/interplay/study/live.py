"""A game that a person plays: the server keeps the time and the state, the browser sends keys and draws.

Games in real time step when their tick is due, with the latest key that came in and with what the partner has chosen
by then; whoever has not chosen stays. Games in turns step when the one who is to move has moved. A game whose person
has gone stands still."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from interplay.agents.api import Identity
from interplay.play.episodes import Remarked
from interplay.server.clock import Clock
from interplay.server.refusal import Refusal
from interplay.study.arena import Arena, Table
from interplay.study.journal import Journal
from interplay.study.play_books import Dealt
from interplay.study.protocol import Setting
from interplay.study.views import Viewer

LOG = logging.getLogger("interplay.study")
LONGEST_CHAT = 500
KINDS_OF_STAY = ("stay", "noop")
Send = Callable[[dict[str, Any]], None]


class Pressed(NamedTuple):
    action: int
    seqs: tuple[int, ...]  # its own number, and those of the keys that it replaced


class Live:
    """One game and the person who plays it."""

    def __init__(
        self,
        dealt: Dealt,
        setting: Setting,
        arena: Arena,
        viewer: Viewer,
        journal: Journal,
        clock: Clock,
        flags: set[str],
    ):
        self.dealt, self.setting, self.arena, self.viewer = dealt, setting, arena, viewer
        self.journal, self.clock, self.flags = journal, clock, flags
        self.table = Table(dealt.chance, dealt.seat, dealt.partner, viewer.watch(arena.game))
        self.seq = dealt.seq  # the highest number that was taken
        self._taken, self._safe = set(dealt.seqs), set(dealt.seqs)  # numbers that were taken; those of them on disk
        self.over, self.failed = asyncio.Event(), False
        self.late_s: list[float] = []
        self.stored_score: float | None = None  # once the game is in the books
        self._slot: Pressed | None = None
        self._moved = asyncio.Event()
        self._present = asyncio.Event()
        self._send: Send | None = None
        names = arena.game.action_names
        self._actions = {name: number for number, name in enumerate(names)}
        self._stay = next((self._actions[name] for name in KINDS_OF_STAY if name in self._actions), len(names) - 1)

    async def open(self) -> None:
        """Deal, or bring the game to where it was."""
        await asyncio.wrap_future(self.arena.begin(self.table, self.dealt.joints))
        for t, kind, payload in self.dealt.remarks:
            seq = sum(r.t == t for r in self.table.remarks)
            self.table.remarks.append(Remarked(t=t, seq=seq, seat=self.dealt.seat, kind=kind, payload=payload))

    # The person's side.

    def join(self, send: Send, alias: dict[str, str], seen: int = -1) -> None:
        """A browser has come, or come back after it saw tick `seen`: it is told everything anew."""
        if self._send is not None:
            self._send({"type": "elsewhere"})  # two windows of one person: the last one plays
        self._send = send
        game = self.arena.game
        send({
            "type": "start", "game": game.id.partition("/")[0], "tick_hz": self.setting.tick_hz, "ticks": game.horizon,
            "seat": self.dealt.seat, "you": self.dealt.seat, "alias": alias, "seq": self.seq,
            "layout": self.viewer.layout(game, self.table.state),
        })  # fmt: skip
        self._note("join", seen=seen)
        self._show()
        self._present.set()

    def leave(self, send: Send, reason: str) -> bool:
        """The browser has gone, unless another has taken its place; whether it has."""
        if self._send is not send:
            return False
        self._send = None
        self._present.clear()
        self._note("leave", reason=reason)
        return True

    @property
    def present(self) -> bool:
        return self._send is not None

    def told(self, message: dict[str, Any]) -> None:
        """A message from the browser; a `Refusal` if it cannot be taken."""
        match message.get("type"):
            case "act":
                self._press(_whole(message.get("seq"), "seq"), message.get("action"))
            case "flag":
                self._flag(_whole(message.get("seq"), "seq"), message.get("id"), message.get("t"))
            case "visibility":
                self._note("visibility", hidden=message.get("hidden") is True)
            case "ping":
                rtt = message.get("rtt_ms")
                if isinstance(rtt, int | float) and not isinstance(rtt, bool) and 0 <= rtt < 1e6:
                    self._note("rtt", ms=round(float(rtt), 1))
                at = message.get("at")
                self._tell({"type": "pong", "at": at if isinstance(at, int | float) else 0})
            case _:
                raise Refusal("bad_frame", "type: act, flag, visibility or ping")

    def _press(self, seq: int, name: Any) -> None:
        action = self._actions.get(name) if isinstance(name, str) else None
        if action is None:
            raise Refusal("bad_frame", "action: no such action in this game")
        if self._again(seq):
            return
        if not self.viewer.real_time and not self._may(action):
            raise Refusal("illegal_action", "this move is not possible now")
        self._take(seq)
        replaced = self._slot.seqs if self._slot else ()
        self._slot = Pressed(action, (*replaced, seq))
        self._moved.set()

    def _may(self, action: int) -> bool:
        seat = self.dealt.seat
        return bool(self.table.turn[seat]) and bool(self.table.legal[seat][action])

    def _flag(self, seq: int, name: Any, t: Any) -> None:
        if not isinstance(name, str) or name not in self.flags:
            raise Refusal("bad_frame", "id: no such button in this game")
        if self._again(seq):
            return
        self._take(seq)
        seen = t if isinstance(t, int) and 0 <= t <= self.table.t else self.table.t
        self.table.remark("flag", id=name, seen=seen)
        self._acknowledge(self._note("flag", id=name, seen=seen, seqs=[seq]), (seq,), self.table.t)

    def _take(self, seq: int) -> None:
        self._taken.add(seq)
        self.seq = max(self.seq, seq)

    def _again(self, seq: int) -> bool:
        """Whether this came before, since its answer got lost or someone copied it: nothing is taken twice."""
        if seq in self._safe:
            self._tell({"type": "ack", "seq": seq, "t": self.table.t})
        return seq in self._taken  # what is not on disk yet is acknowledged when it is

    def _acknowledge(self, stored: asyncio.Future[None], seqs: tuple[int, ...], t: int) -> None:
        """Tell that something was taken, once it is on disk."""

        def tell(stored: asyncio.Future[None]) -> None:
            if stored.cancelled() or stored.exception() is not None:
                return
            self._safe.update(seqs)
            for seq in seqs:
                self._tell({"type": "ack", "seq": seq, "t": t})

        stored.add_done_callback(tell)

    def _note(self, kind: str, **payload: Any) -> asyncio.Future[None]:
        return self.journal.add(self.dealt.person, self.dealt.id, self.table.t, kind, **payload)

    def _tell(self, message: dict[str, Any]) -> None:
        if self._send is not None:
            self._send(message)

    def _show(self) -> None:
        t, hz = self.table.t, self.setting.tick_hz
        left = (self.arena.game.horizon - t) / hz if self.viewer.real_time else None
        view = self.viewer.view(self.arena.game, self.table, self.dealt.seat)
        self._tell({"type": "tick", "t": t, "score": self.table.score, "left_s": left, "view": view})

    # The game's side.

    async def run(self) -> None:
        """Play until the game is over and all of it is on disk."""
        stored: asyncio.Future[None] | None = None
        due = 0.0
        while not self.table.done:
            if not self._present.is_set() or self.journal.behind:
                await self._wait()
                due = 0.0
            if self.viewer.real_time:
                due = await self._tick(due)
            elif not await self._turn():
                continue
            stored = await self._play()
        if stored is not None:
            await stored

    async def _wait(self) -> None:
        """Stand still while the person is away or the database is."""
        while not self._present.is_set() or self.journal.behind:
            if self.journal.behind:
                self._tell({"type": "pause", "reason": "server", "grace_s": 0})
                await asyncio.sleep(0.25)
            else:
                await self._present.wait()

    async def _tick(self, due: float) -> float:
        """Sleep until the next tick. Ticks of all games fall together, so that they are played as one batch."""
        loop = asyncio.get_running_loop()
        length = 1.0 / self.setting.tick_hz
        now = loop.time()
        due = due + length if due and due + length > now - length else (now // length + 1) * length
        await asyncio.sleep(max(0.0, due - now))
        self.late_s.append(max(0.0, loop.time() - due))
        return due

    async def _turn(self) -> bool:
        """In turns: wait until someone moves; whether someone has."""
        if self.table.turn[self.dealt.seat]:
            self._moved.clear()
            if self._slot is None:
                try:  # not for ever, to look after the person and the database
                    await asyncio.wait_for(self._moved.wait(), timeout=1.0)
                except TimeoutError:
                    return False
            if self._slot is not None and not self._may(self._slot.action):
                self._taken.difference_update(self._slot.seqs)
                self._slot = None
            return self._slot is not None
        await asyncio.sleep(self.setting.partner_delay_s)
        await asyncio.wrap_future(self.table.pending)
        return True

    async def _play(self) -> asyncio.Future[None]:
        """One step with what everyone has chosen."""
        pressed, self._slot = self._slot, None
        joint = np.argmax(self.table.legal, axis=-1).astype(np.int32)
        if self.viewer.real_time:
            joint[:] = self._stay
        missed = not self.table.pending.done()
        for seat, action in ({} if missed else self.table.pending.result()).items():
            if self.table.turn[seat]:
                joint[seat] = action
        if pressed is not None and self.table.legal[self.dealt.seat][pressed.action]:
            joint[self.dealt.seat] = pressed.action
        late = round(1000 * self.late_s[-1], 1) if self.late_s else 0.0
        seqs = pressed.seqs if pressed else ()
        t = self.table.t
        payload: dict[str, Any] = {"joint": joint.tolist(), "late_ms": late}
        if seqs:
            payload["seqs"] = list(seqs)
        if missed:
            payload["missed"] = True
            self.table.remark("deadline", late=True)
        stored = self.journal.add(self.dealt.person, self.dealt.id, t, "step", **payload)
        await asyncio.wrap_future(self.arena.step(self.table, joint))
        if seqs:
            self._acknowledge(stored, seqs, t)
        self._show()
        return stored

    def episode(self, person: Identity) -> Any:
        partner = self.arena.identities[self.dealt.partner]
        return self.table.episode(self.arena.game, partner, person, self.dealt.id)


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise Refusal("bad_frame", f"{name}: a whole number from 0")
    return value
