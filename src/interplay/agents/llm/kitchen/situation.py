"""What a cook knows when its model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interplay.agents.dialogue import DialogueMessage, DialogueObservation
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import Macro
from interplay.games.collab_kitchen.state import KitchenState


@dataclass(frozen=True, kw_only=True)
class SituationEvent:
    """An entry of a cook's memory."""

    t: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What the verifier refused to a cook."""

    t: int
    seat: int
    text: str  # the act, where it is known, and why


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The moment at which a cook's model is asked."""

    sight: DialogueObservation
    purpose: str  # "plan", "reply" or "correct"
    queue: Sequence[Macro]  # what is left of the own plan
    messages: Sequence[DialogueMessage]  # all sent to or by this cook
    executions: Sequence[Execution]  # all that was done, by anybody
    memory: Sequence[SituationEvent]
    refusals: Sequence[Refusal] = ()  # to anybody, in order
    feedback: str | None = None  # what was wrong with the last answer or act

    @property
    def game(self) -> Kitchen:
        """The kitchen."""
        return self.sight.game  # type: ignore[return-value]

    @property
    def state(self) -> KitchenState:
        """The current state."""
        return self.sight.state

    @property
    def seat(self) -> int:
        """The cook's seat."""
        return self.sight.seat

    @property
    def t(self) -> int:
        """The current step."""
        return self.sight.t

    @property
    def others(self) -> list[int]:
        """The other seats."""
        return [s for s in range(self.game.num_seats) if s != self.seat]

    def name(self, seat: int) -> str:
        """Return a seat's name."""
        return self.game.seat_names[seat]

    def knows_recipe(self) -> bool:
        """Return whether this cook's role knows the recipe."""
        return self.game.roles[self.seat].knows_recipe
