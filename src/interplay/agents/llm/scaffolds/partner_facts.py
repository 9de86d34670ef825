"""What can be computed about a partner without asking a model: what it holds, what it was asked, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agents.llm.kitchen.situation import Situation
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import Macro, legal_macros
from interplay.games.collab_kitchen.rules import faced


@dataclass(frozen=True)
class PartnerRequest:
    """A request of mine: when, what, and when it was done, if it was."""

    t: int
    what: str
    done: int | None

    @property
    def latency(self) -> int | None:
        return None if self.done is None else self.done - self.t


def partner(situation: Situation) -> int:
    """The other cook; of several, the first."""
    return situation.others[0]


def held(situation: Situation, seat: int) -> str:
    item = situation.state.world.hands[seat]
    return "nothing" if item is None else item.name + (" on a dish" if item.on_dish and item.food else "")


def station(situation: Situation, seat: int) -> str:
    at = faced(situation.game.layout, situation.state.cooks[seat])
    return "none" if at is None else at.name


def requests(situation: Situation, by: int, of: int) -> list[PartnerRequest]:
    """What one cook has asked of another in explicit requests; each deed fulfils one request."""
    deeds = [d for d in situation.deeds if d.seat == of]
    found = []
    for message in situation.messages:
        if message.sender != by or message.to not in (None, of):
            continue
        for unit in message.units:
            match = next((d for d in deeds if d.t >= message.t and _fits(unit, d)), None)
            if match is not None:
                deeds.remove(match)
            what = Macro(str(unit["verb"]), unit.get("object"), unit.get("place"))
            found.append(PartnerRequest(message.t, str(what), None if match is None else match.t))
    return found


def _fits(unit, deed: Execution) -> bool:
    return unit["verb"] == deed.verb and unit.get("object") in (None, deed.object)


def choices(situation: Situation, seat: int) -> tuple[str, ...]:
    """What a cook could do next, as texts."""
    return tuple(str(m) for m in legal_macros(situation.game, situation.state, seat))


def same_act(choice: str, deed: Execution) -> bool:
    """Whether a predicted action is what was then done."""
    verb, _, inside = choice.partition("(")
    named = inside.rstrip(")").split(", ")[0]
    return verb == deed.verb and (verb != "pickup" or inside.startswith(deed.object) or named == deed.object)
