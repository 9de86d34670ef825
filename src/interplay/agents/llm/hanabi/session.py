"""A language model in a seat of Hanabi."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.agents.api import Move, View
from interplay.agents.llm.answers import TEXT, AnswerShape
from interplay.agents.llm.chat import ChatMessage
from interplay.agents.llm.hanabi.prompts import (
    CONVENTIONS,
    INSTRUCTION,
    NAMES,
    VERSION,
    hint_name,
    move_name,
    rules_text,
)
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.settings import LLMSettings
from interplay.games.hanabi.state import DISCARD, NO_CARD, NOOP, PLAY, HanabiRules


class HanabiSession:
    """Asks for one of the valid actions, at most twice, and then discards the oldest card.

    When the model cannot be asked any more, the seat continues with that default, and the trace records it.
    """

    def __init__(self, caller: Caller, settings: LLMSettings):
        self._caller, self._rules = caller, caller.game.rules  # type: ignore[attr-defined]
        caller.template = f"hanabi/{VERSION}"
        self._head = rules_text(self._rules, printed=settings.printed_rules)
        if settings.conventions:
            self._head += "\n\n" + CONVENTIONS
        self._heard: dict[int, str] = {}  # each other seat's last move, by seat
        self._over = False
        # Characters of each of three texts: at two a token, which repetitive models need, the action still has room.
        self._longest = max(20, 2 * (settings.max_tokens - 50) // 3)

    def watch(self, view: View) -> None:
        """Record the last move, so that no turn of another seat is missed."""
        self._remember(view.look("seen"), view.seat)

    async def act(self, view: View) -> Move:
        """Choose by the model, or by the default action."""
        seen = view.look("seen")
        self._remember(seen, view.seat)
        names = {move_name(self._rules, a): a for a in np.flatnonzero(view.legal).tolist()}
        default = default_action(self._rules, seen, view)
        action = None if self._over else await self._choose(seen, names, default)
        if action is None:
            action = default
            self._caller.note("fallback", action=view.game.action_names[action])
        return Move(action, self._caller.take_events())

    async def _choose(self, seen: Any, names: dict[str, int], default: int) -> int | None:
        fields = {"game_state": TEXT, "action_options": TEXT, "best_action": tuple(names), "rationale": TEXT}
        shape = AnswerShape(fields, longest=min(1500, self._longest))
        prompt = state_text(self._rules, seen, self._heard, list(names))
        messages = (ChatMessage("system", self._head), ChatMessage("user", f"{prompt}\n\n{INSTRUCTION}"))
        proposed = {"best_action": move_name(self._rules, default)}
        answer = await self._caller.ask_corrected(messages, shape, "act", context=proposed)
        self._over = answer is None
        return names[answer.fields["best_action"]] if answer and answer.fields else None

    def _remember(self, seen: Any, seat: int) -> None:
        rules, time = self._rules, int(seen.time)
        if time == 0 or rules.moves.kind[int(seen.last.action)] == NOOP:
            return
        mover = (time - 1) % rules.players
        if mover != seat:
            self._heard[mover] = last_move_text(rules, seen, mover, seat)


def default_action(rules: HanabiRules, seen: Any, view: View) -> int:
    """Return the discard of the oldest untouched card; if that is illegal, the first clue."""
    seat = view.seat
    clues_received = np.asarray(seen.told_colours)[seat].astype(int) + np.asarray(seen.told_ranks)[seat]
    legal = np.flatnonzero(view.legal)
    discards = [a for a in legal if rules.moves.kind[a] == DISCARD]
    untouched = [a for a in discards if clues_received[rules.moves.slot[a]] == 0]
    clues = [a for a in legal if rules.moves.kind[a] not in (DISCARD, PLAY)]
    return int((untouched or discards or clues or list(legal))[0])


def who(rules: HanabiRules, seat: int, owner: int) -> str:
    """Return the name of a seat as another seat says it."""
    return "You" if owner == seat else f"Teammate {(owner - seat) % rules.players - 1}"


def last_move_text(rules: HanabiRules, seen: Any, mover: int, seat: int) -> str:
    """Describe the last move."""
    last = seen.last
    action = int(last.action)
    kind, slot = rules.moves.kind[action], int(rules.moves.slot[action])
    if kind == PLAY:
        went = "yes" if bool(last.scored) else "no, a life was lost"
        return f"Play, slot {slot}: {card_name(rules, int(last.card))}; it fitted: {went}"
    if kind == DISCARD:
        return f"Discard, slot {slot}: {card_name(rules, int(last.card))}"
    receiver = who(rules, seat, (mover + int(rules.moves.offset[action])) % rules.players)
    touched = np.flatnonzero(np.asarray(last.touched)).tolist()
    return f"Clue {hint_name(rules, action)} to {receiver}; it touches slots {touched}"


def card_name(rules: HanabiRules, identity: int) -> str:
    """Return a card's name, such as "Red 3"."""
    return f"{NAMES[rules.suits[identity // rules.ranks]]} {identity % rules.ranks + 1}"


