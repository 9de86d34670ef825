"""A game that people play, as their browsers see it: they come and go, press keys, choose acts, talk and flag. The
server keeps the time and the state (see `running`); browsers send and draw."""

from __future__ import annotations

import asyncio
from typing import Any

from interplay.rollout.live_python import message_of
from interplay.server.api_error import ApiError
from interplay.study.live.game_session import Running
from interplay.study.live.kitchen_view import ENGLISH, CookMemory
from interplay.study.live.kitchen_words import Speech
from interplay.study.live.participant_slot import Chair, Send, whole

LONGEST_CHAT = 500
MOST_CHATS = 300  # of one person in one game


class Live(Running):
    """One game and the people who play it."""

    def join(self, person: int, send: Send, alias: dict[str, str], seen: int = -1, speech: Speech = ENGLISH) -> None:
        """A browser has come, or come back after it saw tick `seen`: it is told everything anew, in its words."""
        chair, game = self.chairs[person], self.engine.game
        if chair.shut:
            raise ApiError("too_many", "this game is just over: try again in a moment")
        if chair.send is not None:
            chair.send({"type": "elsewhere"})  # two windows of one person: the last one plays
        if not self.present:
            self._waited_since = asyncio.get_running_loop().time()
        chair.send, chair.joined, chair.gone_at = send, True, None
        self.table.speech[chair.seat] = speech
        send({
            "type": "start", "game": self.viewer.board, "tick_hz": self.setting.tick_hz, "ticks": game.horizon,
            "seat": chair.seat, "you": chair.seat, "alias": alias, "seq": chair.seq,
            "layout": self.viewer.layout(game, self.table.state),
        })  # fmt: skip
        chair.note(self.table.t, "join", seen=seen)
        self._show(chair)
        self._changed.set()

    def leave(self, person: int, send: Send, reason: str) -> bool:
        """The browser has gone, unless another has taken its place; whether it has."""
        chair = self.chairs[person]
        if chair.send is not send:
            return False
        chair.send, chair.gone_at = None, asyncio.get_running_loop().time()
        chair.note(self.table.t, "leave", reason=reason)
        self._changed.set()
        return True

    def stop(self, person: int) -> None:
        """Someone has stopped taking part. The others are told at once; the game ends with the step under way."""
        chair = self.chairs[person]
        chair.stopped = True
        for other in self.chairs.values():
            if chair.came and not other.stopped:
                other.tell({"type": "pause", "reason": "stopped", "grace_s": 0})
        self._changed.set()

    def told(self, person: int, message: dict[str, Any]) -> None:
        """A message from a browser; a `Refusal` if it cannot be taken."""
        chair = self.chairs[person]
        match message.get("type"):
            case "act":
                self._press(chair, whole(message.get("seq"), "seq"), message.get("action"), message.get("t"))
            case "flag":
                self._flag(chair, whole(message.get("seq"), "seq"), message.get("id"), message.get("t"))
            case "chat":
                self._chat(chair, whole(message.get("seq"), "seq"), message.get("text"))
            case "visibility":
                chair.note(self.table.t, "visibility", hidden=message.get("hidden") is True)
            case "ping":
                rtt = message.get("rtt_ms")
                if isinstance(rtt, int | float) and not isinstance(rtt, bool) and 0 <= rtt < 1e6:
                    chair.note(self.table.t, "rtt", ms=round(float(rtt), 1))
                at = message.get("at")
                chair.tell({"type": "pong", "at": at if isinstance(at, int | float) else 0})
            case _:
                raise ApiError("bad_frame", "type: act, flag, chat, visibility or ping")

    def _press(self, chair: Chair, seq: int, name: Any, seen: Any) -> None:
        if chair.cook is not None:
            self._begin_act(chair, chair.cook, seq, name)
            return
        action = self._actions.get(name) if isinstance(name, str) else None
        if action is None:
            raise ApiError("bad_frame", "action: no such action in this game")
        if chair.again(seq, self.table.t):
            return
        if not self.viewer.real_time:
            # Sent again after a crash that took the last moves with it, it would be made in another situation.
            if seen is not None and seen != self.table.t:
                raise ApiError("illegal_action", "this move was meant for another moment: choose again")
            if not chair.may(self.table, action):
                raise ApiError("illegal_action", "this move is not possible now")
        chair.press(seq, action)
        self._changed.set()

    def _begin_act(self, chair: Chair, cook: CookMemory, seq: int, name: Any) -> None:
        if chair.again(seq, self.table.t):
            return
        if self.table.done:
            raise ApiError("illegal_action", "the game is over")
        remarks = cook.choose(self.table.state, name, self._speech(chair))
        chair.take(seq)
        self.table.macro_actions[chair.seat] = str(cook.act)
        chair.acknowledge(chair.note(self.table.t, "act", action=str(cook.act), seqs=[seq]), (seq,), self.table.t)
        for remark in remarks:
            self._remarked(self.table, chair.seat, remark)
        self._show(chair)
        self._changed.set()

    def _flag(self, chair: Chair, seq: int, name: Any, t: Any) -> None:
        if not isinstance(name, str) or name not in chair.flags:
            raise ApiError("bad_frame", "id: no such button in this game")
        if chair.again(seq, self.table.t):
            return
        self._still_open()
        chair.take(seq)
        seen = t if isinstance(t, int) and 0 <= t <= self.table.t else self.table.t
        self.table.add_event(chair.seat, "flag", {"id": name, "seen": seen})
        chair.acknowledge(chair.note(self.table.t, "flag", id=name, seen=seen, seqs=[seq]), (seq,), self.table.t)

    def _still_open(self) -> None:
        if self._told:
            raise ApiError("conflict", "the game is over")

    def _chat(self, chair: Chair, seq: int, text: Any) -> None:
        if self.viewer.message is None:
            raise ApiError("bad_frame", "there is no talk in this game")
        said = text.strip() if isinstance(text, str) else ""
        if not 0 < len(said) <= LONGEST_CHAT or any(ord(letter) < 32 or ord(letter) == 127 for letter in said):
            raise ApiError("bad_frame", f"text: a line of 1 to {LONGEST_CHAT} characters")
        if chair.again(seq, self.table.t):
            return
        if sum(r.kind == "message" and r.seat == chair.seat for r in self.table.log.events) >= MOST_CHATS:
            raise ApiError("too_many", "you have said all that can be said in one game")
        self._still_open()
        chair.take(seq)
        t, told = self.table.t, dict(self.viewer.message(self.engine.game, chair.seat, said))
        chair.acknowledge(chair.note(t, "chat", **told, seqs=[seq]), (seq,), t)
        self.table.add_event(chair.seat, "message", told)
        self.engine.say(self.table, message_of(t, chair.seat, told))
        self._show_all()
