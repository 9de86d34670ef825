"""Messages within a step: the interface of seats that talk, and the exchange between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from interplay.agents.api import Move, TraceEvent
from interplay.games.api import Game, State


@dataclass(frozen=True, kw_only=True)
class DialogueMessage:
    """A message to one seat, or to all (`to` is None)."""

    t: int
    sender: int
    to: int | None
    text: str
    units: Sequence[Mapping[str, Any]] = ()  # explicit requests
    turn: int = 0  # within its dialogue


@dataclass(frozen=True, kw_only=True)
class DialogueObservation:
    """The view of a seat that can talk.

    Such games are fully observed; the player itself limits what a prompt reveals.
    """

    game: Game
    seat: int
    t: int
    state: State
    legal: np.ndarray  # [action] bool
    states: Sequence[Any]  # all so far, this one last
    actions: Sequence[np.ndarray]  # joint actions that led here


class DialogueAgent(Protocol):
    """A session that talks. Its calls produce events, which the runner takes in order.

    One with a method `see_refusal(seat, payload)` is told what the verifier refuses to the others.
    """

    async def open(self, sight: DialogueObservation) -> Sequence[DialogueMessage]:
        """Begin a step: plan if there is nothing left to do, and return messages to send."""
        ...

    def hear(self, message: DialogueMessage) -> None:
        """Receive a message that was sent to or by this seat."""
        ...

    async def reply(self, sight: DialogueObservation, turn: int) -> Sequence[DialogueMessage]:
        """Answer the last messages; an empty answer ends the dialogue."""
        ...

    async def settle(self, sight: DialogueObservation) -> Move:
        """End a step: return the action."""
        ...

    def take_events(self) -> list[TraceEvent]:
        """Return the events since the last call."""
        ...


class Dialogue:
    """The exchange of messages within one step."""

    def __init__(self, agents: Mapping[int, DialogueAgent], observe: Any, emit: Any):
        """Set up the dialogue of a step.

        Args:
            agents: The seats that talk.
            observe: Function seat -> DialogueObservation of now.
            emit: Function (seat or None, TraceEvent), called in the order in which events fall.
        """
        self._agents, self._observe, self._emit = agents, observe, emit

    async def open(self, seat: int, turn_cap: int) -> None:
        """Let a seat plan and speak and the others answer, until nobody says more or the cap is reached."""
        await self.converse(await self.first_words(seat), turn_cap)

    async def first_words(self, seat: int) -> Sequence[DialogueMessage]:
        """Let a seat plan, and return the messages that it sends."""
        return await self._asked(seat, self._agents[seat].open(self._observe(seat)))

    async def converse(self, said: Sequence[DialogueMessage], turn_cap: int, turns: int = 0) -> int:
        """Deliver what was said and the answers to it.

        Args:
            said: The first messages.
            turn_cap: Messages that a dialogue may have; the last one is answered when its listener next thinks.
            turns: Messages before these.

        Returns:
            The number of messages so far.
        """
        while said:
            heard_by = self.deliver(said)
            turns += len(said)
            if turns >= turn_cap:
                if heard_by:
                    self._emit(None, TraceEvent("dialogue_cut", {"turns": turns}))
                return turns
            answers: list[DialogueMessage] = []
            for seat in heard_by:
                answers += await self._asked(seat, self._agents[seat].reply(self._observe(seat), turns + len(answers)))
            said = answers
        return turns

    async def settle(self, seat: int) -> Move:
        """Return the action of a seat that talks."""
        return await self._asked(seat, self._agents[seat].settle(self._observe(seat)))

    def take_events(self) -> None:
        """Pass on the events of every seat."""
        for seat in self._agents:
            self._take(seat)

    def deliver(self, said: Sequence[DialogueMessage]) -> list[int]:
        """Deliver messages to the seats addressed and to their sender; return the seats addressed, in seat order."""
        addressed: set[int] = set()
        for message in said:
            for seat, agent in self._agents.items():
                if seat == message.sender or message.to in (None, seat):
                    agent.hear(message)
                    addressed |= {seat} - {message.sender}
        return sorted(addressed)

    async def _asked(self, seat: int, answer: Any) -> Any:
        result = await answer
        self._take(seat)
        return result

    def _take(self, seat: int) -> None:
        for event in self._agents[seat].take_events():
            self._emit(seat, event)
            if event.kind == "verdict" and not event.payload["ok"]:
                for other, agent in self._agents.items():
                    if other != seat and (see := getattr(agent, "see_refusal", None)) is not None:
                        see(seat, event.payload)


def can_talk(policy: Any, game: Game) -> bool:
    """Whether an agent's sessions talk in this game."""
    return hasattr(policy, "talks") and bool(policy.talks(game))
