"""Each move by H-Group's conventions: which rule it follows or breaks."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.config import toml_beside
from interplay.games.hanabi import card_sets
from interplay.games.hanabi.rules import step
from interplay.games.hanabi.state import DISCARD, PLAY, HanabiRules, HanabiState
from interplay.games.records import record
from interplay.metrics.hanabi import hgroup_conventions as hgroup
from interplay.metrics.hanabi.hgroup_conventions import CLUES, FIRST_WRONG, NONE, ClueSignals, PublicTable

_WORDS: dict[str, dict[str, str]] = toml_beside(__file__)  # rule: what a move that follows or breaks it does
FOLLOWS, BREAKS = _WORDS["follows"], _WORDS["breaks"]
RULES = (*FOLLOWS, *BREAKS)
FOLLOWED = np.array([name in FOLLOWS for name in RULES])
_OF_CLUE = np.array([RULES.index(name) for name in CLUES])


def number(name: str) -> Array:
    """Return the index of a rule."""
    return jnp.int32(RULES.index(name))


@record
class AdherenceVerdict:
    """A move's rule, and the card that it is about."""

    rule: Int[Array, ""]  # index into RULES
    slot: Int[Array, ""]  # of the card played or discarded, or in focus
    card: Int[Array, ""]  # its identity


def judge(
    rules: HanabiRules, state: HanabiState, signals: ClueSignals, action: Int[Array, ""]
) -> tuple[ClueSignals, AdherenceVerdict]:
    """The rule that a move follows or breaks, and the signals after it."""
    moves = rules.moves
    kind, slot = jnp.asarray(moves.kind)[action], jnp.asarray(moves.slot)[action]
    seat = state.time % rules.players
    table = hgroup.look(rules, state, signals)
    mine = _mine(rules, state, table, seat)
    clues = jax.vmap(lambda a: hgroup.clue(rules, state, signals, table, a))(np.flatnonzero(moves.offset))
    hints = int(np.flatnonzero(moves.offset)[0])
    given_clue = jax.tree.map(lambda x: x[jnp.maximum(action - hints, 0)], clues)

    is_use = (kind == PLAY) | (kind == DISCARD)
    rule = jnp.select(
        [kind == PLAY, kind == DISCARD],
        [_play(signals, mine, seat, slot), _discard(table, mine, seat, slot)],
        _hint(rules, state, table, mine, seat, clues, given_clue),
    )
    chop_goes = (kind == DISCARD) & (slot == table.chop[seat])
    spent = hgroup.used(rules, signals, seat, slot, chop_goes)
    after = jax.tree.map(lambda a, b: jnp.where(is_use, a, b), spent, given_clue.signals)
    rule = _missed(rules, state, table, after, action, seat, rule)
    late = jnp.any(signals.due[seat]) & (rule != number("answered_at_once"))
    rule = jnp.where(late, number("unanswered_at_once"), rule)
    receiver = (seat + jnp.asarray(moves.offset)[action]) % rules.players
    about = jnp.where(is_use, slot, given_clue.focus)
    card = state.hands[jnp.where(is_use, seat, receiver), about]
    return after, AdherenceVerdict(rule=rule, slot=about.astype(jnp.int32), card=card.astype(jnp.int32))


@record
class OwnHand:
    """What the mover knows of its hand."""

    ready: Bool[Array, " slot"]  # by convention or for sure
    certain: Bool[Array, " slot"]  # for sure playable
    trash: Bool[Array, " slot"]


def _mine(rules: HanabiRules, state: HanabiState, table: PublicTable, seat: Array) -> OwnHand:
    can_be = card_sets.seen(rules, state, seat)
    certain, trash = card_sets.within(can_be, table.fits), card_sets.within(can_be, table.dead)
    unwanted = table.clued[seat] & (table.believed[seat] == 0)
    return OwnHand(ready=(table.ready[seat] | certain) & ~trash, certain=certain, trash=trash | unwanted)


