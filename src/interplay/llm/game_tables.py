"""What the traces of language models in any game say at a glance: score, fallback moves, calls, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interplay.games.registry import scoring
from interplay.metrics.model_calls import fallback_share, seats_with_models
from interplay.rollout.episode import Episode
from interplay.table import Row, Table
from interplay.table import mean as mean_of_known


def game_summary(traces: Iterable[Episode]) -> Table:
    """Return one row per game and team: score, share of fallback moves, and what its models used per episode."""
    groups: dict[tuple, list[Episode]] = {}
    for episode in traces:
        names = " | ".join(identity.name for identity in episode.agents)
        rule = tuple(scoring(episode.game_id, episode.options).items())
        groups.setdefault((episode.game_id, names, rule), []).append(episode)
    rows = [
        {"game": game, "agents": agents, "episodes": len(group), "score": sum(e.score for e in group) / len(group)}
        | dict(rule)
        | {"steps": sum(e.length for e in group) / len(group)}
        | usage_row(group)
        for (game, agents, rule), group in groups.items()
    ]
    return Table.of(rows, "Teams with language models; tokens, cost and waiting are means over episodes")


def usage_row(episodes: Sequence[Episode]) -> Row:
    """Return what the models of some episodes used, as means over the episodes; the cost is their sum."""
    seats = [one for episode in episodes for one in seats_with_models(episode)]
    values = [one.values() for one in seats]
    count = len(episodes)

    def mean(name: str) -> float | None:
        known = [v[name] for v in values]
        if not known or any(v is None for v in known):
            return None
        return sum(known) / count

    read, written = mean("tokens_in"), mean("tokens_out")
    costs = [v["cost"] for v in values]
    return {
        "fallback": fallback_share(episodes),
        "calls": sum(v["calls"] for v in values) / count,
        "tokens": None if read is None or written is None else read + written,
        **{name: _mean_of_known(values, name, count) for name in ("tokens_cached", "tokens_reasoning")},
        "tokens_estimated": sum(v["tokens_estimated"] for v in values) / count,
        "cost": None if any(c is None for c in costs) else sum(costs),
        "waiting_s": _mean_of_known(values, "waiting_s", count),
        "latency_s": mean_of_known(call["latency_s"] for one in seats for call in one.calls),
    }


def _mean_of_known(values: Sequence[Row], name: str, count: int) -> float | None:
    known = [v[name] for v in values if v[name] is not None]
    return sum(known) / count if known else None
