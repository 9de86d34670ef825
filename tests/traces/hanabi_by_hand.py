"""Hanabi in plain Python, written apart from the engine: made-up recordings for the importers, with known scores."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

COPIES = (3, 2, 2, 2, 1)


@dataclass
class Table:
    """A game in progress. Moves are numbered as everywhere: discards, plays, colour hints, rank hints."""

    deck: list[tuple[int, int]]
    players: int = 2
    lax: bool = False  # discards at 8 tokens are allowed
    moves: list[int] = field(default_factory=list)
    tokens: int = 8
    lives: int = 3
    left: int = -1
    discards_at_8: int = 0

    def __post_init__(self):
        self.size = 5 if self.players <= 3 else 4
        self.fireworks = [0] * 5
        held = self.players * self.size
        self.hands = [self.deck[i : i + self.size] for i in range(0, held, self.size)]
        self.stock = self.deck[held:]
        self.left = self.players

    @property
    def points(self) -> int:
        return sum(self.fireworks)

    @property
    def over(self) -> bool:
        return self.lives == 0 or self.points == 25 or self.left == 0

    def legal(self) -> list[int]:
        seat = len(self.moves) % self.players
        cards = len(self.hands[seat])
        found = list(range(cards)) if self.tokens < 8 or self.lax else []
        found += [self.size + slot for slot in range(cards)]
        if self.tokens:
            for offset in range(1, self.players):
                hand = self.hands[(seat + offset) % self.players]
                found += [2 * self.size + (offset - 1) * 5 + c for c in {c for c, _ in hand}]
                found += [2 * self.size + (self.players + offset - 2) * 5 + r for r in {r for _, r in hand}]
        return sorted(found)

    def play(self, move: int) -> None:
        seat, stock_was_empty = len(self.moves) % self.players, not self.stock
        if move < 2 * self.size:
            colour, rank = self.hands[seat].pop(move % self.size)
            if move < self.size:
                self.discards_at_8 += self.tokens == 8
                self.tokens = min(8, self.tokens + 1)
            elif self.fireworks[colour] == rank:
                self.fireworks[colour] += 1
                self.tokens = min(8, self.tokens + (rank == 4))
            else:
                self.lives -= 1
            if self.stock:
                self.hands[seat].append(self.stock.pop(0))
        else:
            self.tokens -= 1
        self.left -= stock_was_empty
        self.moves.append(move)


def shuffled(seed: int) -> list[tuple[int, int]]:
    deck = [(colour, rank) for colour in range(5) for rank, n in enumerate(COPIES) for _ in range(n)]
    random.Random(seed).shuffle(deck)
    return deck


def game(seed: int, players: int = 2, *, lax: bool = False, careful: bool = True, most: int = 200) -> Table:
    """A game to its end. Careful players look at their cards and play only what fits."""
    rng = random.Random(seed)
    table = Table(shuffled(seed), players, lax)
    while not table.over and len(table.moves) < most:
        table.play(_choose(table, rng, careful))
    return table


def _choose(table: Table, rng: random.Random, careful: bool) -> int:
    moves = table.legal()
    if not careful:
        return rng.choice(moves)
    hand = table.hands[len(table.moves) % table.players]
    fits = [table.size + i for i, (colour, rank) in enumerate(hand) if table.fireworks[colour] == rank]
    others = [m for m in moves if not table.size <= m < 2 * table.size]
    return fits[0] if fits else rng.choice(others or moves)
