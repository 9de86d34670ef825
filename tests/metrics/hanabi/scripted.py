"""Small games of Hanabi written out by hand, as recorded episodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import jax
import numpy as np

import interplay
from interplay.agents.api import Identity
from interplay.games.checksum import checksum
from interplay.rollout.episode import Episode
from interplay.traces import TraceSet


@lru_cache
def compiled(players: int = 2):
    game = interplay.make(f"hanabi/{players}p", bomb="keep")
    return game, jax.jit(game.step), jax.jit(game.legal), jax.jit(checksum)


def deck_of(game, first: str) -> np.ndarray:
    """A deck that begins with these cards ("R1 Y3 ..."); the rest follows 3s and 4s first, blue before all others, so
    that what is drawn later is not playable, not in need of saving, and seldom touched."""
    rules = game.rules
    wanted = [rules.suits.index(c[0]) * rules.ranks + int(c[1]) - 1 for c in first.split()]
    left = list(rules.sorted_deck)
    for card in wanted:
        left.remove(card)
    left.sort(key=lambda c: ([2, 3, 1, 0, 4].index(c % rules.ranks), -c))
    cards = np.array(wanted + left)
    return np.stack([cards // rules.ranks, cards % rules.ranks], axis=-1)


def episode(
    hands: Sequence[str],
    moves: Sequence[str],
    agents: Sequence[Identity] | None = None,
    draws: str = "",
    index: int = 0,
) -> Episode:
    """A game with these hands (oldest card first) and moves (names of actions)."""
    game, step, legal, check = compiled(len(hands))
    state = game.init(jax.random.key(0), deck=deck_of(game, " ".join([*hands, draws])))
    first, noop, actions = state, game.rules.moves.noop, []
    rewards, over = np.zeros(len(hands)), False
    for t, move in enumerate(moves):
        action = game.action_names.index(move)
        assert legal(state)[t % len(hands), action], f"{move!r} is not legal at t={t}"
        joint = np.full(len(hands), noop)
        joint[t % len(hands)] = action
        actions.append(joint)
        state, told = step(state, joint)
        rewards, over = rewards + np.asarray(told.reward), bool(told.terminated)
    return Episode(
        game_id=game.id,
        options={"bomb": "keep"},
        rules_version=game.rules_version,
        agents=tuple(agents or [Identity("ann", "a", False), Identity("bob", "b", False)]),
        seed=0,
        index=index,
        start={k: np.asarray(v) for k, v in game.start(first).items()},
        actions=np.array(actions, np.int16).reshape(len(moves), len(hands)),
        check_steps=np.array([0, len(moves)], np.int32),
        checks=np.array([check(first), check(state)], np.uint32),
        rewards=rewards,
        terminated=over,
    )


def traces(*episodes: Episode) -> TraceSet:
    return TraceSet.in_memory(episodes)


def recoloured(found: Episode, order: str) -> Episode:
    """The same game with its colours exchanged: RYGWB become the letters of `order`."""
    game = compiled(len(found.agents))[0]
    rules = game.rules
    to = np.array([rules.suits.index(c) for c in order])
    start = np.array(found.start["deck"])
    start[:, 0] = to[start[:, 0]]
    names = list(game.action_names)
    swap = {f"hint +{o} {a}": f"hint +{o} {b}" for o in range(1, rules.players) for a, b in zip(rules.suits, order)}
    cards = " ".join(rules.card_name(c * rules.ranks + r) for c, r in start)
    size = rules.hand_size
    hands = [" ".join(cards.split()[i * size : (i + 1) * size]) for i in range(rules.players)]
    moved = [names[int(a)] for a in found.actions[np.arange(found.length), np.arange(found.length) % rules.players]]
    draws = " ".join(cards.split()[rules.players * size :])
    return episode(hands, [swap.get(m, m) for m in moved], found.agents, draws, found.index)
