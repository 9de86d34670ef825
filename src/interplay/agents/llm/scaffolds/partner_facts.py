"""Facts about a partner computed without a model: what it holds, what it was asked, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agents.llm.kitchen.situation import Situation
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import Macro, legal_macros
from interplay.games.collab_kitchen.rules import faced


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
    """Return what one cook has asked of another in explicit requests; each execution fulfils one request."""
    executed = [d for d in situation.executions if d.seat == of]
    asked = []
    for message in situation.messages:
        if message.sender != by or message.to not in (None, of):
            continue
        for unit in message.units:
            match = next((d for d in executed if d.t >= message.t and _fits(unit, d)), None)
            if match is not None:
                executed.remove(match)
            what = Macro(str(unit["verb"]), unit.get("object"), unit.get("place"))
            asked.append(PartnerRequest(message.t, str(what), None if match is None else match.t))
    return asked


def _fits(unit, execution: Execution) -> bool:
    return unit["verb"] == execution.verb and unit.get("object") in (None, execution.object)


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
