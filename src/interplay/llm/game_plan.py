"""What a run of language models plays in any game: teams by names, so many episodes each, as jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.player import make as make_player
from interplay.agents.llm.settings import LLMSettings
from interplay.agents.registry import agent as registered
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.dialogue_runner import DialogueJob
from interplay.rollout.teams import Team, all_teams


@dataclass(frozen=True, kw_only=True)
class GamePlan:
    """One team, or every team of these agents, in one game."""

    game: str
    agents: tuple[str, ...]  # `llm:provider/model?option=value`, or the name of any agent
    crossplay: bool = False  # every agent with every agent, in every seating; else one agent for each seat
    episodes: int = 10  # of each team
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)  # of the game
    settings: LLMSettings = field(default_factory=LLMSettings)  # of models, where their names do not say otherwise

    def __post_init__(self):
        if self.episodes < 1:
            raise InterplayError(f"episodes: {self.episodes}; play at least one")
        if not self.agents:
            raise InterplayError("name the agents, such as llm:openai/gpt-4o")

    def described(self) -> dict[str, Any]:
        """Return the plan as plain values, for the manifest."""
        told = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items() if name != "settings"}
        return {"llm_run": told | {"options": dict(self.options), "settings": self.settings.recorded()}}

    def jobs(self, pool: ModelPool) -> Iterator[DialogueJob]:
        """Yield the episodes, in an order that fills every team evenly."""
        game = make(self.game, **self.options)
        cast = {name: self._agent(name, pool) for name in dict.fromkeys(self.agents)}
        one_team = [cast[name] for name in self.agents]
        teams = all_teams(game, one_team) if self.crossplay else [Team.of(game, one_team)]
        for episode in range(self.episodes):
            for team in teams:
                yield DialogueJob(game, team, self.seed, episode)

    def _agent(self, name: str, pool: ModelPool) -> Agent:
        if name.startswith("llm:"):
            return make_player(name.removeprefix("llm:"), pool, **self.settings.changes())
        return registered(name)
