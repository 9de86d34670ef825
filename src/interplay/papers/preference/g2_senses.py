"""Which sense of G2 gives the published column: every reading of "playing a card known to be unplayable" that we tried.

A sense says which move counts (a play, a discard, either), what the card is known or seen to be, and by which
knowledge. The value of an agent is the share of its turns in a game, averaged over games and then over partners, as
all of the paper's frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.games.hanabi import cards
from interplay.games.hanabi.state import DISCARD, PLAY, HanabiRules
from interplay.metrics.api import Sample, samples
from interplay.metrics.grouping import team
from interplay.metrics.hanabi.moves import in_blocks, moves, per_seat, positions, rules_of
from interplay.papers.preference import published
from interplay.papers.preference.pool import AGENTS
from interplay.table import Row, Table
from interplay.traces import TraceSet

KNOWLEDGE = ("hints", "public", "seen", "truth")  # hints alone; and open cards; and the partner's hand; the card itself
STATES = ("unplayable", "dead", "laid", "identified unplayable")
ACTS = {"play": (PLAY,), "discard": (DISCARD,), "play or discard": (PLAY, DISCARD)}
OURS = ("play", "unplayable", "public")  # the sense of the metric g2


@lru_cache(maxsize=4)
def _judge(rules: HanabiRules) -> Any:
    def judge(state: Any, action: Any) -> Any:
        seat, slot = state.time % rules.players, jnp.asarray(rules.moves.slot)[action]
        card = state.hands[seat, slot]
        can_be = jnp.stack(
            [
                state.possible[seat, slot],
                cards.public(rules, state)[seat, slot],
                cards.seen(rules, state, seat)[slot],
                jnp.where(card >= 0, jnp.uint32(1) << jnp.maximum(card, 0).astype(jnp.uint32), jnp.uint32(0)),
            ]
        )
        laid = cards.heights(rules, state) > cards.rank_of(rules)
        sets = [~cards.pack(rules, cards.playable(rules, state)), cards.pack(rules, cards.dead(rules, state))]
        within = [cards.within(can_be, s) for s in (*sets, cards.pack(rules, laid))]
        one = (can_be & (can_be - 1)) == 0  # a single identity is left
        return jnp.stack([*within, within[0] & one])  # [state, knowledge]

    return jax.jit(jax.vmap(judge))


def _sample_rates(sample: Sample) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Yield agent, partner, sums over games of each sense's share of turns, and the number of games."""
    rules = rules_of(sample)
    _, _, states, action = positions(sample)
    record = moves(sample)
    known = in_blocks(_judge(rules), states, action)  # [move, state, knowledge]
    turns = per_seat(sample, record, np.ones(len(record.seat)))
    senses = []
    for kinds, s, k in product(ACTS.values(), range(len(STATES)), range(len(KNOWLEDGE))):
        which = np.isin(record.kind, kinds) & known[:, s, k]
        times = per_seat(sample, record, which)
        senses.append(np.divide(times, turns, out=np.zeros_like(times), where=turns > 0))
    shares = np.stack(senses, axis=-1)  # [game, seat, sense]
    for place, episode in enumerate(sample.episodes):
        group = team(episode)
        for seat in range(len(group.seats)):
            if turns[place, seat] > 0:
                yield group.seats[seat].name, group.partners(seat), shares[place, seat], np.ones(1)


def g2_senses(traces: TraceSet) -> Table:
    """Return how far each sense is from the published G2 column, the nearest first.

    Only agents that are the paper's own count for `error` (root mean square); `all_error` takes the trained ones too.
    """
    sums: dict[tuple[str, str], np.ndarray] = {}
    games: dict[tuple[str, str], int] = {}
    for sample in samples(traces, {}):
        for agent, partner, share, _ in _sample_rates(sample):
            key = (agent, partner)
            sums[key] = sums.get(key, np.zeros_like(share)) + share
            games[key] = games.get(key, 0) + 1
    by_agent: dict[str, list[np.ndarray]] = {}
    for (agent, _), total in sums.items():
        by_agent.setdefault(agent, []).append(total / games[agent, _])
    means = {agent: np.mean(parts, axis=0) for agent, parts in by_agent.items()}
    theirs = published.table3()
    here = {name: agent for name, (agent, _) in AGENTS.items() if agent in means}
    same = [name for name in here if AGENTS[name][1].startswith("the same")]
    rows: list[Row] = []
    for number, (act, state, knowledge) in enumerate(product(ACTS, STATES, KNOWLEDGE)):
        values = {name: float(means[here[name]][number]) for name in here}
        gaps = {name: values[name] - (theirs[name]["g2"][0] or 0.0) for name in here}
        rows.append(
            {
                "move": act, "card": state, "known by": knowledge, "error": _rms([gaps[n] for n in same]),
                "all_error": _rms(list(gaps.values())), "ours": (act, state, knowledge) == OURS, **values,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: row["error"])
    return Table.of(rows, "Senses of G2 by their distance from the published column")


def _rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values else float("nan")
