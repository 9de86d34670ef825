"""Prompts for Hanabi. Facts and names of moves are those of the ad-hoc challenge."""

from __future__ import annotations

from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, PLAY, HanabiRules

VERSION = "1"  # of the prompts; a change that a model could notice is a new one
NAMES = {"R": "Red", "Y": "Yellow", "G": "Green", "W": "White", "B": "Blue", "M": "Multicolour"}
PLAYERS = {2: "two", 3: "three", 4: "four", 5: "five"}
TIMES = {1: "one copy", 2: "two copies", 3: "three copies", 4: "four copies"}


def move_name(rules: HanabiRules, action: int) -> str:
    """Return a move's name from the mover's seat: the next player is Teammate 0."""
    moves = rules.moves
    kind, slot, offset = moves.kind[action], int(moves.slot[action]), int(moves.offset[action])
    if kind == DISCARD:
        return f"Discard card in slot {slot} from your hand"
    if kind == PLAY:
        return f"Play card in slot {slot} from your hand"
    if kind in (HINT_COLOUR, HINT_RANK):
        return f"Clue {hint_name(rules, action)} to Teammate {offset - 1}"
    return "Wait"


def hint_name(rules: HanabiRules, action: int) -> str:
    """Return the colour or rank that a hint names."""
    hint = int(rules.moves.hint[action])
    colours = rules.colours
    return NAMES[colours[hint]] if hint < len(colours) else f"Rank {hint - len(colours) + 1}"


def rules_text(rules: HanabiRules, *, printed: bool = False) -> str:
    """Return the rules as text.

    Args:
        rules: The rules of the game.
        printed: Use the counts of clue and life tokens as the challenge's paper prints them, which are swapped.
    """
    clues, lives = (rules.lives, rules.hint_tokens) if printed else (rules.hint_tokens, rules.lives)
    others = [f"Teammate {i}" for i in range(rules.players - 1)]
    order = ", then ".join(["you", *others])
    copies = ", ".join(f"{TIMES.get(n, str(n))} of rank {r}" for r, n in enumerate(rules.copies, 1))
    suits = ", ".join(NAMES[s] for s in rules.suits)
    left, perfect = rules.hand_size - 1, rules.max_score
    wild = "".join(
        f"- {NAMES[s]} is touched by every colour clue, and no clue names it.\n" for s in rules.suits if s in rules.wild
    )
    return f"""You play the cooperative card game Hanabi with {PLAYERS[rules.players]} players. Each time it is your \
turn you are shown the game as you may see it, and you choose one of the valid actions.

# Rules
## Aim
- The team builds one firework for each colour: {suits}. A firework starts with rank 1 and rises by one rank at a \
time up to rank {rules.ranks}.
- The score is the sum of the top ranks of all fireworks; {perfect} is perfect.

## What there is
- Deck: in each colour {copies}.
- Clue tokens: {clues} at the start. A clue costs one; a discard, and playing a {rules.ranks}, brings one back.
- Life tokens: {lives} at the start. Every card played that does not fit costs one. Once {rules.lives} are lost the \
game ends at once{" with a score of 0" if rules.bomb == "zero" else ""}.
- Hands: you see every hand but your own.
{wild}
## A turn
The order is {order}, and so on. Whose turn it is does exactly one of these:
- Clue: name one colour or one rank to one teammate; every card of that hand that matches is pointed out. Costs one \
clue token, so it needs one.
- Discard: put a card of your own hand away. Brings back one clue token, up to {rules.hint_tokens}\
{"" if rules.discard_when_full else "; not allowed while none is missing"}. A new card is drawn.
- Play: put a card of your own hand on its firework. If it is the next rank it stays there; otherwise it is \
discarded and a life is lost. A new card is drawn.

## Slots
- Your hand has the slots 0 to {left}: slot {left} is the leftmost and newest card, slot 0 the rightmost and oldest.
- When a card leaves slot X, the cards in higher slots move down by one, and the new card comes into slot {left}.

## End
- After the last card is drawn every player has one more turn, the one who drew it included.
- The game also ends when all fireworks are complete, or all lives are lost."""


CONVENTIONS = """# Conventions
All players follow these, as givers and as receivers of clues.
## Chop
- Your chop is your rightmost card (lowest slot) that no clue has touched. If you must discard, discard your chop, \
unless you know another card of yours to be useless.
## What a clue means
- A clue is about one card of those that it touches, its focus. Cards that no clue had touched before are new.
- If just one card is new, it is the focus. If several are new and the chop is among them, the chop is the focus. If \
several are new without the chop, the leftmost new one is. If none is new, the leftmost card touched is.
- A clue that touches the chop is either a play clue or a save clue: work out which from what is critical. A clue \
that does not touch the chop is always a play clue.
## Play clues
- A play clue says that the focus can be played now. It may be a delayed one: the focus can be played once cards \
that are already clued for play have been played.
## Critical cards and save clues
- A card is critical if it is the last copy left and its firework still needs it: every 5, and any card whose other \
copies are discarded.
- A save clue keeps the chop from being discarded. Only a chop can be saved. Save a critical card by colour or rank; \
save a 5 by rank 5; save a 2 by rank 2 if no other copy of it is in sight, although it need not be critical.
- Do not discard a card that was saved; keep it until it can be played.
## Principles
- Good touch: clue only cards that will still be played.
- Save: let nobody discard a critical card, a 5, a 2 of which no other copy is in sight, or the only visible copy of \
a playable card.
- Least value: a clue must make a card playable or save one. If none does, discard.
## Early game
- Until the first chop is discarded, give every play clue and save clue there is before you discard.
## Preferences
- Look at every teammate's chop first. Prefer play clues to save clues: a player with something to play does not \
discard. Prefer colour to rank, unless rank does more.
## Prompts
- A play clue on a card that does not fit yet can mean that a card in between, already clued, is to be played first: \
its owner plays the leftmost clued card that it could be.
## Finesses
- If no clued card can be the one in between, it is in the finesse position, the leftmost unclued card, of the player \
who comes before the one that got the clue. That player plays it at once without a clue.
- A prompt goes before a finesse. To give one, clue the higher card to a later player while the player in between \
holds the connecting card in finesse position."""

INSTRUCTION = """# Your answer
Weigh rules, conventions if there are any, and the state, and choose the best of the valid actions. Play a card only \
if clues or deduction make you certain enough that it fits, and be very careful with the last life. Teammates' cards \
can be clued, not played.
Answer with one JSON object and nothing else, with these fields in this order:
- "game_state": the state in short: what teammates did and what they meant by it, and what matters now.
- "action_options": the most promising valid actions, with what speaks for and against each.
- "best_action": the action, written exactly as in the list of valid actions.
- "rationale": why it is better than the others."""
