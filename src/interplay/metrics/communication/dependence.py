"""Structured interdependence from executions alone: what one put on a counter and another took.

The symbolic count of `interdependence` gives the same numbers for recorded episodes; this one also reads transcripts
that have no states.
"""

from __future__ import annotations

from typing import NamedTuple

from interplay.metrics.communication.kitchen_words import DISH
from interplay.metrics.communication.records import Transcript, TranscriptEvent


class Passed(NamedTuple):
    """Something that was put within a partner's reach; `taken` is the partner's pick-up, if one came first."""

    put: TranscriptEvent
    taken: TranscriptEvent | None
    constructive: bool

    def within(self, steps: int | None) -> bool:
        """Whether it was accepted in so many steps (None: ever)."""
        return self.taken is not None and (steps is None or self.taken.t - self.put.t <= steps)


class DependenceRates(NamedTuple):
    """Triggers with the rates made of them; a rate is None where there is nothing to divide by."""

    triggers: int
    accepted: int
    constructive: int

    @property
    def adr(self) -> float | None:
        """Accepted dependency rate: accepted / triggers."""
        return self.accepted / self.triggers if self.triggers else None

    @property
    def mor(self) -> float | None:
        """Missed opportunity rate: 1 - ADR."""
        return 1 - self.accepted / self.triggers if self.triggers else None

    @property
    def idensity(self) -> float | None:
        """Constructive / accepted."""
        return self.constructive / self.accepted if self.accepted else None


def passed(transcript: Transcript) -> list[Passed]:
    """Every trigger of an episode."""
    acts = transcript.executed()
    delivered = _delivered(transcript)
    result = []
    for place, (event, act) in enumerate(acts):
        if act.verb != "place_obj_on_counter" or event.shared is False:
            continue
        later = acts[place + 1 :]
        taken = next((e for e, a in later if a.verb == "pickup" and thing_of(e) == thing_of(event)), None)
        if taken is None or taken.agent == event.agent:
            result.append(Passed(event, None, False))
            continue
        useful = _ends_in(transcript, taken, delivered) and not _looping(transcript, event, taken)
        result.append(Passed(event, taken, useful))
    return result


def rates(things: list[Passed], steps: int | None, giver: int | None = None) -> DependenceRates:
    """Count triggers, accepted and constructive ones.

    Args:
        things: What was put within reach in an episode.
        steps: Steps within which a thing must be taken to count as accepted; None: any time.
        giver: Count this seat's triggers alone.
    """
    mine = [p for p in things if giver is None or p.put.agent == giver]
    accepted = [p for p in mine if p.within(steps)]
    return DependenceRates(len(mine), len(accepted), sum(p.constructive for p in accepted))


def thing_of(event: TranscriptEvent) -> str:
    """Which thing it was: its lineage, or its name where a transcript tells no lineage."""
    return event.lineage or (event.act.object if event.act and event.act.object else "")


def _delivered(transcript: Transcript) -> set[str]:
    """The ingredients that ended in the delivered dish; none if it was not delivered."""
    if not transcript.success:
        return set()
    served = [e for e, act in transcript.executed() if act.verb == "deliver" and act.object == transcript.task.product]
    return set(thing_of(served[-1]).split("+")) if served else set()


def _ends_in(transcript: Transcript, taken: TranscriptEvent, delivered: set[str]) -> bool:
    """Whether the taken thing is part of what was delivered; a dish, if it was filled with that."""
    if taken.act and taken.act.object == DISH:
        after = [e for e, a in transcript.executed() if e.when > taken.when and a.verb == "fill_dish_with_food"]
        filled = next((e for e in after if e.agent == taken.agent), None)
        return filled is not None and bool(set(thing_of(filled).split("+")) & delivered)
    if taken.lineage is None:  # known by name only: the recipe needs it, and the dish was delivered
        return bool(delivered) and any(thing == thing_of(taken) for _, thing in transcript.task.needs)
    return set(taken.lineage.split("+")) <= delivered


def _looping(transcript: Transcript, put: TranscriptEvent, taken: TranscriptEvent) -> bool:
    """Whether the giver got it back in the same state, or the receiver had had it in that state before."""
    for event, act in transcript.executed():
        if act.verb != "pickup" or thing_of(event) != thing_of(put) or act.object != taken.act.object:  # type: ignore[union-attr]
            continue
        back = event.agent == put.agent and event.when > taken.when
        before = event.agent == taken.agent and event.when < put.when
        if back or before:
            return True
    return False
