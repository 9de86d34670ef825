"""Who had which object, when, and in which state: what tells a loop from progress."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from interplay.symbolic.trace import SymbolicTrace

State = frozenset[int]
NEVER = 1 << 60


@dataclass
class _Hold:
    seat: int
    start: int  # place of the operator that began it; -1: had it from the start
    end: int = NEVER


class Possessions:
    """Which seat had which object when, and in which state: recorded operator by operator, then searched for loops."""

    def __init__(self, trace: SymbolicTrace, states: bool):
        self._trace = trace
        self._states = states
        self._seat = {agent: seat for seat, agent in enumerate(trace.agents)}
        self._holds: dict[str, list[_Hold]] = {}
        self._log: dict[str, list[tuple[int, State]]] = {}  # object -> (operator, state after it)
        self.note(-1, (), trace.start)

    def note(self, n: int, drops, adds) -> None:
        """Operator n dropped and added these facts."""
        world = self._trace.world
        for facts, added in ((drops, False), (adds, True)):
            for fact in facts:
                predicate = world.predicate_of(fact)
                if predicate.holds:
                    self._hold(n, fact, added)
                elif predicate.state and self._states:
                    self._change(n, str(world.about(fact)), fact, added)

    def _hold(self, n: int, fact: int, added: bool) -> None:
        world = self._trace.world
        thing = str(world.about(fact))
        seats = [self._seat[o] for o in world.fact_of(fact)[1:] if o != thing and o in self._seat]
        for seat in seats:
            holds = self._holds.setdefault(thing, [])
            if added:
                holds.append(_Hold(seat, n))
            else:
                for hold in holds:
                    if hold.seat == seat and hold.end == NEVER:
                        hold.end = n

    def _change(self, n: int, thing: str, fact: int, added: bool) -> None:
        log = self._log.setdefault(thing, [(-2, frozenset())])
        last_n, state = log[-1]
        state = state | {fact} if added else state - {fact}
        if last_n == n:
            log[-1] = (n, state)
        else:
            log.append((n, state))

    def state(self, thing: str, n: int) -> State:
        """The object's state just before operator n."""
        log = self._log.get(thing)
        return log[max(bisect_left(log, (n,)) - 1, 0)][1] if log else frozenset()

    def loops(self, thing: str, giver: int, gave: int, receiver: int, used: int) -> bool:
        """Whether the giver later gets the object back, or the receiver had it before, in the same state."""
        given_state, received_state = self.state(thing, gave), self.state(thing, used)
        for hold in self._holds.get(thing, ()):
            # Handing back is itself the receiver's action, so the giver may have the object from that action on.
            back = hold.seat == giver and hold.start >= used and self.state(thing, hold.start + 1) == given_state
            before = hold.seat == receiver and hold.start < gave and received_state in self._during(thing, hold)
            if back or before:
                return True
        return False

    def _during(self, thing: str, hold: _Hold) -> set[State]:
        """The states that the object had while it was held."""
        log = self._log.get(thing, [])
        later = {state for n, state in log if hold.start < n < hold.end}
        return later | {self.state(thing, hold.start + 1)}
