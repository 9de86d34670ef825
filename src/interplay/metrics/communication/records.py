"""What the audit reads and what it finds: events, transcripts, request units, judgements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from interplay.errors import InterplayError

VERBS = (
    "pickup", "place_obj_on_counter", "put_obj_in_utensil", "fill_dish_with_food", "wait", "request",
    "cook", "bake", "deliver", "cut", "stir",
)  # fmt: skip
MESSAGE, PLAN, ATTEMPT, VERDICT, EXEC, CALL = KINDS = ("message", "plan", "attempt", "verdict", "exec", "call")

EFFECTIVE, ASSISTED, REDUNDANT, INEFFECTIVE, UNSTRUCTURED = CATEGORIES = (
    "effective", "assisted", "redundant", "ineffective", "unstructured",
)  # fmt: skip
REASONS: Mapping[str, str] = {
    "followed": "the partner did it within the window",
    "queued already": "the partner did it within the window, but had it in its plan before the message",
    "corrected": "the partner did it within the window after the verifier had refused it",
    "done": "it had been done as often as the recipe needs before the message",
    "done before": "it had been done at least once before the message (literal redundancy)",
    "unresolved": "which object or which partner is meant cannot be told",
    "irrelevant": "the recipe does not need it",
    "infeasible": "the partner has no such action or cannot reach the place",
    "repeat": "the same was asked before and was still open (with repeats redundant: asked before at all)",
    "self-executed": "the speaker did it",
    "delayed": "the partner did it after the window",
    "rejected": "the partner tried within the window and the verifier refused",
    "mismatch": "the partner did the same to another object within the window",
    "censored": "the episode ended within the window",
    "ignored": "the partner did not do it",
    "no request": "the message asks for nothing that can be read",
    "only waits": "the message asks the partner to wait, no more",
}


@dataclass(frozen=True)
class ObservedAct:
    """A macro action as it is asked for, planned or carried out."""

    verb: str
    object: str | None = None
    place: str | None = None

    def __str__(self) -> str:
        return f"{self.verb}({', '.join(filter(None, (self.object, self.place)))})"


@dataclass(frozen=True, kw_only=True)
class TranscriptEvent:
    """Something that happened at a time; `seq` orders the events of one time step."""

    t: int
    seq: int
    agent: int  # seat
    kind: str  # one of KINDS
    act: ObservedAct | None = None  # of attempt, verdict and exec
    lineage: str | None = None  # which thing, however it has changed since
    text: str = ""
    to: int | None = None  # of a message: whom it addresses, where the channel tells
    acts: tuple[ObservedAct, ...] = ()  # of a message: explicit requests; of a plan: what is queued
    acts_only: bool = False  # of a message: `acts` are all that it asks for, its text is not to be read
    ok: bool | None = None
    error: str | None = None
    tokens: int | None = None  # written by the model
    tokens_in: int | None = None  # read by the model
    scaffold: bool = False  # a call that a scaffold added
    shared: bool | None = None  # of a thing put on a counter: whether others reach it; None: not told

    @property
    def when(self) -> tuple[int, int]:
        """The event's place in the order of events: (time step, sequence number)."""
        return self.t, self.seq


@dataclass(frozen=True, kw_only=True)
class TranscriptRole:
    """A seat: what it is called, who sits there, what it can do and what it knows."""

    name: str
    agent: str
    verbs: frozenset[str] = frozenset(VERBS)
    places: frozenset[str] | None = None  # kinds of places in reach; None: not told
    knows_recipe: bool = True

    def can(self, act: ObservedAct) -> bool:
        """Return whether the role knows the act's verb and reaches its place."""
        near = self.places is None or act.place is None or act.place in self.places
        return act.verb in self.verbs and near


