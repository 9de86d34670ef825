"""A game as participants' browsers drive it: they connect and leave, press keys, choose actions, chat and flag.

The server keeps the time and the state (`game_session`); browsers send and draw.
"""

from __future__ import annotations

import asyncio
from typing import Any

from interplay.rollout.live_python import message_of
from interplay.server.api_error import ApiError
from interplay.study.live.game_session import GameSession
from interplay.study.live.kitchen_view import ENGLISH, CookMemory
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.participant_slot import ParticipantSlot, Send, whole

LONGEST_CHAT = 500
MOST_CHATS = 300  # of one person in one game


class LiveGame(GameSession):
    """A game session with the messages of its participants' browsers."""

    def join(
        self,
        person: int,
        send: Send,
        alias: dict[str, str],
        seen: int = -1,
        speech: Speech = ENGLISH,
        acknowledges: bool = False,
    ) -> None:
        """Connect a participant's browser, and send it the whole state.

        Args:
            person: The participant.
            send: Sends a message to the browser.
            alias: Label, colour and shape of the partner.
            seen: The last tick that the browser has seen; -1 for none.
            speech: The language of the kitchen's texts.
            acknowledges: Whether the browser will say which ticks it has drawn.

        Raises:
            ApiError: The game is over and the participant never connected to it.
        """
        slot, game = self.slots[person], self.engine.game
        if slot.shut:
            raise ApiError("too_many", "this game is just over: try again in a moment")
        if slot.send is not None:
            slot.send({"type": "elsewhere"})  # of two windows of one participant the last one plays
        if not self.attended:
            self._waited_since = asyncio.get_running_loop().time()
        slot.send, slot.joined, slot.gone_at = send, True, None
        slot.listen(acknowledges, self.table.t)
        self.table.speech[slot.seat] = speech
        send({
            "type": "start", "game": self.viewer.board, "tick_hz": self.setting.tick_hz, "ticks": game.horizon,
            "seat": slot.seat, "you": slot.seat, "alias": alias, "seq": slot.seq,
            "layout": self.viewer.layout(game, self.table.state),
        })  # fmt: skip
        slot.note(self.table.t, "join", seen=seen)
        self._show(slot)
        self._tell_countdown(slot)
        self._changed.set()

    def leave(self, person: int, send: Send, reason: str) -> bool:
        """Disconnect a browser; False if another one has taken its place already."""
        slot = self.slots[person]
        if slot.send is not send:
            return False
        slot.send, slot.gone_at = None, asyncio.get_running_loop().time()
        slot.note(self.table.t, "leave", reason=reason, **self._unseen_steps(slot))
        self._changed.set()
        return True

    def stop(self, person: int) -> None:
        """Withdraw a participant: the others are told at once, and the game ends with the step under way."""
        slot = self.slots[person]
        slot.stopped = True
        for other in self.slots.values():
            if slot.came and not other.stopped:
                other.tell({"type": "pause", "reason": "stopped", "grace_s": 0})
        self._changed.set()

    def receive(self, person: int, message: dict[str, Any]) -> None:
        """Handle a message of a participant's browser; an `ApiError` if it cannot be taken."""
        slot = self.slots[person]
        match message.get("type"):
            case "act":
                self._press(slot, whole(message.get("seq"), "seq"), message.get("action"), message.get("t"))
            case "flag":
                self._flag(slot, whole(message.get("seq"), "seq"), message.get("id"), message.get("t"))
            case "chat":
                self._chat(slot, whole(message.get("seq"), "seq"), message.get("text"))
            case "seen":
                self._saw(slot, whole(message.get("t"), "t"))
            case "ready":
                slot.pressed_start = True
                self._changed.set()
            case "visibility":
                slot.note(self.table.t, "visibility", hidden=message.get("hidden") is True)
            case "ping":
                rtt = message.get("rtt_ms")
                if isinstance(rtt, int | float) and not isinstance(rtt, bool) and 0 <= rtt < 1e6:
                    slot.note(self.table.t, "rtt", ms=round(float(rtt), 1))
                at = message.get("at")
                slot.tell({"type": "pong", "at": at if isinstance(at, int | float) else 0})
            case _:
                raise ApiError("bad_frame", "type: act, flag, chat, seen, ready, visibility or ping")

    def _press(self, slot: ParticipantSlot, seq: int, name: Any, seen: Any) -> None:
        if slot.cook is not None:
            self._begin_act(slot, slot.cook, seq, name)
            return
        action = self._actions.get(name) if isinstance(name, str) else None
        if action is None:
            raise ApiError("bad_frame", "action: no such action in this game")
        if slot.seen_before(seq, self.table.t):
            return
        if not self.viewer.real_time:
            # A move that is sent again after a crash which lost the last moves would be made in another situation.
            if seen is not None and seen != self.table.t:
                raise ApiError("illegal_action", "this move was meant for another moment: choose again")
            if not slot.may(self.table, action):
                raise ApiError("illegal_action", "this move is not possible now")
        slot.press(seq, action)
        self._changed.set()

    def _begin_act(self, slot: ParticipantSlot, cook: CookMemory, seq: int, name: Any) -> None:
        if slot.seen_before(seq, self.table.t):
            return
        if self.table.done:
            raise ApiError("illegal_action", "the game is over")
        remarks = cook.choose(self.table.state, name, self._speech(slot))
        slot.take(seq)
        self.table.macro_actions[slot.seat] = str(cook.act)
        slot.acknowledge(slot.note(self.table.t, "act", action=str(cook.act), seqs=[seq]), (seq,), self.table.t)
        for remark in remarks:
            self._record_event(self.table, slot.seat, remark)
        self._show(slot)
        self._changed.set()

    def _flag(self, slot: ParticipantSlot, seq: int, name: Any, t: Any) -> None:
        if not isinstance(name, str) or name not in slot.flags:
            raise ApiError("bad_frame", "id: no such button in this game")
        if slot.seen_before(seq, self.table.t):
            return
        self._still_open()
        slot.take(seq)
        seen = t if isinstance(t, int) and 0 <= t <= self.table.t else self.table.t
        self.table.add_event(slot.seat, "flag", {"id": name, "seen": seen})
        slot.acknowledge(slot.note(self.table.t, "flag", id=name, seen=seen, seqs=[seq]), (seq,), self.table.t)

    def _still_open(self) -> None:
        if self._trace_made:
            raise ApiError("conflict", "the game is over")

    def _chat(self, slot: ParticipantSlot, seq: int, text: Any) -> None:
        if self.viewer.message is None:
            raise ApiError("bad_frame", "there is no talk in this game")
        said = text.strip() if isinstance(text, str) else ""
        if not 0 < len(said) <= LONGEST_CHAT or any(ord(letter) < 32 or ord(letter) == 127 for letter in said):
            raise ApiError("bad_frame", f"text: a line of 1 to {LONGEST_CHAT} characters")
        if slot.seen_before(seq, self.table.t):
            return
        if sum(r.kind == "message" and r.seat == slot.seat for r in self.table.log.events) >= MOST_CHATS:
            raise ApiError("too_many", "you have said all that can be said in one game")
        self._still_open()
        slot.take(seq)
        t, payload = self.table.t, dict(self.viewer.message(self.engine.game, slot.seat, said))
        slot.acknowledge(slot.note(t, "chat", **payload, seqs=[seq]), (seq,), t)
        self.table.add_event(slot.seat, "message", payload)
        self.engine.say(self.table, message_of(t, slot.seat, payload))
        self._show_all()
