"""A language model as the request reader, for languages that the rules do not know.

Every answer is kept in a journal by its question, so that the same messages read the same again without the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape
from interplay.agents.llm.chat import ChatRequest, Model, system_and_user
from interplay.metrics.communication.kitchen_words import PLACES, Vocabulary, parse_act
from interplay.metrics.communication.records import MESSAGE, VERBS, ObservedAct, Transcript, TranscriptEvent
from interplay.metrics.communication.request_outcomes import vocabulary_of

PROMPT_VERSION = 1
SHAPE = AnswerShape({"analysis": TEXT, "requests": TEXTS}, longest=400)
_SYSTEM = """You read what one cook writes to another, in any language, and list what the writer asks the other to do.
List only acts that the partner is asked to do. Leave out what the writer will do, also where it stands in a purpose
("put it down so I can cook it" asks to put it down, no more), what was done, what is forbidden, what a recipe says,
what is only asked about, and waiting.
Write each act in English as verb(object, place), in the order in which they are asked for:
pickup(object, place), place_obj_on_counter(object), put_obj_in_utensil(object, utensil), cut(object), stir(object),
cook(object), bake(object), fill_dish_with_food(object, utensil), deliver(object).
To bring or pass a thing to the writer is place_obj_on_counter. Places: {places}. Leave out a place that is not told.
Name objects in the form that they have when the act is done: potato, potato~slices, boiled(egg), baked(potato~slices).
Replace a pronoun by what it stands for; leave the object out if the message does not tell it.
Answer with a JSON object: "analysis", one sentence; "requests", the list of acts, empty if nothing is asked for."""


@dataclass(frozen=True)
class ModelReader:
    """Reads messages by asking a model; `ModelPool.model` gives one that keeps its answers."""

    model: Model
    max_tokens: int = 512

    def read(
        self, messages: Sequence[tuple[str, str, str]], vocabulary: Sequence[Vocabulary]
    ) -> list[tuple[ObservedAct, ...] | None]:
        """The acts that each message asks for.

        Args:
            messages: For each the speaker's role, the partners' roles and the text.
            vocabulary: The names of things that each may speak of.

        Returns:
            For each message its acts, or None where the answer could not be read.
        """
        return asyncio.run(self._read_all(messages, vocabulary))

    async def _read_all(
        self, messages: Sequence[tuple[str, str, str]], vocabulary: Sequence[Vocabulary]
    ) -> list[tuple[ObservedAct, ...] | None]:
        reads = (self._read(*message, words) for message, words in zip(messages, vocabulary, strict=True))
        return list(await asyncio.gather(*reads))

    async def _read(
        self, speaker: str, partners: str, text: str, vocabulary: Vocabulary
    ) -> tuple[ObservedAct, ...] | None:
        if not text.strip():
            return ()
        places = ", ".join(sorted(set(PLACES.values())))
        user = f"Writer: {speaker}. Partner: {partners}.\nObjects: {', '.join(vocabulary.names)}\nMessage:\n{text}"
        messages = system_and_user(_SYSTEM.replace("{places}", places), user)
        question = ChatRequest(
            messages=messages,
            schema=SHAPE.schema(),
            max_tokens=self.max_tokens,
            purpose=f"read requests {PROMPT_VERSION}",
        )
        answer = await self.model.chat(question)
        parsed = SHAPE.read(answer.text, answer.finish)
        if parsed.fields is None:
            return None
        acts = [parse_act(line, vocabulary) for line in parsed.fields["requests"]]
        return tuple(dict.fromkeys(act for act in acts if act is not None and act.verb in VERBS))


def read_by_model(transcripts: Iterable[Transcript], reader: ModelReader) -> tuple[list[Transcript], int]:
    """Let a model read the messages of transcripts; the audit then reads no text of them.

    Returns:
        The transcripts with the requests of every message, and how many messages had no answer that could be read:
        these are left to the rules.
    """
    episodes = list(transcripts)
    messages = [(episode, event) for episode in episodes for event in episode.of(MESSAGE)]
    words = [vocabulary_of(episode) for episode, _ in messages]
    readings = reader.read([_described(*message) for message in messages], words)
    by_message = {(id(e), event.when): acts for (e, event), acts in zip(messages, readings, strict=True)}
    unread = sum(acts is None for acts in readings)

    def with_acts(episode: Transcript, event: TranscriptEvent) -> TranscriptEvent:
        acts = by_message.get((id(episode), event.when)) if event.kind == MESSAGE else None
        return event if acts is None else replace(event, acts=(*event.acts, *acts), acts_only=True)

    return [replace(e, events=tuple(with_acts(e, event) for event in e.events)) for e in episodes], unread


def _described(transcript: Transcript, event: TranscriptEvent) -> tuple[str, str, str]:
    names = [role.name for role in transcript.roles]
    partners = [name for seat, name in enumerate(names) if seat != event.agent and event.to in (None, seat)]
    return names[event.agent], ", ".join(partners), event.text
