"""The numbers of an episode: what its messages achieved, and at what cost. Null where there is nothing to divide by."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interplay.metrics.communication.dependence import Passed, passed, rates, thing_of
from interplay.metrics.communication.kitchen_words import NamedThing, tokens_of
from interplay.metrics.communication.process import DialogueProcess, dialogues, history_of, references_of, tes
from interplay.metrics.communication.records import (
    ASSISTED,
    ATTEMPT,
    CALL,
    CATEGORIES,
    EFFECTIVE,
    INEFFECTIVE,
    MESSAGE,
    REASONS,
    REDUNDANT,
    UNSTRUCTURED,
    VERDICT,
    AuditSettings,
    JudgedRequest,
    ObservedAct,
    Transcript,
    TranscriptEvent,
)
from interplay.metrics.communication.request_outcomes import judge, vocabulary_of
from interplay.table import Row

Value = float | int | None


class AuditedEpisode:
    """A transcript with everything that was found in it, each thing computed once."""

    def __init__(self, transcript: Transcript, settings: AuditSettings):
        self.transcript, self.settings = transcript, settings
        self.window = settings.steps(transcript.horizon)
        self.judged = judge(transcript, settings)
        self.passed: list[Passed] = passed(transcript)
        self.dialogues: list[DialogueProcess] = dialogues(transcript, self.judged, settings.beta)
        self.excess = excess(transcript)
        self.directed = directed(transcript, self.window)


def rows(transcript: Transcript, settings: AuditSettings) -> Iterator[Row]:
    """Tidy rows of an episode: of the team (seat null), and of each seat as speaker and actor."""
    episode = AuditedEpisode(transcript, settings)
    base = {**transcript.about, "window": settings.window_name}
    for seat in (None, *range(len(transcript.roles))):
        agent = transcript.roles[seat].agent if seat is not None else None
        own = {**base, "seat": seat, "agent": agent}
        for name, value in values(episode, seat).items():
            yield {**own, "metric": name, "value": value}
        for reason, number in _reasons(episode.judged, seat).items():
            yield {**own, "metric": "reason", "reason": reason, "value": number}
        for row in _dependence(episode, seat):
            yield {**own, **row}


def values(episode: AuditedEpisode, seat: int | None) -> dict[str, Value]:
    """Every number of a seat, or of the team."""
    numbers = {**_talk(episode, seat), **_actions(episode, seat), **_process(episode, seat)}
    return {**numbers, **_team(episode)} if seat is None else numbers


def _talk(episode: AuditedEpisode, seat: int | None) -> dict[str, Value]:
    """What a speaker's messages came to."""
    judged = [j for j in episode.judged if seat is None or j.message.agent == seat]
    units = [j for j in judged if j.unit is not None]
    messages = [m for m in episode.transcript.of(MESSAGE) if seat is None or m.agent == seat]
    n = Counter(j.category for j in judged)
    followed = n[EFFECTIVE] + n[ASSISTED]
    latencies = [j.latency for j in judged if j.latency is not None]
    return {
        "messages": len(messages),
        "units": len(units),
        **{category: n[category] for category in CATEGORIES},
        "follow_rate": _share(followed, len(units)),
        "follow_rate_all": _share(followed, len(units) + n[UNSTRUCTURED]),
        "follow_rate_needed": _share(followed, len(units) - n[REDUNDANT]),
        "parse_rate": _share(len(units), len(messages)),
        "parsed_messages": _share(len(messages) - n[UNSTRUCTURED], len(messages)),
        "delayed_rate": _share(sum(j.reason == "delayed" for j in judged), len(units)),
        "redundancy": _share(n[REDUNDANT], len(units)),
        "repeat_rate": _share(sum(j.reason == "repeat" for j in judged), len(units)),
        "assisted_rate": _share(n[ASSISTED], len(units)),
        "latency": statistics.fmean(latencies) if latencies else None,
    }


def _actions(episode: AuditedEpisode, seat: int | None) -> dict[str, Value]:
    """What an actor did, how often the verifier refused, and how much of it followed what a partner knew."""
    transcript = episode.transcript
    events = [e for e, _ in transcript.executed() if seat is None or e.agent == seat]
    refused = [v for v in transcript.of(VERDICT) if v.ok is False and (seat is None or v.agent == seat)]
    tried = [a for a in transcript.of(ATTEMPT) if seat is None or a.agent == seat]
    taught = [e for e in events if e.when in episode.directed]
    return {
        "executions": len(events),
        "repeated_actions": sum(e in episode.excess for e in events),
        "verifier_burden": len(refused),
        "verifier_rate": _share(len(refused), len(tried)),
        "uptake": _share(sum(episode.directed[e.when] for e in taught), len(taught)),
        **_tokens(transcript, seat),
    }


