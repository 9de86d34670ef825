"""Transcripts from elsewhere, and ours for others: JSON lines, a header and then an event each.

The format is described in docs/metrics/communication.md. Errors name the line.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import HORIZONS, dish
from interplay.metrics.communication.kitchen_words import Vocabulary, parse_act, place_of
from interplay.metrics.communication.records import (
    ATTEMPT,
    CALL,
    EXEC,
    KINDS,
    MESSAGE,
    PLAN,
    VERBS,
    VERDICT,
    ObservedAct,
    Transcript,
    TranscriptEvent,
    TranscriptRole,
    TranscriptTask,
)
from interplay.metrics.communication.tasks import task_of
from interplay.untrusted_files import lines, parse_json

HEADER = "episode"
HEADER_KEYS = {
    "kind", "episode", "dish", "needs", "product", "objects", "level", "horizon", "length", "roles", "success",
    "rewards", "game", "extra",
}  # fmt: skip
EVENT_KEYS = {
    "episode", "t", "seq", "agent", "kind", "text", "to", "acts", "acts_only", "verb", "object", "lineage", "place",
    "shared", "ok",
    "error", "tokens", "tokens_in", "scaffold", "extra",
}  # fmt: skip


def read_transcripts(path: str | os.PathLike[str]) -> list[Transcript]:
    """The transcripts of a file of JSON lines."""
    return parse_transcripts((line for _, line in lines(path)), Path(path).name)


def parse_transcripts(text: Iterable[str], name: str = "transcript") -> list[Transcript]:
    """The transcripts of lines of JSON."""
    drafts: dict[str, _Draft] = {}
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        record = _record(line, where)
        episode = str(_need(record, "episode", where))
        if record.get("kind") == HEADER:
            if episode in drafts:
                raise InterplayError(f"{where}: a second header for episode {episode!r}; give every episode one")
            drafts[episode] = _Draft.of(record, where)
        elif episode not in drafts:
            raise InterplayError(
                f'{where}: an event of episode {episode!r} before its header; begin with {{"kind": "episode", '
                f'"episode": {json.dumps(episode)}, ...}}'
            )
        else:
            drafts[episode].add(record, number, where)
    if not drafts:
        raise InterplayError(f"{name} holds no episode: the first line of each is its header, with kind episode")
    return [draft.transcript() for draft in drafts.values()]


def _record(line: str, where: str) -> dict[str, Any]:
    record = parse_json(line, where)
    if not isinstance(record, dict):
        raise InterplayError(f"{where}: a {type(record).__name__}; each line is one JSON object")
    known = HEADER_KEYS if record.get("kind") == HEADER else EVENT_KEYS
    for key in record:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            raise InterplayError(f"{where}: unknown key {key!r}; {hint} (put anything else under extra)")
    return record


@dataclass
class _Draft:
    """An episode while its lines come in."""

    header: Mapping[str, Any]
    roles: tuple[TranscriptRole, ...]
    task: TranscriptTask
    horizon: int
    events: list[TranscriptEvent] = field(default_factory=list)
    lines: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Mapping[str, Any], where: str) -> _Draft:
        roles = _roles(record, where)
        task = _task(record, roles, where)
        horizon = record.get("horizon", HORIZONS.get(task.level) if task.level is not None else None)
        if not _is_count(horizon) or horizon == 0:
            raise InterplayError(f"{where}: horizon is {horizon!r}; give the steps declared for the level, such as 100")
        _check_outcome(record, where)
        return cls(record, roles, task, horizon)

    def add(self, record: Mapping[str, Any], number: int, where: str) -> None:
        event = _event(record, self.roles, self._vocabulary(), number, where)
        if event.when in self.lines:
            first = self.lines[event.when]
            raise InterplayError(
                f"{where}: t {event.t} and seq {event.seq} are those of line {first}; number them anew"
            )
        self.lines[event.when] = number
        self.events.append(event)

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.of([*self.task.objects, *(thing for _, thing in self.task.needs)], self.task.product)

    def transcript(self) -> Transcript:
        header, events = self.header, tuple(sorted(self.events, key=lambda e: e.when))
        product = self.task.product
        delivered = [e for e in events if e.kind == EXEC and e.act and e.act.verb == "deliver"]
        served = any(product is None or (e.act and e.act.object == product) for e in delivered)
        last = max((e.t for e in events), default=-1) + 1
        agents = " | ".join(role.agent for role in self.roles)
        about = {"game": header.get("game", "transcript"), "episode": header["episode"], "agents": agents}
        return Transcript(
            episode=str(header["episode"]),
            task=self.task,
            roles=self.roles,
            events=events,
            horizon=self.horizon,
            length=header.get("length", last),
            success=bool(header.get("success", served)),
            rewards=tuple((int(t), float(r)) for t, r in header.get("rewards", ())),
            about={**about, "level": self.task.level, "dish": self.task.dish},
        )


def _check_outcome(record: Mapping[str, Any], where: str) -> None:
    if not isinstance(record.get("success", True), bool):
        raise InterplayError(f"{where}: success is {record['success']!r}; true or false")
    if not _is_count(record.get("length", 0)):
        raise InterplayError(f"{where}: length is {record['length']!r}; the number of steps played")
    rewards = record.get("rewards", [])
    numbers = isinstance(rewards, list) and all(
        isinstance(r, list) and len(r) == 2 and _is_count(r[0]) and isinstance(r[1], int | float) for r in rewards
    )
    if not numbers:
        raise InterplayError(f"{where}: rewards is {rewards!r}; a list of [step, points]")


def _roles(record: Mapping[str, Any], where: str) -> tuple[TranscriptRole, ...]:
    listed = record.get("roles")
    if not isinstance(listed, list) or len(listed) < 2:
        raise InterplayError(
            f'{where}: roles is {listed!r}; give one for each cook, as in [{{"name": "chef", "agent": "gpt-4o"}}, ...]'
        )
    roles = []
    for role in listed:
        if not isinstance(role, dict) or not isinstance(role.get("name"), str):
            raise InterplayError(f"{where}: the role {role!r} has no name")
        for verb in role.get("verbs", ()):
            _known_verb(verb, where)
        places = role.get("places")
        roles.append(
            TranscriptRole(
                name=role["name"].lower(),
                agent=str(role.get("agent", role["name"])),
                verbs=frozenset(role.get("verbs", VERBS)),
                places=frozenset(place_of(p) or p for p in places) if places is not None else None,
                knows_recipe=bool(role.get("knows_recipe", True)),
            )
        )
    return tuple(roles)


def _task(record: Mapping[str, Any], roles: tuple[TranscriptRole, ...], where: str) -> TranscriptTask:
    level, needs = record.get("level"), record.get("needs")
    if level is not None and not _is_count(level):
        raise InterplayError(f"{where}: level is {level!r}; a whole number")
    if needs is None:
        try:
            return task_of(dish(str(_need(record, "dish", where))), roles)
        except InterplayError as error:
            message = f"{where}: {error}" if where not in str(error) else str(error)
            raise InterplayError(f"{message}; for a dish of your own list its needs") from None
    counted: dict[tuple[str, str], int] = {}
    for need in needs:
        if not isinstance(need, dict) or "object" not in need:
            raise InterplayError(
                f'{where}: {need!r} is no need; write {{"verb": "cut", "object": "potato", "count": 1}}'
            )
        times = need.get("count", 1)
        if not _is_count(times) or times == 0:
            raise InterplayError(f"{where}: the count of {need!r} is {times!r}; a whole number from 1 on")
        counted[_known_verb(need.get("verb"), where), str(need["object"])] = times
    objects = tuple(record.get("objects", ()))
    return TranscriptTask(
        dish=str(record.get("dish", "")), level=level, needs=counted, product=record.get("product"), objects=objects
    )


def _event(
    record: Mapping[str, Any], roles: tuple[TranscriptRole, ...], words: Vocabulary, number: int, where: str
) -> TranscriptEvent:
    kind = _need(record, "kind", where)
    if kind not in KINDS:
        raise InterplayError(f"{where}: kind is {kind!r}; kinds are {', '.join((HEADER, *KINDS))}")
    t, seq = _need(record, "t", where), record.get("seq", number)
    for name, value in (("t", t), ("seq", seq)):
        if not _is_count(value):
            raise InterplayError(f"{where}: {name} is {value!r}; a whole number from 0 on")
    for name in ("tokens", "tokens_in"):
        if record.get(name) is not None and not _is_count(record[name]):
            raise InterplayError(f"{where}: {name} is {record[name]!r}; a whole number, or null if it is not known")
    if kind == MESSAGE and not isinstance(record.get("text", ""), str):
        raise InterplayError(f"{where}: text is {record['text']!r}; a message's words")
    if kind == VERDICT and not isinstance(record.get("ok"), bool):
        raise InterplayError(f"{where}: ok is {record.get('ok')!r}; a verdict is true or false")
    for name in ("object", "place", "lineage", "error"):
        if record.get(name) is not None and not isinstance(record[name], str):
            raise InterplayError(f"{where}: {name} is {record[name]!r}; a name, or null if there is none")
    acted = kind in (ATTEMPT, VERDICT, EXEC)
    if kind == EXEC and not isinstance(record.get("object"), str):
        raise InterplayError(f"{where}: object is {record.get('object')!r}; say what was acted on, as it was before")
    to = record.get("to")
    return TranscriptEvent(
        t=t,
        seq=seq,
        agent=_seat(_need(record, "agent", where), roles, where),
        kind=kind,
        act=_act(record, where) if acted else None,
        lineage=record.get("lineage"),
        text=record.get("text") or "",
        to=None if to is None else _seat(to, roles, where),
        acts=tuple(_listed_act(act, words, where) for act in record.get("acts", ())),
        acts_only=bool(record.get("acts_only", False)),
        ok=record.get("ok"),
        error=record.get("error"),
        tokens=record.get("tokens"),
        tokens_in=record.get("tokens_in"),
        scaffold=bool(record.get("scaffold", False)),
        shared=record.get("shared"),
    )


def _act(record: Mapping[str, Any], where: str) -> ObservedAct:
    place = record.get("place")
    return ObservedAct(
        _known_verb(record.get("verb"), where), record.get("object"), (place_of(place) or place) if place else None
    )


def _listed_act(listed: Any, words: Vocabulary, where: str) -> ObservedAct:
    """An act of a plan or an explicit request: an object, or a call in words."""
    if isinstance(listed, dict):
        return _act(listed, where)
    act = parse_act(str(listed), words)
    if act is None:
        raise InterplayError(f"{where}: {listed!r} is no act; write pickup(egg, ingredient_dispenser) or an object")
    return act


def _seat(agent: Any, roles: tuple[TranscriptRole, ...], where: str) -> int:
    if isinstance(agent, int) and not isinstance(agent, bool) and 0 <= agent < len(roles):
        return agent
    seats = [seat for seat, role in enumerate(roles) if agent in (role.name, role.agent)]
    if len(seats) == 1:
        return seats[0]
    names = ", ".join(role.name for role in roles)
    raise InterplayError(f"{where}: the agent {agent!r} is not one of the cooks ({names}), nor a seat's number")


def _known_verb(verb: Any, where: str) -> str:
    if verb not in VERBS:
        raise InterplayError(f"{where}: verb is {verb!r}; verbs are {', '.join(VERBS)}")
    return verb


def _need(record: Mapping[str, Any], key: str, where: str) -> Any:
    if record.get(key) is None:
        raise InterplayError(f"{where}: {key} is missing")
    return record[key]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# ---------------------------------------------------------------- writing
def write_transcripts(transcripts: Iterable[Transcript], write: Callable[[str], Any]) -> int:
    """The same format from ours; how many episodes were written."""
    count = 0
    for transcript in transcripts:
        for record in records_of(transcript):
            write(json.dumps(record, ensure_ascii=False) + "\n")
        count += 1
    return count


def records_of(transcript: Transcript) -> Iterator[dict[str, Any]]:
    """The header and the events of a transcript, as plain values."""
    task = transcript.task
    roles = [
        {"name": r.name, "agent": r.agent, "verbs": [v for v in VERBS if v in r.verbs], "knows_recipe": r.knows_recipe}
        | ({"places": sorted(r.places)} if r.places is not None else {})
        for r in transcript.roles
    ]
    header = {"kind": HEADER, "episode": transcript.episode, "game": transcript.about.get("game", "transcript")}
    own = {
        "needs": [{"verb": verb, "object": thing, "count": n} for (verb, thing), n in task.needs.items()],
        "product": task.product,
        "objects": list(task.objects),
    }
    yield {
        **header,
        "dish": task.dish,
        "level": task.level,
        **({} if task.references else own),
        "horizon": transcript.horizon,
        "length": transcript.length,
        "roles": roles,
        "success": transcript.success,
        "rewards": [list(r) for r in transcript.rewards],
    }
    for event in transcript.events:
        yield {"episode": transcript.episode, **_plain(event)}


def _plain(event: TranscriptEvent) -> dict[str, Any]:
    record: dict[str, Any] = {"t": event.t, "seq": event.seq, "agent": event.agent, "kind": event.kind}
    if event.act is not None:
        record |= {"verb": event.act.verb, "object": event.act.object, "place": event.act.place}
    if event.kind in (MESSAGE, PLAN):
        record |= {"acts": [{"verb": a.verb, "object": a.object, "place": a.place} for a in event.acts]}
    if event.kind == MESSAGE:
        record |= {"text": event.text, "to": event.to}
    if event.acts_only:
        record["acts_only"] = True
    optional = {"lineage": event.lineage, "shared": event.shared, "ok": event.ok, "error": event.error}
    optional |= {"tokens": event.tokens, "tokens_in": event.tokens_in}
    if event.kind == CALL:
        record["scaffold"] = event.scaffold
    return record | {key: value for key, value in optional.items() if value is not None}
