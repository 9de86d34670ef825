"""H-Group's conventions as a program: what a hint means by them, and what a hand has been told so far.

Slots are the game's: 0 is the oldest card. H-Group counts from the newest, and calls that leftmost. Identities are
real ones: the judge sees all cards. Only what a holder is taken to believe (`ClueSignals.read`,
`PublicTable.believed`) is built from hints and open cards, as everybody at the table can do it.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from interplay.games.hanabi import card_sets
from interplay.games.hanabi.rules import give_hint
from interplay.games.hanabi.state import HINT_RANK, NO_CARD, HanabiRules, HanabiState, card_bit
from interplay.games.records import record

NONE = -1
TWO = 1  # a 2 as an index of ranks
GIVEN = (
    "play_clue",
    "five_save",
    "two_save",
    "critical_save",
    "prompt",
    "finesse",
    "fix_clue",
    "fill_in",
    "five_stall",
)
WRONG = ("bad_touch", "wrong_chop_focus", "wrong_save", "wrong_play_clue", "low_value")
CLUES = (*GIVEN, *WRONG)
FIRST_WRONG = len(GIVEN)


@record
class ClueSignals:
    """What hints have said beyond their words, and whom they ask to act."""

    read: UInt32[Array, "seat slot"]  # what each card is taken to be by convention; empty: nothing was said of it
    due: Bool[Array, "seat slot"]  # prompted or finessed: to be played at once
    focus: Int[Array, " seat"]  # the slot in focus of the hint that came since the seat's last move, or NONE
    touched: Bool[Array, "seat slot"]  # all cards that this hint named
    early: Bool[Array, ""]  # nobody has discarded a chop card yet


@record
class PublicTable:
    """A position as the conventions see it."""

    fits: UInt32[Array, ""]  # identities that are next on their firework
    dead: UInt32[Array, ""]
    critical: UInt32[Array, ""]
    clued: Bool[Array, "seat slot"]  # named by a hint
    can_be: UInt32[Array, "seat slot"]  # by hints and open cards
    believed: UInt32[Array, "seat slot"]  # by convention too, of cards that were clued or are due; else empty
    ready: Bool[Array, "seat slot"]  # believed, and whatever it may be fits
    trash: Bool[Array, "seat slot"]  # whatever it may be is dead
    chop: Int[Array, " seat"]  # the oldest card without a hint, or NONE


@record
class ObservedClue:
    """A hint by the conventions."""

    label: Int[Array, ""]  # index into CLUES
    focus: Int[Array, ""]
    obviously_idle: Bool[Array, ""]  # nobody would play or keep a card because of it
    signals: ClueSignals  # after it


def no_signals(rules: HanabiRules) -> ClueSignals:
    """Return the signals at the start of a game."""
    shape = (rules.players, rules.hand_size)
    return ClueSignals(
        read=jnp.zeros(shape, jnp.uint32),
        due=jnp.zeros(shape, bool),
        focus=jnp.full(rules.players, NONE, jnp.int32),
        touched=jnp.zeros(shape, bool),
        early=jnp.bool_(True),
    )


def newest(flags: Bool[Array, "*seat slot"]) -> Int[Array, "*seat"]:
    """The highest flagged slot, or NONE."""
    return jnp.max(jnp.where(flags, jnp.arange(flags.shape[-1]), NONE), axis=-1)


def oldest(flags: Bool[Array, "*seat slot"]) -> Int[Array, "*seat"]:
    """The lowest flagged slot, or NONE."""
    slots = flags.shape[-1]
    first = jnp.min(jnp.where(flags, jnp.arange(slots), slots), axis=-1)
    return jnp.where(first == slots, NONE, first)


def look(rules: HanabiRules, state: HanabiState, signals: ClueSignals) -> PublicTable:
    """Return a position as the conventions see it."""
    fits, dead, critical = (
        card_sets.pack(rules, f(rules, state)) for f in (card_sets.playable, card_sets.dead, card_sets.critical)
    )
    present = state.hands != NO_CARD
    clued = present & ((state.told_colours | state.told_ranks) != 0)
    can_be = card_sets.public(rules, state)
    alive = can_be & ~dead  # good touch: nobody clues what is dead
    narrow = alive & signals.read
    believed = jnp.where(clued | signals.due, jnp.where(narrow != 0, narrow, alive), jnp.uint32(0))
    return PublicTable(
        fits=fits,
        dead=dead,
        critical=critical,
        clued=clued,
        can_be=can_be,
        believed=believed,
        ready=card_sets.within(believed, fits),
        trash=card_sets.within(can_be, dead),
        chop=oldest(present & ~clued),
    )


def clue(
    rules: HanabiRules, state: HanabiState, signals: ClueSignals, before: PublicTable, action: Int[Array, ""]
) -> ObservedClue:
    """What the hint `action` is by the conventions, and what it leaves behind."""
    moves = rules.moves
    giver = state.time % rules.players
    receiver = (giver + jnp.asarray(moves.offset)[action]) % rules.players
    named, hand = jnp.asarray(moves.touches)[action], state.hands[receiver]
    touched = card_sets.has(named, hand)
    new = touched & ~before.clued[receiver]
    chop = before.chop[receiver]
    on_chop = (chop != NONE) & new[chop]
    focus = jnp.where(jnp.any(new), jnp.where(on_chop, chop, newest(new)), newest(touched))
    card = hand[focus]

    by_rank = jnp.asarray(moves.kind)[action] == HINT_RANK
    rank = jnp.asarray(moves.hint)[action] - len(rules.colours)
    by_five, by_two = by_rank & (rank == rules.ranks - 1), by_rank & (rank == TWO)

    after = give_hint(rules, state, action)
    own = jnp.arange(rules.players) == receiver
    clued = before.clued | (own[:, None] & touched)
    chain, lacking = _chain(rules, state, before.clued)
    reach = card_sets.pack(rules, chain)
    playable = card_sets.has(reach, card)
    save = [on_chop & s for s in _saves(rules, state, before, giver, card, by_five, by_two)]

    saves = _save_set(rules, before, by_five, by_two, by_rank)
    read = card_sets.public(rules, after)[receiver, focus] & ~before.dead & (reach | jnp.where(on_chop, saves, 0))
    stalls = jnp.any(new) & ~on_chop & by_five & signals.early & ~playable
    missing = _missing(rules, state, before, chain, lacking, card)
    request = _requested_cards(
        rules, state, before, giver, receiver, touched, focus, missing, (read & before.fits) == 0
    )
    is_request = jnp.any(new) & jnp.any(request.who) & ~jnp.any(jnp.stack(save))
    read = jnp.where(stalls, jnp.uint32(0), read | jnp.where(is_request, card_bit(card), jnp.uint32(0)))
    new_signals = _tell(rules, signals, giver, receiver, focus, touched, read, request, is_request, missing)
    then = look(rules, after, new_signals)

    doubtful = _doubtful(rules, state, before, giver, clued, receiver)
    fix = _fixes(state, before, then, receiver, touched, doubtful)
    gained = jnp.any(then.ready[receiver] & ~before.ready[receiver] & card_sets.has(before.fits, hand))
    moved = (
        playable & ~before.ready[receiver, focus] & (then.believed[receiver, focus] != before.believed[receiver, focus])
    )
    good = [
        jnp.any(new) & playable & ~is_request,
        *save,
        is_request & request.prompts,
        is_request & ~request.prompts,
        fix,
        ~jnp.any(new) & (gained | moved),
        stalls,
    ]
    other = on_chop & ~jnp.any(jnp.stack(good)) & jnp.any(touched & card_sets.has(reach, hand))
    bad = jnp.any(new & doubtful[receiver])
    order = [other, fix, bad, *good, jnp.any(new) & on_chop, jnp.any(new)]
    name = ["wrong_chop_focus", "fix_clue", "bad_touch", *GIVEN, "wrong_save", "wrong_play_clue"]
    label = jnp.select(order, [jnp.int32(CLUES.index(n)) for n in name], jnp.int32(CLUES.index("low_value")))
    # A hint of dead cards only, seen as such by all, or of cards that were clued before, changes nobody's next move.
    idle = jnp.all(~touched | then.trash[receiver]) | (~jnp.any(new) & ~jnp.any(then.ready & ~before.ready))
    return ObservedClue(label=label, focus=focus, obviously_idle=idle, signals=new_signals)


def _chain(
    rules: HanabiRules, state: HanabiState, clued: Bool[Array, "seat slot"]
) -> tuple[Bool[Array, " identity"], Int[Array, " identity"]]:
    """Identities that fit once all clued cards below them are played, and how much is lacking below each.

    Returns:
        Whether each identity fits once all clued cards below are played; how many cards below it are neither played nor
        clued.
    """
    clued_identity = jnp.any(clued[..., None] & (state.hands[..., None] == np.arange(rules.identities)), axis=(0, 1))
    open_ = ~((card_sets.rank_of(rules) < card_sets.heights(rules, state)) | clued_identity).reshape(-1, rules.ranks)
    lacking = (jnp.cumsum(open_, axis=1) - open_).reshape(-1)
    return (lacking == 0) & ~card_sets.dead(rules, state), lacking


def _missing(
    rules: HanabiRules, state: HanabiState, before: PublicTable, chain: Array, lacking: Array, card: Int[Array, ""]
) -> Int[Array, ""]:
    """The card that somebody has to play before this one.

    It is the next on the firework if all below are clued (a prompt), or the only one that is not (a finesse); NONE if
    the card fits, is dead, or lacks more.
    """
    identity = jnp.maximum(card, 0)
    suit = identity // rules.ranks
    following = suit * rules.ranks + state.fireworks[suit]
    same = np.arange(rules.identities) // rules.ranks == suit
    # Of the suit's cards with nothing lacking below, the highest is the first that is itself not clued.
    first_open = jnp.max(jnp.where(same & (lacking == 0), np.arange(rules.identities), NONE))
    waits = chain[identity] & ~card_sets.has(before.fits, card)
    finesses = (lacking[identity] == 1) & ~card_sets.has(before.dead, card)
    return jnp.where(waits, following, jnp.where(finesses, first_open, NONE)).astype(jnp.int32)


def _save_set(
    rules: HanabiRules, table: PublicTable, by_five: Array, by_two: Array, by_rank: Array
) -> UInt32[Array, ""]:
    """What a hint with the focus on a chop card may want to save."""
    ranks = card_sets.rank_sets(rules)
    alive = ~table.dead
    critical = table.critical & jnp.where(by_rank, ~jnp.uint32(0), ~jnp.uint32(ranks[-1]))
    by_number = jnp.where(by_five, ranks[-1], jnp.uint32(0)) | jnp.where(by_two, ranks[TWO], jnp.uint32(0))
    return critical | (by_number & alive)


def needs_save(
    rules: HanabiRules, state: HanabiState, table: PublicTable, giver: Int[Array, ""], card: Int[Array, ""]
) -> tuple[Bool[Array, ""], Bool[Array, ""], Bool[Array, ""]]:
    """Whether a chop card is to be saved as a 5, as a 2 of which no other copy is to be seen, or as a last copy."""
    alive = (card >= 0) & ~card_sets.has(table.dead, card)
    in_hands = card_sets.in_hands(rules, state.hands)
    copies = (jnp.sum(in_hands, axis=0) - in_hands[giver])[jnp.maximum(card, 0)]
    rank = card % rules.ranks
    five = alive & (rank == rules.ranks - 1)
    two = alive & (rank == TWO) & (copies == 1) & ~five
    return five, two, card_sets.has(table.critical, card) & ~five


def _saves(
    rules: HanabiRules, state: HanabiState, table: PublicTable, giver: Array, card: Array, by_five: Array, by_two: Array
) -> list[Array]:
    five, two, last = needs_save(rules, state, table, giver, card)
    return [five & by_five, two & by_two, last]


@record
class RequestedCards:
    """Whom a hint asks to play a missing card unseen."""

    who: Bool[Array, " seat"]  # at most one
    slot: Int[Array, " seat"]
    prompts: Bool[Array, ""]  # a clued card, else a finesse


def _requested_cards(
    rules: HanabiRules,
    state: HanabiState,
    before: PublicTable,
    giver: Array,
    receiver: Array,
    touched: Bool[Array, " slot"],
    focus: Array,
    missing: Array,
    no_plainer_reading: Array,
) -> RequestedCards:
    """The first seat after the giver, the receiver last, whose prompted or finessed card is the missing one.

    The receiver can only be asked if it cannot take the card in focus for playable itself.
    """
    seats = np.arange(rules.players)
    own = (seats == receiver)[:, None]
    present = state.hands != NO_CARD
    matches = before.clued & card_sets.has(before.can_be, jnp.full(state.hands.shape, missing)) & (missing != NONE)
    matches &= ~(own & (jnp.arange(rules.hand_size) == focus))
    prompt = newest(matches)
    finesse = newest(present & ~before.clued & ~(own & touched))
    slot = jnp.where(prompt != NONE, prompt, finesse)
    in_slot = jnp.take_along_axis(state.hands, jnp.maximum(slot, 0)[:, None].astype(jnp.int32), axis=1)[:, 0]
    able = (slot != NONE) & (in_slot == missing) & (missing != NONE) & (seats != giver)
    able &= (seats != receiver) | no_plainer_reading
    # Who knows anyway that the card is playable need not be asked.
    able &= ~jnp.take_along_axis(before.ready, jnp.maximum(slot, 0)[:, None].astype(jnp.int32), axis=1)[:, 0]
    rank = jnp.where(seats == receiver, rules.players, (seats - giver) % rules.players)
    first = jnp.argmin(jnp.where(able, rank, 2 * rules.players))
    who = able & (seats == first)
    return RequestedCards(who=who, slot=slot, prompts=jnp.any(who & (prompt != NONE)))


def _tell(
    rules: HanabiRules,
    signals: ClueSignals,
    giver: Array,
    receiver: Array,
    focus: Array,
    touched: Array,
    read: Array,
    request: RequestedCards,
    is_request: Array,
    missing: Array,
) -> ClueSignals:
    seats, slots = np.arange(rules.players)[:, None], np.arange(rules.hand_size)
    own = seats == receiver
    due = is_request & request.who[:, None] & (slots == request.slot[:, None])
    reads = jnp.where(own & (slots == focus), read, signals.read)
    reads = jnp.where(due, card_bit(missing), reads)
    cleared = moved_on(rules, signals, giver)
    return replace(
        cleared,
        read=reads,
        due=cleared.due | due,
        focus=jnp.where(own[:, 0], focus, cleared.focus),
        touched=jnp.where(own, touched, cleared.touched),
    )


def moved_on(rules: HanabiRules, signals: ClueSignals, seat: Int[Array, ""]) -> ClueSignals:
    """The signals once a seat has moved: what it was asked to do at once is past."""
    own = np.arange(rules.players) == seat
    return replace(
        signals,
        due=signals.due & ~own[:, None],
        focus=jnp.where(own, NONE, signals.focus),
        touched=signals.touched & ~own[:, None],
    )


def used(rules: HanabiRules, signals: ClueSignals, seat: Array, slot: Array, ends_early: Array) -> ClueSignals:
    """The signals once a seat has played or discarded a card: younger cards move down, the new one is blank."""
    moves_down = ((np.arange(rules.players) == seat)[:, None]) & (np.arange(rules.hand_size) >= slot)
    shifted = jnp.roll(signals.read, -1, axis=1).at[:, -1].set(0)
    after = moved_on(rules, signals, seat)
    return replace(after, read=jnp.where(moves_down, shifted, signals.read), early=signals.early & ~ends_early)


def _doubtful(
    rules: HanabiRules,
    state: HanabiState,
    before: PublicTable,
    giver: Array,
    clued: Bool[Array, "seat slot"],
    receiver: Array,
) -> Bool[Array, "seat slot"]:
    """Clued cards that good touch forbids: dead ones, and copies of clued cards.

    A giver is not blamed for a copy in its own hand, unless everybody knows what that card is.
    """
    own = (np.arange(rules.players) == giver)[:, None]
    exact = (before.can_be & (before.can_be - 1)) == 0
    counted = clued & (~own | exact)
    copies = jnp.sum(
        counted[..., None] & (state.hands[..., None] == np.arange(rules.identities)), axis=(0, 1), dtype=jnp.int32
    )
    twice = copies[jnp.maximum(state.hands, 0)] > 1
    return clued & (card_sets.has(before.dead, state.hands) | twice)


def _fixes(
    state: HanabiState,
    before: PublicTable,
    then: PublicTable,
    receiver: Array,
    touched: Bool[Array, " slot"],
    doubtful: Bool[Array, "seat slot"],
) -> Bool[Array, ""]:
    """Whether the hint keeps the receiver from a misplay, or tells it more of a clued card that good touch forbids."""
    hand = state.hands[receiver]
    saved = before.ready[receiver] & ~card_sets.has(before.fits, hand) & ~then.ready[receiver]
    learnt = then.can_be[receiver] != before.can_be[receiver]
    exposed = touched & before.clued[receiver] & doubtful[receiver] & learnt
    return jnp.any(saved) | jnp.any(exposed)
