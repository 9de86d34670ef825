"""Numbers that describe every move of Hanabi to a network: the same for any number of players, slots and colours.

They hold what the H-Group rules offer (`hgroup_bot`), what hints have told of a card, what a hint would tell its
receiver, how the game stands, and what this seat has done so far. A network that scores moves one by one from them can
be trained on games of two players and asked in games of three.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import BotMove, hint_touches, others, read_move, shift
from interplay.agents.hanabi.hgroup_bot import HGroup, Read, chop, clued, leftmost, sets_of, will_play
from interplay.agents.hanabi.standard_deck import HINTS, TOTAL
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.records import record

LONG_AGO = 40.0  # moves since a hint touched a card that none has touched
FEATURES, FACTS = 119, 28  # numbers of a move, and of the table
DECIDED = -2  # which number of a move says that the H-Group bot would make it
FITS = 18  # and which, of a play, how likely the card fits by hints and cards in sight
LAST_LIFE = 4  # which fact says that one life is left


@record
class History:
    """What a seat remembers beside the conventions."""

    since: Float[Array, "seat slot"]  # moves since a hint touched the card
    kinds: Float[Array, " kind"]  # how often this seat played, discarded, hinted a colour and hinted a rank
    played: Float[Array, " slot"]  # how often it played from each slot
    discarded: Float[Array, " slot"]  # how often it discarded from each slot


class Described(NamedTuple):
    """Moves as numbers."""

    moves: Float[Array, "action feature"]
    table: Float[Array, " fact"]  # the same for all moves


def no_history(bot: HGroup) -> History:
    """Return what is remembered at the start of a game."""
    seats, slots = bot.table.players, bot.table.hand_size
    none = jnp.zeros(slots, jnp.float32)
    return History(
        since=jnp.full((seats, slots), LONG_AGO, jnp.float32),
        kinds=jnp.zeros(4, jnp.float32),
        played=none,
        discarded=none,
    )


def remembered(bot: HGroup, history: History, before: HanabiObservation, board: HanabiObservation) -> History:
    """Return what is remembered after the move between two views."""
    move = read_move(bot.table, before, board)
    since = shift(jnp.where(move.touched, 0.0, history.since + 1), move.gone, LONG_AGO)
    mine = (move.actor == board.seat).astype(jnp.float32)
    kind = jnp.stack([move.plays, move.discards, move.hints_colour, move.hints_value]).astype(jnp.float32)
    slot = jnp.sum(move.gone, axis=0).astype(jnp.float32) * mine
    later = History(
        since=since,
        kinds=history.kinds + mine * kind,
        played=history.played + slot * kind[0],
        discarded=history.discarded + slot * kind[1],
    )
    return jax.tree.map(lambda a, b: jnp.where(board.time > 0, a, b), later, history)


def described(
    bot: HGroup,
    model: Read,
    history: History,
    before: HanabiObservation,
    board: HanabiObservation,
    legal: Bool[Array, " action"],
) -> Described:
    """Describe every move of the seat that looks.

    Args:
        bot: Bound to the game.
        model: How the conventions read the cards, after this view.
        history: What is remembered, after this view.
        before: The view before the last move.
        board: What the seat sees.
        legal: What it may do.
    """
    sets = sets_of(board, model.meant)
    by_rules = _rules(bot, model, board, legal)
    hand = _own_cards(bot, model, history, board, sets)  # [slot, feature]
    hints = _hints(bot, model, history, board, sets)  # [partner, hint, feature]
    slots, partners = bot.table.hand_size, bot.table.players - 1
    play_habit = history.played / (1 + jnp.sum(history.played))
    discard_habit = history.discarded / (1 + jnp.sum(history.discarded))
    width_hand, width_hint = hand.shape[-1] + 1, hints.shape[-1]
    rows = []
    for kind, habit in ((1, discard_habit), (0, play_habit)):  # discards come first among the actions
        own = jnp.concatenate([hand, habit[:, None]], axis=-1)
        empty = jnp.zeros((slots, width_hand))
        both = [own, empty] if kind == 0 else [empty, own]
        rows.append(jnp.concatenate([_one_hot(kind, slots), *both, jnp.zeros((slots, width_hint))], axis=-1))
    for kind, part in ((2, hints[:, :5]), (3, hints[:, 5:])):
        many = partners * 5
        nothing = jnp.zeros((many, 2 * width_hand))
        rows.append(jnp.concatenate([_one_hot(kind, many), nothing, part.reshape(many, -1)], axis=-1))
    rows.append(jnp.zeros((1, rows[0].shape[-1])))  # waiting
    moves = jnp.concatenate([jnp.concatenate(rows), by_rules], axis=-1)
    facts = _table(bot, model, history, read_move(bot.table, before, board), board, sets)
    return Described(moves.astype(jnp.float32), facts.astype(jnp.float32))


def _one_hot(kind: int, rows: int) -> Float[Array, "row kind"]:
    return jnp.tile((jnp.arange(4) == kind).astype(jnp.float32), (rows, 1))


def _rules(bot: HGroup, model: Read, board: HanabiObservation, legal: Array) -> Float[Array, "action feature"]:
    """What each rule of the H-Group bot offers, which of it the rule likes best, and what the bot would do."""
    offers = bot.offers(model, board)
    there = legal & (offers.scores > -jnp.inf) & offers.applies[:, None]
    scores = jnp.where(there, offers.scores, -1e9)
    best = there & (scores >= jnp.max(scores, axis=-1, keepdims=True))
    worse = jnp.where(there, jnp.tanh((scores - jnp.max(scores, axis=-1, keepdims=True)) / 10), 0.0)
    first = jnp.any(there, axis=-1) & (jnp.cumsum(jnp.any(there, axis=-1)) == 1)
    decided = jnp.any(best & first[:, None], axis=0)
    offered = jnp.any(there & first[:, None], axis=0)
    return jnp.concatenate([there.T, best.T, worse.T, decided[:, None], offered[:, None]], axis=-1).astype(jnp.float32)


def _odds(board: HanabiObservation) -> Float[Array, "slot identity"]:
    """The odds of what each own card is, by hints and all cards in sight."""
    in_sight = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
    left = jnp.maximum(TOTAL - cards.gone(board) - in_sight, 0)
    weight = cards.members(board.possible[board.seat]) * left
    return weight / jnp.maximum(jnp.sum(weight, axis=-1, keepdims=True), 1)


def _own_cards(
    bot: HGroup, model: Read, history: History, board: HanabiObservation, sets
) -> Float[Array, "slot feature"]:
    me, slots = board.seat, bot.table.hand_size
    held, touched = cards.present(board)[me], clued(board)[me]
    odds, mine = _odds(board), bot.own_cards(model, board, sets)
    since = history.since[me]
    just = since < 1
    newest, oldest = leftmost(held), held & (jnp.cumsum(held) == 1)
    place = jnp.arange(slots) / max(slots - 1, 1)
    columns = [
        held, touched, board.told_colours[me] != 0, board.told_ranks[me] != 0, newest, oldest, place,
        chop(touched, held), leftmost(held & ~touched), just, just & leftmost(just & held), just & (jnp.sum(just) == 1),
        since < bot.table.players, jnp.exp(-since / 4), odds @ cards.playable(board), odds @ cards.dead(board),
        odds @ cards.last_copy(board), 1 / jnp.maximum(cards.size(board.possible[me]), 1),
        held & (mine != 0) & ((mine & ~sets.playable) == 0), held & ((mine & ~sets.dead) == 0), cards.size(mine) == 1,
        model.finessed[me], model.focus[me], odds @ (cards.VALUE / 5.0),
    ]  # fmt: skip
    return jnp.stack([jnp.asarray(c, jnp.float32) for c in columns], axis=-1)


def _hints(
    bot: HGroup, model: Read, history: History, board: HanabiObservation, sets
) -> Float[Array, "partner hint feature"]:
    """What each hint would tell whom."""
    seats = others(board.seat, bot.table.players)
    hands, held, has_clue = board.hands[seats], cards.present(board)[seats], clued(board)[seats]
    possible, meant, since = board.possible[seats], model.meant[seats], history.since[seats]
    touched = hint_touches(hands) & held[:, None]  # [partner, hint, slot]
    bits = cards.card_bit(hands)[:, None]
    named = jnp.asarray(HINTS)[None, :, None]
    after = possible[:, None] & jnp.where(touched, named, ~named)
    playable = held[:, None] & ((bits & sets.playable) != 0)
    dead, critical = (bits & sets.dead) != 0, (bits & sets.critical) != 0
    sure = lambda sets_of_cards: held[:, None] & (sets_of_cards != 0) & ((sets_of_cards & ~sets.playable) == 0)  # noqa: E731
    trash = lambda sets_of_cards: held[:, None] & ((sets_of_cards & ~sets.dead) == 0)  # noqa: E731
    chops = jax.vmap(chop)(has_clue, held)[:, None]
    new = touched & ~has_clue[:, None]
    newest = jax.vmap(leftmost)(held)[:, None]
    gained = (
        jnp.log2(jnp.maximum(cards.size(possible), 1))[:, None] - jnp.log2(jnp.maximum(cards.size(after), 1))
    ) * held[:, None]
    known = will_play(meant, has_clue, sets)[:, None]
    focus = jax.vmap(jax.vmap(leftmost))(jnp.where(new.any(-1, keepdims=True), new, touched))
    count = lambda flags: jnp.sum(flags, axis=-1) / 5  # noqa: E731
    some = lambda flags: jnp.any(flags, axis=-1)  # noqa: E731
    alone = jnp.sum(touched, axis=-1) == 1
    columns = [
        some(touched), count(touched), count(new), count(touched & playable), count(new & playable),
        count(touched & playable & ~known), count(touched & dead), count(new & dead), count(touched & critical),
        some(touched & chops), some(touched & chops & critical), some(touched & newest), alone,
        alone & some(touched & playable), alone & some(new), some(focus & playable), some(focus & dead),
        count(sure(after) & ~sure(possible[:, None])), count(trash(after) & ~trash(possible[:, None])),
        count((cards.size(after) == 1) & (cards.size(possible)[:, None] > 1) & held[:, None]), jnp.sum(gained, -1) / 10,
        jnp.sum(gained * playable, -1) / 5, some(touched & playable & (since < 6)[:, None]), jnp.sum(gained, -1) <= 0,
        some(touched & ~playable & ~dead & new), jnp.all(~touched | playable | ~held[:, None], axis=-1),
    ]  # fmt: skip
    own = jnp.stack([jnp.asarray(c, jnp.float32) for c in columns], axis=-1)
    partners = len(hands)
    value = jnp.tile(jnp.concatenate([jnp.zeros((5, 5)), jnp.eye(5)])[None], (partners, 1, 1))
    next_seat = jnp.broadcast_to((jnp.arange(partners) == 0)[:, None, None], (partners, 10, 1)).astype(jnp.float32)
    hinted = history.kinds[2:] / (1 + jnp.sum(history.kinds[2:]))
    habit = jnp.broadcast_to(jnp.repeat(hinted, 5)[None, :, None], (partners, 10, 1))
    return jnp.concatenate([own, value, next_seat, habit], axis=-1)


def _table(
    bot: HGroup, model: Read, history: History, move: BotMove, board: HanabiObservation, sets
) -> Float[Array, " fact"]:
    """How the game stands."""
    me = board.seat
    seats = others(me, bot.table.players)
    mine, held = bot.own_cards(model, board, sets), cards.present(board)
    ready = held[me] & (mine != 0) & ((mine & ~sets.playable) == 0)
    partner_ready = held[seats] & will_play(model.meant[seats], clued(board)[seats], sets)
    playable_there = held[seats] & ((cards.card_bit(board.hands[seats]) & sets.playable) != 0)
    kind = jnp.stack([move.plays, move.discards, move.hints_colour, move.hints_value])
    started = board.time > 0
    facts = [
        board.tokens / 8, board.tokens == 0, board.tokens == 1, board.tokens == 8, board.lives == 1, board.lives == 2,
        board.deck / 40, board.deck == 0, jnp.sum(board.fireworks) / 25, jnp.exp(-board.time / 10),
        jnp.sum(ready) / 5, jnp.sum(partner_ready) / 5, jnp.sum(playable_there) / 5,
        jnp.sum(playable_there & ~clued(board)[seats]) / 5, jnp.sum(clued(board)[me]) / 5,
        started & jnp.any(move.touched[me]), jnp.sum(move.touched[me]) / 5, started & move.plays & ~move.scored,
        model.early, bot.table.players == 2,
    ]  # fmt: skip
    shares = history.kinds / (1 + jnp.sum(history.kinds))
    return jnp.concatenate([jnp.stack([jnp.asarray(x, jnp.float32) for x in facts]), kind * started, shares])