@dataclass(frozen=True, kw_only=True)
class TranscriptTask:
    """What the dish needs: how often each act on each object, and action sequences that reach it, by seat."""

    dish: str
    level: int | None
    needs: Mapping[tuple[str, str], int]  # (verb, object) -> how often
    product: str | None = None  # what is delivered
    objects: tuple[str, ...] = ()  # further names that may be spoken of
    references: tuple[Mapping[int, tuple[ObservedAct, ...]], ...] = ()  # orderings of the plan, each by seat

    def need(self, verb: str, thing: str | None) -> int:
        """Return how often the recipe needs an act on a thing."""
        return self.needs.get((verb, thing), 0) if thing is not None else 0


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One episode as the audit sees it."""

    episode: str
    task: TranscriptTask
    roles: tuple[TranscriptRole, ...]
    events: tuple[TranscriptEvent, ...]  # in order of (t, seq)
    horizon: int  # declared for the level: what windows are a share of
    length: int  # steps played
    success: bool
    rewards: tuple[tuple[int, float], ...] = ()  # (t, points)
    about: Mapping[str, Any] = field(default_factory=dict)  # columns that stand in front of every row

    def of(self, kind: str) -> list[TranscriptEvent]:
        """Return the events of a kind, in order."""
        return [e for e in self.events if e.kind == kind]

    def executed(self) -> list[tuple[TranscriptEvent, ObservedAct]]:
        """Return the acts that were carried out with their events, in order; waiting and requesting are left out."""
        executed = [(e, e.act) for e in self.events if e.kind == EXEC and e.act is not None]
        return [(event, act) for event, act in executed if act.verb not in ("wait", "request")]


@dataclass(frozen=True, kw_only=True)
class TranscriptUnit:
    """One request: an act, to be done by a partner."""

    act: ObservedAct
    to: int | None  # seat; None: it cannot be told
    lineage: str | None = None  # where a particular thing is meant
    source: str = "speech"  # or "explicit"
    words: str = ""  # what was read


@dataclass(frozen=True, kw_only=True)
class JudgedRequest:
    """A unit (or a message without one) with its outcome and the event that settled it."""

    message: TranscriptEvent
    unit: TranscriptUnit | None
    category: str
    reason: str
    right: ObservedAct | None = None  # the act on another form of the thing that the recipe needs, where not this one
    settled: TranscriptEvent | None = None
    correction: TranscriptEvent | None = None  # the refusal between message and match
    done: int | None = None  # times done before the message
    need: int | None = None  # times the recipe needs it

    @property
    def followed(self) -> bool:
        """Whether the partner did it within the window, by itself or after a correction."""
        return self.category in (EFFECTIVE, ASSISTED)

    @property
    def latency(self) -> int | None:
        """Steps from the message to the act; None if it was not followed."""
        return self.settled.t - self.message.t if self.followed and self.settled else None


JUDGING: Mapping[str, tuple[str, ...]] = {  # the rules of judging, and what each can be
    "redundancy": ("demand", "literal", "partner"),
    "checks": ("recipe and reach", "recipe", "none"),
    "repeats": ("ineffective", "redundant", "apart"),
    "claims": ("one", "many"),
    "corrections": ("same", "any"),
}


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """How requests are judged and how costs are weighed."""

    window: int | None = None
    """Steps in which a request can be followed; None: `alpha` times the level's horizon, rounded up."""
    alpha: float = 0.15
    """Share of the horizon."""
    redundancy: Literal["demand", "literal", "partner"] = "demand"
    """`demand`: done as often as the recipe needs; `literal`: done at all; `partner`: done at all by the partner."""
    checks: Literal["recipe and reach", "recipe", "none"] = "recipe and reach"
    """What makes a request ineffective from the start: that the recipe does not need it, that the partner cannot."""
    repeats: Literal["ineffective", "redundant", "apart"] = "ineffective"
    """A repeat of an open request is ineffective; any repeat is redundant; or each request is judged apart."""
    claims: Literal["one", "many"] = "one"
    """Whether an action settles one request, or every request that it fits."""
    corrections: Literal["same", "any"] = "same"
    """What makes a followed request assisted: a refusal of the same act, or any refusal of the partner."""
    gamma: float = 1.0
    """Discount of the reward in U."""
    cost_time: float = 0.1
    """Points of U that a step costs."""
    cost_tokens: float = 0.0001
    """Points of U that a token costs, read or written."""
    cost_verifier: float = 0.5
    """Points of U that a refusal by the verifier costs."""
    cost_redundant: float = 0.5
    """Points of U that an action beyond the recipe's need costs."""
    beta: float = 0.95
    """Weight of brevity against progress in TES."""

    def __post_init__(self):
        for name, known in JUDGING.items():
            if getattr(self, name) not in known:
                raise InterplayError(f"{name}: {getattr(self, name)!r}; write {' or '.join(known)}")
        if self.window is not None and (not isinstance(self.window, int) or self.window < 0):
            raise InterplayError(f"window: {self.window!r}; a whole number of steps, or nothing for alpha x horizon")
        if not 0 < self.alpha <= 1:
            raise InterplayError(f"alpha: {self.alpha}; a share of the horizon, above 0 and at most 1")
        if not 0 < self.gamma <= 1:
            raise InterplayError(f"gamma: {self.gamma}; a discount is above 0 and at most 1")

    def steps(self, horizon: int) -> int:
        """Return the window in steps for a level's horizon."""
        # A share such as .15 x 180 must not be lifted to 28 by the rounding of binary fractions.
        return self.window if self.window is not None else math.ceil(round(self.alpha * horizon, 9))

    @property
    def window_name(self) -> str:
        """The name of the window in tables."""
        return f"{self.window} steps" if self.window is not None else f"{self.alpha:g} x horizon"
