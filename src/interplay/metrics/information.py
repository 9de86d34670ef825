"""Entropies of an agent's actions and instantaneous coordination with its partner, in nats, from recorded actions.

The entropy says how varied the actions are; instantaneous coordination is the mutual information between an action and
the partner's action before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jaxtyping import Int

from interplay.games.api import Game
from interplay.metrics.api import Metric, Sample
from interplay.metrics.grouping import POOLED, Pair, TeamGroup, by_pair, over_partners, team
from interplay.rollout.episode import Episode
from interplay.table import Row

PLUG_IN, CORRECTED = "plug-in", "miller-madow"
ANSWERS, LEADS = "answers", "leads"  # the agent makes the second action of a pair, or the first
Counts = Int[np.ndarray, "..."]


def entropy(counts: Counts, *, corrected: bool = False) -> float | None:
    """Shannon entropy of what was counted, in nats; null if nothing was.

    The plug-in value is too low by about (cells - 1) / 2N; Miller and Madow's correction adds that, with the cells
    that were seen.
    """
    n = counts.sum()
    if n == 0:
        return None
    share = counts[counts > 0] / n
    bias = (len(share) - 1) / (2 * n) if corrected else 0.0
    return float(-np.sum(share * np.log(share)) + bias)


def mutual_information(counts: Int[np.ndarray, "before after"], *, corrected: bool = False) -> float | None:
    """What one action tells of the next, in nats: the entropies of the two less that of the pair."""
    if counts.sum() == 0:
        return None
    parts = [entropy(c, corrected=corrected) for c in (counts.sum(1), counts.sum(0), counts.ravel())]
    return parts[0] + parts[1] - parts[2]  # type: ignore[operator]


@lru_cache(maxsize=64)
def takes_turns(game: Game) -> bool:
    """Whether somebody has to wait at the start; then the last action is a no-op that nobody chooses."""
    return not bool(np.all(np.asarray(game.to_move(game.init(jax.random.key(0))))))


def count_pairs(game: Game, episode: Episode) -> tuple[Counts, Counts]:
    """[seat, before, after] twice: pairs of which this seat made the second action, and those of which the first.

    With turns, a pair is two moves in a row; the first move of a game answers nobody. Without, an action makes a pair
    with the next action of each other seat.
    """
    actions, seats = np.asarray(episode.actions, np.int64), game.num_seats
    n = len(game.action_names)
    answers, leads = np.zeros((2, seats, n, n), np.int64)
    if takes_turns(game):
        t, seat = np.nonzero(actions != n - 1)
        made = actions[t, seat]
        answer = seat[1:] != seat[:-1]
        before, after = made[:-1][answer], made[1:][answer]
        np.add.at(answers, (seat[1:][answer], before, after), 1)
        np.add.at(leads, (seat[:-1][answer], before, after), 1)
    else:
        for seat in range(seats):
            for other in set(range(seats)) - {seat}:
                np.add.at(answers[seat], (actions[:-1, other], actions[1:, seat]), 1)
                np.add.at(leads[seat], (actions[:-1, seat], actions[1:, other]), 1)
    return answers, leads


def count_actions(game: Game, episode: Episode) -> Counts:
    """[seat, action]: what each seat chose, without the no-ops of waiting."""
    n = len(game.action_names)
    counts = np.stack([np.bincount(a, minlength=n) for a in np.asarray(episode.actions, np.int64).T])
    if takes_turns(game):
        counts[:, -1] = 0
    return counts


MEASURES: tuple[tuple[str, str | None, int, Callable[..., float | None]], ...] = (
    ("ad_entropy", None, 0, entropy),
    ("ard_entropy", ANSWERS, 1, entropy),
    ("ard_entropy", LEADS, 2, entropy),
    ("ic", ANSWERS, 1, mutual_information),
    ("ic", LEADS, 2, mutual_information),
)


def compute(sample: Sample) -> Iterator[dict[TeamGroup, list[tuple[Counts, Counts, Counts]]]]:
    """Counts of actions [action] and of pairs [before, after], answered and led, for every seat of every team."""
    sums: dict[TeamGroup, list[Counts]] = {}
    for episode in sample.episodes:
        counts = [count_actions(sample.game, episode), *count_pairs(sample.game, episode)]
        group = team(episode)
        sums[group] = [a + b for a, b in zip(sums[group], counts, strict=True)] if group in sums else counts
    yield {group: list(zip(*counts, strict=True)) for group, counts in sums.items()}


def finish(parts: Sequence[Any], options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield each measure of each agent with each partner, over partners, and pooled."""
    pairs: dict[Pair, list[Counts]] = {}
    for p, counts_of_seats in by_pair(parts).items():
        pairs[p] = [sum(counts) for counts in zip(*counts_of_seats, strict=True)]  # type: ignore[misc]
    agents: dict[Pair, list[Counts]] = {}
    for p, counts_of_seats in pairs.items():
        alone = p._replace(partner="", relation="")
        agents[alone] = (
            [a + b for a, b in zip(agents[alone], counts_of_seats, strict=True)] if alone in agents else counts_of_seats
        )
    for name, role, which, function in MEASURES:
        for estimate in (PLUG_IN, CORRECTED):
            measure = {"metric": name, "role": role, "estimate": estimate}
            values = {p: function(c[which], corrected=estimate == CORRECTED) for p, c in pairs.items()}
            for row in over_partners(values):
                yield {**row, **measure}
            for p, c in agents.items():
                value = function(c[which], corrected=estimate == CORRECTED)
                about = p.about() | {"partner": None, "relation": None}
                yield {**about, **measure, "over": POOLED, "value": value, "n": int(c[which].sum())}


INFORMATION = Metric(
    name="information",
    doc="entropy of an agent's actions (ad_entropy), of pairs of a partner's action and its response (ard_entropy), "
    "and what the one tells of the other (ic): with each partner, as the mean over partners, and over all games",
    compute=compute,
    describing=("n", "sd", "partners"),
    finish=finish,
    direction="neither",
    unit="nats",
    source="Shannon 1948; instantaneous coordination: Jaques et al. 2019; correction: Miller 1955",
)
