"""A third opinion on who helped whom: every item a Python object with its whole past, classed by the definitions.

Slow and obvious on purpose. It reads states and actions only, and shares no code with the counts that it checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from interplay.games.overcooked.layouts import beside
from interplay.games.overcooked.recipes import SOUPS
from interplay.games.overcooked.state import COUNTER, DISHES, ONIONS, POT, SERVING, TOMATOES, is_soup


@dataclass(eq=False)
class Thing:
    """An onion, a tomato, a dish, or a soup on its plate; `parts` are what a soup was made of."""

    holders: list[int] = field(default_factory=list)  # every time that somebody came to hold it
    parts: list[Thing] = field(default_factory=list)
    served: bool = False


@dataclass(eq=False)
class Link:
    channel: str
    giver: int
    receiver: int
    thing: Thing
    hold: int | None  # counters: the receiver's place in `holders`

    def looping(self) -> bool:
        if self.hold is None:
            return False  # what went into a pot never comes back as it was
        return self.receiver in self.thing.holders[: self.hold] or self.giver in self.thing.holders[self.hold + 1 :]


@dataclass(eq=False)
class Pot:
    things: list[Thing] = field(default_factory=list)
    potters: list[int] = field(default_factory=list)
    starter: int | None = None


def track(game, states, actions):
    """Tables: (channel, giver, receiver, class) -> links; (channel, seat) -> triggers, accepted; seat -> subtasks."""
    layout, terrain, seats = game.layout, game.layout.terrain, game.num_seats
    hands, counters, pots = [None] * seats, {}, {c: Pot() for c in layout.cells(POT)}
    links = []
    triggers, accepted, subtasks = {}, {}, dict.fromkeys(range(seats), 0)
    reach = [beside(layout, [int(states.cell[0][s])]) for s in range(seats)]

    def bump(table, *key):
        table[key] = table.get(key, 0) + 1

    def offer(channel, seat, cell):
        if any(cell in reach[other] for other in range(seats) if other != seat):
            bump(triggers, channel, seat)

    for t, joint in enumerate(np.asarray(actions)):
        cooking = {c: states.timer[t][c] >= 0 for c in pots}
        for seat, action in enumerate(joint):
            if action != 5:
                continue
            cell = layout.neighbour(int(states.cell[t][seat]), int(states.facing[t][seat]))
            kind, had, has = terrain[cell], int(states.held[t][seat]), int(states.held[t + 1][seat])
            mine = hands[seat]
            if kind == COUNTER and had and not has:
                counters[cell], hands[seat] = mine, None
                offer("counters", seat, cell)
            elif kind == COUNTER and has and not had:
                thing = counters.pop(cell)
                giver = thing.holders[-1]
                thing.holders.append(seat)
                if giver != seat:
                    links.append(Link("counters", giver, seat, thing, len(thing.holders) - 1))
                    bump(accepted, "counters", giver)
                hands[seat] = thing
            elif kind in (ONIONS, TOMATOES, DISHES) and has and not had:
                hands[seat] = Thing(holders=[seat])
            elif kind == POT and had and not has:
                pots[cell].things.append(mine)
                pots[cell].potters.append(seat)
                hands[seat] = None
                offer("pots", seat, cell)
            elif kind == POT and had and is_soup(has) and not is_soup(had):
                pot, pots[cell] = pots[cell], Pot()
                soup = Thing(holders=[seat], parts=[*pot.things, mine])
                given = [*pot.potters, pot.potters[-1] if pot.starter is None else pot.starter]
                links += [Link("pots", giver, seat, soup, None) for giver in given if giver != seat]
                deeds = pot.potters if pot.starter is None else given
                for giver in deeds:
                    if giver != seat:
                        bump(accepted, "pots", giver)
                hands[seat] = soup
            elif kind == POT and not had and not game.menu.auto_cook and not cooking[cell] and pots[cell].things:
                pots[cell].starter, cooking[cell] = seat, True
                offer("pots", seat, cell)
            elif kind == SERVING and had and not has:
                if game.menu.is_ordered(SOUPS[had]):
                    for thing in (mine, *mine.parts):
                        thing.served = True
                hands[seat] = None
            else:
                continue
            subtasks[seat] += 1
    found = {}
    for link in links:
        kind = "looping" if link.looping() else "constructive" if link.thing.served else "irrelevant"
        bump(found, link.channel, link.giver, link.receiver, kind)
    return found, triggers, accepted, subtasks
