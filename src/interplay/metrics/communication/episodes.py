"""Recorded episodes as transcripts: trace events as they were recorded, executions from the replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import PLACES
from interplay.games.collab_kitchen.lineage import Execution, executions
from interplay.metrics.communication.kitchen_words import place_of
from interplay.metrics.communication.records import (
    ATTEMPT,
    CALL,
    EXEC,
    MESSAGE,
    PLAN,
    VERDICT,
    ObservedAct,
    Transcript,
    TranscriptEvent,
    TranscriptRole,
)
from interplay.metrics.communication.tasks import task_of
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces import Replay

AFTER_TALK = 1_000_000  # hands move after all talk of a step


def readable(game: Any) -> bool:
    """Whether the audit knows this game's acts."""
    return isinstance(game, Kitchen)


def transcript(game: Any, episode: Episode, replay: Replay, number: int, about: Mapping[str, Any]) -> Transcript:
    """An episode of the kitchen, ready to be judged."""
    if not isinstance(game, Kitchen):
        raise InterplayError(
            f"the communication audit reads kitchens, and {game.id} is none; for other worlds write their events as "
            "JSON lines (docs/metrics/communication.md) and audit these"
        )
    roles = roles_of(game, [identity.name for identity in episode.agents])
    done = [
        TranscriptEvent(
            t=e.t, seq=AFTER_TALK + n, agent=e.seat, kind=EXEC, act=ObservedAct(e.verb, e.object, place_of(e.place)),
            lineage=e.lineage, shared=_shared(game, replay.states, e) if e.verb == "place_obj_on_counter" else None,
        )
        for n, e in enumerate(executions(game, replay.states, episode.actions))
    ]  # fmt: skip
    recorded = [event for remark in episode.events for event in _events(remark)]
    reward = replay.steps.reward.sum(axis=1)
    return Transcript(
        episode=str(number),
        task=task_of(game.dish, roles),
        roles=roles,
        events=tuple(sorted([*recorded, *done], key=lambda e: e.when)),
        horizon=game.horizon,
        length=episode.length,
        success=episode.score > 0,
        rewards=tuple((t, float(r)) for t, r in enumerate(reward) if r),
        about={**about, "level": game.dish.level, "dish": game.dish.name},
    )


def roles_of(game: Kitchen, agents: Sequence[str]) -> tuple[TranscriptRole, ...]:
    """Return the roles of a kitchen's seats with what each can do and reach."""
    layout = game.layout
    return tuple(
        TranscriptRole(
            name=name,
            agent=agent,
            verbs=frozenset(role.verbs),
            places=frozenset(PLACES[s.letter] for s in layout.stations if layout.reaches(seat, s)),
            knows_recipe=role.knows_recipe,
        )
        for seat, (role, name, agent) in enumerate(zip(game.roles, game.seat_names, agents, strict=True))
    )


def _shared(game: Kitchen, states: Sequence[Any], put: Execution) -> bool:
    """Whether the thing was put where another cook can take it."""
    for station, item in zip(game.layout.counters, states[put.t + 1].world.counters, strict=True):
        if item is not None and item.lineage == put.lineage:
            return any(game.layout.reaches(s, station) for s in range(game.num_seats) if s != put.seat)
    return False


def _events(event: RecordedEvent) -> Iterator[TranscriptEvent]:
    """The audit's events of a trace event; kinds that the audit does not judge (beliefs, timings) give none."""
    if event.seat is None:
        return
    payload, kind = event.payload, event.kind
    blank = TranscriptEvent(t=event.t, seq=event.seq, agent=event.seat, kind=kind)
    if kind == MESSAGE:
        units = [u for u in payload.get("units") or () if u.get("verb") != "request"]
        words = [f"request({u.get('object')!r})" for u in payload.get("units") or () if u.get("verb") == "request"]
        text = " ".join([str(payload.get("text") or ""), *words])
        acts = tuple(act_of(unit) for unit in units)
        yield replace(blank, text=text, to=payload.get("to"), acts=acts, tokens=payload.get("tokens_out"))
    elif kind == PLAN:
        yield replace(blank, acts=tuple(act_of(macro) for macro in payload.get("macros") or ()))
    elif kind == ATTEMPT:
        yield replace(blank, act=act_of(payload))
    elif kind == VERDICT:
        yield replace(blank, act=act_of(payload), ok=payload.get("ok"), error=payload.get("error") or None)
    elif kind == CALL:
        tokens, read = payload.get("tokens_out"), payload.get("tokens_in")
        yield replace(blank, tokens=tokens, tokens_in=read, scaffold=bool(payload.get("scaffold")))


def act_of(payload: Mapping[str, Any]) -> ObservedAct:
    """Return the act that an event's payload describes."""
    place = payload.get("place")
    return ObservedAct(str(payload.get("verb") or ""), payload.get("object"), place_of(str(place)) if place else None)
