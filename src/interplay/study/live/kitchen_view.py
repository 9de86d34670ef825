"""A person's hands in the kitchen. People choose acts as language models do, by their words; the server walks them out
step by step, and asks again when an act is done or has become impossible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from interplay.agents.api import TraceEvent
from interplay.agents.llm.kitchen.session import acted_on
from interplay.games.collab_kitchen.dishes import recipe_lines
from interplay.games.collab_kitchen.draw import scene
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import executions
from interplay.games.collab_kitchen.macros import (
    Macro,
    ParseError,
    legal_macros,
    next_primitive,
    parse_macro,
    rest,
    verify,
)
from interplay.games.collab_kitchen.state import KitchenState
from interplay.server.api_error import ApiError
from interplay.study.live.kitchen_words import Speech

PATIENCE = 8  # steps that an act may be held up before the person is asked again
LONGEST_ACT = 200  # characters
_CALL = re.compile(r"[a-z_]+\((?:[^()]|\([^()]*\))*\)")
_REQUEST = re.compile(r"request\(\s*(['\"])(.*?)\1\s*\)")
ENGLISH = Speech()


class CookMemory:
    """One person in one seat: at most one act at a time."""

    def __init__(self, game: Kitchen, seat: int, doing: str | None = None):
        self._game, self._seat = game, seat
        found = parse_macro(doing) if doing else None
        self.act: Macro | None = found if isinstance(found, Macro) else None
        self._hoped: Macro | None = None  # the act whose last step was just taken
        self._still = 0  # steps in a row in which the act did not get on

    def choose(self, state: KitchenState, text: Any, speech: Speech = ENGLISH) -> list[TraceEvent]:
        """A new act in place of whatever is under way; a `Refusal` if it cannot be done now."""
        found = parse_macro(text) if isinstance(text, str) and len(text) <= LONGEST_ACT else None
        if not isinstance(found, Macro) or found.verb == "request":
            raise ApiError("bad_frame", "action: no such act in this kitchen")
        verdict = verify(self._game, state, self._seat, found)
        if not verdict.ok:
            raise ApiError("illegal_action", speech.refusal(verdict.error, verdict.message))
        self.act, self._hoped, self._still = found, None, 0
        told = {"verb": found.verb, "object": acted_on(self._game, state, self._seat, found), "place": found.place}
        return [
            TraceEvent("plan", {"macros": [found._asdict()]}),
            TraceEvent("attempt", told),
            TraceEvent("verdict", {**told, "ok": True, "error": None, "message": ""}),
        ]

    def dropped(self, state: KitchenState) -> TraceEvent | None:
        """Give up an act that can no longer be done: why, if so."""
        if self.act is None:
            return None
        verdict = verify(self._game, state, self._seat, self.act)
        error, message = verdict.error, verdict.message
        if verdict.ok and self._still >= PATIENCE and self.act.verb != "wait":
            error, message = "blocked", "somebody is in the way"
        if not error:
            return None
        told = {"verb": self.act.verb, "object": acted_on(self._game, state, self._seat, self.act)}
        told |= {"place": self.act.place, "ok": False, "error": error, "message": message}
        self.act = None
        return TraceEvent("verdict", told)

    def next(self, state: KitchenState) -> int:
        """The next step of the act; the act is over with its last one."""
        assert self.act is not None
        step = next_primitive(self._game, state, self._seat, self.act)
        if self.act.verb == "wait":
            self.act = rest(self.act)
        elif step.done:
            self._hoped, self.act = self.act, None
        return step.action

    def stepped(self, before: KitchenState, after: KitchenState, joint: Any) -> None:
        """What came of it: an act that somebody else was quicker at is tried again."""
        if self._hoped is not None:
            if all(deed.seat != self._seat for deed in executions(self._game, [before], [joint])):
                self.act = self._hoped
            self._hoped = None
        still = after.cooks[self._seat] == before.cooks[self._seat]
        self._still = self._still + 1 if still and self.act is not None else 0


def units(text: str) -> list[dict[str, Any]]:
    """The acts that a message asks for in so many words, as a model's explicit requests."""
    inner = _REQUEST.sub(lambda m: m[2], text)
    found = [parse_macro(call) for call in _CALL.findall(inner)]
    asked = [m for m in found if not isinstance(m, ParseError) and m.verb not in ("request", "wait")]
    return [{"verb": m.verb, "object": m.object, "place": m.place} for m in asked]


def readable(text: str, speech: Speech = ENGLISH) -> str:
    """A message for people: requests in plain words."""

    def told(match: re.Match[str]) -> str:
        found = parse_macro(match[2])
        return speech.say("Please: {act}.", act=speech.act(found, None)) if isinstance(found, Macro) else match[0]

    return _REQUEST.sub(told, text)


