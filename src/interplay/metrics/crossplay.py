"""Scores with oneself, with other runs of one's algorithm, and with other algorithms."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.games.registry import scoring
from interplay.metrics.api import Metric, Sample
from interplay.metrics.grouping import INTER, INTRA, MIXED, PAIRING, SELF, Pair, TeamGroup, pair, team
from interplay.rollout.episode import Episode
from interplay.table import Row


class CrossplaySums(NamedTuple):
    """Scores and lengths, added up."""

    games: int
    score: float
    score_squared: float
    length: float
    length_squared: float

    def __add__(self, other: Any) -> CrossplaySums:
        return CrossplaySums(*(a + b for a, b in zip(self, other, strict=True)))


def compute(sample: Sample) -> Iterator[dict[TeamGroup, CrossplaySums]]:
    """Yield the sums of scores and lengths of each team of a sample."""
    sums: dict[TeamGroup, CrossplaySums] = {}
    for episode in sample.episodes:
        add_game(sums, episode, episode.score)
    yield sums


def add_game(sums: dict[TeamGroup, CrossplaySums], episode: Episode, score: float) -> None:
    """Add one game with this score to the sums of its team."""
    game, group = CrossplaySums(1, score, score**2, episode.length, episode.length**2), team(episode)
    sums[group] = sums[group] + game if group in sums else game


def finish(parts: Sequence[dict[TeamGroup, CrossplaySums]], options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the cross-play matrix, then each agent's self-play, intra- and inter-algorithm scores."""
    teams: dict[TeamGroup, CrossplaySums] = {}
    for part in parts:
        for group, sums in part.items():
            teams[group] = teams[group] + sums if group in teams else sums
    yield from _matrix(teams)
    yield from _relations(teams)


def finish_with_rule(parts: Sequence[dict[TeamGroup, CrossplaySums]], options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of `finish` with the way in which the games were scored."""
    for row in finish(parts, options):
        yield row | scoring(row["game"], json.loads(row["options"] or "{}"))


def _matrix(teams: Mapping[TeamGroup, CrossplaySums]) -> Iterator[Row]:
    """A row for each agent and its partners, over all seatings of them."""
    pairs: dict[Pair, CrossplaySums] = {}
    for of, sums in teams.items():
        for p in dict.fromkeys(pair(of, seat) for seat in range(len(of.seats))):
            pairs[p] = pairs[p] + sums if p in pairs else sums
    for p, sums in pairs.items():
        yield from _rows({**p.about(), "over": PAIRING}, sums, "score")


def _relations(teams: Mapping[TeamGroup, CrossplaySums]) -> Iterator[Row]:
    """An agent's self-play, intra- and inter-algorithm scores; null for what the set has no games of.

    With other algorithms, each of them counts the same, however many of its runs are in the set.
    """
    agents: dict[tuple, dict[str, dict[tuple[str, ...], CrossplaySums]]] = {}
    for of, sums in teams.items():
        for own in dict.fromkeys(of.seats):
            # A team counts once for an agent, however many of its seats the agent takes.
            relations = {of.relation(s) for s, w in enumerate(of.seats) if w == own}
            others = tuple(sorted({w.algorithm for w in of.seats} - {own.algorithm}))
            mine = agents.setdefault((of.game, of.options, own), {})
            for relation in relations:
                by_algorithm = mine.setdefault(relation, {})
                by_algorithm[others] = by_algorithm[others] + sums if others in by_algorithm else sums
    for (game, options, own), mine in agents.items():
        about = Pair(game, options, own, "", "").about() | {"partner": None}
        for relation in (SELF, INTRA, INTER, *([MIXED] if MIXED in mine else [])):
            row = {**about, "relation": relation, "over": "games", "algorithms": len(mine.get(relation, ()))}
            yield from _rows(row, _balanced(list(mine.get(relation, {}).values())), relation)


def _balanced(parts: Sequence[CrossplaySums]) -> CrossplaySums | None:
    """Sums in which every part has the weight of the same number of games; None of no parts."""
    if not parts:
        return None
    games = sum(part.games for part in parts)
    share = games / len(parts)
    totals = (sum(getattr(part, name) * share / part.games for part in parts) for name in CrossplaySums._fields[1:])
    return CrossplaySums(games, *totals)


def _rows(about: Row, sums: CrossplaySums | None, name: str) -> Iterator[Row]:
    if sums is None:
        yield {**about, "metric": name, "value": None, "sd": None, "games": 0}
        return
    for metric, total, squares in (
        (name, sums.score, sums.score_squared),
        ("length" if name == "score" else f"{name}_length", sums.length, sums.length_squared),
    ):
        mean, sd = total / sums.games, _sd(sums.games, total, squares)
        yield {**about, "metric": metric, "value": mean, "sd": sd, "games": sums.games}


def _sd(n: int, total: float, squares: float) -> float | None:
    return math.sqrt(max(squares - total**2 / n, 0.0) / (n - 1)) if n > 1 else None


CROSSPLAY = Metric(
    name="crossplay",
    doc="mean scores and lengths of every pairing over all seatings, and each agent's self-play, intra-algorithm and "
    "inter-algorithm cross-play score (an agent's config may name its `algorithm`)",
    compute=compute,
    describing=("sd", "games", "algorithms"),
    finish=finish_with_rule,
    direction="higher",
    unit="points",
    source="Lucas and Allen 2022, Any-Play; Hu et al. 2020, Other-Play",
)
