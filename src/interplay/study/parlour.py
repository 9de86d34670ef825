"""What the partners of one table think and say, in a game that is plain Python and in which seats may talk.

People speak whenever they like; a partner hears it at once and may answer. Otherwise a step goes as in `play.talk`: in
seat order, a partner that has nothing left to do thinks and may speak; when everyone else has chosen, it settles.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from interplay.agents.api import TraceEvent
from interplay.agents.dialogue import DialogueAgent, DialogueObservation, Message
from interplay.agents.llm.limits import Meter
from interplay.games.api import Game
from interplay.rollout import plain
from interplay.study.minds import Choice, Mind
from interplay.study.seats import Cast, Table, key_of, seed_of

LOG = logging.getLogger("interplay.study")


class Parlour:
    """The partners of one table, in one thread: they think one after the other, as they talk to each other."""

    def __init__(self, game: Game, cast: Cast, table: Table):
        self._game, self._table = game, table
        self._talkers: dict[int, DialogueAgent] = {}
        self._others: dict[int, Any] = {}
        meter, caps = Meter(), []
        for seat in sorted(table.bots):
            mind: Any = cast.agent(cast.who(table, seat)).policy
            seed = seed_of(table.chance, seat)
            if hasattr(mind, "talks") and mind.talks(game):
                self._talkers[seat] = mind.begin_talking(game, seat, seed, meter)
                caps.append(mind.turn_cap)
            else:
                self._others[seat] = plain.sit_down(mind, game, seat, key_of(table.chance, 1000 + seat), seed, 0, 0)
        self._cap = min(caps, default=0)
        self._turns = (-1, 0)  # a step, and how many messages were said in it
        self._mind = Mind(f"partners at {game.id}")

    @property
    def talks(self) -> bool:
        return bool(self._talkers)

    def remember(self, said: Sequence[Message]) -> None:
        """What was said before: heard, not answered."""
        for message in said:
            self._deliver([message])

    def open(self) -> None:
        """A step begins."""
        t = self._table.t
        if self._talkers:
            self._mind.ask(lambda: self._guarded(self._open(t), "thinking")).add_done_callback(_retrieved)

    def hear(self, message: Message) -> None:
        """A person has spoken."""
        self._mind.ask(lambda: self._guarded(self._heard(message), "answering")).add_done_callback(_retrieved)

    def settle(self) -> dict[int, Future]:
        """Everyone else has chosen: what each partner does, a `Choice`."""
        t, told = self._table.t, {seat: Future() for seat in (*self._talkers, *self._others)}
        self._mind.ask(lambda: self._settle(t, told)).add_done_callback(_retrieved)
        return told

    def close(self) -> None:
        self._mind.close()

    # What follows runs in the partners' thread.

    async def _guarded(self, work: Any, what: str) -> None:
        """A partner that fails says no more in this step; the game goes on."""
        try:
            await work
        except Exception as error:
            LOG.warning("%s: a partner failed while %s: %s", self._game.id, what, error)
            for seat in self._talkers:
                self._take(seat)
            self._table.emit(
                None, TraceEvent("partner_error", {"error": type(error).__name__, "message": str(error)[:500]})
            )

    async def _open(self, t: int) -> None:
        for seat, talker in self._talkers.items():
            if self._table.t != t or self._table.done:
                return  # the game did not wait
            await self._converse(await self._told(seat, talker.open(self._sight(seat))))

    async def _heard(self, message: Message) -> None:
        await self._converse([message])

    async def _settle(self, t: int, told: dict[int, Future]) -> None:
        for seat in sorted(told):
            if self._table.t != t or self._table.done:
                told[seat].cancel()
                continue
            try:
                choice = await (self._settle_talker(seat) if seat in self._talkers else self._ask(seat))
            except Exception as error:
                LOG.warning("%s: a partner failed while settling: %s", self._game.id, error)
                told[seat].set_exception(error)
            else:
                told[seat].set_result(choice)

    async def _settle_talker(self, seat: int) -> Choice:
        sight = self._sight(seat)
        move = await self._told(seat, self._talkers[seat].settle(sight))
        return Choice(_checked(self._game, seat, move.action, sight.legal), tuple(move.events))

    async def _ask(self, seat: int) -> Choice:
        t = self._table.t
        state = self._table.states[t]
        legal, turn = np.asarray(self._game.legal(state)), np.asarray(self._game.to_move(state))
        move = await plain.ask_seat(self._game, self._others[seat], state, t, seat, legal, turn)
        return Choice(_checked(self._game, seat, move.action, legal[seat]), tuple(move.events))

    async def _converse(self, said: Sequence[Message]) -> None:
        """What was said, and the answers to it, until nobody says more or the step's cap is reached."""
        t = self._table.t
        turn = self._turns[1] if self._turns[0] == t else 0
        while said:
            heard_by = self._deliver(said)
            turn += len(said)
            self._turns = (t, turn)
            if turn >= self._cap:
                # The last word has been heard; what it asks is answered when the listener next thinks.
                if heard_by:
                    self._table.emit(None, TraceEvent("dialogue_cut", {"turns": turn}))
                return
            answers: list[Message] = []
            for seat in heard_by:
                work = self._talkers[seat].reply(self._sight(seat), turn + len(answers))
                answers += await self._told(seat, work)
            said = answers

    def _deliver(self, said: Sequence[Message]) -> list[int]:
        """Every partner addressed hears it, and so does the speaker; who was addressed, in seat order."""
        addressed = set()
        for message in said:
            for seat, talker in self._talkers.items():
                if seat == message.sender or message.to in (None, seat):
                    talker.hear(message)
                    addressed |= {seat} - {message.sender}
        return sorted(addressed)

    async def _told(self, seat: int, work: Any) -> Any:
        found = await work
        self._take(seat)
        return found

    def _take(self, seat: int) -> None:
        for remark in self._talkers[seat].take_events():
            self._table.emit(seat, remark)

    def _sight(self, seat: int) -> DialogueObservation:
        table, game = self._table, self._game
        t = table.t
        states = table.states[: t + 1]
        legal = np.asarray(game.legal(states[-1]))[seat]
        actions = table.actions[:t]
        return DialogueObservation(
            game=game, seat=seat, t=t, state=states[-1], legal=legal, states=states, actions=actions
        )


def _checked(game: Game, seat: int, action: int, legal: np.ndarray) -> int:
    if not (0 <= action < len(legal) and legal[action]):
        raise ValueError(f"action {action} of seat {seat} is not legal in {game.id}")
    return int(action)


def _retrieved(told: Future) -> None:
    """Someone has looked at the error, if there was one."""
    if not told.cancelled() and (error := told.exception()) is not None:
        LOG.error("partners failed", exc_info=error)