# What the browser is shown.


def layout(game: Kitchen, state: Any) -> dict[str, Any]:
    return {"seats": list(game.seat_names), "steps": game.horizon}


class DrawnKitchen(NamedTuple):
    """What a state alone shows to a seat, and in which words."""

    speech: Speech
    view: dict[str, Any]


def watch(game: Kitchen) -> Any:
    """Draws every seat's kitchen when a step is done, in the arena's thread, since it takes milliseconds."""

    def draw(table: Any, before: KitchenState, after: KitchenState, joint: Any) -> None:
        table.notes = (after, [_drawn(game, after, seat, _speech(table, seat)) for seat in range(game.num_seats)])

    return draw


def _speech(table: Any, seat: int) -> Speech:
    return table.speech.get(seat, ENGLISH)


def view(game: Kitchen, table: Any, seat: int) -> dict[str, Any]:
    """The kitchen as picture and words, what can be done and asked, and what was said."""
    state: KitchenState = table.state
    speech = _speech(table, seat)
    kept, drawn = table.notes or (None, [])
    mine = drawn[seat] if kept is state else None
    if mine is None or mine.speech is not speech:  # just begun, or the person has come with another language
        mine = _drawn(game, state, seat, speech)
    doing = table.macro_actions.get(seat)
    act = parse_macro(doing) if doing else None
    return {
        **mine.view,
        "steps_left": game.horizon - table.t,
        "doing": speech.act(act, _held(state, seat)) if isinstance(act, Macro) else None,
        "messages": [_said(r, speech) for r in table.log.events if r.kind == "message"],
        "your_turn": not table.done and doing is None,
        **({"legal": []} if table.done else {}),
    }


def _drawn(game: Kitchen, state: KitchenState, seat: int, speech: Speech) -> DrawnKitchen:
    others = [other for other in range(game.num_seats) if other != seat]
    asked = [macro for other in others for macro in _offers(game, state, other)]
    held = _held(state, seat)
    shown = {
        "text": game.render(state, seat) if speech.plain else speech.kitchen(game, state, seat),
        "svg": scene(game, state, seat, None if speech.plain else speech.labels(game, seat)).svg(),
        "role": speech.role(game.seat_names[seat]),
        "order": _order(game, seat, speech),
        "legal": [_choice(macro, str(macro), held, speech) for macro in legal_macros(game, state, seat)],
        "requests": [_choice(macro, f"request('{macro}')", None, speech) for macro in dict.fromkeys(asked)],
    }
    return DrawnKitchen(speech, shown)


def _offers(game: Kitchen, state: KitchenState, seat: int) -> list[Macro]:
    """What another cook could be asked for; any counter will do."""
    found = [m for m in legal_macros(game, state, seat) if m.verb != "wait"]
    return [m._replace(place="counter") if (m.place or "").startswith("counter(") else m for m in found]


def _held(state: KitchenState, seat: int) -> str | None:
    held = state.world.hands[seat]
    return held.name if held else None


def _choice(macro: Macro, action: str, holds: str | None, speech: Speech) -> dict[str, Any]:
    """By verb and place choices are told together: many ingredients are one line until it is unfolded."""
    group = speech.say("Take something from the {place}", place=speech.place(macro.place))
    told = {"action": action, "label": speech.act(macro, holds)}
    return {**told, "kind": macro.verb, "value": macro.place, "group": group}


def _said(remark: Any, speech: Speech) -> dict[str, Any]:
    asked = [str(Macro(u["verb"], u["object"], u["place"])) for u in remark.payload.get("units", ())]
    return {"seat": remark.seat, "t": remark.t, "text": readable(remark.payload["text"], speech), "asks": asked}


def _order(game: Kitchen, seat: int, speech: Speech) -> list[str]:
    """The recipe, for those who know it; in English as models read it."""
    if not game.roles[seat].knows_recipe:
        return []
    return [speech.dish(game.dish), *(recipe_lines(game.dish) if speech.plain else speech.recipe(game.dish))]


def message(game: Kitchen, seat: int, text: str) -> Mapping[str, Any]:
    """What a person says, as the remark of a trace: to the other cook, or to whom it names among several."""
    others = [other for other in range(game.num_seats) if other != seat]
    named = [other for other in others if text.lower().startswith(game.seat_names[other].lower())]
    to = others[0] if len(others) == 1 else max(named, key=lambda s: len(game.seat_names[s])) if named else None
    return {"to": to, "text": text, "units": units(text), "tokens_out": None, "turn": 0}
