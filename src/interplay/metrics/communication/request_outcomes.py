"""What came of every request: the trace-grounded audit.

The order of the questions matters: can it be read, is it meant for somebody and does the recipe need it, was it done
already, did the partner do it within the window, and did the verifier have to help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from interplay.metrics.communication.clauses import Names
from interplay.metrics.communication.kitchen_words import MAKES, Vocabulary, components, made_by, split_mix
from interplay.metrics.communication.reader import MessageReader, RequestedAct
from interplay.metrics.communication.records import (
    ASSISTED,
    EFFECTIVE,
    EXEC,
    INEFFECTIVE,
    MESSAGE,
    PLAN,
    REDUNDANT,
    UNSTRUCTURED,
    VERDICT,
    AuditSettings,
    JudgedRequest,
    ObservedAct,
    Transcript,
    TranscriptEvent,
    TranscriptTask,
    TranscriptUnit,
)
from interplay.metrics.communication.scene import KitchenScene


def judge(transcript: Transcript, settings: AuditSettings | None = None) -> list[JudgedRequest]:
    """Every request of an episode with its outcome, and every message without one, in the order of the messages."""
    return _Audit(transcript, settings or AuditSettings()).run()


def vocabulary_of(transcript: Transcript) -> Vocabulary:
    """Return the names of things that a transcript may speak of."""
    task = transcript.task
    done = [e.act.object for e in transcript.of(EXEC) if e.act and e.act.object]
    needed = [thing for _, thing in task.needs]
    return Vocabulary.of([*task.objects, *needed, *done], task.product)


@dataclass
class _Open:
    """A unit on its way to an outcome."""

    message: TranscriptEvent
    unit: TranscriptUnit
    done: int
    need: int
    queued: bool
    judged: JudgedRequest | None = None


@dataclass
class _Audit:
    transcript: Transcript
    settings: AuditSettings
    execs: list[TranscriptEvent] = field(default_factory=list)
    claimed: set[tuple[int, int]] = field(default_factory=set)
    asked_for: set[str] = field(default_factory=set)  # what there will be once the requests so far are carried out

    def __post_init__(self):
        self.window = self.settings.steps(self.transcript.horizon)
        self.execs = self.transcript.of(EXEC)
        self.verdicts = [e for e in self.transcript.of(VERDICT) if e.ok is False]

    def run(self) -> list[JudgedRequest]:
        items = self._read()
        units = [item for item in items if isinstance(item, _Open)]
        for place, item in enumerate(units):
            item.judged = self._outcome(item, units[:place])
        for place, item in enumerate(units):
            if item.judged is None:
                item.judged = self._missed(item, units[:place])
        return [item if isinstance(item, JudgedRequest) else item.judged for item in items]  # type: ignore[misc]

    # ------------------------------------------------------------ reading
    def _read(self) -> list[_Open | JudgedRequest]:
        vocabulary, scene = vocabulary_of(self.transcript), KitchenScene()
        names = tuple(role.name for role in self.transcript.roles)
        last_requests: dict[tuple[int, int], RequestedAct] = {}
        plans: dict[int, list[ObservedAct]] = {}
        items: list[_Open | JudgedRequest] = []
        for event in self.transcript.events:
            if event.kind == EXEC:
                scene = scene.after(event)
                plans[event.agent] = _without(plans.get(event.agent, []), event.act)
            elif event.kind == PLAN:
                plans[event.agent] = bound(event.acts, event.agent, scene)
            elif event.kind == MESSAGE:

                def last(to: int, message: TranscriptEvent = event) -> RequestedAct | None:
                    return self._still_open(last_requests.get((message.agent, to)), to, message)

                reading = MessageReader(event, vocabulary, Names(names, event.agent), scene, last).read()
                if not reading.units:
                    why = "only waits" if reading.waits else "no request"
                    items.append(JudgedRequest(message=event, unit=None, category=UNSTRUCTURED, reason=why))
                items += self._opened(event, reading.units, plans)
                for unit in reading.units:
                    if unit.to is not None and reading.last is not None:
                        last_requests[event.agent, unit.to] = reading.last
        return items

    def _still_open(self, request: RequestedAct | None, to: int, message: TranscriptEvent) -> RequestedAct | None:
        """A request that was carried out is no longer what "it" is about; what is in hand then is."""
        if request is None:
            return None
        since = [e for e in self.execs if e.agent == to and request.when < e.when < message.when]
        done = any(_is(e, request.act, request.thing.lineage) for e in since)
        return None if done else request

    def _opened(
        self, message: TranscriptEvent, units: Sequence[TranscriptUnit], plans: dict[int, list[ObservedAct]]
    ) -> list[_Open]:
        opened: list[_Open] = []
        for unit in units:
            unit = self._resolved(unit, message)
            if unit.act.object is not None:
                self.asked_for.add(made_by(unit.act.verb, unit.act.object))
            if any(o.unit.act == unit.act and o.unit.to == unit.to for o in opened):
                continue  # "cook the corn and the pepper" is one act on one mix
            queue = plans.get(unit.to, []) if unit.to is not None else []
            need = self.transcript.task.need(unit.act.verb, unit.act.object)
            queued = any(act.verb == unit.act.verb and act.object == unit.act.object for act in queue)
            opened.append(_Open(message, unit, self._done(unit, message), need, queued))
        return opened

    def _resolved(self, unit: TranscriptUnit, message: TranscriptEvent) -> TranscriptUnit:
        """Say which form of a thing is meant, by what there is and not by what would be right.

        `Bring the potato` means its slices once it was cut or was asked to be cut; a part of what a utensil holds
        means all of it. A request that is wrong stays as it was made.
        """
        forms = [form for form in self._needed_forms(unit) if self._can_be_meant(unit.act, form, message)]
        if not forms:
            return unit
        as_forms = [replace(unit, act=replace(unit.act, object=form)) for form in forms]
        need = self.transcript.task.need
        left = [u for u in as_forms if self._done(u, message) < need(u.act.verb, u.act.object)]
        return (left or as_forms)[0]

    def _needed_forms(self, unit: TranscriptUnit) -> list[str]:
        """Other forms of the thing on which the recipe needs this act; none if it needs the act as it was asked."""
        task, act = self.transcript.task, unit.act
        return [] if act.object is None or task.need(act.verb, act.object) else _wanted(task, act)

    def _can_be_meant(self, act: ObservedAct, form: str, message: TranscriptEvent) -> bool:
        part_or_product = act.object in split_mix(form) or (act.verb in MAKES and made_by(act.verb, form) == act.object)
        before = (e.act for e in self.execs if e.when < message.when and e.act and e.act.object)
        exists = any(form in (did.object, made_by(did.verb, did.object or "")) for did in before)
        return part_or_product or exists or form in self.asked_for

    def _done(self, unit: TranscriptUnit, message: TranscriptEvent) -> int:
        """To how many things it was done before the message. Who holds a thing matters: pick-ups are the partner's."""
        things: set[str] = set()
        for number, event in enumerate(e for e in self.execs if e.when < message.when):
            if not _is(event, unit.act, unit.lineage):
                continue
            if event.agent != unit.to and self._only_partner(unit.act.verb):
                continue
            if unit.act.verb == "place_obj_on_counter" and self._taken_back(event, message):
                continue
            things.add(event.lineage or f"event {number}")
        return len(things)

    def _only_partner(self, verb: str) -> bool:
        """Whether only what the partner itself has done counts as done."""
        redundancy = self.settings.redundancy
        return redundancy == "partner" or (redundancy == "demand" and verb == "pickup")

    def _taken_back(self, put: TranscriptEvent, message: TranscriptEvent) -> bool:
        return self.settings.redundancy == "demand" and any(
            e.agent == put.agent and put.lineage and e.lineage == put.lineage and e.act and e.act.verb == "pickup"
            for e in self.execs
            if put.when < e.when < message.when
        )

    # ------------------------------------------------------------ outcomes
    def _outcome(self, item: _Open, before: Sequence[_Open]) -> JudgedRequest | None:
        """The outcome; None if the partner did not do it within the window."""
        unit, message = item.unit, item.message
        if unit.to is None or unit.act.object is None or unit.to == message.agent:
            return self._judged(item, INEFFECTIVE, "unresolved")
        settings = self.settings
        if not item.need and settings.checks != "none":
            return self._judged(item, INEFFECTIVE, "irrelevant")
        if not self.transcript.roles[unit.to].can(unit.act) and settings.checks == "recipe and reach":
            return self._judged(item, INEFFECTIVE, "infeasible")
        literal = settings.redundancy != "demand"
        if item.done >= (1 if literal else max(1, item.need)):
            return self._judged(item, REDUNDANT, "done before" if literal else "done")
        if settings.repeats == "redundant" and any(o.message.when < message.when for o in _alike(item, before)):
            return self._judged(item, REDUNDANT, "repeat")
        settled_later = [o for o in _alike(item, before) if o.judged and o.judged.followed and _after(o, message)]
        repeated = settled_later and (literal or item.done + len(settled_later) >= item.need)
        if repeated and settings.repeats == "ineffective":
            return self._judged(item, INEFFECTIVE, "repeat", settled_later[-1].judged.settled)  # type: ignore[union-attr]
        match = self._match(item, message.t + self.window)
        if match is None:
            return None
        self.claimed.add(match.when)
        correction = self._refusal(unit, message, match)
        if correction is not None:
            return self._judged(item, ASSISTED, "corrected", match, correction)
        return self._judged(item, EFFECTIVE, "queued already" if item.queued else "followed", match)

    def _missed(self, item: _Open, before: Sequence[_Open]) -> JudgedRequest:
        """Why a request was not followed."""
        unit, message = item.unit, item.message
        until = message.t + self.window
        still_open = [
            o for o in _alike(item, before) if o.message.t + self.window >= message.t and not _over(o, message)
        ]
        if still_open and self.settings.repeats == "ineffective":
            return self._judged(item, INEFFECTIVE, "repeat")
        later = [e for e in self.execs if e.when > message.when]
        mine = [e for e in later if e.t <= until and e.agent == message.agent and _is(e, unit.act, unit.lineage)]
        if mine:
            return self._judged(item, INEFFECTIVE, "self-executed", mine[0])
        late = self._match(item, None)
        if late is not None:
            self.claimed.add(late.when)
            return self._judged(item, INEFFECTIVE, "delayed", late)
        refusal = self._refusal(unit, message, None)
        if refusal is not None:
            return self._judged(item, INEFFECTIVE, "rejected", refusal, refusal)
        if self.transcript.length <= until:
            return self._judged(item, INEFFECTIVE, "censored")
        other = [e for e in later if e.t <= until and e.agent == unit.to and e.act and e.act.verb == unit.act.verb]
        other = [e for e in other if e.when not in self.claimed]
        return self._judged(item, INEFFECTIVE, "mismatch" if other else "ignored", other[0] if other else None)

    def _match(self, item: _Open, until: int | None) -> TranscriptEvent | None:
        """The first execution by the partner after the message that no earlier request has claimed."""
        for event in self.execs:
            in_time = event.when > item.message.when and (until is None or event.t <= until)
            unclaimed = self.settings.claims == "many" or event.when not in self.claimed
            free = event.agent == item.unit.to and unclaimed
            if in_time and free and _is(event, item.unit.act, item.unit.lineage):
                return event
        return None

    def _refusal(
        self, unit: TranscriptUnit, message: TranscriptEvent, match: TranscriptEvent | None
    ) -> TranscriptEvent | None:
        """The verifier's first refusal of this act after the message, before the match or within the window."""
        for event in self.verdicts:
            before = event.when < match.when if match else event.t <= message.t + self.window
            if match and self.settings.corrections == "any":
                helped = message.t < event.t <= match.t  # by steps, as the authors' scripts count
            else:
                helped = event.when > message.when and before and _speaks_of(event.act, unit.act)
            if event.agent == unit.to and helped:
                return event
        return None

    def _judged(
        self,
        item: _Open,
        category: str,
        reason: str,
        settled: TranscriptEvent | None = None,
        correction: TranscriptEvent | None = None,
    ) -> JudgedRequest:
        forms = self._needed_forms(item.unit)
        right = replace(item.unit.act, object=forms[0]) if forms else None
        return JudgedRequest(
            message=item.message, unit=item.unit, right=right, category=category, reason=reason, settled=settled,
            correction=correction, done=item.done, need=item.need,
        )  # fmt: skip


