"""A session in which a language model reads a game as text and names one of the legal actions."""

from __future__ import annotations

import numpy as np

from interplay.agents.api import Move, View
from interplay.agents.llm.answers import TEXT, AnswerShape
from interplay.agents.llm.chat import ChatMessage
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.settings import LLMSettings

VERSION = "1"  # of the prompts; a change that a model could notice is a new one
REMEMBERED = {"none": 0, "recent": 12, "full": 1000}  # own past actions that a prompt tells, by `LLMSettings.memory`


class TextSession:
    """Asks for one of the legal actions, at most twice, and then takes the first.

    For games whose family brings no session of its own: the prompt comes from `render` and `action_names`.
    """

    def __init__(self, caller: Caller, settings: LLMSettings):
        self._caller, self._remembered = caller, REMEMBERED[settings.memory]
        caller.template = f"text/{VERSION}"
        self._past: list[str] = []
        self._over = False

    async def act(self, view: View) -> Move:
        """Choose by the model; a fallback is recorded in the trace."""
        names = {view.game.action_names[a]: a for a in np.flatnonzero(view.legal).tolist()}
        action = None if self._over else await self._choose(view, names)
        if action is None:
            action = int(np.argmax(view.legal))
            self._caller.note("fallback", action=view.game.action_names[action])
        self._past.append(f"step {view.t}: {view.game.action_names[action]}")
        return Move(action, self._caller.take_events())

    async def _choose(self, view: View, names: dict[str, int]) -> int | None:
        shape = AnswerShape({"rationale": TEXT, "action": tuple(names)}, longest=1500)
        messages = (ChatMessage("system", self._rules(view)), ChatMessage("user", self._situation(view, list(names))))
        answer = await self._caller.ask_corrected(messages, shape, "act")
        self._over = answer is None
        return names[answer.fields["action"]] if answer and answer.fields else None

    def _rules(self, view: View) -> str:
        game = view.game
        others = ", ".join(name for seat, name in enumerate(game.seat_names) if seat != view.seat)
        return (
            f"You play the cooperative game {game.id} as {game.seat_names[view.seat]}, in a team with {others}. "
            f"All of you share one score. A game has at most {game.horizon} steps. "
            'Answer with one JSON object: {"rationale": why, "action": one of the legal actions}.'
        )

    def _situation(self, view: View, names: list[str]) -> str:
        past = self._past[-self._remembered :] if self._remembered else []
        history = ["What you did so far:", *past] if past else []
        return "\n".join([*history, f"Step {view.t}. What you see:", view.text(), f"Legal actions: {', '.join(names)}"])
