"""The kitchen in the browser: macro actions that people choose, and what they are shown.

People choose macro actions as language models do. The server carries them out step by step, and asks again when one is
done or has become impossible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from interplay.agents.api import TraceEvent
from interplay.agents.llm.kitchen.session import acted_on
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

PATIENCE = 8  # steps that a macro action may be blocked before the participant is asked again
LONGEST_ACT = 200  # characters
_CALL = re.compile(r"[a-z_]+\((?:[^()]|\([^()]*\))*\)")
_REQUEST = re.compile(r"request\(\s*(['\"])(.*?)\1\s*\)")
ENGLISH = Speech()


class CookMemory:
    """The macro action that one participant is carrying out."""

    def __init__(self, game: Kitchen, seat: int, doing: str | None = None):
        self._game, self._seat = game, seat
        macro = parse_macro(doing) if doing else None
        self.act: Macro | None = macro if isinstance(macro, Macro) else None
        self._last: Macro | None = None  # the macro action whose last step was just taken
        self._still = 0  # steps in a row in which the act did not get on

    def choose(self, state: KitchenState, text: Any, speech: Speech = ENGLISH) -> list[TraceEvent]:
        """Start a macro action in place of the one under way.

        Args:
            state: The present state.
            text: The macro action as text.
            speech: The language of the error message.

        Returns:
            The trace events of the choice.

        Raises:
            ApiError: There is no such macro action, or it cannot be done now.
        """
        macro = parse_macro(text) if isinstance(text, str) and len(text) <= LONGEST_ACT else None
        if not isinstance(macro, Macro) or macro.verb == "request":
            raise ApiError("bad_frame", "action: no such act in this kitchen")
        verdict = verify(self._game, state, self._seat, macro)
        if not verdict.ok:
            raise ApiError("illegal_action", speech.refusal(verdict.error, verdict.message))
        self.act, self._last, self._still = macro, None, 0
        attempt = {"verb": macro.verb, "object": acted_on(self._game, state, self._seat, macro), "place": macro.place}
        return [
            TraceEvent("plan", {"macros": [macro._asdict()]}),
            TraceEvent("attempt", attempt),
            TraceEvent("verdict", {**attempt, "ok": True, "error": None, "message": ""}),
        ]

    def dropped(self, state: KitchenState) -> TraceEvent | None:
        """Give up a macro action that can no longer be done, and return the event that says why; None if it goes on."""
        if self.act is None:
            return None
        verdict = verify(self._game, state, self._seat, self.act)
        error, message = verdict.error, verdict.message
        if verdict.ok and self._still >= PATIENCE and self.act.verb != "wait":
            error, message = "blocked", "somebody is in the way"
        if not error:
            return None
        payload = {"verb": self.act.verb, "object": acted_on(self._game, state, self._seat, self.act)}
        payload |= {"place": self.act.place, "ok": False, "error": error, "message": message}
        self.act = None
        return TraceEvent("verdict", payload)

    def next(self, state: KitchenState) -> int:
        """Return the next primitive action of the macro action, which is over with its last one."""
        assert self.act is not None
        step = next_primitive(self._game, state, self._seat, self.act)
        if self.act.verb == "wait":
            self.act = rest(self.act)
        elif step.done:
            self._last, self.act = self.act, None
        return step.action

    def stepped(self, before: KitchenState, after: KitchenState, joint: Any) -> None:
        """Update after a step: a macro action whose last step had no effect is tried again."""
        if self._last is not None:
            if all(action.seat != self._seat for action in executions(self._game, [before], [joint])):
                self.act = self._last
            self._last = None
        still = after.cooks[self._seat] == before.cooks[self._seat]
        self._still = self._still + 1 if still and self.act is not None else 0


def units(text: str) -> list[dict[str, Any]]:
    """Return the macro actions that a message requests explicitly, as a language model's requests are stored."""
    inner = _REQUEST.sub(lambda m: m[2], text)
    macros = [parse_macro(call) for call in _CALL.findall(inner)]
    asked = [m for m in macros if not isinstance(m, ParseError) and m.verb not in ("request", "wait")]
    return [{"verb": m.verb, "object": m.object, "place": m.place} for m in asked]


