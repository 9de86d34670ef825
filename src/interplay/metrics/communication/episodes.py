"""From a recorded episode to a transcript: remarks as they were written, executions from the replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import PLACES
from interplay.games.collab_kitchen.lineage import Execution, executions
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
from interplay.metrics.communication.words import place_of
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces import Replay

AFTER_TALK = 1_000_000  # hands move after all talk of a step


def readable(game: Any) -> bool:
    """Whether the audit knows this game's acts."""
    return isinstance(game, Kitchen)


def transcript(game: Any, episode: Episode, again: Replay, number: int, about: Mapping[str, Any]) -> Transcript:
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
            lineage=e.lineage, shared=_shared(game, again.states, e) if e.verb == "place_obj_on_counter" else None,
        )
        for n, e in enumerate(executions(game, again.states, episode.actions))
    ]  # fmt: skip
    said = [event for remark in episode.events for event in _events(remark)]
    reward = again.steps.reward.sum(axis=1)
    return Transcript(
        episode=str(number),
        task=task_of(game.dish, roles),
        roles=roles,
        events=tuple(sorted([*said, *done], key=lambda e: e.when)),
        horizon=game.horizon,
        length=episode.length,
        success=episode.score > 0,
        rewards=tuple((t, float(r)) for t, r in enumerate(reward) if r),
        about={**about, "level": game.dish.level, "dish": game.dish.name},
    )


def roles_of(game: Kitchen, agents: Sequence[str]) -> tuple[TranscriptRole, ...]:
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


def _events(remark: RecordedEvent) -> Iterator[TranscriptEvent]:
    """The events of a remark; kinds that the audit does not judge (beliefs, timings) give none."""
    if remark.seat is None:
        return
    said, kind = remark.payload, remark.kind
    blank = TranscriptEvent(t=remark.t, seq=remark.seq, agent=remark.seat, kind=kind)
    if kind == MESSAGE:
        units = [u for u in said.get("units") or () if u.get("verb") != "request"]
        words = [f"request({u.get('object')!r})" for u in said.get("units") or () if u.get("verb") == "request"]
        text = " ".join([str(said.get("text") or ""), *words])
        acts = tuple(act_of(unit) for unit in units)
        yield replace(blank, text=text, to=said.get("to"), acts=acts, tokens=said.get("tokens_out"))
    elif kind == PLAN:
        yield replace(blank, acts=tuple(act_of(macro) for macro in said.get("macros") or ()))
    elif kind == ATTEMPT:
        yield replace(blank, act=act_of(said))
    elif kind == VERDICT:
        yield replace(blank, act=act_of(said), ok=said.get("ok"), error=said.get("error") or None)
    elif kind == CALL:
        tokens, read = said.get("tokens_out"), said.get("tokens_in")
        yield replace(blank, tokens=tokens, tokens_in=read, scaffold=bool(said.get("scaffold")))


def act_of(said: Mapping[str, Any]) -> ObservedAct:
    place = said.get("place")
    return ObservedAct(str(said.get("verb") or ""), said.get("object"), place_of(str(place)) if place else None)
