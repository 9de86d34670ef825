"""A session in which a language model plays a cook with a queue of macro actions.

The model plans when the queue is empty, and each act is verified before it is done. An answer or act that cannot be
used is reported to the model, which may correct it once in a step; then the cook waits a step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from interplay.agents.api import Move, TraceEvent
from interplay.agents.dialogue import DialogueMessage, DialogueObservation
from interplay.agents.llm.kitchen.prompts import answer_shape, plan_and_speech, prompt_messages
from interplay.agents.llm.kitchen.situation import Refusal, Situation, SituationEvent
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.scaffolds.registry import scaffold
from interplay.agents.llm.settings import LLMSettings
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution, executions
from interplay.games.collab_kitchen.macros import (
    KINDS,
    Macro,
    ParseError,
    next_primitive,
    parse_macro,
    places,
    rest,
    verify,
)
from interplay.games.collab_kitchen.rules import mixed
from interplay.games.collab_kitchen.state import KitchenState

PATIENCE = 8  # steps that an act may be held up before the cook thinks again
LONGEST = 40  # steps that an act may take: cooks who dance around each other get nowhere either
REST = Macro("wait", number=1)


class KitchenSession:
    """One cook in one episode."""

    def __init__(self, caller: Caller, settings: LLMSettings):
        self._caller, self._settings = caller, settings
        caller.template = f"kitchen/{settings.prompts}"
        self._game: Kitchen = caller.game  # type: ignore[assignment]
        self._seat = caller.seat
        self._talk = settings.dialogue != "silent"
        self._scaffold = scaffold(settings.scaffold)
        self._queue: list[Macro] = []
        self._begun: Macro | None = None  # the act under way
        self._hoped: Macro | None = None  # the act whose last step was just taken
        self._blocked_steps = 0  # steps in a row in which it did not get on
        self._age = 0  # steps since it began
        self._corrected = -1  # the step in which the one correction was used
        self._messages: list[DialogueMessage] = []
        self._late: list[DialogueMessage] = []  # said while settling; heard in the next step
        self._executions: list[Execution] = []
        self._memory: list[SituationEvent] = []
        self._refusals: list[Refusal] = []
        self._aside: tuple[int, str] = (-1, "")
        self._seen = 0  # the step up to which executions are known

    # ------------------------------------------------------------ called by the runner
    async def open(self, sight: DialogueObservation) -> Sequence[DialogueMessage]:
        """Begin a step: send delayed messages, and plan if the queue is empty."""
        self._look(sight)
        said, self._late = [dataclasses.replace(m, t=sight.t) for m in self._late], []
        return said if self._queue else [*said, *await self._think(sight, "plan")]

    def hear(self, message: DialogueMessage) -> None:
        """Receive a message that was sent to or by this seat."""
        self._messages.append(message)
        who = "you" if message.sender == self._seat else self._game.seat_names[message.sender]
        self._memory.append(SituationEvent(t=message.t, text=f"{who} said: {message.text}"))

    async def reply(self, sight: DialogueObservation, turn: int) -> Sequence[DialogueMessage]:
        """Answer the last messages, if the settings allow answers."""
        self._look(sight)
        answers = self._settings.dialogue == "cap"
        return await self._think(sight, "reply", turn=turn, replying=True) if answers else []

    async def settle(self, sight: DialogueObservation) -> Move:
        """End a step: return the next primitive action of the queue."""
        while True:
            macro = self._queue[0] if self._queue else REST
            refused = self._refused(sight, macro)
            if refused is None:
                return Move(self._carry_on(sight, macro))
            self._queue, self._begun = [], None
            if self._corrected == sight.t:
                self._fall_back()
                continue
            self._corrected = sight.t
            self._late += await self._think(sight, "correct", feedback=refused)

    def see_refusal(self, seat: int, payload: Mapping[str, Any]) -> None:
        """Note what the verifier refused to another cook; scaffolds are told."""
        act = f"{payload['verb']}({payload['object'] or ''})" if payload.get("verb") else "its answer"
        self._refusals.append(Refusal(t=self._seen, seat=seat, text=f"{act}: {payload['message']}"))

    def take_events(self) -> list[TraceEvent]:
        """Return the events since the last call."""
        return self._caller.take_events()

    # ------------------------------------------------------------ planning
    async def _think(
        self,
        sight: DialogueObservation,
        purpose: str,
        *,
        turn: int = 0,
        feedback: str | None = None,
        replying: bool = False,
    ) -> Sequence[DialogueMessage]:
        """Ask the model, queue its plan and return its messages. A reply without a plan keeps the queue."""
        situation = self._situation(sight, purpose, feedback)
        aside = await self._aside_of(situation)
        reading = await self._ask(situation, aside)
        problem = reading.error
        if problem is not None:
            self._note_refusal(sight.t, "format", problem)
        plan, say = plan_and_speech(reading.fields) if reading.fields else ([], "")
        macros, requests, bad = self._read_plan(sight.t, plan)
        problem = problem or (bad if not macros and not requests else None)
        if problem is not None:
            if self._corrected != sight.t:
                self._corrected = sight.t
                return await self._think(sight, "correct", turn=turn, feedback=problem, replying=replying)
            if not self._queue:
                self._fall_back()
            return []
        if macros or not replying:
            self._queue, self._begun = macros, None
            self._caller.note("plan", macros=[m._asdict() for m in macros])
        return self._say(sight.t, turn, say, requests)

    async def _ask(self, situation: Situation, aside: str) -> Any:
        shape = answer_shape(situation, self._settings, talk=self._talk)
        prompt = prompt_messages(situation, self._settings, aside, talk=self._talk)
        return await self._caller.ask(prompt, shape, situation.purpose, context=situation)

    async def _aside_of(self, situation: Situation) -> str:
        """Return the scaffold's note, computed once per step."""
        if self._aside[0] != situation.t:
            self._aside = (situation.t, await self._scaffold.aside(situation, self._caller))
        return self._aside[1]

    def _situation(self, sight: DialogueObservation, purpose: str, feedback: str | None) -> Situation:
        return Situation(
            sight=sight,
            purpose=purpose,
            queue=tuple(self._queue),
            messages=tuple(self._messages),
            executions=tuple(self._executions),
            memory=tuple(self._memory),
            refusals=tuple(self._refusals),
            feedback=feedback,
        )

    def _read_plan(self, t: int, plan: Sequence[str]) -> tuple[list[Macro], list[Macro], str | None]:
        """Parse a plan into acts and requests up to the first unreadable entry, and that entry's error."""
        macros: list[Macro] = []
        requests: list[Macro] = []
        for text in plan:
            macro = parse_macro(text)
            if isinstance(macro, ParseError):
                self._note_refusal(t, macro.error, macro.message)
                return macros, requests, macro.message
            (requests if macro.verb == "request" else macros).append(macro)
        return macros, requests, None

    def _say(self, t: int, turn: int, say: str, requests: Sequence[Macro]) -> list[DialogueMessage]:
        if not self._talk or not (say or requests):
            return []
        read = [parse_macro(r.object or "") for r in requests]
        units = [{"verb": m.verb, "object": m.object, "place": m.place} for m in read if isinstance(m, Macro)]
        loose = [str(r) for r, m in zip(requests, read, strict=True) if isinstance(m, ParseError)]
        asked = [str(r) for r, m in zip(requests, read, strict=True) if isinstance(m, Macro)] if not say else []
        text = " ".join([say, *loose, *asked]).strip()
        to = self._addressee(text)
        self._caller.note("message", to=to, text=text, units=units, tokens_out=self._caller.last_tokens_out, turn=turn)
        return [DialogueMessage(t=t, sender=self._seat, to=to, text=text, units=units, turn=turn)]

    def _addressee(self, text: str) -> int | None:
        others = [s for s in range(self._game.num_seats) if s != self._seat]
        if len(others) == 1:
            return others[0]
        named = [s for s in others if text.lower().startswith(self._game.seat_names[s].lower())]
        return max(named, key=lambda s: len(self._game.seat_names[s])) if named else None

    # ------------------------------------------------------------ acting
    def _refused(self, sight: DialogueObservation, macro: Macro) -> str | None:
        """Return why the act cannot be done now; None if it can."""
        verdict = verify(self._game, sight.state, self._seat, macro)
        error, message = verdict.error, verdict.message
        if verdict.ok and macro.verb != "wait" and (self._blocked_steps >= PATIENCE or self._age >= LONGEST):
            error, message = "blocked", f"{macro} does not get on: somebody is in the way"
        if self._begun != macro or error:
            act = {"verb": macro.verb, "object": acted_on(self._game, sight.state, self._seat, macro)}
            act["place"] = macro.place
            if self._begun != macro:
                self._caller.note("attempt", **act)
            self._caller.note("verdict", **act, ok=not error, error=error or None, message=message)
        if not error:
            self._age = self._age + 1 if self._begun == macro else 0
            self._begun = macro
            return None
        self._blocked_steps = self._age = 0
        self._refusals.append(Refusal(t=sight.t, seat=self._seat, text=f"{macro}: {message}"))
        self._memory.append(SituationEvent(t=sight.t, text=f"your {macro} was impossible: {message}"))
        return f"{macro}: {message}"

    def _carry_on(self, sight: DialogueObservation, macro: Macro) -> int:
        """Return the next step of an act; advance the queue with its last one."""
        step = next_primitive(self._game, sight.state, self._seat, macro)
        if step.done and self._queue:
            self._hoped = self._queue.pop(0)
            self._begun = None
        elif macro.verb == "wait" and self._queue:
            left = rest(macro)
            self._queue[:1] = [left] if left else []
            self._begun = left
        return step.action

    def _look(self, sight: DialogueObservation) -> None:
        """Read the executed acts of all steps since the last look.

        Usually that is one step. A reply may come before the seat's own turn, and steps may be missed where others do
        not wait for a slow answer.
        """
        while self._seen < sight.t:
            t = self._seen
            self._seen += 1
            before, after = sight.states[t], sight.states[t + 1]
            still = after.cooks[self._seat] == before.cooks[self._seat]
            self._blocked_steps = self._blocked_steps + 1 if still and self._begun is not None else 0
            done = executions(self._game, [before], [sight.actions[t]])
            if self._hoped is not None and self._hoped.verb != "wait" and all(d.seat != self._seat for d in done):
                self._queue.insert(0, self._hoped)  # somebody was quicker: it is checked and tried again
            self._hoped = None
            for execution in done:
                self._executions.append(execution._replace(t=t))
                who = "you" if execution.seat == self._seat else self._game.seat_names[execution.seat]
                self._memory.append(
                    SituationEvent(
                        t=t, text=f"{who} did {execution.verb} of {execution.object} at the {execution.place}"
                    )
                )

    def _fall_back(self) -> None:
        """Wait a step, since neither the plan nor its correction could be used."""
        self._queue = [REST]
        self._caller.note("fallback", action=str(REST))

    def _note_refusal(self, t: int, error: str, message: str) -> None:
        """Record an answer, or an entry of a plan, that cannot be read."""
        self._caller.note("verdict", verb=None, object=None, place=None, ok=False, error=error, message=message)
        self._memory.append(SituationEvent(t=t, text=f"your answer could not be used: {message}"))


def acted_on(game: Kitchen, state: KitchenState, seat: int, macro: Macro) -> str | None:
    """Return what an act is about where its words do not say: the held item, or what is in the utensil."""
    if macro.verb in ("pickup", "wait", "request"):
        return macro.object
    held_item = state.world.hands[seat]
    if macro.verb in ("place_obj_on_counter", "put_obj_in_utensil", "deliver"):
        return held_item.name if held_item else macro.object
    letters = [letter for letter, kind in KINDS.items() if kind.verb == macro.verb]
    named = places(game, macro.place) if macro.place else [s for s in game.layout.stations if s.letter in letters]
    inside = [state.world.utensils[s.index].contents for s in named if s.letter in KINDS]
    full = [contents for contents in inside if contents]
    return mixed(full[0]).food if full else macro.object