def bound(acts: Sequence[ObservedAct], seat: int, scene: KitchenScene) -> list[ObservedAct]:
    """A plan with the objects that its acts will be about: the plan's own pick-ups, else what is held or in place."""
    in_hand = scene.hands.get(seat)
    thing = in_hand.object if in_hand else None
    resolved: list[ObservedAct] = []
    for act in acts:
        if act.object is None and thing is None and act.place:
            there = scene.contents(act.place)
            act = replace(act, object=there.object if there else None)
        elif act.object is None:
            act = replace(act, object=thing)
        resolved.append(act)
        thing = made_by(act.verb, act.object) if act.object else thing
    return resolved


def _without(queue: list[ObservedAct], done: ObservedAct | None) -> list[ObservedAct]:
    """The queue once its first act of this kind is done."""
    for place, act in enumerate(queue):
        if done and act.verb == done.verb and act.object in (None, done.object):
            return [*queue[:place], *queue[place + 1 :]]
    return queue


def _wanted(task: TranscriptTask, act: ObservedAct) -> list[str]:
    """On what the recipe needs this act, made of the thing or making it; the least derived first."""
    things = []
    for verb, thing in task.needs:
        if verb == act.verb:
            makes_it = verb in MAKES and made_by(verb, thing) == act.object
            if makes_it or act.object in components(thing):
                things.append(thing)
    return sorted(things, key=lambda thing: (len(components(thing)), thing))


