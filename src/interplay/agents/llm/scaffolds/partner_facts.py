"""Facts about a partner computed without a model: what it holds, what it was asked, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agents.llm.kitchen.situation import Situation
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import legal_macros
from interplay.games.collab_kitchen.rules import faced
from interplay.games.registry import capability


@dataclass(frozen=True)
class PartnerRequest:
    """A request of this cook: when, what, and when it was done (None: not yet)."""

    t: int
    what: str
    done: int | None

    @property
    def latency(self) -> int | None:
        """Steps until it was done; None if it was not."""
        return None if self.done is None else self.done - self.t


def partner(situation: Situation) -> int:
    """Return the other cook; of several, the first."""
    return situation.others[0]


def held_name(situation: Situation, seat: int) -> str:
    """Return the name of what a cook holds."""
    item = situation.state.world.hands[seat]
    return "nothing" if item is None else item.text


def station(situation: Situation, seat: int) -> str:
    """Return the name of the station that a cook faces."""
    at = faced(situation.game.layout, situation.state.cooks[seat])
    return "none" if at is None else at.name


def requests(situation: Situation, by: int, of: int) -> list[PartnerRequest]:
    """Return what one cook has asked of another, in words or explicitly; each execution fulfils one request.

    Messages are read by the audit's own reader, which the game declares.
    """
    read = capability(situation.sight.game, "request_reader")
    executed = [d for d in situation.executions if d.seat == of]
    asked = []
    for request in read(situation.game, situation.messages, situation.executions):
        if request.by != by or request.to not in (None, of):
            continue
        match = next((d for d in executed if d.t >= request.t and request.fits(d)), None)
        if match is not None:
            executed.remove(match)
        asked.append(PartnerRequest(request.t, str(request.act), None if match is None else match.t))
    return asked


def refused(situation: Situation, seat: int, last: int = 3) -> list[str]:
    """Return what the verifier last refused to a cook."""
    return [f"step {r.t}: {r.text}" for r in situation.refusals if r.seat == seat][-last:]


def choices(situation: Situation, seat: int) -> tuple[str, ...]:
    """Return what a cook could do next, as texts."""
    return tuple(str(m) for m in legal_macros(situation.game, situation.state, seat))


def same_act(choice: str, execution: Execution) -> bool:
    """Return whether a predicted action is what was then done."""
    verb, _, inside = choice.partition("(")
    named = inside.rstrip(")").split(", ")[0]
    return verb == execution.verb and (
        verb != "pickup" or inside.startswith(execution.object) or named == execution.object
    )
