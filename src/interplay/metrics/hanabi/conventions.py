"""Adherence to H-Group's conventions: the share of moves that follow a rule, and each move's rule with its time."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np

from interplay.games.hanabi.state import HanabiRules
from interplay.metrics.api import CHUNK, Metric, Sample
from interplay.metrics.hanabi.hgroup_move_verdicts import BREAKS, FOLLOWED, FOLLOWS, RULES, AdherenceVerdict, judged
from interplay.metrics.hanabi.moves import rules_of
from interplay.table import Row
from interplay.traces import ReplayBatch


def verdicts(sample: Sample) -> list[AdherenceVerdict]:
    """Return the verdicts of the moves [step] of each episode (numpy)."""
    return sample.shared("hanabi verdicts", _verdicts)


def _verdicts(sample: Sample) -> list[AdherenceVerdict]:
    rules = rules_of(sample)
    return [verdict for batch in sample.batches for verdict in _of_batch(rules, batch)]


def _of_batch(rules: HanabiRules, batch: ReplayBatch) -> Iterator[AdherenceVerdict]:
    """Judge a batch of games, filled up to one size, so that one compiled program serves all batches."""
    count = len(batch.episodes)
    spare = CHUNK - count
    first = jax.tree.map(lambda leaf: np.asarray(leaf[:, 0]), batch.states)
    first = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[:1], spare, axis=0)]), first)
    actions = np.zeros((CHUNK, rules.horizon), np.int32)
    for place, episode in enumerate(batch.episodes):
        times = np.arange(episode.length)
        actions[place, : episode.length] = np.asarray(episode.actions)[times, times % rules.players]
    verdict_arrays = jax.tree.map(np.asarray, judged(rules)(first, actions))
    for place, episode in enumerate(batch.episodes):
        yield jax.tree.map(lambda x, i=place, n=episode.length: x[i, :n], verdict_arrays)


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the shares of each seat; with the option `detail`, a row for each move."""
    return _detail(sample) if sample.options.get("detail") else _rates(sample)


def _rates(sample: Sample) -> Iterator[Row]:
    """Of each seat: the share of its moves that follow the conventions, and how often it met each rule."""
    seats = sample.game.num_seats
    for base, episode, verdict in zip(sample.about(), sample.episodes, verdicts(sample), strict=True):
        seat_of = np.arange(episode.length) % seats
        for seat, identity in enumerate(episode.agents):
            mine = verdict.rule[seat_of == seat]
            about = {**base, "seat": seat, "agent": identity.name}
            share = float(FOLLOWED[mine].mean()) if len(mine) else None
            yield {**about, "metric": "adherence", "value": share, "n": len(mine)}
            for rule, times in zip(RULES, np.bincount(mine, minlength=len(RULES)), strict=True):
                if times:
                    yield {**about, "metric": "rule", "rule": rule, "follows": rule in FOLLOWS, "value": int(times)}


def _detail(sample: Sample) -> Iterator[Row]:
    """A row for each move, so that a replay can say which rule it follows or breaks."""
    rules, seats = rules_of(sample), sample.game.num_seats
    for base, episode, verdict in zip(sample.about(), sample.episodes, verdicts(sample), strict=True):
        for t in range(episode.length):
            seat = t % seats
            action, rule = int(episode.actions[t, seat]), RULES[int(verdict.rule[t])]
            receiver = (seat + int(rules.moves.offset[action])) % seats
            yield {
                **base,
                "seat": seat,
                "agent": episode.agents[seat].name,
                "metric": "convention",
                "value": int(rule in FOLLOWS),
                "t": t,
                "action": sample.game.action_names[action],
                "rule": rule,
                "follows": rule in FOLLOWS,
                "says": (FOLLOWS | BREAKS)[rule],
                "holder": receiver,
                "slot": int(verdict.slot[t]),
                "card": rules.card_name(int(verdict.card[t])),
            }


CONVENTIONS = Metric(
    name="hanabi/conventions",
    doc="the share of a seat's moves that follow H-Group's conventions (adherence), and how often each rule was "
    "followed or broken; with `detail`, each move with its time, its rule and the card it is about",
    compute=compute,
    describing=("n",),
    direction="neither",
    unit="share of moves; times",
    source="H-Group's conventions, level 1; rules as in the ad-hoc human-AI coordination challenge, appendix A.6",
    options={"detail": "one row for each move"},
)