def _is(event: TranscriptEvent, act: ObservedAct, lineage: str | None) -> bool:
    """Whether an execution is this act: same verb, same thing, and the same place where both are told."""
    done = event.act
    if done is None or (done.verb, done.object) != (act.verb, act.object):
        return False
    if lineage and event.lineage and not set(lineage.split("+")) & set(event.lineage.split("+")):
        return False
    return done.place is None or act.place is None or done.place == act.place


def _speaks_of(tried: ObservedAct | None, act: ObservedAct) -> bool:
    """Whether an attempt is at this act: at its object, wherever, or, where none is told, at its place."""
    if tried is None or tried.verb != act.verb:
        return False
    if tried.object is not None:
        return tried.object == act.object
    return tried.place is None or act.place is None or tried.place == act.place


def _alike(item: _Open, before: Sequence[_Open]) -> list[_Open]:
    """Earlier requests for the same by the same speaker of the same partner."""
    return [
        o
        for o in before
        if (o.message.agent, o.unit.to) == (item.message.agent, item.unit.to)
        and (o.unit.act.verb, o.unit.act.object) == (item.unit.act.verb, item.unit.act.object)
    ]


def _after(earlier: _Open, message: TranscriptEvent) -> bool:
    settled = earlier.judged.settled if earlier.judged else None
    return settled is not None and settled.when > message.when


def _over(earlier: _Open, message: TranscriptEvent) -> bool:
    """Whether an earlier request was no longer open when the message came: pointless from the start, or done."""
    judged = earlier.judged
    if judged is None:
        return False
    if judged.reason in ("irrelevant", "unresolved", "infeasible", "done", "done before"):
        return True
    done = judged.followed or judged.reason in ("self-executed", "delayed")
    return done and judged.settled is not None and judged.settled.when < message.when
