"""A language model as a player of any game."""

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
    """A model with its settings. The pool is what it shares with the other players of a run."""

    identity_kind: ClassVar[str] = "language model"
    model: str
    settings: LLMSettings = field(default_factory=LLMSettings)
    pool: ModelPool = field(default_factory=ModelPool)
    encoding: str = "nothing"  # each game's session looks at the game in its own way
    deadline_s: float | None = None
    default_action: int | None = None

    @property
    def turn_cap(self) -> int:
        """Messages in one dialogue."""
        return self.settings.turn_cap

    def talks(self, game: Game) -> bool:
        """Return whether sessions talk within a step of this game."""
        return capability(game, "llm_dialogue") is not None

    def begin(self, game: Game, seat: int, seed: int) -> Session:
        """Start the session that the game's family brings, or one that reads the game as text."""
        if self.talks(game):
            raise InterplayError(f"{game.id} is played with talk: use interplay.play or interplay llm run")
        session = capability(game, "llm_session") or TextSession
        return session(self._caller(game, seat, seed, Usage()), self.settings)

    def begin_talking(self, game: Game, seat: int, seed: int, usage: Usage) -> DialogueAgent:
        """Start a session in a game in which seats talk."""
        return capability(game, "llm_dialogue")(self._caller(game, seat, seed, usage), self.settings)

    def _caller(self, game: Game, seat: int, seed: int, usage: Usage) -> Caller:
        return Caller(
            self.pool,
            self.pool.model(self.model),
            game,
            seat,
            game.seat_names[seat],
            seed,
            usage,
            self.settings.temperature,
            self.settings.max_tokens,
        )


def make(model: str, pool: ModelPool | None = None, *, encoding: str = "nothing", **options: Any) -> Agent:
    """Make the agent `llm:MODEL`.

    Args:
        model: The model's name, provider/model.
        pool: The pool that the players of a run share; None: one of its own.
        encoding: For games played remotely, where a player gets no other encoding: `seen` for Hanabi, `state` for
            Overcooked.
        **options: Fields of `LLMSettings`.
    """
    settings = LLMSettings.from_options(options)
    pool = pool or ModelPool()
    pool.model(model)  # an unknown provider or a missing key fails now, not in mid-episode
    changes = settings.changes()
    labels = ",".join(str(v) if k == "scaffold" else f"{k}={v}" for k, v in changes.items())
    name = f"llm:{model}[{labels}]" if changes else f"llm:{model}"
    return Agent(name, LLMPlayer(model, settings, pool, encoding), {"model": model, **dataclasses.asdict(settings)})