def _process(episode: AuditedEpisode, seat: int | None) -> dict[str, Value]:
    """TES of a seat (of the team: the mean over its seats), and who initiates and responds well."""
    transcript, beta = episode.transcript, episode.settings.beta
    seats = range(len(transcript.roles)) if seat is None else [seat]
    scores = [tes(references_of(transcript, s), history_of(transcript, s), beta) for s in seats]
    known = [s for s in scores if s is not None]
    begun = [d for d in episode.dialogues if seat is None or d.initiator == seat]
    answered = [d for d in episode.dialogues if seat is None or d.partner == seat]
    return {
        "tes": statistics.fmean(known) if known else None,
        "ites_requested": statistics.fmean(d.requested for d in begun) if begun else None,
        "ites_answered": statistics.fmean(d.answered for d in answered) if answered else None,
        "initiating_capability": _share(sum(d.requested > 0 for d in begun), len(begun)),
        "responding_capability": _share(sum(d.answered > 0 for d in answered), len(answered)),
    }


def _team(episode: AuditedEpisode) -> dict[str, Value]:
    transcript, settings = episode.transcript, episode.settings
    tokens = _tokens(transcript, None)
    accepted = rates(episode.passed, episode.window).accepted
    units = sum(j.unit is not None for j in episode.judged)
    wasted = sum(j.unit is not None and j.category in (REDUNDANT, INEFFECTIVE) for j in episode.judged)
    acts = len(transcript.executed())
    reward = sum(settings.gamma**t * points for t, points in transcript.rewards)
    costs = {
        "cost_time": settings.cost_time * transcript.length,
        "cost_tokens": _times(settings.cost_tokens, tokens["tokens"]),
        "cost_verifier": settings.cost_verifier * sum(v.ok is False for v in transcript.of(VERDICT)),
        "cost_redundant": settings.cost_redundant * len(episode.excess),
    }
    known = [c for c in costs.values() if c is not None]
    return {
        "success": int(transcript.success),
        "length": transcript.length,
        "comm_cost_completion": _share(tokens["tokens_completion"], accepted),
        "comm_cost_all": _share(tokens["tokens"], accepted),
        "waste": _share(wasted + len(episode.excess), units + acts),
        "reward": reward,
        **costs,
        "utility": reward - sum(known) if len(known) == len(costs) else None,
    }


def _times(weight: float, amount: Value) -> float | None:
    """A cost; one that is not weighed needs not to be known."""
    return 0.0 if weight == 0 else None if amount is None else weight * amount


def _tokens(transcript: Transcript, seat: int | None) -> dict[str, Value]:
    """Tokens by the calls if calls were recorded, else by the messages. Those of scaffolds are counted apart."""
    calls = [e for e in transcript.of(CALL) if seat is None or e.agent == seat]
    if not calls:
        counts = [
            e.tokens for e in transcript.of(MESSAGE) if (seat is None or e.agent == seat) and e.tokens is not None
        ]
        return {"tokens_completion": sum(counts) if counts else None, "tokens": None, "tokens_scaffold": None}
    plain = [e for e in calls if not e.scaffold]
    return {
        "tokens_completion": _known_sum(e.tokens for e in plain),
        "tokens": _known_sum(t for e in calls for t in (e.tokens, e.tokens_in)),
        "tokens_scaffold": _known_sum(t for e in calls if e.scaffold for t in (e.tokens, e.tokens_in)),
    }


def _known_sum(numbers: Any) -> int | None:
    all_of = list(numbers)
    return None if any(n is None for n in all_of) else sum(all_of)


def _reasons(judged: Sequence[JudgedRequest], seat: int | None) -> dict[str, int]:
    n = Counter(j.reason for j in judged if seat is None or j.message.agent == seat)
    return {reason: n[reason] for reason in REASONS}


