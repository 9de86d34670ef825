"""What a cook knows when it thinks: the kitchen, what was done, what was said, what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interplay.agents.dialogue import DialogueObservation, Message
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import Macro
from interplay.games.collab_kitchen.state import KitchenState


@dataclass(frozen=True, kw_only=True)
class SituationEvent:
    """A line of a cook's memory."""

    t: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A moment in which a cook is asked."""

    sight: DialogueObservation
    purpose: str  # "plan", "reply" or "correct"
    queue: Sequence[Macro]  # what is left of the own plan
    messages: Sequence[Message]  # all that were said to or by this cook
    deeds: Sequence[Execution]  # all that was done, by anybody
    memory: Sequence[SituationEvent]
    feedback: str | None = None  # what was wrong with the last answer or act

    @property
    def game(self) -> Kitchen:
        return self.sight.game  # type: ignore[return-value]

    @property
    def state(self) -> KitchenState:
        return self.sight.state

    @property
    def seat(self) -> int:
        return self.sight.seat

    @property
    def t(self) -> int:
        return self.sight.t

    @property
    def others(self) -> list[int]:
        return [s for s in range(self.game.num_seats) if s != self.seat]

    def name(self, seat: int) -> str:
        return self.game.seat_names[seat]

    def knows_recipe(self) -> bool:
        return self.game.roles[self.seat].knows_recipe
