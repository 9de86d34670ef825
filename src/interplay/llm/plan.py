"""What a run plays: pairings x dishes x episodes, as jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.player import make as make_player
from interplay.agents.llm.settings import LLMSettings
from interplay.agents.registry import agent as registered
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.collab_kitchen.dishes import dish
from interplay.games.registry import make
from interplay.rollout.dialogue_runner import DialogueJob
from interplay.rollout.teams import Team

DISHES_PER_LEVEL = 5
LEVELS = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """Every chef with every assistant, at every level, so many episodes each."""

    chefs: tuple[str, ...]  # provider/model, or the name of any agent
    assistants: tuple[str, ...]
    levels: tuple[int, ...] = (1, 2, 3)
    dishes: tuple[str, ...] = ()  # in place of levels: so many episodes of each of these
    layout: str = "original"  # the name of a kitchen, or one as text, rows split by "/"
    episodes: int = 10  # of a pairing and level; they take the level's five dishes in turn
    seed: int = 0
    horizon: int | None = None
    settings: LLMSettings = field(default_factory=LLMSettings)
    options: dict[str, Any] = field(default_factory=dict)  # further options of the kitchen, such as roles

    def __post_init__(self):
        if not self.chefs or not self.assistants:
            raise InterplayError("name at least one chef and one assistant")
        if self.episodes < 1:
            raise InterplayError(f"episodes: {self.episodes}; play at least one")
        if not self.levels and not self.dishes:
            raise InterplayError("name a level or a dish")
        if not 0 <= self.seed < 2**32:
            raise InterplayError(f"seed: {self.seed}; a seed is a whole number from 0 to {2**32 - 1}")
        for level in self.levels:
            if level not in LEVELS:
                raise InterplayError(f"level {level}: levels are {LEVELS[0]} to {LEVELS[-1]}")
        for name in self.dishes:
            dish(name)

    def described(self) -> dict[str, Any]:
        """Return the plan as plain values, for the manifest of the traces."""
        plan = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items() if k != "settings"}
        return {"llm_run": plan | {"settings": self.settings.recorded()}}

    def jobs(self, pool: ModelPool) -> Iterator[DialogueJob]:
        """In an order that fills every pairing and level evenly, so that a run that is stopped is still balanced."""
        agents = {name: self._agent(name, pool) for name in dict.fromkeys([*self.chefs, *self.assistants])}
        for episode in range(self.episodes):
            for options in self._servings(episode):
                game = self._kitchen(options)
                for chef in self.chefs:
                    for assistant in self.assistants:
                        helpers = [agents[assistant]] * (game.num_seats - 1)
                        yield DialogueJob(game, Team.of(game, [agents[chef], *helpers]), self.seed, episode)

    def _kitchen(self, options: dict[str, Any]) -> Game:
        if "/" in self.layout:
            return make("kitchen/custom", layout=self.layout, **options)
        return make(f"kitchen/{self.layout}", **options)

    def _servings(self, episode: int) -> list[dict[str, Any]]:
        extra = self.options | ({"horizon": self.horizon} if self.horizon is not None else {})
        if self.dishes:
            return [{"dish": name, **extra} for name in self.dishes]
        number = episode % DISHES_PER_LEVEL + 1
        return [{"level": level, "number": number, **extra} for level in self.levels]

    def _agent(self, name: str, pool: ModelPool) -> Agent:
        if not name.startswith("llm:") and "/" not in name:
            return registered(name)  # such as `stay`, or a player of your own
        return make_player(name.removeprefix("llm:"), pool, **self.settings.changes())


def read_levels(text: str) -> tuple[int, ...]:
    """`1-3`, `2` or `1,3,6`."""
    levels: list[int] = []
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        try:
            levels += range(int(first), int(last) + 1) if dash else [int(first)]
        except ValueError:
            raise InterplayError(f"levels: {text!r}; write 1-3, or 1,3,6") from None
    if not levels:
        raise InterplayError(f"levels: {text!r} has none; write 1-3, or 1,3,6")
    return tuple(dict.fromkeys(levels))


def job_key(game: str, options: Any, hashes: Any, seed: int, index: int) -> str:
    """What makes an episode this one and no other."""
    return json.dumps([game, options, list(hashes), seed, index], sort_keys=True)
