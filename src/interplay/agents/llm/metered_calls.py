"""Calls of one seat to its model in one episode: limits are checked, calls recorded, answers parsed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from interplay.agents.api import TraceEvent
from interplay.agents.llm.answers import AnswerShape, ParsedAnswer, without_thinking
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
    reasoning_tokens: int = 0
    reasoning_effort: str = ""
    events: list[TraceEvent] = field(default_factory=list)
    asked: int = 0
    last_tokens_out: int | None = None  # of the last answer
    last_text: str = ""  # the last answer
    template: str = ""  # the game and version of the session's prompts

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
            reasoning_tokens=self.reasoning_tokens,
            reasoning_effort=self.reasoning_effort,
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
        self.last_tokens_out, self.last_text = answer.tokens_out, answer.text
        self.note(
            "call",
            model=self.model.name,
            role=self.role,
            template=self.template,
            scaffold=scaffold,
            purpose=purpose,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            tokens_cached=answer.tokens_cached,
            tokens_reasoning=answer.tokens_reasoning,
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
        context: Any = None,
    ) -> ParsedAnswer | None:
        """Ask, and once more if the answer cannot be used.

        Args:
            messages: The prompt.
            shape: The shape of the answer.
            purpose: What the trace calls the first call; the second is "correct".
            correct: Makes the second prompt from the error; by default the answer and the error are appended.
            context: For scripted models.

        Returns:
            The last answer; None if the model cannot be asked any more, which the trace records.

        Raises:
            ModelError: The model cannot be asked any more, and the pool's run ends such episodes.
        """
        try:
            answer = await self.ask(messages, shape, purpose, context=context)
            if answer.error is not None:
                text = f"Your answer cannot be used: {answer.error}. Answer again, as one JSON object."
                said = without_thinking(self.last_text)[0].strip() or "(no answer)"
                again = (*messages, ChatMessage("assistant", said), ChatMessage("user", text))
                answer = await self.ask(correct(answer.error) if correct else again, shape, "correct", context=context)
        except ModelError as error:
            if self.pool.ends_episodes:
                raise
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
