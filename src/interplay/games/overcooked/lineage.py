"""Hand-overs between chefs, counted inside the compiled rollout: every item records who held it.

The compiled counterpart of the symbolic count (`metrics.interdependence`), made for training and for millions of steps.
A record beside the state follows each item through hands, counters, pot and plate:

    lineage = begin(game.num_seats, game.layout.size)
    after, step = game.step(state, actions, key)
    lineage = follow(game.kitchen, lineage, state, after, actions)
    lineage.counts.constructive          # [channel, giver, receiver] so far

A hand-over: what one chef put on a counter another one takes. It loops if the giver holds the item again later, or the
receiver held it before; it is constructive if it does not loop and the item ends up in a soup that is delivered and was
ordered; all others are irrelevant. Loops are known when they close, constructive hand-overs when the soup is delivered,
irrelevant ones when the episode ends: they are what is left.

Through a pot, too, things pass from hand to hand: whoever plates a soup uses every ingredient that others put in, and
the soup itself, which is credited to whoever set it cooking.

Since an item that is handed to one chef twice loops, each chef is the receiver of at most one hand-over of an item that
can still become constructive. So an item's whole history fits into one integer.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.games.overcooked.layouts import MAX_SEATS, beside
from interplay.games.overcooked.recipes import SOUPS
from interplay.games.overcooked.rules import faced_cells
from interplay.games.overcooked.state import (
    COUNTER,
    FLOOR,
    INTERACT,
    NUM_ITEMS,
    POT,
    SERVING,
    OvercookedItem,
    OvercookedState,
    is_soup,
)
from interplay.games.overcooked.static_tables import StaticTables
from interplay.games.records import record

CHANNELS = ("counters", "pots")

# An item: bit s: seat s held it; 4-6: the last holder + 1; 8-19: three bits a seat, from whom it had the item + 1.
_LAST, _FROM, _SEAT = 4, 8, 7
# A pot: three bits an ingredient, who put it in + 1; 9-11: who set it cooking + 1; 12-13: how many ingredients.
_STARTER, _CONTENTS = 9, 12
# A load: three bits for each channel, giver and receiver, ten to a word: hand-overs on which a soup stands.
_PER_WORD = 10


@record
class Counts:
    """What was counted since the start of the episode. Channels are those of CHANNELS."""

    links: Int[Array, "channel giver receiver"]  # all hand-overs
    looping: Int[Array, "channel giver receiver"]
    constructive: Int[Array, "channel giver receiver"]  # in soups delivered so far
    triggers: Int[Array, "channel seat"]  # things put where a teammate can reach them
    accepted: Int[Array, "channel seat"]  # of these, how many a teammate used
    parked: Int[Array, "channel seat"]  # of these, how many their giver took back
    subtasks: Int[Array, " seat"]  # interacts that changed something

    @property
    def irrelevant(self) -> Int[Array, "channel giver receiver"]:
        """At the end of an episode; before, hand-overs of items still under way are among them."""
        return self.links - self.looping - self.constructive


@record
class Lineage:
    """The history of every item in the kitchen, packed as described above."""

    hand: Int[Array, " seat"]
    place: Int[Array, " cell"]  # items on counters; pots
    hand_load: Int[Array, "seat word"]
    place_load: Int[Array, "cell word"]
    counts: Counts


def begin(seats: int, cells: int) -> Lineage:
    """Return the record of an empty kitchen. What lies there already has no history: nobody gave it."""
    words = -(-len(CHANNELS) * seats * (seats - 1) // _PER_WORD)

    def zeros(*shape: int) -> Any:
        return jnp.zeros(shape, jnp.int32)

    pairs, per_seat = (len(CHANNELS), seats, seats), (len(CHANNELS), seats)
    counts = Counts(
        links=zeros(*pairs),
        looping=zeros(*pairs),
        constructive=zeros(*pairs),
        triggers=zeros(*per_seat),
        accepted=zeros(*per_seat),
        parked=zeros(*per_seat),
        subtasks=zeros(seats),
    )
    return Lineage(
        hand=zeros(seats),
        place=zeros(cells),
        hand_load=zeros(seats, words),
        place_load=zeros(cells, words),
        counts=counts,
    )


PAID_AT = ("delivery", "hand_over")  # when a hand-over pays


def teaming_reward(
    before: Lineage, after: Lineage, channels: tuple[str, ...] = ("counters",), at: str = "delivery"
) -> Float[Array, " seat"]:
    """Return one point to the giver and one to the receiver of each hand-over.

    The training reward of the paper is r_task + 0.3 * r_teaming.

    Args:
        before: The record before the step.
        after: The record after it.
        channels: The channels that pay.
        at: `delivery`: constructive hand-overs pay when their soup is delivered. `hand_over`: every hand-over pays when
            the receiver takes the item, and one that turns out to be a loop is paid back when the loop closes.
    """
    old, new = before.counts, after.counts
    paid = new.constructive - old.constructive
    if at == "hand_over":
        paid = (new.links - new.looping) - (old.links - old.looping)
    chosen = sum((paid[CHANNELS.index(c)] for c in channels), jnp.zeros_like(paid[0]))
    return (jnp.sum(chosen, axis=1) + jnp.sum(chosen, axis=0)).astype(jnp.float32)


def track(
    kitchen: StaticTables, start: OvercookedState, actions: Int[Array, "step seat"], played: Any = None
) -> Lineage:
    """Return the record at the end of an episode. Steps where `played` is false are padding and count nothing."""
    from interplay.games.overcooked.rules import step

    def turn(carry: tuple[OvercookedState, Lineage], now: tuple[Any, Any]) -> tuple[Any, None]:
        state, lineage = carry
        chosen, on = now
        after, _ = step(kitchen, state, chosen)
        moved = (after, follow(kitchen, lineage, state, after, chosen))
        return jax.tree.map(lambda new, old: jnp.where(on, new, old), moved, carry), None

    on = jnp.ones(actions.shape[0], bool) if played is None else played
    first = (start, begin(start.cell.shape[0], start.items.shape[0]))
    (_, lineage), _ = jax.lax.scan(turn, first, (jnp.asarray(actions, jnp.int32), on))
    return lineage


def follow(
    kitchen: StaticTables,
    lineage: Lineage,
    before: OvercookedState,
    after: OvercookedState,
    actions: Int[Array, " seat"],
) -> Lineage:
    """Return the record after a step of the rules. What each chef did follows from what they held before and after."""
    return _Turn(kitchen, lineage, before, after, actions).lineage()


class _Turn:
    """One step, seat by seat in the order of the rules: a later chef finds what an earlier one left."""

    def __init__(
        self,
        kitchen: StaticTables,
        lineage: Lineage,
        before: OvercookedState,
        after: OvercookedState,
        actions: Int[Array, " seat"],
    ):
        self.old, self.seats = lineage, before.cell.shape[0]
        assert self.seats <= MAX_SEATS
        self.front = faced_cells(kitchen, before)
        self.hand, self.hand_load = list(lineage.hand), list(lineage.hand_load)
        self.here, self.here_load = list(lineage.place[self.front]), list(lineage.place_load[self.front])
        self.cooking = list(before.timer[self.front] >= 0)
        self.ordered = jnp.asarray(_ordered(kitchen))
        self.links, self.looping, self.constructive = ({} for _ in range(3))  # (channel, giver, receiver) -> count
        self.triggers, self.accepted, self.parked, self.subtasks = {}, {}, {}, []
        self.reach = _reach(kitchen)[jnp.asarray(_region(kitchen))[before.cell]][:, self.front]  # [seat, seat's front]
        terrain = jnp.asarray(kitchen.terrain)[self.front]
        for seat in range(self.seats):
            had, has = before.held[seat], after.held[seat]
            idle_hands = (actions[seat] == INTERACT) & (had == 0) & (has == 0)
            self._act(seat, terrain[seat], had, has, idle_hands & (not kitchen.menu.auto_cook))
            self._share(seat)

    def _act(self, seat: int, terrain: Any, had: Any, has: Any, may_start: Any) -> None:
        item, load, here, here_load = self.hand[seat], self.hand_load[seat], self.here[seat], self.here_load[seat]
        gives, gets = (had > 0) & (has == 0), (had == 0) & (has > 0)
        counter, pot = terrain == COUNTER, terrain == POT
        puts, takes, fetches = counter & gives, counter & gets, ~counter & gets
        fills, serves = pot & gives, (terrain == SERVING) & gives
        plates = pot & (had == OvercookedItem.DISH) & is_soup(has)
        starts = pot & may_start & ~self.cooking[seat] & (here > 0)

        taken = self._receive(seat, here, takes)
        new = (1 << seat) | (seat + 1) << _LAST  # an item that nobody held before: fetched, or a soup just plated
        filled = _fill(here, seat)
        used = self._plate(seat, here, plates)
        self._deliver(item, load, serves & self.ordered[had])
        self._offer(seat, puts, fills | starts)

        self.hand[seat] = _choose(item, (gives, 0), (takes, taken), (fetches | plates, new))
        self.hand_load[seat] = _choose(
            load, (gives | fetches, 0), (takes, here_load), (plates, here_load + self._weight(item) + used)
        )
        self.here[seat] = _choose(
            here, (puts, item), (takes | plates, 0), (fills, filled), (starts, _started(here, seat))
        )
        self.here_load[seat] = _choose(
            here_load, (puts, load), (takes | plates, 0), (fills, here_load + self._weight(item))
        )
        self.cooking[seat] = (self.cooking[seat] | starts) & ~plates
        self.subtasks.append((gives | gets | plates | starts).astype(jnp.int32))

    def _receive(self, seat: int, item: Any, takes: Any) -> Any:
        """Return the item once this seat has taken it from a counter; record the hand-over and close loops."""
        last, held_before = (item >> _LAST) & _SEAT, (item >> seat) & 1 > 0
        for other in range(self.seats):
            if other == seat:
                continue
            handed = takes & (last == other + 1)
            self._add(self.links, (0, other, seat), handed)
            back = takes & (_giver(item, other) == seat + 1)  # the giver has it again: that hand-over was a loop
            self._add(self.looping, (0, other, seat), handed & held_before)
            self._add(self.looping, (0, seat, other), back)
            self._add(self.accepted, (0, other), handed)
            item = jnp.where(back, item & ~(_SEAT << (_FROM + 3 * other)), item)
        self._add(self.parked, (0, seat), takes & (last == seat + 1) & self._usable(seat))
        fresh = (last > 0) & (last != seat + 1) & ~held_before
        item = jnp.where(fresh, item | last << (_FROM + 3 * seat), item)
        return (item & ~(_SEAT << _LAST)) | (seat + 1) << _LAST | 1 << seat

    def _plate(self, seat: int, pot: Any, plates: Any) -> Any:
        """Return the load of what others put into the pot and set cooking, now used by this seat."""
        load = jnp.zeros_like(self.hand_load[seat])
        for other in range(self.seats):
            if other == seat:
                continue
            filled = sum((((pot >> 3 * slot) & _SEAT) == other + 1).astype(jnp.int32) for slot in range(3))
            started = (((pot >> _STARTER) & _SEAT) == other + 1).astype(jnp.int32)
            self._add(self.links, (1, other, seat), plates, filled + started)
            self._add(self.accepted, (1, other), plates, filled + self._own_start(pot, other))
            load = load + self._unit((1, other, seat)) * (filled + started)
        own = sum((((pot >> 3 * slot) & _SEAT) == seat + 1).astype(jnp.int32) for slot in range(3))
        self._add(self.parked, (1, seat), plates & self._usable(seat), own + self._own_start(pot, seat))
        return load

    def _own_start(self, pot: Any, seat: int) -> Any:
        """Return 1 if this seat set the soup cooking by an interact; else its last ingredient starts it."""
        return (pot >> (_CONTENTS + 2)) & 1 & (((pot >> _STARTER) & _SEAT) == seat + 1)

    def _deliver(self, item: Any, load: Any, serves: Any) -> None:
        load = load + self._weight(item)
        for key in self._keys():
            word, shift = self._field(key)
            self._add(self.constructive, key, serves, (load[word] >> shift) & 7)

    def _offer(self, seat: int, puts: Any, fills: Any) -> None:
        usable = self._usable(seat)
        self._add(self.triggers, (0, seat), puts & usable)
        self._add(self.triggers, (1, seat), fills & usable)

    def _usable(self, seat: int) -> Any:
        """Return whether a teammate can reach the cell that a seat faces."""
        others = [self.reach[other, seat] for other in range(self.seats) if other != seat]
        return jnp.any(jnp.stack(others)) if others else jnp.zeros((), bool)

    def _weight(self, item: Any) -> Any:
        """Return the load of an item's hand-overs that may still become constructive."""
        load = jnp.zeros_like(self.hand_load[0])
        for channel, giver, receiver in self._keys():
            if channel == 0:
                load = load + jnp.where(_giver(item, receiver) == giver + 1, self._unit((0, giver, receiver)), 0)
        return load

    def _share(self, seat: int) -> None:
        for later in range(seat + 1, self.seats):
            same = self.front[later] == self.front[seat]
            for values in (self.here, self.here_load, self.cooking):
                values[later] = jnp.where(same, values[seat], values[later])

    def _keys(self) -> list[tuple[int, int, int]]:
        seats = range(self.seats)
        return [(c, g, r) for c in range(len(CHANNELS)) for g in seats for r in seats if g != r]

    def _field(self, key: tuple[int, int, int]) -> tuple[int, int]:
        word, place = divmod(self._keys().index(key), _PER_WORD)
        return word, 3 * place

    def _unit(self, key: tuple[int, int, int]) -> np.ndarray:
        word, shift = self._field(key)
        unit = np.zeros(self.hand_load[0].shape[0], np.int32)
        unit[word] = 1 << shift
        return unit

    @staticmethod
    def _add(counts: dict, key: tuple, on: Bool[Array, ""], number: Any = 1) -> None:
        counts[key] = counts.get(key, 0) + jnp.where(on, number, 0)

    def lineage(self) -> Lineage:
        place, place_load = self.old.place, self.old.place_load
        cells = jnp.arange(place.shape[0])
        for seat in range(self.seats):
            mine = cells == self.front[seat]
            place = jnp.where(mine, self.here[seat], place)
            place_load = jnp.where(mine[:, None], self.here_load[seat], place_load)
        old, shape = self.old.counts, (len(CHANNELS), self.seats, self.seats)
        counts = Counts(
            links=old.links + _gather(self.links, shape),
            looping=old.looping + _gather(self.looping, shape),
            constructive=old.constructive + _gather(self.constructive, shape),
            triggers=old.triggers + _gather(self.triggers, shape[:2]),
            accepted=old.accepted + _gather(self.accepted, shape[:2]),
            parked=old.parked + _gather(self.parked, shape[:2]),
            subtasks=old.subtasks + jnp.stack(self.subtasks),
        )
        hand, hand_load = jnp.stack(self.hand), jnp.stack(self.hand_load)
        return Lineage(hand=hand, place=place, hand_load=hand_load, place_load=place_load, counts=counts)