def state_text(rules: HanabiRules, seen: Any, heard: dict[int, str], valid: list[str]) -> str:
    """Describe the game as this seat sees it."""
    seat = int(seen.seat)
    fireworks = np.asarray(seen.fireworks)
    stacks = ", ".join(f"{NAMES[s]}: {int(h)}" for s, h in zip(rules.suits, fireworks, strict=True))
    gone = [card_name(rules, i) for i, n in enumerate(np.asarray(seen.discards)) for _ in range(int(n))]
    lines = [
        "# State of the game",
        f"- Turn: {int(seen.time)}",
        f"- Score: {int(fireworks.sum())}",
        f"- Life tokens: {int(seen.lives)}",
        f"- Clue tokens: {int(seen.tokens)}",
        f"- Cards in the deck: {int(seen.deck)}",
        f"- Fireworks (top rank of each, 0: none yet): {stacks}",
        f"- Discarded: {', '.join(gone) or 'nothing'}",
    ]
    for step in range(1, rules.players):
        owner = (seat + step) % rules.players
        lines.append(f"- {who(rules, seat, owner)}'s last action: {heard.get(owner, 'none yet')}")
    for step in range(rules.players):
        owner = (seat + step) % rules.players
        whose = "Your hand (you do not see the cards)" if owner == seat else f"{who(rules, seat, owner)}'s hand"
        lines += ["", f"## {whose}", *_hand(rules, seen, owner, hidden=owner == seat)]
    return "\n".join([*lines, "", "## Valid actions", *(f"- {name}" for name in valid)])


def _hand(rules: HanabiRules, seen: Any, owner: int, *, hidden: bool) -> list[str]:
    lines = []
    for slot in range(rules.hand_size):
        card = int(seen.hands[owner][slot])
        if card == NO_CARD:
            continue
        colours, ranks = int(seen.told_colours[owner][slot]), int(seen.told_ranks[owner][slot])
        told_colour = "/".join(NAMES[c] for k, c in enumerate(rules.colours) if colours >> k & 1) or "none"
        told_rank = "/".join(str(r + 1) for r in range(rules.ranks) if ranks >> r & 1) or "none"
        bits = int(seen.possible[owner][slot])
        ids = [i for i in range(rules.identities) if bits >> i & 1]
        may_suit = ", ".join(NAMES[s] for k, s in enumerate(rules.suits) if any(i // rules.ranks == k for i in ids))
        may_rank = ", ".join(str(r + 1) for r in range(rules.ranks) if any(i % rules.ranks == r for i in ids))
        face = "" if hidden else f"{card_name(rules, card)}; "
        lines.append(
            f"- Slot {slot}: {face}clued colour: {told_colour}, clued rank: {told_rank}; "
            f"may be: [{may_suit}] and [{may_rank}]"
        )
    return lines
