"""The chat protocol: a request in, an answer out. Every model, real or scripted, is a `Model`."""

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
    """A request to a model, with everything that distinguishes it from other requests."""

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None  # a JSON schema for the answer
    temperature: float = 0.0
    max_tokens: int = 1024
    purpose: str = "plan"
    game: str = ""  # id and options of the game
    episode: int = 0  # the seat's own seed, from the run's seed, the team and the episode's number
    seat: int = 0
    ordinal: int = 0  # number of this request within the seat's episode
    reasoning_tokens: int = 0  # room for thinking, on top of max_tokens
    reasoning_effort: str = ""  # for endpoints that know it: low, medium, high
    context: Any = field(default=None, compare=False)  # for scripted models; never sent anywhere

    def key(self, model: str) -> str:
        """Return a hash of everything, the episode included, so that episodes at temperature 0 stay independent."""
        parts = [
            model,
            [[m.role, m.text] for m in self.messages],
            self.schema,
            [self.temperature, self.max_tokens, self.purpose],
            [self.game, self.episode, self.seat, self.ordinal],
        ]
        if self.reasoning_tokens or self.reasoning_effort:  # keys of journals without them stay as they were
            parts.append([self.reasoning_tokens, self.reasoning_effort])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def text(self) -> str:
        """The prompt as one readable text."""
        return "\n\n".join(f"[{m.role}]\n{m.text}" for m in self.messages)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A model's answer. Counts are None where the server does not report them."""

    text: str
    finish: str = "stop"  # "length": cut off, so not to be trusted
    tokens_in: int | None = None
    tokens_out: int | None = None  # thinking included
    tokens_cached: int | None = None  # of tokens_in, what the provider had cached
    tokens_reasoning: int | None = None  # of tokens_out, what was thinking
    latency_s: float | None = None
    cost: float | None = None  # US dollars, where a price is known
    retries: int = 0
    cached: bool = False


class Model(Protocol):
    """Anything that answers requests."""

    name: str  # provider/model

    async def chat(self, request: ChatRequest) -> Answer:
        """Answer a request.

        Raises:
            ModelError: No answer can be had.
        """
        ...


class ModelError(InterplayError):
    """A model cannot be asked any more; the episode ends, keeps its score, and records the reason."""

    reason = "model_error"


class ModelRefusal(ModelError):
    """The endpoint refuses the key or does not know the model; retrying is useless."""

    reason = "refused"


class Unavailable(ModelError):
    """The endpoint failed, was not reached or did not answer in time, retries included."""

    reason = "unavailable"


class RequestRejected(ModelError):
    """The endpoint cannot take this request, such as a prompt beyond its context: a result, not an outage."""

    reason = "rejected"


class LimitReached(ModelError):
    """The episode's limit of tokens, money or calls is used up."""

    reason = "limit"


class RunLimitReached(LimitReached):
    """The whole run's limit is used up."""

    reason = "run_limit"


OUTAGES = (ModelRefusal.reason, Unavailable.reason, RunLimitReached.reason)  # ends that say nothing about the team


def system_and_user(system: str, user: str) -> tuple[ChatMessage, ...]:
    """Return a prompt of a system and a user message."""
    return (ChatMessage("system", system), ChatMessage("user", user))


def alternating(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Join messages of one role that follow each other: many chat templates want user and assistant in turn."""
    joined: list[ChatMessage] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = ChatMessage(message.role, f"{joined[-1].text}\n\n{message.text}")
        else:
            joined.append(message)
    return tuple(joined)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text at four characters each."""
    return -(-len(text) // 4)


def total(values: Sequence[int | float | None]) -> Any:
    """Return the sum of the known values; None if none is known."""
    known = [v for v in values if v is not None]
    return sum(known) if known else None
