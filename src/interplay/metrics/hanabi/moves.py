"""Every move of some games of Hanabi in one flat table, with what its maker knew of the card it used.

Moves are judged one by one on the state before them, so all moves of all games go through one compiled function in
blocks of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PyTree

from interplay.errors import InterplayError
from interplay.games.hanabi import card_sets, dominated_moves
from interplay.games.hanabi.dominated_moves import KNOWN as KNOWN
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, PLAY, HanabiRules, HanabiState
from interplay.metrics.api import Sample
from interplay.table import Row
from interplay.traces import ReplayBatch

BLOCK = 2048  # moves judged at once


@dataclass(frozen=True, kw_only=True)
class MoveRecord:
    """One entry for each move. Of hints, what is said of the used card means nothing."""

    episode: Int[np.ndarray, " move"]  # its place in the sample
    time: Int[np.ndarray, " move"]
    seat: Int[np.ndarray, " move"]
    action: Int[np.ndarray, " move"]
    kind: Int[np.ndarray, " move"]  # of interplay.games.hanabi.state
    tokens: Int[np.ndarray, " move"]  # hint tokens before the move
    playable: Bool[np.ndarray, "move sense"]  # the used card was known to be playable, in each sense of KNOWN
    unplayable: Bool[np.ndarray, "move sense"]
    hinted: Int[np.ndarray, " move"]  # of colour and rank, how many a hint had named on the used card: 0, 1 or 2
    deduced: Int[np.ndarray, " move"]  # how many were certain by all hints, those that passed it over included


def rules_of(sample: Sample) -> HanabiRules:
    """The rule set of the sample's game; an error if it is not Hanabi."""
    if not isinstance(sample.game, Hanabi):
        raise InterplayError(f"this metric is of Hanabi, and {sample.game.id} is not: select traces of hanabi/*")
    return sample.game.rules


def moves(sample: Sample) -> MoveRecord:
    """All moves of a sample, game after game, in order (numpy)."""
    return sample.shared("hanabi moves", _moves)


def _moves(sample: Sample) -> MoveRecord:
    rules = rules_of(sample)
    place, time, states, action = positions(sample)
    judged = in_blocks(judge(rules), states, action)
    kind = rules.moves.kind[action]
    return MoveRecord(episode=place, time=time, seat=time % rules.players, action=action, kind=kind, **judged)


def positions(sample: Sample) -> tuple[np.ndarray, np.ndarray, HanabiState, np.ndarray]:
    """Of each move of a sample: its episode's place, its time, the state before it, and the action."""
    return sample.shared("hanabi positions", _positions)


def _positions(sample: Sample) -> tuple[np.ndarray, np.ndarray, HanabiState, np.ndarray]:
    rules, first, parts_by_batch = rules_of(sample), 0, []
    for batch in sample.batches:
        parts_by_batch.append(_of_batch(rules, batch, first))
        first += len(batch.episodes)
    return jax.tree.map(lambda *parts: np.concatenate(parts), *parts_by_batch)


def _of_batch(
    rules: HanabiRules, batch: ReplayBatch, first: int
) -> tuple[np.ndarray, np.ndarray, HanabiState, np.ndarray]:
    place, time = np.nonzero(batch.played)
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[place, time], batch.states)
    joint = np.concatenate([np.asarray(e.actions, np.int32) for e in batch.episodes])
    action = joint[np.arange(len(joint)), time % rules.players]
    return place + first, time, states, action


def in_blocks(function: Callable[..., Any], *arrays: PyTree) -> Any:
    """A compiled function of one block applied to any number of moves."""
    n = len(jax.tree.leaves(arrays)[0])
    blocks = []
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        part = jax.tree.map(lambda x, at=slice(start, start + size): _filled(x[at]), arrays)
        blocks.append(jax.tree.map(lambda x, k=size: np.asarray(x)[:k], function(*part)))
    return jax.tree.map(lambda *parts: np.concatenate(parts), *blocks)


def _filled(part: np.ndarray) -> np.ndarray:
    """A part made up to a whole block with copies of its first entry."""
    return part if len(part) == BLOCK else np.concatenate([part, np.repeat(part[:1], BLOCK - len(part), axis=0)])


@lru_cache(maxsize=16)
def judge(rules: HanabiRules) -> Callable[[HanabiState, Any], dict[str, Any]]:
    """Return the compiled function that judges a block of moves on the states before them."""
    return jax.jit(jax.vmap(lambda state, action: _judge(rules, state, action)))


def _judge(rules: HanabiRules, state: HanabiState, action: Int[Array, ""]) -> dict[str, Any]:
    seat, slot = state.time % rules.players, jnp.asarray(rules.moves.slot)[action]
    playable, unplayable = dominated_moves.known(rules, state, action)
    by_hints = state.possible[seat, slot]
    hinted = (state.told_colours[seat, slot] != 0).astype(jnp.int32) + (state.told_ranks[seat, slot] != 0)
    suit, rank = (card_sets.single(by_hints, sets(rules)) for sets in (card_sets.suit_sets, card_sets.rank_sets))
    return {
        "tokens": state.tokens,
        "playable": playable,
        "unplayable": unplayable,
        "hinted": hinted,
        "deduced": suit.astype(jnp.int32) + rank,
    }


def is_hint(record: MoveRecord) -> np.ndarray:
    """Return which moves are hints, [move]."""
    return (record.kind == HINT_COLOUR) | (record.kind == HINT_RANK)


def is_play(record: MoveRecord) -> np.ndarray:
    """Return which moves play a card, [move]."""
    return record.kind == PLAY


def is_discard(record: MoveRecord) -> np.ndarray:
    """Return which moves discard a card, [move]."""
    return record.kind == DISCARD


def per_seat(sample: Sample, record: MoveRecord, what: np.ndarray) -> np.ndarray:
    """[episode, seat] sums of something over the moves of each seat of each game."""
    seats = sample.game.num_seats
    cell = record.episode * seats + record.seat
    total = np.bincount(cell, weights=np.asarray(what, float), minlength=len(sample.episodes) * seats)
    return total.reshape(len(sample.episodes), seats)


def share_rows(sample: Sample, name: str, known: str | None, top: np.ndarray, bottom: np.ndarray) -> Iterator[Row]:
    """Yield a row for each episode and seat with top / bottom, [episode, seat] each; null where there is no bottom."""
    for about, episode, tops, bottoms in zip(sample.about(), sample.episodes, top, bottom, strict=True):
        for seat, (part, whole) in enumerate(zip(tops, bottoms, strict=True)):
            value = float(part / whole) if whole > 0 else None
            yield {
                **about,
                "seat": seat,
                "agent": episode.agents[seat].name,
                "metric": name,
                "known": known,
                "value": value,
                "n": int(whole),
            }