def _giver(item: Any, receiver: int) -> Any:
    """Return from whom a seat had the item, + 1; 0 if from nobody, or in a loop."""
    return (item >> (_FROM + 3 * receiver)) & _SEAT


def _fill(pot: Any, seat: int) -> Any:
    """Return a pot with one more ingredient.

    Its chef counts as having set it cooking until somebody starts it by hand.
    """
    contents = (pot >> _CONTENTS) & 3
    pot = pot | (seat + 1) << 3 * contents
    return (pot & ~(_SEAT << _STARTER)) + (1 << _CONTENTS) | (seat + 1) << _STARTER


def _started(pot: Any, seat: int) -> Any:
    return (pot & ~(_SEAT << _STARTER)) | (seat + 1) << _STARTER | 1 << (_CONTENTS + 2)


def _choose(value: Any, *cases: tuple[Any, Any]) -> Any:
    for on, other in cases:
        value = jnp.where(on, other, value)
    return value


def _gather(counts: dict, shape: tuple[int, ...]) -> Any:
    zero = jnp.zeros((), jnp.int32)
    return jnp.stack([jnp.asarray(counts.get(key, zero), jnp.int32) for key in np.ndindex(*shape)]).reshape(shape)


def _ordered(kitchen: StaticTables) -> np.ndarray:
    """Return [item] whether it is a soup that was ordered."""
    return np.array([item in SOUPS and kitchen.menu.is_ordered(SOUPS[item]) for item in range(NUM_ITEMS)])


def _region(kitchen: StaticTables) -> np.ndarray:
    """Return [cell] the part of the floor to which a cell belongs; -1 elsewhere."""
    region = np.full(kitchen.layout.size, -1, np.int32)
    for number, cell in enumerate(np.flatnonzero(kitchen.terrain == FLOOR)):
        if region[cell] < 0:
            region[[c for c in beside(kitchen.layout, [int(cell)]) if kitchen.terrain[c] == FLOOR]] = number
    return region


def _reach(kitchen: StaticTables) -> Array:
    """Return [region, cell] whether someone in that part of the floor can come to face the cell."""
    region = _region(kitchen)
    table = np.zeros((max(region.max() + 1, 1), kitchen.layout.size), bool)
    for number in np.unique(region[region >= 0]):
        table[number, list(beside(kitchen.layout, [int(np.flatnonzero(region == number)[0])]))] = True
    return jnp.asarray(table)
