"""CheatBot: sees all hands, its own included, and so gives an upper bound."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import RuleBot, best, commit, first_of, others, value_hint
from interplay.games.hanabi.encode import open_table

# With so few points to go, at each number of tokens, stalling by a hint comes before discarding.
STALL = np.array([0, 1, 2, 3, 4, 5, 8, 25, 25])


class Cheat(RuleBot):
    """Plays what fits, discards what nobody needs, and hints only to pass."""

    encoding: ClassVar[str] = "state"  # that `act` reads

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        return seat

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        board = open_table(self.table, obs, memory)
        return memory, *commit(self.table, self.choose((), board, key), legal)

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        rules, slots = self.table, self.table.hand_size
        mine = board.hands[board.seat].astype(jnp.int32)
        occupied = mine >= 0
        value = jnp.where(occupied, mine % 5 + 1, 0)
        fits = cards.has(cards.playable(board), mine)
        gone_for_good = cards.has(cards.dead(board), mine)
        copies = jnp.sum(board.hands.reshape(-1, 1) == cards.IDS, axis=0)
        own_copies = jnp.sum(mine[:, None] == cards.IDS, axis=0)
        twice_mine = occupied & (own_copies[mine] >= 2)
        twice = occupied & (copies[mine] >= 2)

        # Play: what lets the next seats play on comes first, then the lowest value.
        follows = (board.hands[others(board.seat, rules.players)][:, None, :] == mine[:, None] + 1).any(axis=-1)
        leads = fits & (value < 5) & follows
        partner = jnp.argmax(leads.any(axis=1))
        wanted = jnp.where(leads.any(), leads[partner], fits)
        play = slots + best(-value, wanted)

        waste = gone_for_good | twice_mine
        oldest_waste = jnp.argmax(waste)
        full = board.tokens == rules.hint_tokens
        w = (waste.any() & (~full | (board.lives >= 2)), jnp.where(full, slots, 0) + oldest_waste)
        d = (~full & twice.any(), jnp.argmax(twice))
        spare = occupied & (value < 5) & ~cards.has(board.discards == cards.TOTAL - 1, mine)
        ahead = value - board.fireworks.astype(jnp.int32)[jnp.where(occupied, mine // 5, 0)]
        f = (~full & spare.any(), best(ahead, spare))
        t = (board.tokens > 0, value_hint(rules, jnp.int32(1), board.hands[others(board.seat, rules.players)[0], 0]))

        stuck = ~cards.has(cards.playable(board), board.hands).any()
        all_needed = ~(cards.has(cards.dead(board), board.hands).any() | (copies >= 2).any())
        to_go = 25 - jnp.sum(board.fireworks, dtype=jnp.int32)
        stall = (to_go >= board.deck + 1) | (to_go <= jnp.asarray(STALL)[board.tokens])

        def when(condition, choice):
            return (condition & choice[0], choice[1])

        return first_of(
            (fits.any(), play),
            when(stuck, w),
            when(stuck, d),
            when(stuck & all_needed, f),
            when(stall, t),
            w,
            d,
            t,
            f,
            (True, best(value, occupied)),
        )
