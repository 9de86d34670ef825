"""Calls to language models as metrics: fallback moves, tokens, costs, latency, and predictions of the partner."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.agents.llm.chat import OUTAGES, estimate_tokens, total
from interplay.agents.llm.scaffolds.partner_facts import same_act
from interplay.config import toml_beside
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution, executions
from interplay.metrics.api import Metric, Sample
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.table import Row

FALLBACKS = ("fallback", "timeout")  # events of a move that the model did not choose
MANY_FALLBACKS = 0.1  # share of decisions above which a score says little about the model

DEFINITIONS: Mapping[str, str] = toml_beside(__file__)


@dataclass(frozen=True)
class SeatCalls:
    """What one seat asked its model in one episode."""

    seat: int
    calls: Sequence[Mapping[str, Any]]  # payloads of its calls
    decided: frozenset[int]  # steps
    fell_back: frozenset[int]  # steps

    def values(self) -> Row:
        """Return the numbers of the seat, by name."""
        silent = [call for call in self.calls if call["tokens_in"] is None or call["tokens_out"] is None]
        latencies = [call["latency_s"] for call in self.calls if call["latency_s"] is not None]
        return {
            "calls": len(self.calls),
            "decisions": len(self.decided),
            "fallback_share": len(self.fell_back) / len(self.decided) if self.decided else None,
            **{name: _counted([call[name] for call in self.calls]) for name in ("tokens_in", "tokens_out")},
            **{name: total([c.get(name) for c in self.calls]) for name in ("tokens_cached", "tokens_reasoning")},
            "calls_without_usage": len(silent),
            "tokens_estimated": sum(estimate_tokens(c["prompt"]) + estimate_tokens(c["answer"]) for c in silent),
            "cost": _counted([call["cost"] for call in self.calls]),
            "latency_s": statistics.fmean(latencies) if latencies else None,
            "waiting_s": sum(latencies) if latencies else None,
            "retries": sum(call["retries"] for call in self.calls),
        }


def seats_with_models(episode: Episode) -> list[SeatCalls]:
    """Return what each seat asked; seats without a model give none."""
    by_seat: dict[int, list[RecordedEvent]] = {}
    for event in episode.events:
        if event.seat is not None and event.kind in ("call", *FALLBACKS):
            by_seat.setdefault(event.seat, []).append(event)
    return [_seat_calls(seat, events) for seat, events in sorted(by_seat.items())]


def fallback_share(episodes: Sequence[Episode]) -> float | None:
    """Return the share of the models' decisions that were made by default; None if no model sits in any seat."""
    seats = [one for episode in episodes for one in seats_with_models(episode)]
    decided = sum(len(one.decided) for one in seats)
    return sum(len(one.fell_back) for one in seats) / decided if decided else None


def fallback_by_team(samples: Iterable[Sample]) -> dict[tuple[str, str], float]:
    """Return the share of fallback moves of every team with a model, by game and agents."""
    teams: dict[tuple[str, str], list[Episode]] = {}
    for sample in samples:
        for base, episode in zip(sample.about(), sample.episodes, strict=True):
            teams.setdefault((base["game"], base["agents"]), []).append(episode)
    shares = {team: fallback_share(episodes) for team, episodes in teams.items()}
    return {team: share for team, share in shares.items() if share is not None}


def fallback_warnings(rows: Iterable[Row]) -> list[str]:
    """Return a warning for every row of which more than a tenth of the models' moves were made by default."""
    return [
        f"warning: {_team_name(row)}: {row['fallback']:.0%} of the models' moves were made by default, since no usable "
        "answer came; the score says little about the model"
        for row in rows
        if row.get("fallback") is not None and row["fallback"] > MANY_FALLBACKS
    ]


def _team_name(row: Row) -> str:
    return str(row.get("agents") or " | ".join(str(row[n]) for n in ("chef", "assistant") if row.get(n)))


def outage(samples: Iterable[Sample]) -> str | None:
    """Return why a model could not be asked any more, if a seat played on by default for that reason."""
    for sample in samples:
        for episode in sample.episodes:
            for event in episode.events:
                if event.kind == "end" and event.seat is not None and event.payload["reason"] in OUTAGES:
                    return str(event.payload["message"])
    return None


def _seat_calls(seat: int, events: Sequence[RecordedEvent]) -> SeatCalls:
    calls = [event for event in events if event.kind == "call"]
    fell_back = frozenset(event.t for event in events if event.kind in FALLBACKS)
    decided = fell_back | {event.t for event in calls if not event.payload["scaffold"]}
    return SeatCalls(seat, [event.payload for event in calls], decided, fell_back)


def _counted(values: Sequence[float | None]) -> float | None:
    """The sum; None if one of them is not known, or there are none."""
    return None if not values or any(v is None for v in values) else total(values)


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the rows of every seat with a model."""
    for place, (base, episode) in enumerate(zip(sample.about(), sample.episodes, strict=True)):
        done: list[Execution] | None = None
        for one in seats_with_models(episode):
            own = {**base, "seat": one.seat, "agent": episode.agents[one.seat].name}
            for name, value in one.values().items():
                yield {**own, "metric": name, "value": value}
            beliefs = [e for e in episode.events if e.kind == "belief" and e.seat == one.seat]
            if beliefs and isinstance(sample.game, Kitchen):
                if done is None:
                    done = list(executions(sample.game, sample.replays[place].states, episode.actions))
                yield {**own, "metric": "prediction_accuracy", "value": prediction_accuracy(beliefs, done)}


def prediction_accuracy(beliefs: Sequence[RecordedEvent], done: Sequence[Execution]) -> float | None:
    """Return the share of predictions that were right.

    A prediction is checked against the first act that the partner carried out in its step or later; one after which
    the partner carried out nothing is left out.

    Args:
        beliefs: Events of a scaffold that may hold `about` (a seat) and `predicted` (an action).
        done: All that was carried out, in order.
    """
    right = []
    for belief in beliefs:
        predicted, about = belief.payload.get("predicted"), belief.payload.get("about")
        first = next((d for d in done if d.seat == about and d.t >= belief.t), None)
        if predicted and first is not None:
            right.append(same_act(str(predicted), first))
    return sum(right) / len(right) if right else None


MODEL_CALLS = Metric(
    name="model_calls",
    doc="language models in seats: fallback moves, tokens, cost, latency, predictions of the partner",
    compute=compute,
    direction="neither",
    unit="per episode and seat",
    source="definitions in docs/guide/llm.md",
)
