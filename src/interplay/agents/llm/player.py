"""A language model as a player: one thing to name, which sits down at whatever game it is given."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

from interplay.agents.api import Agent, Session
from interplay.agents.dialogue import DialogueAgent
from interplay.agents.llm.limits import Usage
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.settings import LLMSettings
from interplay.agents.llm.text_session import TextSession
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability


@dataclass
class LLMPlayer:
    """A model with its settings. The desk is what it shares with the other players of a run."""

    identity_kind: ClassVar[str] = "language model"
    model: str
    settings: LLMSettings = field(default_factory=LLMSettings)
    desk: ModelPool = field(default_factory=ModelPool)
    encoding: str = "nothing"  # each game's session looks at the game in its own way
    deadline_s: float | None = None
    default_action: int | None = None

    @property
    def turn_cap(self) -> int:
        return self.settings.turn_cap

    def talks(self, game: Game) -> bool:
        """Whether sessions talk within a step of this game."""
        return capability(game, "llm_dialogue") is not None

    def begin(self, game: Game, seat: int, seed: int) -> Session:
        """Sit down: with the session that the game's family brings, or with one that reads the game as text."""
        if self.talks(game):
            raise InterplayError(f"{game.id} is played with talk: use interplay.play or interplay llm run")
        session = capability(game, "llm_session") or TextSession
        return session(self._caller(game, seat, seed, Usage()), self.settings)

    def begin_talking(self, game: Game, seat: int, seed: int, meter: Usage) -> DialogueAgent:
        """Sit down at a game in which seats talk."""
        return capability(game, "llm_dialogue")(self._caller(game, seat, seed, meter), self.settings)

    def _caller(self, game: Game, seat: int, seed: int, meter: Usage) -> Caller:
        return Caller(
            self.desk,
            self.desk.model(self.model),
            game,
            seat,
            game.seat_names[seat],
            seed,
            meter,
            self.settings.temperature,
            self.settings.max_tokens,
        )


def make(model: str, desk: ModelPool | None = None, *, encoding: str = "nothing", **options: Any) -> Agent:
    """The agent `llm:MODEL`; options are those of `Settings`.

    `encoding` matters where a game is played over a wire, and a player is shown no other: `seen` for Hanabi, `state`
    for Overcooked.
    """
    settings = LLMSettings.of(options)
    desk = desk or ModelPool()
    desk.model(model)  # an unknown provider or a missing key is told now, not in mid-episode
    changes = settings.changes()
    told = ",".join(str(v) if k == "scaffold" else f"{k}={v}" for k, v in changes.items())
    name = f"llm:{model}[{told}]" if changes else f"llm:{model}"
    return Agent(name, LLMPlayer(model, settings, desk, encoding), {"model": model, **dataclasses.asdict(settings)})
