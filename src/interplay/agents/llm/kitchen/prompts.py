"""Prompts for the kitchen. Only seats that know the recipe read it, and nothing says who cannot finish alone."""

from __future__ import annotations

from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape
from interplay.agents.llm.chat import ChatMessage
from interplay.agents.llm.kitchen.situation import Situation
from interplay.games.collab_kitchen.dishes import INGREDIENTS
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.macros import legal_macros

PLAN = AnswerShape({"analysis": TEXT, "plan": TEXTS, "say": TEXT})
SILENT_PLAN = AnswerShape({"analysis": TEXT, "plan": TEXTS})
RECENT = 12  # lines of memory

USAGE = {
    "pickup": "pickup(object, place): take it from a dispenser, a counter or a utensil; your hands must be empty",
    "place_obj_on_counter": "place_obj_on_counter(): put down what you hold, where your partner can take it",
    "put_obj_in_utensil": "put_obj_in_utensil(utensil): put what you hold into it",
    "fill_dish_with_food": "fill_dish_with_food(utensil): fill the empty dish that you hold with what is ready there",
    "wait": "wait(n): do nothing for n steps",
    "request": "request('...'): ask your partner to do an action, for example request('pickup(tofu, counter)')",
    "cook": "cook(pot): start the pot",
    "bake": "bake(oven): start the oven",
    "deliver": "deliver(): hand what you hold over at the serving hatch; ends the task if it is the order",
    "cut": "cut(chopping_board): start to cut what is on the board",
    "stir": "stir(blender): start the blender",
}


def system_text(game: Kitchen, seat: int, *, talk: bool) -> str:
    """Return role, rules and actions: the same throughout an episode."""
    role = game.roles[seat]
    partners = " and the ".join(name for s, name in enumerate(game.seat_names) if s != seat)
    verbs = [v for v in role.verbs if talk or v != "request"]
    lines = [
        f"You are the {game.seat_names[seat]} in a kitchen. You work with the {partners or 'nobody'}. Together you "
        f"make one dish, in as few steps as you can and within {game.horizon} steps.",
        "",
        "How the kitchen works:",
        "- All cooks act at the same time, one small step (a move or a grip) per time step. Walking is done for you.",
        "- You plan in actions. Your plan is carried out one action after the other; you are asked again when it is "
        "done, when an action turns out to be impossible" + (", or when somebody speaks to you." if talk else "."),
        "- A cook holds one thing at a time. A counter holds one thing.",
        "- Every utensil works for 3 steps once started: the chopping_board cuts X into X~slices, the pot makes "
        "boiled(X), the oven baked(X), the blender mashed(X). Several things in one utensil give, for example, "
        "boiled(X+Y).",
        "- Names of foods are written exactly as in the state, for example tofu~slices or boiled(tofu).",
        f"- The ingredient_dispenser has: {', '.join(INGREDIENTS)}.",
        "",
        "Your actions:",
        *(f"- {USAGE[verb]}" for verb in verbs),
    ]
    for other, other_role in enumerate(game.roles):
        if other != seat:
            lines.append(f"Actions of the {game.seat_names[other]}: {', '.join(other_role.verbs)}.")
    return "\n".join(lines)


def user_text(situation: Situation, memory: str, aside: str, *, talk: bool) -> str:
    """Return the current state, the past, a scaffold's note, the last error, and what to answer."""
    game, state, seat = situation.game, situation.state, situation.seat
    blocks = ["# Kitchen\n" + game.render(state, seat)]
    past = _past(situation, memory)
    if past:
        blocks.append("# What happened\n" + "\n".join(past))
    now = [f"{situation.name(m.sender)}: {m.text}" for m in situation.messages if m.t == situation.t]
    if now:
        blocks.append("# Dialogue in this step\n" + "\n".join(now))
    if situation.queue:
        blocks.append("# Left of your plan\n" + ", ".join(str(m) for m in situation.queue))
    if aside:
        blocks.append(aside)
    legal = ", ".join(str(m) for m in _shortened(situation))
    blocks.append(f"# Actions that you could do right now\n{legal}")
    if situation.feedback:
        blocks.append(f"# Correct yourself\nThat did not work: {situation.feedback}\nPlan again.")
    return "\n\n".join([*blocks, _instruction(situation, talk)])


def _past(situation: Situation, memory: str) -> list[str]:
    if memory == "none":
        return []
    lines = [f"step {e.t}: {e.text}" for e in situation.memory]
    return lines[-RECENT:] if memory == "recent" else lines


def _shortened(situation: Situation) -> list:
    """Return what can be done now, with two ingredients standing for all."""
    macros = legal_macros(situation.game, situation.state, situation.seat)
    raw = [m for m in macros if m.verb == "pickup" and m.place == "ingredient_dispenser"]
    return [m for m in macros if m not in raw[2:]]


def _instruction(situation: Situation, talk: bool) -> str:
    reply = situation.purpose == "reply"
    lines = [
        "# Your answer",
        "One JSON object with these fields in this order and nothing else:",
        '- "analysis": think about what the dish still needs, who does what best, and what to do now; be brief.',
        '- "plan": your next actions, a list of texts such as ["pickup(tofu, counter)", "put_obj_in_utensil(pot)"]'
        + ("; an empty list keeps your plan as it is." if reply else "."),
    ]
    if talk:
        lines.append(
            '- "say": what you tell your partner now, or an empty text. '
            + ("Say something only if an answer is needed: an empty text ends the dialogue." if reply else "")
        )
    return "\n".join(lines)


def prompt_messages(situation: Situation, memory: str, aside: str, *, talk: bool) -> tuple[ChatMessage, ...]:
    """Return the prompt for a situation."""
    return (
        ChatMessage("system", system_text(situation.game, situation.seat, talk=talk)),
        ChatMessage("user", user_text(situation, memory, aside, talk=talk)),
    )
