"""The counting rule of the paper's authors, by their own program for Overcooked.

Every agent has a list of its latest effects on what lies somewhere; it forgets one when the object there is gone. A
link is an action on a cell that holds an object of another agent's list: an item taken from a counter, and also an
ingredient put into, or a soup plated from, a pot that the other has filled. It reaches the goal if its object is part
of a delivered soup. It loops if the giver ever holds the object again or the receiver ever held it before, whatever
became of it in between. A trigger is accepted only if its link is constructive.
"""

from __future__ import annotations

from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.metrics.interdependence.records import Link
from interplay.symbolic.trace import NATURE, SymbolicTrace

DOMAIN = "overcooked"
POT_ACTIONS = ("start_soup", "add", "add_last", "cook", "plate")  # chef, ..., soup, pot


class _Candidate(NamedTuple):
    source: int
    target: int
    object: str
    channel: str


class _Ledger:
    """What one pass over the episode notes."""

    def __init__(self, trace: SymbolicTrace):
        self.candidates: list[_Candidate] = []
        self.effects: dict[str, dict[int, int]] = {}  # place -> seat -> its latest operator there
        self.contents: dict[str, set[str]] = {}  # soup -> ingredients and dish
        self.holds: dict[str, list[tuple[int, int]]] = {}  # object -> (operator, seat)
        self.served: set[str] = set()
        for n, (action, seat) in enumerate(zip(trace.actions, trace.seats)):
            if seat != NATURE and action.kind == "action":
                self._note(n, seat, action.name, action.objects[1:])

    def _note(self, n: int, seat: int, name: str, objects: tuple[str, ...]) -> None:
        if name == "fetch":
            self.holds.setdefault(objects[0], []).append((n, seat))
        elif name == "put_down":
            self.effects[objects[1]] = {seat: n}
        elif name == "pick_up":
            self._link(n, seat, objects[0], objects[1], "counters")
            self.effects.pop(objects[1], None)
            self.holds.setdefault(objects[0], []).append((n, seat))
        elif name == "serve":
            self.served.add(objects[0])
        elif name in POT_ACTIONS:
            self._pot(n, seat, name, objects)

    def _pot(self, n: int, seat: int, name: str, objects: tuple[str, ...]) -> None:
        soup, pot = objects[-2:]
        self._link(n, seat, soup, pot, "pots")
        self.effects.setdefault(pot, {})[seat] = n
        self.contents.setdefault(soup, set()).update(objects[:-2])
        if name == "plate":
            self.effects.pop(pot)
            self.holds.setdefault(soup, []).append((n, seat))

    def _link(self, n: int, seat: int, thing: str, place: str, channel: str) -> None:
        for other, source in self.effects.get(place, {}).items():
            if other != seat:
                self.candidates.append(_Candidate(source, n, thing, channel))

    def reaches_goal(self, thing: str) -> bool:
        return thing in self.served or any(thing in self.contents.get(soup, ()) for soup in self.served)

    def loops(self, one: _Candidate, giver: int, receiver: int) -> bool:
        return any(
            (seat == giver and n > one.source) or (seat == receiver and n < one.target)
            for n, seat in self.holds.get(one.object, ())
        )


def links(trace: SymbolicTrace, channels: tuple[str, ...]) -> list[Link]:
    """Return the links of an episode of Overcooked by the authors' rule.

    Raises:
        InterplayError: The episode is of another game.
    """
    if trace.domain.name != DOMAIN:
        raise InterplayError(f"rule: 'authors' is of a program for Overcooked; {trace.game_id} is another game")
    ledger = _Ledger(trace)
    rows = []
    for one in ledger.candidates:
        if one.channel not in channels:
            continue
        giver, receiver = trace.seats[one.source], trace.seats[one.target]
        rows.append(
            Link(
                giver=giver,
                receiver=receiver,
                object=one.object,
                fact=f"{one.object} at {trace.actions[one.target].objects[-1]}",
                channel=one.channel,
                gave=str(trace.actions[one.source]),
                used=str(trace.actions[one.target]),
                gave_t=trace.times[one.source],
                used_t=trace.times[one.target],
                goal_reaching=ledger.reaches_goal(one.object),
                looping=ledger.loops(one, giver, receiver),
            )
        )
    return rows
