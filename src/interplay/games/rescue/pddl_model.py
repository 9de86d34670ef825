"""Search and rescue as a planning model: agents who walk, turn and interact, one at a time, for one treated victim.

A treatment is one action that costs as many steps as it lasts, alone and without a change of conditions. Fires do not
spread, and the house is the one that key 0 draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from interplay.games.pddl_task import PlanAction, PlanningOperator, PlanningTask, complete_domain, write_problem
from interplay.games.rescue.layouts import role_names
from interplay.games.rescue.state import (
    ACTIONS,
    BY_HAND,
    DANGER,
    FIRE_FACTOR,
    FIREFIGHTER,
    INTERACT,
    KIT,
    MOVES,
    NURSE,
    POLICE,
    STAY,
    WALL,
    WITH_KIT,
    WORK,
)

WAYS = ACTIONS[:STAY]
DOMAIN = Path(__file__).with_name("domain.pddl").read_text(encoding="utf-8")  # without what depends on the house
_WHO = "?a - agent ?c - cell ?w - way ?to - cell"
_FACE = "(at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c)"


class RescuePlanningModel:
    """The planning model of one house."""

    leaves_out = "changing conditions of a treatment, several nurses at one victim, acting at once, spreading fires"

    def __init__(self, game: Any):
        self.game, self.rules = game, game.rules
        self.state = game.init(jax.random.key(0))
        roles = tuple((role, 0) for role in game.plan.roles)
        self.agents = tuple(name.replace(" ", "_") for name in role_names(roles))

    def task(self, seats: Sequence[int]) -> PlanningTask:
        """Return the task to treat one victim; agents who do not act stand in the way."""
        state, rules = self.state, self.rules
        objects: dict[str, str] = {self.agents[s]: "agent" for s in seats} | dict.fromkeys(WAYS, "way")
        facts: list[str] = []
        cells = np.flatnonzero(np.asarray(state.terrain) != WALL)
        full = np.asarray(state.debris) | np.asarray(state.burning)
        full[np.asarray(state.victim_cell)] = True
        full[[c for c in np.asarray(state.tool_cell) if c >= 0]] = True
        for cell in cells:
            objects[self._name(cell)] = "cell"
            facts += self._cell(int(cell), bool(full[cell]), seats)
        for seat in seats:
            role = ("nurse", "firefighter", "police")[rules.roles[seat]]
            agent, cell = self.agents[seat], int(state.cell[seat])
            facts += [f"({role} {agent})", f"(free {agent})", f"(at {agent} {self._name(cell)})"]
            facts.append(f"(facing {agent} {WAYS[int(state.facing[seat])]})")
        for tool, kind in enumerate(rules.tool_kinds):
            objects[f"tool_{tool}"] = "kit" if kind == KIT else "extinguisher"
            facts.append(f"(lies tool_{tool} {self._name(state.tool_cell[tool])})")
        for victim, cell in enumerate(np.asarray(state.victim_cell)):
            objects[f"victim_{victim}"] = "victim"
            facts += [f"(victim-at victim_{victim} {self._name(cell)})", f"(hidden victim_{victim})"]
        named = {name: kind for name, kind in objects.items() if kind in ("agent", "cell", "victim")}
        rest = {name: kind for name, kind in objects.items() if name not in named}
        domain = complete_domain(DOMAIN, named, [*self._treatments(), *self._guards(seats)])
        return PlanningTask(domain, write_problem("rescue", rest, facts, "(rescued)"))

    def _cell(self, cell: int, full: bool, seats: Sequence[int]) -> list[str]:
        state, name = self.state, self._name(cell)
        standing = cell in {int(c) for c in np.asarray(state.cell)}
        facts = [f"({'not-clear' if full or standing else 'clear'} {name})"]
        hazards = (("debris", state.debris), ("burning", state.burning))
        facts += [f"({word} {name})" for word, mask in hazards if mask[cell]]
        x, y = divmod(cell, self.rules.height)
        for way, (dx, dy) in zip(WAYS, MOVES):
            near = (x + dx) * self.rules.height + y + dy
            if int(state.terrain[near]) != WALL:
                facts.append(f"(next {name} {way} {self._name(near)})")
        calm = int(state.terrain[cell]) != DANGER
        return facts + [f"(able {self.agents[s]} {name})" for s in seats if calm or self.rules.roles[s] == POLICE]

    def _treatments(self) -> list[PlanningOperator]:
        """Return one action for each victim, tool and whether its room burns."""
        state, room = self.state, self.rules.room
        operators = []
        for victim, cell in enumerate(np.asarray(state.victim_cell)):
            fires = np.flatnonzero(np.asarray(state.burning) & (room == room[cell]))
            calm = " ".join(f"(quenched {self._name(c)})" for c in fires)
            for words, speed, hand in (("kit", WITH_KIT, "(has ?a ?t)"), ("hands", BY_HAND, "(free ?a)")):
                parameters = _WHO + (" ?t - kit" if words == "kit" else "")
                needs = f"{_FACE} (nurse ?a) (victim-at victim_{victim} ?to) (known victim_{victim}) {hand}"
                name = f"treat-{words}-{victim}"
                operators.append(PlanningOperator(name, parameters, f"{needs} {calm}", "(rescued)", WORK // speed))
                if len(fires):
                    slow = WORK // (speed // FIRE_FACTOR)
                    operators.append(PlanningOperator(f"{name}-burning", parameters, needs, "(rescued)", slow))
        return operators

    def _guards(self, seats: Sequence[int]) -> list[PlanningOperator]:
        """Return an action of the police for each agent that can be guarded; an officer guards one at a time."""
        danger = [self._name(c) for c in np.flatnonzero(np.asarray(self.state.terrain) == DANGER)]
        officers = [s for s in seats if self.rules.roles[s] == POLICE]
        others = [s for s in seats if self.rules.roles[s] in (NURSE, FIREFIGHTER)]
        if not danger or not officers:
            return []
        operators = []
        for seat in others:
            gains = " ".join(f"(able {self.agents[seat]} {cell})" for cell in danger)
            losses = " ".join(f"(not (able {self.agents[s]} {cell}))" for s in others if s != seat for cell in danger)
            needs = f"{_FACE} (police ?a) (at {self.agents[seat]} ?to)"
            operators.append(PlanningOperator(f"guard-{seat}", _WHO, needs, f"{gains} {losses}"))
        return operators

    def _name(self, cell: Any) -> str:
        x, y = divmod(int(cell), self.rules.height)
        return f"cell_{x}_{y}"

    def action(self, name: str, arguments: Sequence[str]) -> PlanAction:
        """Return what an action of the task is in the house."""
        seat = self.agents.index(arguments[0])
        if name in ("walk", "turn"):
            return PlanAction(seat, (WAYS.index(arguments[2]),))
        if not name.startswith("treat-"):
            return PlanAction(seat, (INTERACT,))
        speed = WITH_KIT if name.startswith("treat-kit") else BY_HAND
        return PlanAction(seat, (INTERACT,) * (WORK // (speed // FIRE_FACTOR if name.endswith("burning") else speed)))
