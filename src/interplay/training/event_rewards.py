"""Rewards for what a single step does not show: a record kept beside the state, such as who helped whom, or a judgement
of the move on the state before it."""

from __future__ import annotations

from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game, State
from interplay.training.config import Rewards


class Witness(Protocol):
    """Follows an episode and pays seats for what it has seen. Pure JAX."""

    kinds: tuple[str, ...]  # what it can see
    weights: np.ndarray  # [kind] what each is paid; 0: it is only logged

    def begin(self) -> Any:
        """The record at the start of an episode."""
        ...

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        """The record after a step, and how much of each kind the step shows of each seat."""
        ...

    def told(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        """What is logged, of means over environments and steps."""
        ...


class Teaming:
    """Pays 1 to giver and receiver of every hand-over that ends in a delivered soup."""

    kinds: tuple[str, ...] = ("teaming",)

    def __init__(self, game: Any, weight: float):
        if not hasattr(game, "kitchen"):
            raise InterplayError(f"rewards.teaming: {game.id} does not count hand-overs; it is for Overcooked")
        self.game, self.weights = game, np.array([weight], np.float32)

    def begin(self) -> Any:
        from interplay.games.overcooked import lineage

        return lineage.begin(self.game.num_seats, self.game.layout.size)

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        from interplay.games.overcooked import lineage

        new = lineage.follow(self.game.kitchen, note, plain(before), plain(after), actions)
        return new, lineage.teaming_reward(note, new)[:, None]

    def told(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        return {"teaming": per_step[0] * self.game.horizon}  # as much as an episode of full length holds of it


class Conduct:
    """Pays the mover for a dominated move (g1, g2) or a dominant one (g3) of Hanabi, each at its price."""

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
        return ()

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, "seat kind"]]:
        from interplay.games.hanabi import dominated_moves, rules

        before = plain(before)
        turn = rules.to_move(self.rules, before)
        action = jnp.sum(jnp.where(turn, actions, 0))
        flags = dominated_moves.flags(self.rules, before, action)[:, self.sense].astype(jnp.float32)
        return note, turn[:, None] * flags if actions.shape[0] > 1 else flags[None]  # one seat: that of the mover

    def told(self, per_step: Float[Array, " kind"]) -> dict[str, Array]:
        return {name: per_step[i] for i, name in enumerate(self.kinds)}  # shares of turns: every step is one


def plain(state: State) -> State:
    """The game's own state: some worlds of training keep it in another one."""
    return getattr(state, "plain", state)


def witness_of(game: Game, rewards: Rewards) -> Witness | None:
    if rewards.conduct and (rewards.teaming or rewards.watch_teaming):
        raise InterplayError("rewards: teaming is for Overcooked and conduct for Hanabi; give one of them")
    if rewards.conduct:
        return Conduct(game, dict(rewards.conduct), rewards.known)
    return Teaming(game, rewards.teaming) if rewards.teaming or rewards.watch_teaming else None
