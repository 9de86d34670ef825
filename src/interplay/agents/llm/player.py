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
from interplay.errors import InterplayError, UnknownName
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
            self.settings.reasoning_tokens,
            self.settings.reasoning_effort,
        )


def make(model: str, pool: ModelPool | None = None, *, encoding: str = "nothing", **options: Any) -> Agent:
    """Make the agent `llm:MODEL`.

    Args:
        model: The model's name, provider/model; options may follow, as in openai/gpt-4o?max_tokens=2048&memory=full.
            They go before `options`.
        pool: The pool that the players of a run share; None: one of its own.
        encoding: For games played remotely, where a player gets no other encoding: `seen` for Hanabi, `state` for
            Overcooked.
        **options: Fields of `LLMSettings`, and `deadline_s`, the seconds after which a move is made by default.
    """
    model, written = parse_model(model)
    options = options | written
    deadline = options.pop("deadline_s", None)
    settings = LLMSettings.from_options(options)
    pool = pool or ModelPool()
    pool.model(model)  # an unknown provider or a missing key fails now, not in mid-episode
    changes = settings.changes() | ({} if deadline is None else {"deadline_s": deadline})
    labels = ",".join(str(v) if k == "scaffold" else f"{k}={v}" for k, v in changes.items())
    name = f"llm:{model}[{labels}]" if changes else f"llm:{model}"
    config = {"model": model, **settings.recorded()} | ({} if deadline is None else {"deadline_s": deadline})
    return Agent(name, LLMPlayer(model, settings, pool, encoding, deadline), config)


def parse_model(text: str) -> tuple[str, dict[str, Any]]:
    """Split `provider/model?name=value&...` into the model and its options, each of its option's type.

    Raises:
        InterplayError: An option has no value, or one of another type.
        UnknownName: There is no such option.
    """
    model, _, query = text.partition("?")
    kinds = {f.name: type(f.default) for f in dataclasses.fields(LLMSettings)} | {"deadline_s": float}
    options = {}
    for entry in filter(None, query.split("&")):
        name, equals, value = entry.partition("=")
        if name not in kinds:
            raise UnknownName("option of a language model", name, list(kinds))
        if not equals or not value:
            raise InterplayError(f"{text}: {name} has no value; write {name}=...")
        options[name] = _typed(text, name, value, kinds[name])
    return model, options


def _typed(text: str, name: str, value: str, kind: type) -> Any:
    if kind is bool:
        if value.lower() not in ("true", "false"):
            raise InterplayError(f"{text}: {name} is {value!r}; write true or false")
        return value.lower() == "true"
    try:
        return kind(value)
    except ValueError:
        raise InterplayError(f"{text}: {name} is {value!r}; write a number") from None
