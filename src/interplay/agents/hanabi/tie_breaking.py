"""Bots that draw lots: the first rule that offers a legal move decides, at random among what it offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.api import Info
from interplay.agents.basic import masked
from interplay.agents.hanabi.base_bot import BotMemory, RuleBot, hint_action, read_move
from interplay.games.hanabi.state import HINT_COLOUR, HINT_RANK, HanabiRules

Odds = Float[Array, " choice"]


class Lottery(RuleBot):
    """A bot whose rules each give odds over its choices; a choice is an action unless `actions` maps it."""

    def offers(self, model: Any, board: Any) -> Float[Array, "rule choice"]:
        """Return what each rule would do, in order; a row of zeros if it does not apply."""
        raise NotImplementedError

    def actions(self, model: Any, board: Any) -> Int[Array, " choice"]:
        """Return the action of each choice."""
        return jnp.arange(self.table.moves.noop + 1)

    def note(self, model: Any, choice: Int[Array, ""]) -> Any:
        """Return the model after a choice."""
        return model

    def act(self, memory, obs, legal, key):
        """Draw a choice by the odds of the first rule that offers a legal move."""
        watched = self.watch(memory.model, memory.before, read_move(self.table, memory.before, obs), obs)
        model = jax.tree.map(lambda a, b: jnp.where(obs.time > 0, a, b), watched, memory.model)
        actions = self.actions(model, obs)
        offers = self.offers(model, obs) * legal[actions]
        odds = offers[jnp.argmax(jnp.any(offers > 0, axis=1))]
        stuck = ~jnp.any(odds > 0)
        choice = jax.random.categorical(key, jnp.log(odds))
        last_resort = _last_resort(self.table, legal)
        action = jnp.where(stuck, jax.random.categorical(key, jnp.log(last_resort)), actions[choice])
        share = jnp.zeros(legal.shape[0]).at[actions].add(odds / jnp.maximum(jnp.sum(odds), 1e-9))
        share = jnp.where(stuck, last_resort / jnp.sum(last_resort), share)
        logits = masked(jnp.maximum(jnp.log(jnp.maximum(share, 1e-30)), -30.0), legal)
        return BotMemory(model=self.note(model, choice), before=obs), action.astype(jnp.int32), Info(logits)


def _last_resort(rules: HanabiRules, legal: Bool[Array, " action"]) -> Float[Array, " action"]:
    """Return odds of any hint; without one of any discard; else of any legal action."""
    kind = rules.moves.kind
    hints = legal & np.isin(kind, (HINT_COLOUR, HINT_RANK))
    discards = legal & (np.arange(len(kind)) < rules.hand_size)
    return jnp.where(hints.any(), hints, jnp.where(discards.any(), discards, legal)).astype(jnp.float32)


def only(index: Int[Array, ""], present: Any, size: int) -> Odds:
    """Return odds with all weight on one choice, if it is present."""
    return ((jnp.arange(size) == index) & present).astype(jnp.float32)


def plays(rules: HanabiRules, slots: Bool[Array, " slot"]) -> Odds:
    """Return odds of playing one of these cards."""
    return _place(rules, rules.hand_size, slots)


def discards(rules: HanabiRules, slots: Bool[Array, " slot"]) -> Odds:
    """Return odds of discarding one of these cards."""
    return _place(rules, 0, slots)


def _place(rules: HanabiRules, start: int, slots) -> Odds:
    return jnp.zeros(rules.moves.noop + 1).at[start : start + rules.hand_size].set(slots.astype(jnp.float32))


def tell(rules: HanabiRules, offset, hint, present) -> Odds:
    """Return odds of giving this hint, 0 to 9, to the seat `offset` places on."""
    return only(hint_action(rules, offset, hint), present, rules.moves.noop + 1)


def first(flags: Bool[Array, " n"]) -> Bool[Array, " n"]:
    """Return only the first of the flags."""
    return flags & (jnp.cumsum(flags) == 1)


def stack(offers: Sequence[Odds]) -> Float[Array, "rule choice"]:
    """Stack the odds of the rules into one array."""
    return jnp.stack([jnp.asarray(o, jnp.float32) for o in offers])
