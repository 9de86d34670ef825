"""The symbolic domain of search and rescue: its facts, and the operators that a played episode instantiates.

Treatments and walks last many steps but are one operator each: `treat_*` stands at the first step of a stretch of
treatment under unchanged conditions, `finish` at the last; `navigate` stands at the first step of a walk that ends
beside a victim whose place is known, `arrive` where it ends. An operator also needs what cleared the way to it: debris
removed and fires put out that the agent walked over since its last operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from interplay.games.rescue import rules
from interplay.games.rescue.layouts import role_names
from interplay.games.rescue.state import DANGER, FIREFIGHTER, KIT, NURSE, POLICE, ROLES, TOOLS, USES
from interplay.symbolic.declare import NATURE, DomainError, Recorder, SymbolicTrace, SymbolicWorld, declare_beside

DOMAIN = declare_beside(__file__, "rescue")

_USE_FACTS = dict(zip(USES, ("unused", "used", "lent")))


@dataclass
class _Episode:
    """The intermediate state of reading one episode."""

    states: Any
    did: Any  # Did with [step, seat] arrays
    recorder: Recorder
    burned: np.ndarray  # [cell] whether it burns at any time
    treating: dict[int, tuple] = field(default_factory=dict)  # seat -> the stretch of treatment under way
    beside: dict[int, int] = field(default_factory=dict)  # seat -> victim
    cared: dict[int, set[int]] = field(default_factory=dict)  # victim -> facts of care so far
    crossed: dict[int, list[int]] = field(
        default_factory=dict
    )  # seat -> facts of what it walked over since its last operator
    walks: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # (time, seat) -> victims walked to


@jax.jit
def _resolve(constants: rules.RescueRules, states: Any, actions: Any) -> rules.Did:
    return jax.vmap(lambda state, action: rules.interacts(constants, state, action)[1])(states, actions)


def _did(constants: rules.RescueRules, states: Any, actions: np.ndarray) -> rules.Did:
    """Return what each interact was, [step, seat], by the rules; padded, so that few lengths are compiled."""
    steps = len(actions)
    spare = -steps % 64

    def padded(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.repeat(values[-1:], spare, axis=0)])

    did = _resolve(constants, jax.tree_util.tree_map(lambda a: padded(a[:-1]), states), padded(actions))
    return jax.tree_util.tree_map(lambda a: np.asarray(a)[:steps], did)


class RescueReader:
    """Reads episodes of one game."""

    domain = DOMAIN

    def __init__(self, game: Any):
        if not isinstance(getattr(game, "rules", None), rules.RescueRules):
            raise DomainError(f"the domain 'rescue' cannot read {getattr(game, 'id', game)!r}: it is another game")
        self.game, self.rules = game, game.rules
        roles, kinds = game.plan.roles, game.plan.tool_kinds
        self.agents = tuple(name.replace(" ", "_") for name in role_names(tuple((r, 0) for r in roles)))
        self.victims = [f"victim_{v + 1}" for v in range(game.plan.num_victims)]
        self.tools = [f"{TOOLS[k]}_{1 + sum(x == k for x in kinds[:n])}" for n, k in enumerate(kinds)]
        self.world = SymbolicWorld(DOMAIN, {a: ROLES[r] for a, r in zip(self.agents, roles)})
        for names, types in ((self.victims, ["victim"] * len(self.victims)), (self.tools, [TOOLS[k] for k in kinds])):
            for name, kind in zip(names, types):
                self.world.add(name, kind)

    def place(self, kind: str, cell: Any) -> str:
        """Return the name of a cell, a fire or debris: `cell_3_2` lies in column 3, row 2, counted from 0."""
        x, y = divmod(int(cell), self.rules.height)
        return self.world.add(f"{kind}_{x}_{y}", kind)

    def read(self, states: Any, actions: Any) -> SymbolicTrace:
        """Return the symbolic trace of `states` with a leading [step + 1] axis and `actions` [step, seat]."""
        states = jax.tree_util.tree_map(np.asarray, states)
        actions = np.asarray(actions, np.int32)
        if actions.ndim != 2 or actions.shape[1] != len(self.agents):
            raise DomainError(
                f"actions of shape {actions.shape} are not of {self.game.id}: it has {len(self.agents)} seats"
            )
        did = _did(self.rules, states, actions)
        recorder = Recorder(self.world, self.agents, self._start(states))
        episode = _Episode(states, did, recorder, states.burning.any(axis=0))
        self._find_walks(episode)
        for t in range(len(actions)):
            for seat in range(len(self.agents)):
                self._interact(episode, t, seat)
            self._walk(episode, t)
            self._spread(episode, t)
        nurses = frozenset(s for s, role in enumerate(self.rules.roles) if role == NURSE)
        return episode.recorder.finish(
            len(actions),
            self.game.horizon,
            game_id=self.game.id,
            reach=dict.fromkeys(self.victims, nurses),
            partners=self._partners(nurses, bool(np.any(states.terrain[0] == DANGER))),
        )

    def _partners(self, nurses: frozenset[int], danger: bool) -> dict[str, dict[int, frozenset[int]]]:
        """Return through which channel who can help whom: nurses treat, firefighters clear the way, police guard."""
        seats = range(len(self.agents))
        roles, all_but = self.rules.roles, {s: frozenset(seats) - {s} for s in seats}
        return {
            "knowledge": {s: nurses - {s} for s in seats},
            "hazards": {s: all_but[s] if roles[s] == FIREFIGHTER else frozenset() for s in seats},
            "guard": {s: all_but[s] if danger and roles[s] == POLICE else frozenset() for s in seats},
            "care": {s: nurses - {s} if s in nurses else frozenset() for s in seats},
            "hands": {s: all_but[s] if self.tools else frozenset() for s in seats},
        }

    def _start(self, states: Any) -> frozenset[int]:
        fact, cell = self.world.fact, states.cell[0]
        facts = [fact("at", a, self.place("cell", c)) for a, c in zip(self.agents, cell)]
        facts += [fact("free", a) for a, tool in zip(self.agents, states.held[0]) if tool < 0]
        facts += [fact("has", a, self.tools[h]) for a, h in zip(self.agents, states.held[0]) if h >= 0]
        facts += [fact("lies", t, self.place("cell", c)) for t, c in zip(self.tools, states.tool_cell[0]) if c >= 0]
        for tool, kind in enumerate(self.rules.tool_kinds):
            if kind == KIT:
                facts.append(fact(_USE_FACTS[USES[states.tool_use[0][tool]]], self.tools[tool]))
        for v, name in enumerate(self.victims):
            facts.append(fact("known" if states.known[0][v] else "hidden", name))
            facts.append(fact("treated" if states.treated_by[0][v] >= 0 else "untreated", name))
        facts += [fact("burning", self.place("fire", c)) for c in np.flatnonzero(states.burning[0])]
        facts += [fact("blocking", self.place("debris", c)) for c in np.flatnonzero(states.debris[0])]
        return frozenset(facts)

    def _find_walks(self, e: _Episode) -> None:
        """Find the walk to each visit to a victim.

        It begins with the first step towards the victim after its place was known and the last operator.
        """
        operation, target, cell = e.did.operation, e.did.target, e.states.cell
        for seat, role in enumerate(self.rules.roles):
            if role != NURSE:
                continue
            for t in np.flatnonzero(operation[:, seat] == rules.TREAT):
                victim = int(target[t, seat])
                busy = np.flatnonzero(operation[:t, seat] != rules.NONE)
                since = max(int(busy[-1]) + 1 if len(busy) else 0, int(np.argmax(e.states.known[:, victim])))
                steps = np.flatnonzero(cell[since + 1 : t + 1, seat] != cell[since:t, seat])
                if len(steps):
                    e.walks.setdefault((since + int(steps[0]), seat), []).append(victim)

    def _interact(self, e: _Episode, t: int, seat: int) -> None:
        operation, target = int(e.did.operation[t, seat]), int(e.did.target[t, seat])
        if operation != rules.TREAT:
            e.treating.pop(seat, None)
        if operation == rules.NONE:
            return
        agent, tool = self.agents[seat], int(e.did.tool[t, seat])
        do = e.recorder.do
        open_still = [fact for fact in e.crossed.pop(seat, ()) if fact in e.recorder.now]  # fires spread back
        preconditions = [*self._guards(e, t, seat), *open_still]
        if operation == rules.PASS:
            name = "lend" if e.did.lent[t, seat] else "hand_over"
            do(t, seat, name, agent, self.tools[tool], self.agents[target], preconditions=preconditions)
        elif operation == rules.GUARD:
            self._guard(e, t, seat, target)
        elif operation == rules.DISCOVER:
            do(t, seat, "discover", agent, self.victims[target], preconditions=preconditions)
        elif operation == rules.TREAT:
            self._treat(e, t, seat, target, tool, preconditions)
        elif operation == rules.EXTINGUISH:
            do(t, seat, "extinguish", agent, self.tools[tool], self.place("fire", target), preconditions=preconditions)
        elif operation == rules.CLEAR:
            do(t, seat, "clear_debris", agent, self.place("debris", target), preconditions=preconditions)
        else:
            name = "take" if operation == rules.TAKE else "put"
            do(t, seat, name, agent, self.tools[tool], self.place("cell", target), preconditions=preconditions)

    def _guards(self, e: _Episode, t: int, seat: int) -> list[int]:
        """Return the facts of the officer who guards an agent that acts in a danger zone."""
        if self.rules.roles[seat] == POLICE or e.states.terrain[t][e.states.cell[t, seat]] != DANGER:
            return []
        guards = (
            self.world.fact("guards", self.agents[s], self.agents[seat])
            for s, role in enumerate(self.rules.roles)
            if role == POLICE
        )
        return [fact for fact in guards if fact in e.recorder.now][:1]

    def _guard(self, e: _Episode, t: int, seat: int, whom: int) -> None:
        agent, old = self.agents[seat], int(e.states.guarding[t, seat])
        if old < 0:
            e.recorder.do(t, seat, "guard", agent, self.agents[whom])
        elif old != whom:
            e.recorder.do(t, seat, "guard_instead", agent, self.agents[old], self.agents[whom])

    def _treat(self, e: _Episode, t: int, seat: int, victim: int, tool: int, preconditions: list[int]) -> None:
        agent, name, do = self.agents[seat], self.victims[victim], e.recorder.do
        fact, now = self.world.fact, e.recorder.now
        if e.beside.get(seat) != victim:
            self._come(e, t, seat, victim)
        quenched = self._quenched(e, victim)
        conditions = (victim, tool, quenched)
        if e.treating.get(seat) != conditions:
            e.treating[seat] = conditions
            verb = "go_on" if fact("begun", name) in now else "treat"
            if tool >= 0:
                do(
                    t,
                    seat,
                    f"{verb}_with_kit",
                    agent,
                    self.tools[tool],
                    name,
                    preconditions=[*preconditions, *quenched],
                )
            else:
                do(t, seat, f"{verb}_by_hand", agent, name, preconditions=[*preconditions, *quenched])
            care = "cared_with_kit" if tool >= 0 else "cared_by_hand"
            e.cared.setdefault(victim, set()).add(fact(care, agent, name))
        if e.did.finished[t, seat]:
            do(t, seat, "finish", agent, name, preconditions=sorted(e.cared[victim]))

    def _come(self, e: _Episode, t: int, seat: int, victim: int) -> None:
        agent, name, bound = self.agents[seat], self.victims[victim], self.world.fact
        if seat in e.beside:
            e.recorder.do(t, seat, "leave", agent, self.victims[e.beside[seat]])
        if bound("bound_for", agent, name) in e.recorder.now:
            e.recorder.do(t, seat, "arrive", agent, name)
        else:
            e.recorder.do(t, seat, "meet", agent, name)
        e.beside[seat] = victim

    def _cross(self, e: _Episode, seat: int, cell: Any) -> None:
        """Note that the agent's next operator depends on the removal of debris or a fire where it walks."""
        for was, kind, gone in (
            (e.states.debris[0], "debris", "cleared"),
            (e.burned, "fire", "extinguished"),
        ):
            if was[cell]:
                fact = self.world.fact(gone, self.place(kind, cell))
                if fact in e.recorder.now and fact not in e.crossed.setdefault(seat, []):
                    e.crossed[seat].append(fact)

    def _quenched(self, e: _Episode, victim: int) -> tuple[int, ...]:
        """Return the facts of the fires that were put out in the victim's room, if none burns any more."""
        room, now = self.rules.room, e.recorder.now
        inside = np.flatnonzero((room == room[e.states.victim_cell[0][victim]]) & e.burned)
        fires = [self.place("fire", c) for c in inside]
        if any(self.world.fact("burning", fire) in now for fire in fires):
            return ()
        return tuple(f for fire in fires if (f := self.world.fact("extinguished", fire)) in now)

    def _spread(self, e: _Episode, t: int) -> None:
        """Record the fires that spread at the end of a step, each from a fire beside it."""
        if not self.rules.spread or (t + 1) % self.rules.spread:
            return
        front, after = self.rules.front.reshape(-1, 4), e.states.burning[t + 1]
        fires = {c: self.world.fact("burning", self.place("fire", c)) for c in np.flatnonzero(after)}
        burning = {c for c, fact in fires.items() if fact in e.recorder.now}
        for cell in sorted(set(fires) - burning):
            source = next(c for c in front[cell] if c in burning)
            e.recorder.do(t, NATURE, "spread", self.place("fire", source), self.place("fire", cell))

    def _walk(self, e: _Episode, t: int) -> None:
        for seat, agent in enumerate(self.agents):
            old, new = e.states.cell[t, seat], e.states.cell[t + 1, seat]
            if old == new:
                continue
            here = self.place("cell", old)
            if seat in e.beside:
                e.recorder.do(t, seat, "leave", agent, self.victims[e.beside.pop(seat)])
            for victim in e.walks.get((t, seat), ()):
                e.recorder.do(t, seat, "navigate", agent, here, self.victims[victim])
            e.recorder.do(t, seat, "walk", agent, here, self.place("cell", new))
            self._cross(e, seat, new)
