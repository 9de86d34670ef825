"""What the count of interdependence finds: links, triggers, and all of an episode together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from interplay.errors import InterplayError

CONSTRUCTIVE, LOOPING, IRRELEVANT = CLASSES = ("constructive", "looping", "irrelevant")
RULES = ("overlap", "subset", "authors")
ACCEPTED, PARKED, IGNORED = OUTCOMES = ("accepted", "parked", "ignored")  # what became of a trigger


@dataclass(frozen=True)
class InterdependenceOptions:
    """How interdependencies are counted."""

    channels: tuple[str, ...] | None = None
    """Ways of handing over that count; None: those that the domain calls default."""
    rule: str = "overlap"
    """`overlap`: the giver's effects meet the receiver's needs in a fact about one object. `subset`: the paper's
    literal add(a_j) ⊆ pre(a_i), which leaves out every giver whose action has any further effect. `authors`: as the
    paper's own program counts (see `authors_rule`)."""
    states: bool = True
    """Whether usage-linked attributes are part of an object's state, so that a useful return is not a loop."""

    def __post_init__(self):
        if self.rule not in RULES:
            raise InterplayError(f"rule: {self.rule!r}; the rules of a causal link are {', '.join(RULES)}")


class Window(NamedTuple):
    """How long after a trigger its use still counts as acceptance; None: always."""

    name: str
    steps: int | None


UNLIMITED = Window("unlimited", None)


def windows(horizon: int, fixed: int = 20, alpha: float = 0.15) -> tuple[Window, ...]:
    """The acceptance windows of the papers: unlimited, a fixed number of steps, a share of the horizon."""
    return (UNLIMITED, Window(f"{fixed} steps", fixed), Window(f"{alpha:g} x horizon", round(alpha * horizon)))


@dataclass(frozen=True, kw_only=True)
class Link:
    """An interdependence: `giver` made true at `gave_t` what `receiver` needed at `used_t`."""

    giver: int
    receiver: int
    object: str
    fact: str
    channel: str
    gave: str  # the giver's operator
    used: str  # the receiver's operator
    gave_t: int
    used_t: int
    goal_reaching: bool
    looping: bool
    reciprocal: bool = False  # constructive links went both ways between these two

    @property
    def kind(self) -> str:
        """One of CLASSES."""
        if self.looping:
            return LOOPING
        return CONSTRUCTIVE if self.goal_reaching else IRRELEVANT

    def within(self, window: Window) -> bool:
        """Return whether the use came within the window."""
        return window.steps is None or self.used_t - self.gave_t <= window.steps


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """An action whose effect a teammate could use.

    `accepted_*` describe the first teammate who did, `taken_back_t` the first use by the giver itself.
    """

    seat: int
    t: int
    object: str
    fact: str
    action: str
    accepted_by: int | None = None
    accepted_t: int | None = None
    taken_back_t: int | None = None

    @property
    def outcome(self) -> str:
        """One of OUTCOMES: a teammate used it; the giver took it back (parked); nobody used it (ignored)."""
        if self.accepted_t is not None:
            return ACCEPTED
        return IGNORED if self.taken_back_t is None else PARKED

    def accepted(self, window: Window) -> bool:
        """Return whether a teammate used it within the window."""
        return self.accepted_t is not None and (window.steps is None or self.accepted_t - self.t <= window.steps)


@dataclass(frozen=True, kw_only=True)
class Interdependence:
    """The count of one episode."""

    game_id: str
    num_seats: int
    length: int
    horizon: int
    channels: tuple[str, ...]
    links: tuple[Link, ...]
    triggers: tuple[Trigger, ...]
    subtasks: tuple[int, ...]  # [seat] successful interacts
    goals: int = 0  # goals achieved: delivered soups, treated victims
    partners: Mapping[int, frozenset[int]] = field(default_factory=dict)  # giver -> whom it can give to at all

    @property
    def channel(self) -> str:
        """The channels that were counted, joined by +."""
        return "+".join(self.channels)

    def number(self, kind: str | None = None, window: Window = UNLIMITED) -> int | None:
        """Links of a class (or of all classes); None where nothing can be handed over at all."""
        if not any(self.partners.values()):
            return None
        return sum(1 for link in self.links if (kind is None or link.kind == kind) and link.within(window))

    def matrix(self, kind: str = CONSTRUCTIVE, window: Window = UNLIMITED) -> list[list[int | None]]:
        """Count links by giver (rows) and receiver (columns); None where a seat cannot give to the other."""
        table: list[list[int | None]] = [
            [0 if receiver in self.partners.get(giver, ()) else None for receiver in range(self.num_seats)]
            for giver in range(self.num_seats)
        ]
        for link in self.links:
            if link.kind == kind and link.within(window):
                table[link.giver][link.receiver] = (table[link.giver][link.receiver] or 0) + 1
        return table

    def num_triggers(self, seat: int | None = None) -> int | None:
        """Triggers of a seat (None: of the team); None where it has nobody to give to."""
        if not any(self.partners.get(s) for s in self._seats(seat)):
            return None
        return sum(1 for trigger in self.triggers if seat is None or trigger.seat == seat)

    def num_outcome(self, outcome: str, seat: int | None = None) -> int | None:
        """Triggers of a seat (None: of the team) that ended so; None where it has nobody to give to."""
        if self.num_triggers(seat) is None:
            return None
        return sum(t.outcome == outcome and seat in (None, t.seat) for t in self.triggers)

    def percent_triggered(self, seat: int | None = None) -> float | None:
        """Triggers per sub-task, in per cent."""
        triggers = self.num_triggers(seat)
        return _share(triggers, sum(self.subtasks[s] for s in self._seats(seat)), 100)

    def percent_not_accepted(self, seat: int | None = None) -> float | None:
        """Triggers that no teammate ever used, in per cent."""
        rate = self.adr(seat)
        return None if rate is None else 100 * (1 - rate)

    def adr(self, seat: int | None = None, window: Window = UNLIMITED) -> float | None:
        """Accepted dependency rate: accepted triggers / triggers."""
        mine = [t for t in self.triggers if seat is None or t.seat == seat]
        return _share(sum(t.accepted(window) for t in mine), len(mine) if self.num_triggers(seat) else None)

    def mor(self, seat: int | None = None, window: Window = UNLIMITED) -> float | None:
        """Missed opportunity rate: 1 - ADR."""
        rate = self.adr(seat, window)
        return None if rate is None else 1 - rate

    def idensity(self, seat: int | None = None, window: Window = UNLIMITED) -> float | None:
        """Constructive links / links, both accepted inside the window, of a giver (None: of the team)."""
        mine = [k for k in self.links if (seat is None or k.giver == seat) and k.within(window)]
        return _share(sum(k.kind == CONSTRUCTIVE for k in mine), len(mine))

    def _seats(self, seat: int | None) -> range | tuple[int, ...]:
        return range(self.num_seats) if seat is None else (seat,)


def _share(part: int | None, whole: int | None, scale: float = 1.0) -> float | None:
    return None if part is None or not whole else scale * part / whole
