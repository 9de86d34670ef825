"""Requests of a running episode, read as the audit reads them: what scaffolds know of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from interplay.agents.dialogue import DialogueMessage
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution
from interplay.metrics.communication.clauses import Names
from interplay.metrics.communication.kitchen_words import NamedThing
from interplay.metrics.communication.reader import MessageReader, RequestedAct
from interplay.metrics.communication.reader_error import PRODUCT, anything
from interplay.metrics.communication.records import ObservedAct, TranscriptEvent
from interplay.metrics.communication.scene import KitchenScene


class ReadRequest(NamedTuple):
    """A request that was read out of a message.

    Attributes:
        t: Step of the message.
        by: Seat that asks.
        to: Seat that is asked; None: it cannot be told.
        act: What is asked for.
    """

    t: int
    by: int
    to: int | None
    act: ObservedAct

    def fits(self, execution: Execution) -> bool:
        """Return whether an execution is what was asked for; a plain name fits the thing in every form."""
        if self.act.verb != execution.verb:
            return False
        asked = self.act.object
        if asked is None or asked in (execution.object, PRODUCT):
            return True
        return asked in NamedThing.of(execution.object).bases


def read_requests(
    game: Kitchen, messages: Sequence[DialogueMessage], executions: Sequence[Execution]
) -> list[ReadRequest]:
    """Return the requests of all messages so far, explicit ones and those in plain English, in their order.

    The recipe is not looked at: whoever does not know it may ask what was asked of whom.

    Args:
        game: The kitchen.
        messages: What was said.
        executions: What was done; what is held and lies in the utensils follows from it.
    """
    names = tuple(name.lower() for name in game.seat_names)
    scene, requests = KitchenScene(), []
    last: dict[tuple[int, int], RequestedAct] = {}
    done = sorted(executions, key=lambda e: e.t)
    for number, message in enumerate(messages):
        while done and done[0].t < message.t:
            scene = scene.after(_event(done.pop(0)))
        event = TranscriptEvent(
            t=message.t,
            seq=number,
            agent=message.sender,
            kind="message",
            text=message.text,
            to=message.to,
            acts=tuple(ObservedAct(str(u["verb"]), u.get("object"), u.get("place")) for u in message.units),
        )
        reader = MessageReader(event, anything(), Names(names, message.sender), scene, _open(last, message.sender))
        reading = reader.read()
        for unit in reading.units:
            requests.append(ReadRequest(message.t, message.sender, unit.to, unit.act))
            if unit.to is not None and reading.last is not None:
                last[message.sender, unit.to] = reading.last
    return requests


def _open(last: dict[tuple[int, int], RequestedAct], sender: int):
    return lambda to: last.get((sender, to))


def _event(execution: Execution) -> TranscriptEvent:
    act = ObservedAct(execution.verb, execution.object, execution.place)
    return TranscriptEvent(t=execution.t, seq=0, agent=execution.seat, kind="exec", act=act)
