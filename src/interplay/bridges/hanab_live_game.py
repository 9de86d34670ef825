"""A game of hanab.live as one seat sees it, and what an agent of ours does there.

The site numbers cards by their place in the deck and hides one's own. What an agent reads never depends on what its own
hidden cards are, only on what hints have said of them. So some cards that fit all hints take their place, and the game
is replayed by our rules: the agent sees exactly what it would have seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Policy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.seat import Seat, ask_all, view_of

SUITS = RANKS = 5
COPIES = np.tile([3, 2, 2, 2, 1], SUITS)
PLAY, DISCARD, COLOUR_CLUE, RANK_CLUE = range(4)
REFUSED = ("oneExtraCard", "oneLessCard", "cardCycle", "allOrNothing", "detrimentalCharacters")
NORMAL = 1  # the end condition of a game that was played to its end


class OutOfStepError(InterplayError):
    """An action of the site does not follow on those before: some were missed."""


def refused_option(options: Mapping[str, Any], players: int) -> str | None:
    """Return why a table cannot be joined; None if its rules are ours."""
    variant = options.get("variantName", "No Variant")
    if variant != "No Variant":
        return f"the variant {str(variant)[:60]!r}"
    if not 2 <= players <= 5:
        return f"{players} players"
    return next((f"the option {name}" for name in REFUSED if options.get(name)), None)


class SiteGame:
    """What one seat knows of a game on the site."""

    def __init__(self, players: int, seat: int):
        self.game: Any = make(f"hanabi/{players}p")
        self.players, self.seat, self.hand_size = players, seat, self.game.rules.hand_size
        self.cards: dict[int, int | None] = {}  # by place in the deck; None: our own, still hidden
        self.fitting: dict[int, set[int]] = {}  # of our own cards: what hints leave possible
        self.hands: list[list[int]] = [[] for _ in range(players)]  # oldest first
        self.moves: list[int] = []
        self.current, self.score, self.ended = 0, 0, None

    def apply(self, action: Mapping[str, Any]) -> None:
        """Take in one action of the site.

        Raises:
            OutOfStepError: Some action before it was missed.
        """
        kind = action.get("type")
        if kind == "draw":
            self._draw(action)
        elif kind in ("play", "discard"):
            self._use(action, played=kind == "play" or bool(action.get("failed")))
        elif kind == "clue":
            self._clue(action)
        elif kind == "status":
            self.score = int(action["score"])
        elif kind == "turn":
            if int(action["num"]) != len(self.moves):
                raise OutOfStepError(f"the site is at turn {action['num']}, we have seen {len(self.moves)} moves")
            self.current = int(action["currentPlayerIndex"])
        elif kind == "gameOver":
            self.ended = int(action["endCondition"])

    def _draw(self, action: Mapping[str, Any]) -> None:
        order, seat, suit = int(action["order"]), int(action["playerIndex"]), int(action["suitIndex"])
        if order != len(self.cards):
            raise OutOfStepError(f"card {order} is drawn after {len(self.cards)} others")
        self.cards[order] = None if suit < 0 else suit * RANKS + int(action["rank"]) - 1
        self.hands[seat].append(order)
        if self.cards[order] is None:
            self.fitting[order] = set(range(SUITS * RANKS))

    def _use(self, action: Mapping[str, Any], played: bool) -> None:
        seat, order = int(action["playerIndex"]), int(action["order"])
        if order not in self.hands[seat]:
            raise OutOfStepError(f"player {seat} holds no card {order}")
        self.moves.append(self.hands[seat].index(order) + (self.hand_size if played else 0))
        self.hands[seat].remove(order)
        self.cards[order] = int(action["suitIndex"]) * RANKS + int(action["rank"]) - 1
        self.fitting.pop(order, None)

    def _clue(self, action: Mapping[str, Any]) -> None:
        clue, giver, target = action["clue"], int(action["giver"]), int(action["target"])
        value = int(clue["value"])
        rank = int(clue["type"]) == 1
        offset = (target - giver) % self.players
        first = 2 * self.hand_size + (SUITS * (self.players - 1) if rank else 0)
        self.moves.append(first + SUITS * (offset - 1) + (value - 1 if rank else value))
        named = {i for i in range(SUITS * RANKS) if (i % RANKS == value - 1 if rank else i // RANKS == value)}
        if target == self.seat:
            touched = set(map(int, action["list"]))
            for order in self.hands[target]:
                self.fitting[order] &= named if order in touched else set(range(SUITS * RANKS)) - named

    def deck(self) -> np.ndarray:
        """Return a whole deck [card, 2] that fits all that is known.

        Raises:
            OutOfStepError: There is none.
        """
        left = COPIES - np.bincount([c for c in self.cards.values() if c is not None], minlength=SUITS * RANKS)
        hidden = sorted((order for order in self.fitting), key=lambda order: len(self.fitting[order]))
        chosen = _assigned([sorted(self.fitting[order]) for order in hidden], left.tolist())
        if (left < 0).any() or chosen is None:
            raise OutOfStepError("no cards fit all hints that were given")
        cards = self.cards | dict(zip(hidden, chosen, strict=True))
        rest = np.repeat(np.arange(SUITS * RANKS), COPIES - np.bincount(list(cards.values()), minlength=25))  # type: ignore[arg-type]
        whole = [cards[order] for order in range(len(cards))] + rest.tolist()
        return np.stack([np.array(whole) // RANKS, np.array(whole) % RANKS], axis=-1)

    def site_action(self, action: int) -> dict[str, int]:
        """Return one of our actions as the site takes it from our seat."""
        size, hand = self.hand_size, self.hands[self.seat]
        if action < 2 * size:
            return {"type": PLAY if action >= size else DISCARD, "target": hand[action % size]}
        hint = action - 2 * size
        rank = hint >= SUITS * (self.players - 1)
        offset, value = divmod(hint - (SUITS * (self.players - 1) if rank else 0), SUITS)
        target = (self.seat + offset + 1) % self.players
        return {"type": RANK_CLUE if rank else COLOUR_CLUE, "target": target, "value": value + (1 if rank else 0)}


def _assigned(choices: Sequence[Sequence[int]], left: list[int]) -> list[int] | None:
    """Return one identity for each card such that none is used too often; None if there is no way."""
    if not choices:
        return []
    for identity in choices[0]:
        if left[identity] > 0:
            left[identity] -= 1
            rest = _assigned(choices[1:], left)
            left[identity] += 1
            if rest is not None:
                return [identity, *rest]
    return None


class SitePlayer:
    """An agent in a seat of the site: sees every step once, and chooses when it is to move."""

    def __init__(self, agent: Agent, game: SiteGame, seed: int = 0):
        if not isinstance(agent.policy, Policy):
            raise InterplayError(f"{agent.name} is a player in Python; policies alone play on the site")
        if game.game.encodings[agent.policy.encoding].privileged:
            raise InterplayError(f"{agent.name} reads {agent.policy.encoding!r}, which shows what a seat may not see")
        self.seat, self.seen = Seat(game.game, agent, game.seat, jax.random.key(seed)), 0

    def choose(self, site: SiteGame) -> int:
        """Return our action at the site's present turn, which must be ours."""
        game, action = site.game, None
        state = game.init(jax.random.key(0), deck=site.deck())
        noop = game.rules.moves.noop
        for t in range(len(site.moves) + 1):
            if t >= self.seen:
                legal = np.asarray(game.legal(state))[site.seat]
                view = view_of(game, state, t, site.seat, legal, self.seat.encoding)
                action, self.seen = ask_all([(self.seat, view, t == len(site.moves))])[0].action, t + 1
            if t < len(site.moves):
                joint = np.full(site.players, noop, np.int32)
                joint[t % site.players] = site.moves[t]
                state = game.step(state, jnp.asarray(joint))[0]
        if action is None:
            raise OutOfStepError("this turn was answered before")
        return action
