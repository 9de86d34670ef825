"""Talking within a step: what a seat that can talk offers to the runner that lets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from interplay.agents.api import Move, TraceEvent
from interplay.games.api import Game


@dataclass(frozen=True, kw_only=True)
class Message:
    """Something said to one seat, or to all (None)."""

    t: int
    sender: int
    to: int | None
    text: str
    units: Sequence[Mapping[str, Any]] = ()  # explicit requests
    turn: int = 0  # within its dialogue


@dataclass(frozen=True, kw_only=True)
class DialogueObservation:
    """A talking seat's view of a step. Such games are fully observed; what a prompt may tell is the player's care."""

    game: Game
    seat: int
    t: int
    state: Any
    legal: np.ndarray  # [action] bool
    states: Sequence[Any]  # all so far, this one last
    actions: Sequence[np.ndarray]  # joint actions that led here


class DialogueAgent(Protocol):
    """A session in one seat that talks. Each call leaves events behind, which the runner takes in order."""

    async def open(self, sight: DialogueObservation) -> Sequence[Message]:
        """Begin a step: think if there is nothing left to do, and perhaps say something."""
        ...

    def hear(self, message: Message) -> None:
        """Take in something that was said, to this seat or by it."""
        ...

    async def reply(self, sight: DialogueObservation, turn: int) -> Sequence[Message]:
        """Answer what was just heard; nothing ends the dialogue."""
        ...

    async def settle(self, sight: DialogueObservation) -> Move:
        """End a step: the action."""
        ...

    def take_events(self) -> list[TraceEvent]:
        """The events since the last call."""
        ...


class Dialogue:
    """Messages within one step: who hears what, who answers, and when it ends."""

    def __init__(self, agents: Mapping[int, DialogueAgent], observe: Any, emit: Any):
        """Set up the dialogue of a step.

        Args:
            agents: The seats that talk.
            observe: Function seat -> DialogueObservation of now.
            emit: Function (seat or None, TraceEvent), called in the order in which events fall.
        """
        self._agents, self._observe, self._emit = agents, observe, emit

    async def open(self, seat: int, turn_cap: int) -> None:
        """Let a seat think and speak, and others answer, until nobody says more or the cap is reached."""
        await self.converse(await self.first_words(seat), turn_cap)

    async def first_words(self, seat: int) -> Sequence[Message]:
        """Let a seat think; what it says."""
        return await self._asked(seat, self._agents[seat].open(self._observe(seat)))

    async def converse(self, said: Sequence[Message], turn_cap: int, turns: int = 0) -> int:
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
            answers: list[Message] = []
            for seat in heard_by:
                answers += await self._asked(seat, self._agents[seat].reply(self._observe(seat), turns + len(answers)))
            said = answers
        return turns

    async def settle(self, seat: int) -> Move:
        """The action of a seat that talks."""
        return await self._asked(seat, self._agents[seat].settle(self._observe(seat)))

    def take_events(self) -> None:
        """Pass on the events of every seat."""
        for seat in self._agents:
            self._take(seat)

    def deliver(self, said: Sequence[Message]) -> list[int]:
        """Let everybody addressed hear it, and the speaker too; who was addressed, in seat order."""
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


def can_talk(policy: Any, game: Game) -> bool:
    """Whether an agent's sessions talk in this game."""
    return hasattr(policy, "talks") and bool(policy.talks(game))
