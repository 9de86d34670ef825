"""The base of all Hanabi rule bots.

A bot keeps a model of every hand, its own included, from what all seats have seen. `watch` updates it with the last
move, `ponder` draws conclusions before a move, and `choose` picks an action.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int8, UInt32

from interplay.agents.api import Info, Policy
from interplay.agents.basic import masked
from interplay.agents.hanabi.standard_deck import HINTS, card_bit, present
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.hanabi import encode
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.rules import deal
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, PLAY, HanabiRules
from interplay.games.records import record

Model = Any


@record
class BotMove:
    """The last move, decoded for rule bots."""

    actor: Int[Array, ""]
    plays: Bool[Array, ""]
    discards: Bool[Array, ""]
    hints_colour: Bool[Array, ""]
    hints_value: Bool[Array, ""]
    gone: Bool[Array, "seat slot"]  # where the card that was played or discarded lay
    card: Int8[Array, ""]  # that card
    scored: Bool[Array, ""]
    receiver: Int[Array, ""]  # of a hint
    colour: Int[Array, ""]  # the colour that was hinted
    value: Int[Array, ""]  # the value that was hinted, 1 to 5
    named: UInt32[Array, ""]  # the identities that the hint names
    received: Bool[Array, "seat slot"]  # the receiver's hand
    touched: Bool[Array, "seat slot"]  # the cards that the hint named
    reclaim: Bool[Array, ""]  # a value hint for want of anything to do


@record
class BotMemory:
    """A bot's model, and the table as it was before the last move."""

    model: Any
    before: HanabiObservation  # before the last move


class RuleBot(Policy):
    """A bot with a model of all hands; subclasses define the initial model, its update and the choice."""

    encoding: ClassVar[str] = "seen"  # that `act` reads

    rules: HanabiRules | None = eqx.field(static=True, default=None)

    def bind(self, game: Game) -> Policy:
        """Return the bot with the rules of a game.

        Raises:
            InterplayError: The game is not Hanabi with the standard deck.
        """
        rules = getattr(game, "rules", None)
        if not isinstance(rules, HanabiRules):
            raise InterplayError(f"{type(self).__name__} plays Hanabi; {game.id} is another game")
        if len(rules.suits) != 5 or rules.wild or rules.copies != (3, 2, 2, 2, 1):
            raise InterplayError(f"{type(self).__name__} knows the standard deck only, not that of {game.id}")
        return replace(self, rules=rules)

    @property
    def table(self) -> HanabiRules:
        """The rules of the bound game."""
        if self.rules is None:
            raise InterplayError(f"{type(self).__name__} has no game yet: call bind(game) first")
        return self.rules

    def blank(self) -> Model:
        """Return the model before the first move."""
        return ()

    def watch(self, model: Model, before: HanabiObservation, move: BotMove, after: HanabiObservation) -> Model:
        """Return the model after a move."""
        return model

    def ponder(self, model: Model, board: HanabiObservation) -> Model:
        """Return the model with what follows from it before a move."""
        return model

    def choose(self, model: Model, board: HanabiObservation, key) -> Int[Array, ""]:
        """Return the action that this seat would take if it were its turn."""
        raise NotImplementedError

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        rules = self.table
        board = encode.seen(rules, deal(rules, jnp.asarray(rules.sorted_deck)))
        return BotMemory(model=self.blank(), before=jax.tree.map(lambda x: x[0], board))

    def look(self, memory: BotMemory, obs: HanabiObservation) -> BotMemory:
        """Return the memory after an observation."""
        watched = self.watch(memory.model, memory.before, read_move(self.table, memory.before, obs), obs)
        model = jax.tree.map(lambda a, b: jnp.where(obs.time > 0, a, b), watched, memory.model)
        return BotMemory(model=self.ponder(model, obs), before=obs)

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        memory = self.look(memory, obs)
        return memory, *commit(self.table, self.choose(memory.model, obs, key), legal)


def commit(rules: HanabiRules, action: Int[Array, ""], legal: Bool[Array, " action"]) -> tuple[Int[Array, ""], Info]:
    """Return the action if it is legal, else the first legal discard, hint or play (off turn: the no-op)."""
    slots, noop = rules.hand_size, rules.moves.noop
    order = np.concatenate([np.arange(slots), np.arange(2 * slots, noop + 1), np.arange(slots, 2 * slots)])
    fallback = jnp.asarray(order)[jnp.argmax(legal[order])]
    action = jnp.where(legal[action], action, fallback).astype(jnp.int32)
    logits = masked(jnp.where(jnp.arange(noop + 1) == action, 0.0, -30.0), legal)
    return action, Info(logits)


