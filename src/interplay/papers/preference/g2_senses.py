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

from interplay.errors import InterplayError
from interplay.games.hanabi import card_sets
from interplay.games.hanabi.state import DISCARD, PLAY, HanabiRules
from interplay.metrics.api import Sample, samples
from interplay.metrics.grouping import team
from interplay.metrics.hanabi.moves import in_blocks, moves, per_seat, positions, rules_of
from interplay.papers.preference import published
from interplay.papers.preference.agent_pool import AGENTS, t_interval
from interplay.table import Row, Table
from interplay.traces import TraceSet

KNOWLEDGE = ("hints", "public", "seen", "truth")  # hints alone; and open cards; and the partner's hand; the card itself
STATES = ("unplayable", "dead", "laid", "identified unplayable")
ACTS = {"play": (PLAY,), "discard": (DISCARD,), "play or discard": (PLAY, DISCARD)}
SENSES = tuple(product(ACTS, STATES, KNOWLEDGE))
OURS = ("play", "unplayable", "public")  # the sense of the metric g2, as the paper writes it
NEAREST = ("discard", "identified unplayable", "hints")  # to the published column: docs/results/preference.md


@lru_cache(maxsize=4)
def _judge(rules: HanabiRules) -> Any:
    def judge(state: Any, action: Any) -> Any:
        seat, slot = state.time % rules.players, jnp.asarray(rules.moves.slot)[action]
        card = state.hands[seat, slot]
        can_be = jnp.stack(
            [
                state.possible[seat, slot],
                card_sets.public(rules, state)[seat, slot],
                card_sets.seen(rules, state, seat)[slot],
                jnp.where(card >= 0, jnp.uint32(1) << jnp.maximum(card, 0).astype(jnp.uint32), jnp.uint32(0)),
            ]
        )
        laid = card_sets.heights(rules, state) > card_sets.rank_of(rules)
        sets = [
            ~card_sets.pack(rules, card_sets.playable(rules, state)),
            card_sets.pack(rules, card_sets.dead(rules, state)),
        ]
        within = [card_sets.within(can_be, s) for s in (*sets, card_sets.pack(rules, laid))]
        one = (can_be & (can_be - 1)) == 0  # a single identity is left
        return jnp.stack([*within, within[0] & one])  # [state, knowledge]

    return jax.jit(jax.vmap(judge))


def _sample_rates(sample: Sample) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield agent, partner and each sense's share of turns, game by game."""
    rules = rules_of(sample)
    _, _, states, action = positions(sample)
    record = moves(sample)
    known = in_blocks(_judge(rules), states, action)  # [move, state, knowledge]
    turns = per_seat(sample, record, np.ones(len(record.seat)))
    senses = []
    for act, state, knowledge in SENSES:
        which = np.isin(record.kind, ACTS[act]) & known[:, STATES.index(state), KNOWLEDGE.index(knowledge)]
        times = per_seat(sample, record, which)
        senses.append(np.divide(times, turns, out=np.zeros_like(times), where=turns > 0))
    shares = np.stack(senses, axis=-1)  # [game, seat, sense]
    for place, episode in enumerate(sample.episodes):
        group = team(episode)
        for seat in range(len(group.seats)):
            if turns[place, seat] > 0:
                yield group.seats[seat].name, group.partners(seat), shares[place, seat]


def sense_shares(traces: TraceSet) -> dict[str, dict[str, np.ndarray]]:
    """Return by agent and partner the share of turns of each sense, [sense], averaged over games."""
    sums: dict[tuple[str, str], np.ndarray] = {}
    games: dict[tuple[str, str], int] = {}
    for sample in samples(traces, {}):
        for agent, partner, share in _sample_rates(sample):
            key = (agent, partner)
            sums[key] = sums.get(key, np.zeros_like(share)) + share
            games[key] = games.get(key, 0) + 1
    shares: dict[str, dict[str, np.ndarray]] = {}
    for (agent, partner), total in sums.items():
        shares.setdefault(agent, {})[partner] = total / games[agent, partner]
    return shares


def g2_senses(traces: TraceSet) -> Table:
    """Return how far each sense is from the published G2 column, the nearest first.

    Only agents that are the paper's own count for `error` (root mean square); `all_error` takes the trained ones too,
    and `r` is the correlation with the published column over all of them.
    """
    means = {agent: np.mean(list(parts.values()), axis=0) for agent, parts in sense_shares(traces).items()}
    theirs = published.table3()
    here = {name: agent for name, (agent, _) in AGENTS.items() if agent in means}
    same = [name for name in here if AGENTS[name][1].startswith("the same")]
    if not same:
        own = ", ".join(agent for agent, how in AGENTS.values() if how.startswith("the same"))
        raise InterplayError(f"none of the paper's own agents is in these games: {own}")
    rows: list[Row] = []
    for number, sense in enumerate(SENSES):
        values = {name: float(means[here[name]][number]) for name in here}
        printed = {name: theirs[name]["g2"][0] or 0.0 for name in here}
        gaps = {name: values[name] - printed[name] for name in here}
        rows.append(
            {
                "move": sense[0], "card": sense[1], "known by": sense[2], "error": _rms([gaps[n] for n in same]),
                "all_error": _rms(list(gaps.values())), "r": _r(list(values.values()), list(printed.values())),
                "ours": sense == OURS, **values,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: row["error"])
    return Table.of(rows, "Senses of G2 by their distance from the published column")


def nearest_rows(traces: TraceSet) -> list[Row]:
    """Return rows of Table 3 with the sense of G2 that lies nearest to the published column, as `g2_nearest`."""
    names, theirs = {agent: name for name, (agent, _) in AGENTS.items()}, published.table3()
    rows: list[Row] = []
    for agent, parts in sense_shares(traces).items():
        shares = [float(share[SENSES.index(NEAREST)]) for share in parts.values()]
        name, mean, many = names.get(agent, agent), float(np.mean(shares)), len(shares)
        printed = theirs.get(name, {}).get("g2", (None, None))
        sd = float(np.std(shares, ddof=1)) if many > 1 else None
        low, high = t_interval(mean, sd, many)
        rows.append(
            {
                "agent": name, "metric": "g2_nearest", "value": mean, "sd": sd, "low": low, "high": high, "n": many,
                "published": printed[0], "published_spread": printed[1], "ours": agent,
            }
        )  # fmt: skip
    return rows


def _r(x: list[float], y: list[float]) -> float | None:
    return float(np.corrcoef(x, y)[0, 1]) if len(x) > 2 and np.ptp(x) > 0 and np.ptp(y) > 0 else None


def _rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values else float("nan")
