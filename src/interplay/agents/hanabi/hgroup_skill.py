"""H-Group bots that make mistakes: levels of skill, fitted by likelihood to games of people.

A bot tries the rules of `HGroup` in their order. A rule that applies is missed with a probability of its own; one that
is not missed picks among what it offers by a softmax of its scores. With a small probability, and where every rule was
missed, any legal move is made. `benchmarks/hanabi_learning/fit_levels.py` fits these numbers.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from interplay.agents.api import Info
from interplay.agents.basic import masked
from interplay.agents.hanabi.hgroup_bot import HGroup, Offers
from interplay.errors import InterplayError

RULE_NAMES = (
    "blind play", "clue in danger", "play", "play clue", "save clue", "discard trash", "early clue", "clue at 8 tokens",
    "discard chop", "discard any",
)  # fmt: skip
PLAYS, HINTS, DISCARDS = range(3)
KIND = np.array([PLAYS, HINTS, PLAYS, HINTS, HINTS, DISCARDS, HINTS, HINTS, DISCARDS, DISCARDS])  # of each rule
LEAST = -1e9  # below any score

# missed [rule], temperature [kind] and random of each level: `fit_levels.py --split 3 --levels 2` on 2,036 games of
# people (Eger et al. 2017, HanabiData, CC-BY-4.0). A blind play needs three seats, so its lapses are those of plays.
LEVELS: dict[str, tuple[tuple[float, ...], tuple[float, ...], float]] = {
    "regular": (
        (0.297, 0.935, 0.297, 0.182, 0.815, 0.173, 0.550, 0.501, 0.637, 0.993), (5.346, 7.120, 34.123), 0.200,
    ),
    "novice": (
        (0.492, 0.925, 0.492, 0.407, 0.895, 0.528, 0.760, 0.813, 0.966, 0.995), (80.335, 4.804, 32.253), 0.189,
    ),
}  # fmt: skip


class Lapses(eqx.Module):
    """How a level of skill departs from the rules."""

    missed: Float[Array, " rule"]  # the probability that a rule which applies is passed over
    temperature: Float[Array, " kind"]  # of the choice among plays, among hints, and among discards
    random: Float[Array, ""]  # the probability of any legal move

    def odds(self, offers: Offers, legal: Bool[Array, " action"]) -> Float[Array, " action"]:
        """Return the probability of each action."""
        there = legal & (offers.scores > -jnp.inf)  # [rule, action]
        applies = offers.applies & jnp.any(there, axis=-1)
        taken = applies * (1 - self.missed)
        decides = taken * jnp.concatenate([jnp.ones(1), jnp.cumprod(1 - taken)[:-1]])
        scores = jnp.where(there, offers.scores, LEAST)
        below = jnp.where(there, scores - jnp.max(scores, axis=-1, keepdims=True), 0.0)
        within = jax.nn.softmax(jnp.where(there, below / self.temperature[KIND][:, None], LEAST), axis=-1)
        any_move = legal / jnp.maximum(jnp.sum(legal), 1)
        by_rules = decides @ within + (1 - jnp.sum(decides)) * any_move
        return (1 - self.random) * by_rules + self.random * any_move


class LapsingHGroup(HGroup):
    """H-Group's conventions with the lapses of a level."""

    lapses: Lapses = eqx.field(kw_only=True)

    @classmethod
    def from_level(cls, level: str, scale: float = 1.0) -> LapsingHGroup:
        """Make the bot of a fitted level.

        Args:
            level: A name in `LEVELS`.
            scale: From 0 (no lapses) to 1 (as fitted to people).
        """
        if not 0 <= scale <= 1:
            raise InterplayError(f"scale={scale}: from 0, no lapses, to 1, those of people")
        missed, temperature, random = (scale * jnp.asarray(x, jnp.float32) for x in LEVELS[level])
        return cls(lapses=Lapses(missed, jnp.maximum(temperature, 1e-5), random))

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        memory = self.look(memory, obs)
        odds = self.lapses.odds(self.offers(memory.model, obs), legal)
        logits = masked(jnp.log(jnp.maximum(odds, 1e-30)), legal)
        return memory, jax.random.categorical(key, logits).astype(jnp.int32), Info(logits)
