"""Hanabi as text and as shapes. Each card shows what it is and, below, what hints have told its owner."""

from __future__ import annotations

import numpy as np

from interplay.games.hanabi import rules as hanabi
from interplay.games.hanabi.state import NO_CARD, NOOP, HanabiRules, HanabiState
from interplay.games.scene import Scene, Shape

PAINT = {"R": "#d64545", "Y": "#e0b528", "G": "#3f9b5a", "W": "#f3efe4", "B": "#3d73c9", "M": "#9a57b8"}
INK, FAINT, TABLE, BACK, BRIGHT = "#26282c", "#8b9098", "#e9e6df", "#b9bec6", "#fffdf7"
CARD_W, CARD_H, GAP, MARGIN = 58, 74, 10, 24


def text(rules: HanabiRules, action_names: tuple[str, ...], state: HanabiState, seat: int | None = None) -> str:
    """Return the state as text; with a seat, without the cards that this seat may not see."""
    turn = int(state.time) % rules.players
    over = bool(hanabi.is_over(rules, state))
    whose = f"over, score {int(hanabi.score(rules, state))}" if over else f"seat {turn} to move"
    lines = [
        f"turn {int(state.time)}, {whose}; points {int(hanabi.points(state))}, hint tokens {int(state.tokens)}, "
        f"lives {int(state.lives)}, deck {rules.deck_size - int(state.dealt)}",
        "fireworks " + " ".join(f"{s}{h}" for s, h in zip(rules.suits, np.asarray(state.fireworks))),
        "discards  " + (" ".join(_discards(rules, state)) or "none"),
        "last move " + last_move(rules, action_names, state),
    ]
    for owner in range(rules.players):
        whose = f"seat {owner}" + (" (you)" if owner == seat else "") + (" *" if owner == turn and not over else "")
        cards = [
            f"{_face(rules, state, owner, slot, seat)}:{knowledge(rules, state, owner, slot)}"
            for slot in range(rules.hand_size)
            if int(state.hands[owner, slot]) != NO_CARD
        ]
        lines.append(f"{whose:<15}" + "  ".join(cards))
    return "\n".join(lines)


def last_move(rules: HanabiRules, action_names: tuple[str, ...], state: HanabiState) -> str:
    """Return the last move in words."""
    last = state.last
    if rules.moves.kind[int(last.action)] == NOOP:
        return "none yet"
    said = f"seat {(int(state.time) - 1) % rules.players}: {action_names[int(last.action)]}"
    if int(last.card) == NO_CARD:
        return f"{said}, touching {', '.join(str(i) for i in np.flatnonzero(last.touched))}"
    if action_names[int(last.action)].startswith("play"):
        return f"{said}, {rules.card_name(int(last.card))}: {'it fits' if bool(last.scored) else 'a life is lost'}"
    return f"{said}, {rules.card_name(int(last.card))}"


