"""How near the cooks kept to a reference plan, and who starts and who answers well.

TES is an F-measure of the reference's longest prefix that was carried out in order, against the length of the
reference and of what was done. ITES is what some further acts would add to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from interplay.metrics.communication.records import (
    EXEC,
    MESSAGE,
    PLAN,
    JudgedRequest,
    ObservedAct,
    Transcript,
    TranscriptEvent,
)
from interplay.metrics.communication.request_outcomes import bound
from interplay.metrics.communication.scene import KitchenScene

Acts = Sequence[tuple[str, str | None]]  # (verb, object)


def prefix(reference: Acts, history: Acts) -> int:
    """How many acts of the reference, from its start, come in the history in that order."""
    matched = 0
    for act in history:
        if matched < len(reference) and act == reference[matched]:
            matched += 1
    return matched


def tes(references: Sequence[Acts], history: Acts, beta: float = 0.95) -> float | None:
    """The best over the references of (1 + b^2) d / (m + b^2 n); None without references."""
    scores = [
        (1 + beta**2) * prefix(reference, history) / (len(reference) + beta**2 * len(history))
        for reference in references
        if reference
    ]
    return max(scores) if scores else None


def ites(references: Sequence[Acts], history: Acts, more: Acts, beta: float = 0.95) -> float | None:
    """What these acts would add to the score of the history."""
    before, after = tes(references, history, beta), tes(references, [*history, *more], beta)
    return None if before is None or after is None else after - before


class DialogueProcess(NamedTuple):
    """The messages of one time step: who began, whom it was to, and what the requests and the answer are worth."""

    t: int
    initiator: int
    partner: int
    requested: float
    answered: float


def references_of(transcript: Transcript, seat: int) -> list[Acts]:
    """Return the reference plans of a seat as (verb, object) pairs."""
    return [[(a.verb, a.object) for a in plan.get(seat, ())] for plan in transcript.task.references]


def history_of(
    transcript: Transcript, seat: int, before: tuple[int, int] | None = None
) -> list[tuple[str, str | None]]:
    """Return what a seat has carried out as (verb, object) pairs.

    Args:
        transcript: The episode.
        seat: The seat.
        before: Only acts before this (time step, sequence number).
    """
    acts = transcript.executed()
    return [(a.verb, a.object) for e, a in acts if e.agent == seat and (before is None or e.when < before)]


def dialogues(transcript: Transcript, judged: Sequence[JudgedRequest], beta: float = 0.95) -> list[DialogueProcess]:
    """Every dialogue of two cooks; none without references."""
    if len(transcript.roles) != 2 or not transcript.task.references:
        return []
    messages = transcript.of(MESSAGE)
    opened = {m.t: m for m in reversed(messages)}  # the first of each step
    starts = sorted(opened.values(), key=lambda m: m.when)
    processes = []
    for number, first in enumerate(starts):
        until = starts[number + 1].when if number + 1 < len(starts) else None
        partner = 1 - first.agent
        history = history_of(transcript, partner, first.when)
        acts_requested = [
            (j.unit.act.verb, j.unit.act.object)
            for j in judged
            if j.unit and j.message.t == first.t and j.message.agent == first.agent
        ]
        answer = _answer(transcript, partner, first, until)
        references = references_of(transcript, partner)
        requested, answered = (ites(references, history, acts, beta) for acts in (acts_requested, answer))
        if requested is not None and answered is not None:
            processes.append(DialogueProcess(first.t, first.agent, partner, requested, answered))
    return processes


def _answer(transcript: Transcript, partner: int, first: TranscriptEvent, until: tuple[int, int] | None) -> Acts:
    """What the partner then planned in that step, or, if it told no plan, did until the next dialogue."""
    scene = KitchenScene()
    for event in transcript.events:
        if event.kind == EXEC and event.when < first.when:
            scene = scene.after(event)
        planned = event.kind == PLAN and event.agent == partner and event.t == first.t and event.when > first.when
        if planned and event.acts:
            return [(a.verb, a.object) for a in bound(event.acts, partner, scene) if _counts(a)]
    later = (e for e, _ in transcript.executed() if e.agent == partner and e.when > first.when)
    return [(e.act.verb, e.act.object) for e in later if e.act and (until is None or e.when < until)]


def _counts(act: ObservedAct) -> bool:
    return act.verb not in ("wait", "request")
