"""What a panel is: frozen evaluation partners, each with its best responses and what these are worth."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from interplay.agents.api import Agent, Identity
from interplay.agents.neural import game_key
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.brprox.rows import SET_JOIN

MOST_SETS = 10_000
KINDS = ("generated", "human proxy", "self-play", "scripted")
SKILLS = ("mid", "final")


class ReturnEstimate(NamedTuple):
    """A mean score with its 95 % interval (Student's t over episodes)."""

    mean: float
    low: float
    high: float
    episodes: int

    @classmethod
    def of(cls, scores: Sequence[float] | np.ndarray) -> ReturnEstimate:
        """Return the mean of scores with its interval."""
        from interplay.stats.intervals import mean_interval

        interval = mean_interval(scores)
        return cls(interval.estimate, interval.low, interval.high, interval.n)


@dataclass(frozen=True)
class Response:
    """The best response to a partner in one seat; an agent in that seat is measured against its return."""

    seat: int  # of the best response; the partner, or a set of partners, has all others
    agent: Agent
    how: str  # such as "trained with the partner", "trained against the partner"
    worth: ReturnEstimate  # J_BR: the score of best response and partner


@dataclass(frozen=True)
class PanelMember:
    """A partner of a panel and what is known of it."""

    agent: Agent
    kind: str  # one of KINDS
    skill: str | None = None  # of SKILLS; null where partners do not come in two skills
    candidate: int | str | None = None  # among those it was selected from
    self_play: ReturnEstimate | None = None  # the score of the partner in all seats
    responses: tuple[Response, ...] = ()  # at most one for each seat
    notes: Mapping[str, Any] = field(default_factory=dict)  # plain values: its preference, returns, steps

    @property
    def base_name(self) -> str:
        """The name without the skill: two skills of one partner are no independent partners."""
        return self.agent.name if self.skill is None else self.agent.name.removesuffix(f".{self.skill}")

    def response(self, seat: int) -> Response | None:
        """Return the best response in a seat, or None."""
        return next((r for r in self.responses if r.seat == seat), None)


@dataclass(frozen=True)
class PartnerSet:
    """Who sits beside an ego: with two seats a partner, with more of them one for each other seat."""

    numbers: tuple[int, ...]  # of the panel's partners, in the order of the seats without the ego's
    responses: tuple[Response, ...] = ()  # the best responses to the set, at most one for each seat

    def response(self, seat: int) -> Response | None:
        """Return the best response in a seat, or None."""
        return next((r for r in self.responses if r.seat == seat), None)


def ordered_sets(partners: int, seats: int) -> list[tuple[int, ...]]:
    """Return every way to fill the seats beside an ego with so many partners, each as often as one likes.

    Raises:
        InterplayError: There are more than 10,000.
    """
    if partners ** (seats - 1) > MOST_SETS:
        raise InterplayError(
            f"{partners} partners on {seats - 1} seats make {partners ** (seats - 1):,} sets; choose fewer partners"
        )
    return list(itertools.product(range(partners), repeat=seats - 1))


def set_name(names: Sequence[str]) -> str:
    """Return the name of a set of partners: a partner's own if it has all seats, else all in the order of the seats."""
    return names[0] if len(set(names)) == 1 else SET_JOIN.join(names)


@dataclass(frozen=True)
class Panel:
    """Partners with a name; the hash changes when any of them does."""

    name: str
    partners: tuple[Agent, ...]
    members: tuple[PanelMember, ...] = ()  # of the partners, in their order; empty for a mere list of agents
    game: Mapping[str, Any] = field(default_factory=dict)  # id, options, rules_version, horizon that J_BR was taken in
    provenance: Mapping[str, Any] = field(default_factory=dict)  # how it was made
    file_hash: str | None = None  # of the panel's file
    baselines: Mapping[str, Any] | None = None  # how known agents do with these partners
    sets: tuple[PartnerSet, ...] = ()  # who sits together in games of more than two seats; none: each partner alone

    @classmethod
    def of(cls, name: str, members: Sequence[PanelMember], **rest: Any) -> Panel:
        """Return the panel of these members."""
        return cls(name, tuple(m.agent for m in members), tuple(members), **rest)

    def partner_sets(self, seats: int) -> tuple[PartnerSet, ...]:
        """Return who sits beside the ego in a game of so many seats: the panel's sets, or each partner in all seats."""
        if self.sets:
            return self.sets
        responses = [m.responses for m in self.members] or [()] * len(self.partners)
        return tuple(PartnerSet((i,) * (seats - 1), own) for i, own in enumerate(responses))

    def agents_of(self, beside: PartnerSet) -> tuple[Agent, ...]:
        """Return the agents of a set, in the order of the seats."""
        return tuple(self.partners[i] for i in beside.numbers)

    def name_of(self, beside: PartnerSet) -> str:
        """Return the name of a set."""
        return set_name([agent.name for agent in self.agents_of(beside)])

    def base_names_of(self, beside: PartnerSet) -> tuple[str, ...]:
        """Return the partners that intervals draw, without their skills: those of a set, or the one in all seats."""
        numbers = beside.numbers if self.sets else beside.numbers[:1]
        return tuple(self.members[i].base_name if self.members else self.partners[i].name for i in numbers)

    def sampling_columns(self, seats: int) -> list[str]:
        """Return the columns of `sampling_levels`: partner_1, and as many more as sets have further seats."""
        return [f"partner_{n}" for n in range(1, seats if self.sets else 2)]

    def skills_of(self, beside: PartnerSet) -> str | None:
        """Return the skills of what `base_names_of` names, joined; None where partners do not come in skills."""
        numbers = beside.numbers if self.sets else beside.numbers[:1]
        skills = [self.members[i].skill or "" for i in numbers] if self.members else []
        return SET_JOIN.join(skills) if any(skills) else None

    def sampling_levels(self, beside: PartnerSet, seats: int) -> dict[str, str]:
        """Return the partners of a set by column, for intervals whose unit is these columns joined by +, and the skill.

        The skill is fixed in such intervals, so that every draw holds each skill as often as it was played.
        """
        drawn = dict(zip(self.sampling_columns(seats), self.base_names_of(beside), strict=True))
        return drawn | {"skill": self.skills_of(beside) or ""}

    def mixed(self, seats: int) -> Panel:
        """Return the panel with every ordered set of its partners in a game of so many seats.

        A set of one partner keeps that partner's best responses; others have those of the panel's own sets, if any.
        """
        known = {beside.numbers: beside for beside in self.partner_sets(seats)}
        sets = [known.get(numbers, PartnerSet(numbers)) for numbers in ordered_sets(len(self.partners), seats)]
        return replace(self, sets=tuple(sets))

    def identities(self, game: Game) -> list[Identity]:
        """Return the identities of the partners in a game."""
        return [partner.identity(game) for partner in self.partners]

    def hash(self, game: Game) -> str:
        """Return a short hash: of the panel's file, or of the partners' identities."""
        if self.file_hash is not None:
            return self.file_hash[:16]
        identities = "|".join(f"{i.name}:{i.hash}" for i in self.identities(game))
        return hashlib.sha256(identities.encode()).hexdigest()[:16]

    def has_best_response_returns(self, game: Game) -> bool:
        """Whether J_BR was measured in this very game: scores of episodes of another length are not comparable."""
        return bool(self.members) and bool(self.game) and self.game["key"] == comparison_key(game)


def comparison_key(game: Game) -> str:
    """What two games must share for their scores to be compared."""
    mask = bool(game.options.get("rule_out_null_interacts", False))
    return f"{game_key(game)}, {game.horizon} steps{', no null interacts' if mask else ''}"