def knowledge(rules: HanabiRules, state: HanabiState, owner: int, slot: int) -> str:
    """Return what hints allow: suits and ranks; `RY|12`, or `R|1-5` when nothing is known of the rank."""
    bits = int(state.possible[owner, slot])
    ids = [i for i in range(rules.identities) if bits >> i & 1]
    suits = "".join(s for k, s in enumerate(rules.suits) if any(i // rules.ranks == k for i in ids))
    ranks = "".join(str(r + 1) for r in range(rules.ranks) if any(i % rules.ranks == r for i in ids))
    suits = "any" if len(suits) == len(rules.suits) else suits
    ranks = "any" if len(ranks) == rules.ranks else ranks
    return "any" if suits == ranks == "any" else f"{suits}|{ranks}"


def _face(rules: HanabiRules, state: HanabiState, owner: int, slot: int, seat: int | None) -> str:
    return "??" if owner == seat else rules.card_name(int(state.hands[owner, slot]))


def _discards(rules: HanabiRules, state: HanabiState) -> list[str]:
    return [rules.card_name(i) + (f"x{n}" if n > 1 else "") for i, n in enumerate(np.asarray(state.discards)) if n]


def scene(rules: HanabiRules, action_names: tuple[str, ...], state: HanabiState, seat: int | None = None) -> Scene:
    """Return the table as shapes; with a seat, as this seat sees it, its own cards face down."""
    suits = len(rules.suits)
    columns = max(suits, rules.hand_size)
    hands_left = MARGIN + 84
    board_left = hands_left + columns * (CARD_W + GAP) + MARGIN
    width = board_left + suits * (30 + 6) + MARGIN
    row = CARD_H + 44
    height = 2 * MARGIN + 30 + rules.players * row
    shapes = [*_status(rules, action_names, state), *_board(rules, state, board_left, MARGIN + 36)]
    for owner in range(rules.players):
        top = MARGIN + 36 + owner * row
        shapes += _hand(rules, state, owner, seat, hands_left, top)
    backdrop: tuple[Shape, ...] = (("rect", 0, 0, width, height, TABLE, 0),)
    return Scene(width, height, backdrop, tuple(shapes))


def _status(rules: HanabiRules, action_names: tuple[str, ...], state: HanabiState) -> list[Shape]:
    over = bool(hanabi.is_over(rules, state))
    head = f"turn {int(state.time)}" + (f" · over, score {int(hanabi.score(rules, state))}" if over else "")
    head += f" · deck {rules.deck_size - int(state.dealt)} · {last_move(rules, action_names, state)}"
    return [("text", MARGIN, MARGIN, head, 14, INK, "start")]


def _board(rules: HanabiRules, state: HanabiState, left: float, top: float) -> list[Shape]:
    shapes: list[Shape] = []
    for k, suit in enumerate(rules.suits):
        x, height = left + k * 36, int(state.fireworks[k])
        shapes.append(("rect", x, top, 30, 40, PAINT.get(suit, BACK) if height else BACK, 5))
        shapes.append(("text", x + 15, top + 20, str(height or ""), 18, _ink(suit), "middle"))
        for rank in range(rules.ranks):
            gone = int(state.discards[k * rules.ranks + rank])
            for n in range(gone):
                shapes.append(("text", x + 4 + n * 9, top + 56 + rank * 15, str(rank + 1), 12, _dark(suit), "start"))
    below = top + 62 + rules.ranks * 15
    for n in range(rules.hint_tokens):
        shapes.append(("circle", left + 8 + n * 20, below, 7, "#4a86d8" if n < int(state.tokens) else BACK))
    for n in range(rules.lives):
        shapes.append(("circle", left + 8 + n * 20, below + 22, 7, "#c23b3b" if n < int(state.lives) else BACK))
    return shapes


def _hand(rules: HanabiRules, state: HanabiState, owner: int, seat: int | None, left: float, top: float) -> list[Shape]:
    turn = owner == int(state.time) % rules.players and not bool(hanabi.is_over(rules, state))
    name = "you" if owner == seat else f"seat {owner}"
    shapes: list[Shape] = [("text", MARGIN, top + CARD_H / 2, name, 15, INK if turn else FAINT, "start")]
    if turn:
        shapes.append(("circle", left - 16, top + CARD_H / 2, 5, "#e08a2e"))
    for slot in range(rules.hand_size):
        card = int(state.hands[owner, slot])
        if card == NO_CARD:
            continue
        x = left + slot * (CARD_W + GAP)
        hinted = int(state.told_colours[owner, slot]) or int(state.told_ranks[owner, slot])
        if hinted:
            shapes.append(("rect", x - 3, top - 3, CARD_W + 6, CARD_H + 6, "#e08a2e", 8))
        suit = rules.suits[card // rules.ranks]
        hidden = owner == seat
        shapes.append(("rect", x, top, CARD_W, CARD_H, BACK if hidden else PAINT.get(suit, BRIGHT), 6))
        face = "?" if hidden else str(card % rules.ranks + 1)
        shapes.append(("text", x + CARD_W / 2, top + CARD_H / 2, face, 28, INK if hidden else _ink(suit), "middle"))
        for line, known in enumerate(knowledge(rules, state, owner, slot).split("|")):
            shapes.append(("text", x + CARD_W / 2, top + CARD_H + 13 + 13 * line, known, 11, INK, "middle"))
    return shapes


def _ink(suit: str) -> str:
    return INK if suit in "WY" else BRIGHT


def _dark(suit: str) -> str:
    return FAINT if suit == "W" else PAINT.get(suit, INK)
