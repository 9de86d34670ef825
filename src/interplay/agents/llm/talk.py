"""Talking within a step: what a seat that can talk offers to the runner that lets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from interplay.agents.api import Move, Remark
from interplay.agents.llm.limits import Meter
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
class Sight:
    """A talking seat's view of a step. Such games are fully observed; what a prompt may tell is the player's care."""

    game: Game
    seat: int
    t: int
    state: Any
    legal: np.ndarray  # [action] bool
    states: Sequence[Any]  # all so far, this one last
    actions: Sequence[np.ndarray]  # joint actions that led here


class Talker(Protocol):
    """A session in one seat that talks. Each call leaves remarks behind, which the runner takes in order."""

    async def open(self, sight: Sight) -> Sequence[Message]:
        """The start of a step: think if there is nothing left to do, and perhaps say something."""
        ...

    def hear(self, message: Message) -> None:
        """Something was said, to this seat or by it."""
        ...

    async def reply(self, sight: Sight, turn: int) -> Sequence[Message]:
        """What to answer to what was just heard; nothing ends the dialogue."""
        ...

    async def settle(self, sight: Sight) -> Move:
        """The end of a step: the action."""
        ...

    def take_remarks(self) -> list[Remark]: ...


class TalkingPlayer(Protocol):
    """A player whose sessions may talk."""

    encoding: str
    turn_cap: int  # messages in one dialogue

    def talks(self, game: Game) -> bool: ...

    def begin_talking(self, game: Game, seat: int, seed: int, meter: Meter) -> Talker: ...
