"""Rewards for events that a single step does not show, such as hand-overs that end in a delivery.

A recorder keeps a record beside the state of an episode, or judges a move by the state before it.
"""

from __future__ import annotations

from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game, State
from interplay.training.config import Rewards

# Hand-overs in an episode of full length: all of them, and those in delivered soups.
HANDOVER_LOGS = ("handovers_counters", "handovers_pots", "constructive_counters", "constructive_pots")


class EventRecorder(Protocol):
    """Follows an episode and says what each seat is rewarded for. Pure JAX."""

    kinds: tuple[str, ...]  # of events
    weights: np.ndarray  # [kind] what each is paid; 0: it is only logged

    def begin(self) -> PyTree:
        """Return the record at the start of an episode."""
        ...

    def record(self, record: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """Return the record after a step, and how much of each kind each seat did in it."""
        ...

    def logs(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """Return what is logged, from means over environments and steps."""
        ...


class HandoverRecorder:
    """Counts 1 for giver and receiver of every hand-over that pays; logs hand-overs by channel beside it."""

    kinds: tuple[str, ...] = ("teaming", *HANDOVER_LOGS)

    def __init__(self, game: Any, rewards: Rewards):
        from interplay.games.overcooked import lineage

        if not hasattr(game, "kitchen"):
            raise InterplayError(f"rewards.teaming: {game.id} does not count hand-overs; it is for Overcooked")
        for channel in rewards.teaming_channels:
            if channel not in lineage.CHANNELS:
                raise UnknownName("channel of rewards.teaming_channels", channel, list(lineage.CHANNELS))
        if rewards.teaming_at not in lineage.PAID_AT:
            raise UnknownName("time of rewards.teaming_at", rewards.teaming_at, list(lineage.PAID_AT))
        self.game, self.channels, self.at = game, tuple(rewards.teaming_channels), rewards.teaming_at
        self.weights = np.array([rewards.teaming, *(0.0 for _ in HANDOVER_LOGS)], np.float32)

    def begin(self) -> PyTree:
        """Return an empty lineage of objects."""
        from interplay.games.overcooked import lineage

        return lineage.begin(self.game.num_seats, self.game.layout.size)

    def record(self, record: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """Return the lineage after a step, and the hand-overs that it paid, made and completed."""
        from interplay.games.overcooked import lineage

        new = lineage.follow(self.game.kitchen, record, plain(before), plain(after), actions)
        paid = lineage.teaming_reward(record, new, self.channels, self.at)
        of_giver = [
            jnp.sum(getattr(new.counts, name) - getattr(record.counts, name), axis=-1).T  # [giver, channel]
            for name in ("links", "constructive")
        ]
        return new, jnp.concatenate([paid[:, None], *of_giver], axis=1).astype(jnp.float32)

    def logs(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """Return, in an episode of full length, what was paid (giver and receiver), and hand-overs by channel."""
        return {name: per_step[i] * self.game.horizon for i, name in enumerate(self.kinds)}


class DominatedMoveRecorder:
    """Counts dominated (g1, g2) and dominant (g3) moves of Hanabi for the mover."""

    kinds: tuple[str, ...] = ("g1", "g2", "g3")

    def __init__(self, game: Any, prices: dict[str, float], known: str):
        from interplay.games.hanabi import dominated_moves

        rules = getattr(game, "rules", None)
        if rules is None or not game.id.startswith("hanabi/"):
            raise InterplayError(f"rewards.conduct: {game.id} has no dominated moves; it is for Hanabi")
        for name in prices:
            if name not in self.kinds:
                raise UnknownName("kind of move, as in rewards.conduct,", name, list(self.kinds))
        if known not in dominated_moves.KNOWN:
            raise UnknownName("sense of rewards.known", known, list(dominated_moves.KNOWN))
        self.rules, self.sense = rules, dominated_moves.KNOWN.index(known)
        self.weights = np.array([prices.get(name, 0.0) for name in self.kinds], np.float32)

    def begin(self) -> PyTree:
        """Return an empty record: every move is judged by itself."""
        return ()

    def record(self, record: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """Return how the mover's action is judged."""
        from interplay.games.hanabi import dominated_moves, rules

        before = plain(before)
        turn = rules.to_move(self.rules, before)
        action = jnp.sum(jnp.where(turn, actions, 0))
        flags = dominated_moves.flags(self.rules, before, action)[:, self.sense].astype(jnp.float32)
        return record, turn[:, None] * flags if actions.shape[0] > 1 else flags[None]  # one seat: that of the mover

    def logs(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """Return shares of turns."""
        return {name: per_step[i] for i, name in enumerate(self.kinds)}


def plain(state: State) -> State:
    """Return the game's own state, which wrapped games hold in another one."""
    return getattr(state, "plain", state)


def event_recorder_for(game: Game, rewards: Rewards) -> EventRecorder | None:
    """Return the recorder that the configuration asks for; None: none.

    Raises:
        InterplayError: If the game has no such events.
    """
    if rewards.conduct and (rewards.teaming or rewards.watch_teaming):
        raise InterplayError("rewards: teaming is for Overcooked and conduct for Hanabi; give one of them")
    if rewards.conduct:
        return DominatedMoveRecorder(game, dict(rewards.conduct), rewards.known)
    return HandoverRecorder(game, rewards) if rewards.teaming or rewards.watch_teaming else None
