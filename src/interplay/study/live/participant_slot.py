"""A participant's slot in a game: the connection, what was received, and what was acknowledged."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from interplay.rollout.live import LiveTable
from interplay.server.api_error import ApiError
from interplay.study.db.game_events import GameEvents
from interplay.study.db.game_rows import SeatedPerson
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.kitchen_view import CookMemory

Send = Callable[[dict[str, Any]], None]


class PressedAction(NamedTuple):
    """The action that a participant chose for the next step."""

    action: int
    seqs: tuple[int, ...]  # its own message number, and those of the actions that it replaced


class ParticipantSlot:
    """One participant of a game: the latest action or the macro action under way, and the connection.

    Args:
        seated: Who it is, and where they sit.
        event_log: Where events are stored.
        cook: The macro action under way, in games that are played by these.
        fold: What is stored of the game: every event that is noted is added to it.
    """

    def __init__(
        self, seated: SeatedPerson, event_log: GameEventLog, cook: CookMemory | None, fold: GameEvents | None = None
    ):
        self.seated, self.cook = seated, cook
        self.seat, self.person = seated.seat, seated.person
        self.flags = {flag.id for flag in seated.page.item.flags}
        self.pressed: PressedAction | None = None
        self.send: Send | None = None
        self.joined = False  # whether they have connected since the game is in memory
        self.gone_at: float | None = None  # on the event loop's clock
        self.shut = False  # never connected, and the game is over: nothing more is stored of it
        self.stopped = seated.stopped  # whether they have withdrawn
        self.pressed_start = False  # whether they have pressed the key with which a game begins
        self.acknowledges = False  # whether the browser says which ticks it has drawn
        self.silent = False  # connected, but ticks are not acknowledged
        self.seen_t = -1  # the last tick that was acknowledged
        self._unseen: deque[tuple[int, float]] = deque()  # ticks that are not acknowledged, and when they were sent
        self._event_log, self._fold = event_log, fold
        self._taken, self._safe = set(seated.seqs), set(seated.seqs)  # message numbers received; stored

    @property
    def here(self) -> bool:
        """Whether the participant is connected."""
        return self.send is not None

    @property
    def attending(self) -> bool:
        """Whether the participant is connected, and sees what is sent."""
        return self.send is not None and not self.silent

    @property
    def came(self) -> bool:
        """Whether the participant was ever connected to this game, also before a restart of the server."""
        return self.joined or self.seated.came

    @property
    def seq(self) -> int:
        """The highest message number that was received; -1 for none."""
        return max(self._taken, default=-1)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to the browser, if it is connected."""
        if self.send is not None:
            self.send(message)

    def note(self, t: int, kind: str, **payload: Any) -> asyncio.Future[None]:
        """Store an event of this participant; the future is done when it is stored."""
        if self._fold is not None:
            self._fold.add(self.seated.game, self.seat, kind, t, payload)
        return self._event_log.add(self.person, self.seated.game, t, kind, **payload)

    # Ticks: a line on which they are not acknowledged is silent.

    def listen(self, acknowledges: bool, t: int) -> None:
        """Begin anew with a new connection, after `t` steps: what came before was noted with the last one."""
        self.acknowledges, self.silent, self.seen_t = acknowledges, False, t - 1
        self._unseen.clear()

    def ticked(self, t: int, now: float) -> None:
        """Note that a tick was sent. One that is sent again after a pause is not acknowledged for a second time."""
        if self.acknowledges and t > max(self.seen_t, self._unseen[-1][0] if self._unseen else -1):
            self._unseen.append((t, now))

    def saw(self, t: int) -> None:
        """Note that the browser has drawn a tick."""
        self.seen_t = max(self.seen_t, t)
        while self._unseen and self._unseen[0][0] <= t:
            self._unseen.popleft()

    def unseen_s(self, now: float) -> float:
        """Return for how long the oldest tick that is not acknowledged has been on its way."""
        return now - self._unseen[0][1] if self._unseen else 0.0

    def rebase(self, now: float) -> None:
        """Count all ticks on their way as sent now: this process was not running, and could hear nothing."""
        self._unseen = deque((t, now) for t, _ in self._unseen)

    # Message numbers: nothing is taken twice, and nothing acknowledged before it is stored.

    def seen_before(self, seq: int, t: int) -> bool:
        """Return whether a message number was received before; if it is stored, it is acknowledged again."""
        if seq in self._safe:
            self.tell({"type": "ack", "seq": seq, "t": t})
        return seq in self._taken  # one that is not stored yet is acknowledged when it is

    def take(self, seq: int) -> None:
        """Note that a message number was received."""
        self._taken.add(seq)

    def give_back(self) -> None:
        """Discard the chosen action, which is no longer possible; its message numbers may come again."""
        if self.pressed is not None:
            self._taken.difference_update(self.pressed.seqs)
            self.pressed = None

    def acknowledge(self, stored: asyncio.Future[None], seqs: tuple[int, ...], t: int) -> None:
        """Acknowledge message numbers once an event is stored."""

        def tell(stored: asyncio.Future[None]) -> None:
            if stored.cancelled() or stored.exception() is not None:
                return
            self._safe.update(seqs)
            for seq in seqs:
                self.tell({"type": "ack", "seq": seq, "t": t})

        stored.add_done_callback(tell)

    # Moves.

    def press(self, seq: int, action: int) -> None:
        """Choose an action for the next step, in place of an earlier choice."""
        replaced = self.pressed.seqs if self.pressed else ()
        self.take(seq)
        self.pressed = PressedAction(action, (*replaced, seq))

    def may(self, table: LiveTable, action: int) -> bool:
        """Return whether the participant is to move and the action is legal."""
        return bool(table.turn[self.seat]) and bool(table.legal[self.seat][action])

    def ready(self, table: LiveTable) -> bool:
        """Return whether the participant has chosen for the next step of a turn-based game."""
        if not table.turn[self.seat]:
            return True
        if self.cook is not None:
            return self.cook.act is not None
        if self.pressed is not None and not self.may(table, self.pressed.action):
            self.give_back()
        return self.pressed is not None


def whole(value: Any, name: str) -> int:
    """Return a whole number from 0; an `ApiError` for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ApiError("bad_frame", f"{name}: a whole number from 0")
    return value