def read_move(rules: HanabiRules, before: HanabiObservation, after: HanabiObservation) -> BotMove:
    """Decode the move between two observations."""
    moves, last, seats = rules.moves, after.last, rules.players
    kind = jnp.asarray(moves.kind)[last.action]
    hint = jnp.asarray(moves.hint)[last.action]
    actor = (after.time - 1) % seats
    receiver = (actor + jnp.asarray(moves.offset)[last.action]) % seats
    uses = (kind == PLAY) | (kind == DISCARD)
    is_hint = (kind == HINT_COLOUR) | (kind == HINT_RANK)
    seat, slot = jnp.arange(seats)[:, None], jnp.arange(rules.hand_size)
    touched = is_hint & (seat == receiver) & last.touched
    reclaim = (
        (kind == HINT_RANK) & (before.tokens == rules.hint_tokens) & (actor == (receiver + 1) % seats) & last.touched[0]
    )
    return BotMove(
        actor=actor,
        plays=kind == PLAY,
        discards=kind == DISCARD,
        hints_colour=kind == HINT_COLOUR,
        hints_value=kind == HINT_RANK,
        gone=uses & (seat == actor) & (slot == jnp.asarray(moves.slot)[last.action]),
        card=last.card,
        scored=last.scored,
        receiver=receiver,
        colour=hint,
        value=hint - 5 + 1,
        named=jnp.asarray(moves.touches)[last.action],
        received=is_hint & (seat == receiver) & present(before),
        touched=touched,
        reclaim=reclaim,
    )


def shift(records: Array, gone: Bool[Array, "seat slot"], blank: Any) -> Array:
    """Move records [seat, slot, ...] up after a card left a hand, with a blank record for the newest card."""
    extra = records.ndim - 2
    passed = jnp.cumsum(gone, axis=1) > 0
    moved = jnp.concatenate(
        [records[:, 1:], jnp.broadcast_to(jnp.asarray(blank, records.dtype), records[:, :1].shape)], axis=1
    )
    return jnp.where(passed.reshape(*passed.shape, *(1,) * extra), moved, records)


def others(seat: Int[Array, ""], seats: int) -> Int[Array, " offset"]:
    """Return the other seats in turn order."""
    return (seat + jnp.arange(1, seats)) % seats


def hint_touches(cards: Int8[Array, "*hand slot"]) -> Bool[Array, "*hand hint slot"]:
    """Return which cards each of the ten hints touches."""
    return (card_bit(cards)[..., None, :] & HINTS[:, None]) != 0


def hint_action(rules: HanabiRules, offset: Int[Array, ""], hint: Int[Array, ""]) -> Int[Array, ""]:
    """Return the action that gives hint 0 to 9 to the seat `offset` places on."""
    slots, seats = rules.hand_size, rules.players
    first = jnp.where(hint < 5, 2 * slots, 2 * slots + 5 * (seats - 1) - 5)
    return first + (offset - 1) * 5 + hint


def value_hint(rules: HanabiRules, offset: Int[Array, ""], card: Int8[Array, ""]) -> Int[Array, ""]:
    """Return the action that names this card's value to the seat `offset` places on."""
    return hint_action(rules, offset, 5 + jnp.maximum(card, 0).astype(jnp.int32) % 5)


def reclaim_action(rules: HanabiRules, board: HanabiObservation) -> Int[Array, ""]:
    """Return the hint that passes a turn when discarding is illegal: the value of the right neighbour's oldest card."""
    right = (board.seat - 1) % rules.players
    return value_hint(rules, jnp.int32(rules.players - 1), board.hands[right, 0])


def best(score: Any, valid: Bool[Array, " n"], newest: bool = False) -> Int[Array, ""]:
    """Return the index of the highest valid score; of equals the oldest, or the newest."""
    score = jnp.where(valid, score, -jnp.inf)
    return score.shape[0] - 1 - jnp.argmax(score[::-1]) if newest else jnp.argmax(score)


def first_of(*choices: tuple[Any, Any]) -> Int[Array, ""]:
    """Return the action of the first choice whose condition holds, or the last one's."""
    conditions, actions = zip(*choices)
    return jnp.select(list(conditions[:-1]), [jnp.int32(a) for a in actions[:-1]], jnp.int32(actions[-1]))