def readable(text: str, speech: Speech = ENGLISH) -> str:
    """Return a message with its requests in plain words."""

    def in_words(match: re.Match[str]) -> str:
        macro = parse_macro(match[2])
        return speech.say("Please: {act}.", act=speech.act(macro, None)) if isinstance(macro, Macro) else match[0]

    return _REQUEST.sub(in_words, text)


# What the browser is shown.


def layout(game: Kitchen, state: Any) -> dict[str, Any]:
    """Return what stays the same over a game."""
    return {"seats": list(game.seat_names), "steps": game.horizon}


class DrawnKitchen(NamedTuple):
    """What a seat is shown of a state, and in which language."""

    speech: Speech
    view: dict[str, Any]


def watch(game: Kitchen) -> Any:
    """Return a function that draws every seat's view after a step, in the engine's thread, since it takes a while."""

    def draw(table: Any, before: KitchenState, after: KitchenState, joint: Any) -> None:
        table.notes = (after, [_drawn(game, after, seat, _speech(table, seat)) for seat in range(game.num_seats)])

    return draw


def _speech(table: Any, seat: int) -> Speech:
    return table.speech.get(seat, ENGLISH)


def view(game: Kitchen, table: Any, seat: int) -> dict[str, Any]:
    """Return the kitchen as picture and text, the actions and requests that are possible, and the messages."""
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
        "doing": speech.act(act, _item_held(state, seat)) if isinstance(act, Macro) else None,
        "messages": [_said(r, speech) for r in table.log.events if r.kind == "message"],
        "your_turn": not table.done and doing is None,
        **({"legal": []} if table.done else {}),
    }


def _drawn(game: Kitchen, state: KitchenState, seat: int, speech: Speech) -> DrawnKitchen:
    others = [other for other in range(game.num_seats) if other != seat]
    asked = [macro for other in others for macro in _offers(game, state, other)]
    holds = _item_held(state, seat)
    content = {
        "text": game.render(state, seat) if speech.plain else speech.kitchen(game, state, seat),
        "svg": scene(game, state, seat, None if speech.plain else speech.labels(game, seat)).svg(),
        "role": speech.role(game.seat_names[seat]),
        "order": _order(game, seat, speech),
        "legal": [_choice(macro, str(macro), holds, speech) for macro in legal_macros(game, state, seat)],
        "requests": [_choice(macro, f"request('{macro}')", None, speech) for macro in dict.fromkeys(asked)],
    }
    return DrawnKitchen(speech, content)


def _offers(game: Kitchen, state: KitchenState, seat: int) -> list[Macro]:
    """Return what another cook could be asked for; any counter will do."""
    macros = [m for m in legal_macros(game, state, seat) if m.verb != "wait"]
    return [m._replace(place="counter") if (m.place or "").startswith("counter(") else m for m in macros]


def _item_held(state: KitchenState, seat: int) -> str | None:
    item = state.world.hands[seat]
    return item.name if item else None


def _choice(macro: Macro, action: str, holds: str | None, speech: Speech) -> dict[str, Any]:
    """Return a choice; those of one verb and place are grouped, so that many ingredients are one line."""
    group = speech.say("Take something from the {place}", place=speech.place(macro.place))
    choice = {"action": action, "label": speech.act(macro, holds)}
    return {**choice, "kind": macro.verb, "value": macro.place, "group": group}


def _said(remark: Any, speech: Speech) -> dict[str, Any]:
    asked = [str(Macro(u["verb"], u["object"], u["place"])) for u in remark.payload.get("units", ())]
    return {"seat": remark.seat, "t": remark.t, "text": readable(remark.payload["text"], speech), "asks": asked}


def _order(game: Kitchen, seat: int, speech: Speech) -> list[str]:
    """Return the recipe for the roles that know it."""
    if not game.roles[seat].knows_recipe:
        return []
    return [speech.dish(game.dish), *speech.recipe(game.dish)]


def message(game: Kitchen, seat: int, text: str) -> Mapping[str, Any]:
    """Return what a participant writes as the payload of a message event: to the other cook, or to the one it names."""
    others = [other for other in range(game.num_seats) if other != seat]
    named = [other for other in others if text.lower().startswith(game.seat_names[other].lower())]
    to = others[0] if len(others) == 1 else max(named, key=lambda s: len(game.seat_names[s])) if named else None
    return {"to": to, "text": text, "units": units(text), "tokens_out": None, "turn": 0}
