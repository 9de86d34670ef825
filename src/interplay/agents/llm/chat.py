"""The small chat protocol: a question in, an answer out. Every model, real or scripted, is a `Model`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from interplay.errors import InterplayError


@dataclass(frozen=True)
class ChatMessage:
    """One entry of a prompt."""

    role: str  # "system", "user" or "assistant"
    text: str


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """All that a model is asked, and all that tells this question from every other one."""

    notes: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None  # a JSON schema for the answer
    temperature: float = 0.0
    max_tokens: int = 1024
    purpose: str = "plan"
    game: str = ""  # id and options of the game
    episode: int = 0  # the seat's own seed: it folds the run's seed, who sits where and the episode's number
    seat: int = 0
    ordinal: int = 0  # the how-manieth question of this seat in this episode
    context: Any = field(default=None, compare=False)  # what scripted models look at; never sent anywhere

    def key(self, model: str) -> str:
        """A hash of everything: a cache without the episode would make ten episodes at temperature 0 the same one."""
        told = [
            model,
            [[n.role, n.text] for n in self.notes],
            self.schema,
            [self.temperature, self.max_tokens, self.purpose],
            [self.game, self.episode, self.seat, self.ordinal],
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def text(self) -> str:
        """The prompt as people read it."""
        return "\n\n".join(f"[{n.role}]\n{n.text}" for n in self.notes)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back. Counts are null where the server does not tell."""

    text: str
    finish: str = "stop"  # "length": cut off, so not to be trusted
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_s: float | None = None
    cost: float | None = None  # US dollars, where a price is known
    retries: int = 0
    cached: bool = False


class Model(Protocol):
    """Anything that answers."""

    name: str  # provider/model

    async def chat(self, ask: ChatRequest) -> Answer: ...


class ModelError(InterplayError):
    """A model that cannot be asked on. The episode ends here, keeps its score, and says why."""

    reason = "model_error"


class ModelRefusal(ModelError):
    """The endpoint does not let us in, or knows no such model: no use in trying again."""

    reason = "refused"


class Unavailable(ModelError):
    """The endpoint failed, was not reached or did not answer in time, retries included."""

    reason = "unavailable"


class LimitReached(ModelError):
    """The episode's limit of tokens, money or calls is used up."""

    reason = "limit"


class RunLimitReached(LimitReached):
    """The whole run's limit is used up."""

    reason = "run_limit"


OUTAGES = (ModelRefusal.reason, Unavailable.reason, RunLimitReached.reason)  # ends that say nothing about the team


def system_and_user(system: str, user: str) -> tuple[ChatMessage, ...]:
    return (ChatMessage("system", system), ChatMessage("user", user))


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, where nobody counts: four characters each."""
    return -(-len(text) // 4)


def total(values: Sequence[int | float | None]) -> Any:
    """The sum of what is known; null if nothing is."""
    known = [v for v in values if v is not None]
    return sum(known) if known else None