def _play(signals: ClueSignals, mine: OwnHand, seat: Array, slot: Array) -> Array:
    elsewhere = signals.touched[seat, slot] & (signals.focus[seat] != NONE) & (signals.focus[seat] != slot)
    return jnp.select(
        [
            signals.due[seat, slot],
            mine.ready[slot] & (signals.read[seat, slot] != 0),
            mine.certain[slot],
            mine.ready[slot],
            elsewhere,
        ],
        [number(n) for n in ("answered_at_once", "answered_play_clue", "known_play", "known_play", "wrong_focus_read")],
        number("unfounded_play"),
    )


def _discard(table: PublicTable, mine: OwnHand, seat: Array, slot: Array) -> Array:
    return jnp.select(
        [jnp.any(mine.ready), mine.trash[slot], slot == table.chop[seat], table.chop[seat] == NONE],
        [number(n) for n in ("unplayed_play_clue", "known_trash", "chop_discard", "locked_discard")],
        number("wrong_discard"),
    )


def _hint(
    rules: HanabiRules, state: HanabiState, table: PublicTable, mine: OwnHand, seat: Array, clues: Any, given_clue: Any
) -> Array:
    """The rule of the hint given, in the light of those that could have been given."""
    legal = state.tokens > 0
    touches = card_sets.has(
        jnp.asarray(rules.moves.touches)[np.flatnonzero(rules.moves.offset), None],
        state.hands[(seat + jnp.asarray(rules.moves.offset)[np.flatnonzero(rules.moves.offset)]) % rules.players],
    )
    better = legal & jnp.any(jnp.any(touches, axis=1) & (clues.label < FIRST_WRONG))
    stuck = (state.tokens >= rules.hint_tokens) | (state.dealt >= rules.deck_size)
    stuck |= (table.chop[seat] == NONE) & ~jnp.any(mine.trash)
    is_wrong = given_clue.label >= FIRST_WRONG
    stall = is_wrong & given_clue.obviously_idle & stuck & ~better & ~jnp.any(mine.ready)
    owes = is_wrong & jnp.any(mine.ready)
    return jnp.select(
        [stall, owes], [number("stall"), number("unplayed_play_clue")], jnp.asarray(_OF_CLUE)[given_clue.label]
    ).astype(jnp.int32)


def _missed(
    rules: HanabiRules,
    state: HanabiState,
    table: PublicTable,
    signals: ClueSignals,
    action: Array,
    seat: Array,
    rule: Array,
) -> Array:
    """The rule, unless the move leaves the next player nothing to do but to discard a card that was to be saved.

    Plays, discards and stalls can fail so. A clue that follows another rule does not: one cannot do both.
    """
    following = (seat + 1) % rules.players
    chop = table.chop[following]
    needs = hgroup.needs_save(rules, state, table, seat, state.hands[following, jnp.maximum(chop, 0)])
    after = step(rules, state, jnp.full(rules.players, action))
    then = hgroup.look(rules, after, signals)

    def idle(view: PublicTable) -> Array:
        return ~jnp.any(view.ready[following] | view.trash[following]) & ~jnp.any(signals.due[following])

    exposed = (chop != NONE) & (then.chop[following] == chop) & idle(table) & idle(then)
    could = (
        (state.tokens > 0) & (after.tokens < rules.hint_tokens) & (after.dealt < rules.deck_size) & (after.lives > 0)
    )
    free = [number(n) for n in ("answered_play_clue", "known_play", "known_trash", "chop_discard", "locked_discard")]
    free += [number(n) for n in ("stall", "five_stall")]
    missed = exposed & could & jnp.any(jnp.stack(free) == rule)
    names = ("missed_five_save", "missed_two_save", "missed_critical_save")
    return jnp.select([missed & n for n in needs], [number(n) for n in names], rule)


@lru_cache(maxsize=16)
def judged(rules: HanabiRules) -> Any:
    """Compiled: the verdicts of whole games, from start states [game] and actions [game, step]."""

    def one(state: HanabiState, actions: Int[Array, " step"]) -> AdherenceVerdict:
        def turn(
            carry: tuple[HanabiState, ClueSignals], action: Array
        ) -> tuple[tuple[HanabiState, ClueSignals], AdherenceVerdict]:
            state, signals = carry
            signals, verdict = judge(rules, state, signals, action)
            return (step(rules, state, jnp.full(rules.players, action)), signals), verdict

        return jax.lax.scan(turn, (state, hgroup.no_signals(rules)), actions)[1]

    return jax.jit(jax.vmap(one))
