"""Calls of one seat to its model in one episode: limits are checked, calls recorded, answers parsed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from interplay.agents.api import TraceEvent
from interplay.agents.llm.answers import AnswerShape, ParsedAnswer
from interplay.agents.llm.chat import ChatMessage, ChatRequest, Model, ModelError
from interplay.agents.llm.limits import Usage, check
from interplay.agents.llm.models import ModelPool
from interplay.games.api import Game


@dataclass
class Caller:
    """Asks one model for one seat, and records every call."""

    pool: ModelPool
    model: Model
    game: Game
    seat: int
    role: str
    seed: int
    usage: Usage = field(default_factory=Usage)  # of the episode, shared by its seats
    temperature: float = 0.0
    max_tokens: int = 1024
    events: list[TraceEvent] = field(default_factory=list)
    asked: int = 0
    last_tokens_out: int | None = None  # of the last answer

    async def ask(
        self,
        messages: tuple[ChatMessage, ...],
        shape: AnswerShape,
        purpose: str,
        *,
        scaffold: bool = False,
        context: Any = None,
    ) -> ParsedAnswer:
        """Return the model's answer in this shape, or what is wrong with it.

        Raises:
            ModelError: A limit is reached, or the model cannot be asked.
        """
        check(self.pool.limits, self.usage, self.pool.usage)
        question = ChatRequest(
            messages=messages,
            schema=shape.schema(),
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            purpose=purpose,
            game=json.dumps([self.game.id, dict(self.game.options)], sort_keys=True),
            episode=self.seed,
            seat=self.seat,
            ordinal=self.asked,
            context=context,
        )
        self.asked += 1
        answer = await self.model.chat(question)
        self.usage.add(question.text, answer)
        self.pool.usage.add(question.text, answer)
        reading = shape.read(answer.text, answer.finish)
        self.last_tokens_out = answer.tokens_out
        self.note(
            "call",
            model=self.model.name,
            role=self.role,
            scaffold=scaffold,
            purpose=purpose,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            latency_s=answer.latency_s,
            cost=answer.cost,
            cached=answer.cached,
            retries=answer.retries,
            prompt=question.text,
            answer=answer.text,
            finish=answer.finish,
            parse_ok=reading.ok,
            parse_error=reading.error,
            repaired=reading.repaired,
            key=question.key(self.model.name),
        )
        return reading

    async def ask_corrected(
        self,
        messages: tuple[ChatMessage, ...],
        shape: AnswerShape,
        purpose: str,
        correct: Callable[[str], tuple[ChatMessage, ...]] | None = None,
    ) -> ParsedAnswer | None:
        """Ask, and once more if the answer cannot be used.

        Args:
            messages: The prompt.
            shape: The shape of the answer.
            purpose: What the trace calls the first call; the second is "correct".
            correct: Makes the second prompt from the error; by default the error is appended as a message.

        Returns:
            The last answer; None if the model cannot be asked any more, which the trace records.
        """
        try:
            answer = await self.ask(messages, shape, purpose)
            if answer.error is not None:
                text = f"Your answer cannot be used: {answer.error}. Answer again, as one JSON object."
                second = correct(answer.error) if correct else (*messages, ChatMessage("user", text))
                answer = await self.ask(second, shape, "correct")
        except ModelError as error:
            self.note("end", reason=error.reason, message=str(error))
            return None
        return answer

    def note(self, kind: str, **payload: Any) -> None:
        """Record an event for the trace."""
        self.events.append(TraceEvent(kind, payload))

    def take_events(self) -> list[TraceEvent]:
        """Return the events since the last call."""
        taken, self.events = self.events, []
        return taken
