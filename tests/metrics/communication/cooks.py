"""Cooks who follow the reference plan, and a chef who says a line: recorded episodes to audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import interplay
from interplay.agents.api import Agent, Move, TraceEvent, View
from interplay.games.collab_kitchen.dishes import parts
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.macros import Macro, legal_macros, next_primitive, verify
from interplay.games.collab_kitchen.reference import reference_plans
from interplay.games.collab_kitchen.state import STAY
from interplay.traces import TraceSet


@dataclass
class _Session:
    game: Kitchen
    seat: int
    lines: dict[int, str]
    left: list[Macro] = field(default_factory=list)

    def __post_init__(self):
        mine = [a for a in reference_plans(self.game.dish)[0] if a.role == self.game.roles[self.seat].name]
        self.left = [Macro(a.verb, a.object if a.verb == "pickup" else None, a.place) for a in mine]

    async def act(self, view: View) -> Move:
        state = view.observation
        remarks = []
        if view.t in self.lines:
            said = {"to": 1 - self.seat, "text": self.lines[view.t], "units": [], "tokens_out": 9, "turn": 0}
            remarks = [TraceEvent("message", said)]
        if not self.left or not verify(self.game, state, self.seat, self.left[0]).ok:
            return Move(STAY, remarks)
        step = next_primitive(self.game, state, self.seat, self.left[0])
        if step.done:
            self.left.pop(0)
        return Move(step.action, remarks)


@dataclass
class Cook:
    """Does its part of the reference plan, and says what it is given to say at a time."""

    lines: tuple[tuple[int, str], ...] = ()
    encoding: str = "state"
    deadline_s: float | None = None
    default_action: int | None = STAY

    def begin(self, game: Any, seat: int, seed: int) -> _Session:
        return _Session(game, seat, dict(self.lines))


@dataclass
class _Dabbling:
    game: Kitchen
    seat: int
    random: Random
    now: Macro | None = None

    async def act(self, view: View) -> int:
        state = view.observation
        if self.now is None or not verify(self.game, state, self.seat, self.now).ok:
            wanted = {"dish", *parts(self.game.dish.food)}
            can = [m for m in legal_macros(self.game, state, self.seat) if m.verb != "wait"]
            can = [m for m in can if m.verb != "pickup" or m.object in wanted]
            self.now = self.random.choice(can) if can else None
        if self.now is None:
            return STAY
        step = next_primitive(self.game, state, self.seat, self.now)
        self.now = None if step.done else self.now
        return step.action


@dataclass
class Dabbler:
    """Does anything that can be done with what the dish is made of."""

    encoding: str = "state"
    deadline_s: float | None = None
    default_action: int | None = STAY

    def begin(self, game: Any, seat: int, seed: int) -> _Dabbling:
        return _Dabbling(game, seat, Random(seed + seat))


def dabble(dish: str, episodes: int, layout: str) -> TraceSet:
    game = interplay.make(f"kitchen/{layout}", dish=dish, horizon=250)
    return interplay.play(game, [Agent("one", Dabbler()), Agent("two", Dabbler())], episodes=episodes)


def cook(dish: str, *lines: tuple[int, str], episodes: int = 1, layout: str = "original") -> TraceSet:
    game = interplay.make(f"kitchen/{layout}", dish=dish)
    chef, assistant = Agent("talker", Cook(lines), {"lines": list(lines)}), Agent("cook", Cook())
    return interplay.play(game, [chef, assistant], episodes=episodes)
