"""Prompts for the kitchen. Only seats that know the recipe read it, and nothing says who cannot finish alone.

The words are in `templates/VERSION`; a change that a model could notice is a new version, which every call records.
The set `published` has the structure of the paper's prompts: one action, its target and a message, the scaffold's block
first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from interplay.agents.llm import templates
from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape
from interplay.agents.llm.chat import ChatMessage
from interplay.agents.llm.kitchen.situation import Situation, SituationEvent
from interplay.agents.llm.settings import LLMSettings
from interplay.games.collab_kitchen.dishes import INGREDIENTS
from interplay.games.collab_kitchen.draw import constant_lines, state_lines
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import PLACES
from interplay.games.collab_kitchen.macros import legal_macros

PLAN = AnswerShape({"analysis": TEXT, "plan": TEXTS, "say": TEXT})
ONE_ACTION = AnswerShape({"action": TEXT, "target": TEXT, "message": TEXT})
PUBLISHED = "published"
KEEP = "keep my plan"  # of a reply, where actions are chosen from the list
WAITS = ("wait(1)", "wait(3)", "wait(5)")
RECENT = 12  # lines of memory

USAGE = {
    "pickup": "pickup(object, place): take it from a dispenser, a counter or a utensil; your hands must be empty",
    "place_obj_on_counter": "place_obj_on_counter(): put down what you hold, where your partner can take it",
    "put_obj_in_utensil": "put_obj_in_utensil(utensil): put what you hold into it",
    "fill_dish_with_food": "fill_dish_with_food(utensil): fill the empty dish that you hold with what is ready there",
    "wait": "wait(n): do nothing for n steps",
    "request": "request('...'): ask your partner to do an action, for example request('pickup(X, counter)')",
    "cook": "cook(pot): start the pot",
    "bake": "bake(oven): start the oven",
    "deliver": "deliver(): hand what you hold over at the serving hatch; ends the task if it is the order",
    "cut": "cut(chopping_board): start to cut what is on the board",
    "stir": "stir(blender): start the blender",
}


def answer_shape(situation: Situation, settings: LLMSettings, *, talk: bool) -> AnswerShape:
    """Return the fields of a decision in a version's prompts; the last one is what is said.

    Where answers are short, so are their texts, so that servers that keep to a schema end them in time.
    """
    whole = ONE_ACTION if settings.prompts == PUBLISHED else PLAN
    if settings.actions == "choose":
        whole = AnswerShape({"analysis": TEXT, "action": _choices(situation), "say": TEXT})
    fields = dict(list(whole.fields.items())[: None if talk else -1])
    room = settings.max_tokens - 30  # tokens, which the rest of an answer leaves to its texts
    return AnswerShape(fields, longest=min(whole.longest, max(20, round(1.25 * room))))


def plan_and_speech(fields: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the actions of a decision as texts, and what is said."""
    if "plan" in fields:
        return list(fields["plan"]), fields.get("say", "")
    action = fields["action"].strip()
    if action == KEEP:
        action = ""
    elif action and "(" not in action:
        action = f"{action}({fields.get('target', '')})"
    message = fields.get("message", fields.get("say", ""))
    requests = re.findall(r"request\('[^']*'\)", message)  # explicit ones count as such, wherever they are written
    said = re.sub(r"request\('[^']*'\)[;, ]*", "", message).strip()
    return [*requests, *([action] if action else [])], said


def system_text(game: Kitchen, seat: int, settings: LLMSettings, *, talk: bool) -> str:
    """Return role, rules and actions: the same throughout an episode."""
    others = [s for s in range(game.num_seats) if s != seat]
    return templates.fill(
        "kitchen",
        settings.prompts,
        "system",
        name=game.seat_names[seat],
        partners=" and the ".join(game.seat_names[s] for s in others),
        horizon=game.horizon,
        talk=talk,
        choose=settings.actions == "choose",
        constant="\n".join(constant_lines(game, seat)),
        knows_recipe=game.roles[seat].knows_recipe,
        ingredients=INGREDIENTS,
        usages=[USAGE[verb] for verb in game.roles[seat].verbs if talk or verb != "request"],
        reach=_reach(game, seat),
        others=[{"name": game.seat_names[s], "verbs": game.roles[s].verbs, "reach": _reach(game, s)} for s in others],
    )


def _reach(game: Kitchen, seat: int) -> list[str]:
    """Kinds of stations that a cook can come to, in the order of the map."""
    layout = game.layout
    return list(dict.fromkeys(PLACES[s.letter] for s in layout.stations if layout.reaches(seat, s)))


def user_text(situation: Situation, settings: LLMSettings, aside: str, *, talk: bool) -> str:
    """Return the current state, the past, a scaffold's note, the last error, and what to answer."""
    events = _remembered(situation, settings.memory)
    return templates.fill(
        "kitchen",
        settings.prompts,
        "user",
        name=situation.name(situation.seat),
        kitchen=situation.game.render(situation.state, situation.seat),
        now="\n".join(state_lines(situation.game, situation.state, situation.seat)),
        past=[f"step {e.t}: {e.text}" for e in events],
        events=events,
        last_heard=_last_heard(situation),
        dialogue=[f"{situation.name(m.sender)}: {m.text}" for m in situation.messages if m.t == situation.t],
        queue=[str(m) for m in situation.queue],
        aside=aside,
        actions=_actions(situation) if settings.actions != "none" else [],
        choose=settings.actions == "choose",
        feedback=situation.feedback,
        reply=situation.purpose == "reply",
        talk=talk,
    )


def _remembered(situation: Situation, memory: str) -> Sequence[SituationEvent]:
    """What a cook's prompt tells of its past, in the order in which it learnt it."""
    return {"none": (), "recent": situation.memory[-RECENT:]}.get(memory, situation.memory)


def _last_heard(situation: Situation) -> str:
    """The last message of another cook; empty before there is one."""
    heard = [m for m in situation.messages if m.sender != situation.seat]
    return f"step {heard[-1].t}, {situation.name(heard[-1].sender)}: {heard[-1].text}" if heard else ""


def _actions(situation: Situation) -> list[str]:
    """All that can be done now; pick-ups of ingredients are one line, in which X stands for every one of them."""
    macros = legal_macros(situation.game, situation.state, situation.seat)
    raw = [m for m in macros if m.verb == "pickup" and m.place == "ingredient_dispenser"]
    rest = [str(m) for m in macros if m not in raw]
    if len(raw) < len(INGREDIENTS):
        return [*(str(m) for m in raw), *rest]
    return ["pickup(X, ingredient_dispenser), with any ingredient in place of X", *rest]


def _choices(situation: Situation) -> tuple[str, ...]:
    """All that can be done now, each ingredient by its name, and a few waits; a reply may also keep the plan."""
    acts = [str(m) for m in legal_macros(situation.game, situation.state, situation.seat) if m.verb != "wait"]
    return (*acts, *WAITS, *([KEEP] if situation.purpose == "reply" else ()))


def prompt_messages(situation: Situation, settings: LLMSettings, aside: str, *, talk: bool) -> tuple[ChatMessage, ...]:
    """Return the prompt for a situation."""
    return (
        ChatMessage("system", system_text(situation.game, situation.seat, settings, talk=talk)),
        ChatMessage("user", user_text(situation, settings, aside, talk=talk)),
    )