def _dependence(episode: AuditedEpisode, seat: int | None) -> Iterator[Row]:
    """ADR, MOR and IDensity of a giver, for the window of the audit, the papers' fixed one, and without one."""
    windows = {episode.settings.window_name: episode.window, "20 steps": 20, "unlimited": None}
    for name, steps in windows.items():
        counted = rates(episode.passed, steps, seat)
        for metric, value in {"adr": counted.adr, "mor": counted.mor, "idensity": counted.idensity}.items():
            yield {"metric": metric, "window": name, "value": value}
        for metric in ("triggers", "accepted", "constructive"):
            yield {"metric": metric, "window": name, "value": getattr(counted, metric)}


def excess(transcript: Transcript) -> list[TranscriptEvent]:
    """Actions beyond the recipe's need: on what it does not need, on more things than it needs, or done again."""
    seen: dict[tuple[str, str | None], set[str]] = {}
    done_before: set[tuple[int, ObservedAct, str]] = set()
    extra = []
    for event, act in transcript.executed():
        things = seen.setdefault((act.verb, act.object), set())
        repeated = (event.agent, act, thing_of(event)) in done_before
        beyond = len(things | {thing_of(event)}) > transcript.task.need(act.verb, act.object)
        if repeated or beyond:
            extra.append(event)
        else:
            things.add(thing_of(event))
        done_before.add((event.agent, act, thing_of(event)))
    return extra


def directed(transcript: Transcript, window: int) -> Mapping[tuple[int, int], bool]:
    """For every action of a cook who has a partner that knows the recipe: whether it follows what that partner said.

    It does if a message of such a partner, at most a window before, named the thing or an ingredient of it.
    """
    vocabulary = vocabulary_of(transcript)
    named_by_message: list[tuple[TranscriptEvent, set[str]]] = []
    for message in transcript.of(MESSAGE):
        if transcript.roles[message.agent].knows_recipe:
            words = tokens_of(f"{message.text} {' '.join(a.object or '' for a in message.acts)}".replace("_", " "))
            named = {base for m in vocabulary.mentions(words) for base in NamedThing.of(m.object).bases}
            named_by_message.append((message, named & _bases(transcript)))
    knowing = [seat for seat, role in enumerate(transcript.roles) if role.knows_recipe]
    follows = {}
    for event, act in transcript.executed():
        if transcript.roles[event.agent].knows_recipe or not set(knowing) - {event.agent}:
            continue
        about = set(NamedThing.of(act.object or "").bases)
        follows[event.when] = any(
            m.agent != event.agent and m.to in (None, event.agent) and m.when < event.when
            and event.t - m.t <= window and about & named
            for m, named in named_by_message
        )  # fmt: skip
    return follows


def _bases(transcript: Transcript) -> set[str]:
    return {base for _, thing in transcript.task.needs for base in NamedThing.of(thing).bases}


def detail(transcript: Transcript, settings: AuditSettings) -> Iterator[Row]:
    """Yield one row per judged message or request, with the action that settled it."""
    for j in judge(transcript, settings):
        roles, unit = transcript.roles, j.unit
        yield {
            **transcript.about,
            "t": j.message.t,
            "seat": j.message.agent,
            "agent": roles[j.message.agent].agent,
            "speaker": roles[j.message.agent].name,
            "partner": roles[unit.to].name if unit and unit.to is not None else None,
            "text": j.message.text,
            "request": str(unit.act) if unit else None,
            "right_request": str(j.right) if j.right else None,
            "read_from": unit.words if unit else None,
            "source": unit.source if unit else None,
            "category": j.category,
            "reason": j.reason,
            "settled_t": j.settled.t if j.settled else None,
            "settled_by": format_event(j.settled, transcript) if j.settled else None,
            "latency": j.latency,
            "correction": format_event(j.correction, transcript) if j.correction else None,
            "done": j.done,
            "need": j.need,
            "metric": "judged",
            "value": 1,
        }


def format_event(event: TranscriptEvent, transcript: Transcript) -> str:
    """Return an event in words."""
    who, thing = transcript.roles[event.agent].name, f" [{event.lineage}]" if event.lineage else ""
    refused = f", refused: {event.error or 'no reason given'}" if event.kind == VERDICT and event.ok is False else ""
    return f"step {event.t}, {who}: {event.act}{thing}{refused}"


def _share(part: Value, whole: Value) -> float | None:
    return part / whole if part is not None and whole else None
