"""Rewards for events that a single step does not show, such as hand-overs that end in a delivery.

A recorder keeps a record beside the state of an episode, or judges a move by the state before it.
"""

from __future__ import annotations

from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game, State
from interplay.training.config import Rewards


class EventRecorder(Protocol):
    """Follows an episode and says what each seat is rewarded for. Pure JAX."""

    kinds: tuple[str, ...]  # of events
    weights: np.ndarray  # [kind] what each is paid; 0: it is only logged

    def begin(self) -> Any:
        """Return the record at the start of an episode."""
        ...

    def record(self, record: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """Return the record after a step, and how much of each kind each seat did in it."""
        ...

    def logs(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """Return what is logged, from means over environments and steps."""
        ...


class HandoverRecorder:
    """Counts 1 for giver and receiver of every hand-over that ends in a delivered soup."""

    kinds: tuple[str, ...] = ("teaming",)

    def __init__(self, game: Any, weight: float):
        if not hasattr(game, "kitchen"):
            raise InterplayError(f"rewards.teaming: {game.id} does not count hand-overs; it is for Overcooked")
        self.game, self.weights = game, np.array([weight], np.float32)

    def begin(self) -> Any:
        """Return an empty lineage of objects."""
        from interplay.games.overcooked import lineage

        return lineage.begin(self.game.num_seats, self.game.layout.size)

    def record(self, record: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """Return the lineage after a step, and the hand-overs that it completed."""
        from interplay.games.overcooked import lineage

        new = lineage.follow(self.game.kitchen, record, plain(before), plain(after), actions)
        return new, lineage.teaming_reward(record, new)[:, None]

    def logs(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """Return completed hand-overs in an episode of full length."""
        return {"teaming": per_step[0] * self.game.horizon}


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

    def begin(self) -> Any:
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
    return HandoverRecorder(game, rewards.teaming) if rewards.teaming or rewards.watch_teaming else None
