"""Context independence: how far a message (a move) stands for one concept of the position, whatever else is so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.games.hanabi.state import NOOP, HanabiRules
from interplay.metrics.api import Metric, Sample
from interplay.metrics.grouping import TeamGroup, by_pair, over_partners, team
from interplay.metrics.hanabi.concepts import Formula, formulas, names, packed
from interplay.metrics.hanabi.moves import positions, rules_of
from interplay.table import Row

CONCEPTS, SEED = 500, 0
MESSAGES = ("actions", "kinds")


class SeatMoves(NamedTuple):
    """What a seat did, and what held when it did it."""

    rules: HanabiRules
    action: np.ndarray  # [move]
    concepts: np.ndarray  # [move, byte] packed primitives


def context_independence(
    concepts: np.ndarray, messages: np.ndarray, formulas_used: Sequence[Formula], kinds: int
) -> tuple[float | None, float | None, int]:
    """The mean of p(m*|c) p(c|m*) over all concepts and over those that held, and how many held.

    `concepts` [move, primitive] bool, `messages` [move]; m* is the most frequent message while c holds, the first of
    equals. A concept that never held adds 0 to the first mean, which is the published one.
    """
    if len(messages) == 0:
        return None, None, 0
    holds, full = _words(concepts.T), _words(np.ones((1, len(messages)), bool))[0]
    message_bits = _words(messages == np.arange(kinds)[:, None])  # [message, word]
    true = np.stack([f(holds, full) for f in formulas_used])
    both = np.bitwise_count(true[:, None] & message_bits).sum(axis=-1, dtype=np.int64)  # [concept, message]
    of_concept, of_message = both.sum(axis=1), np.bitwise_count(message_bits).sum(axis=-1, dtype=np.int64)
    best = np.argmax(both, axis=1)
    together = both[np.arange(len(formulas_used)), best]
    value = together**2 / np.maximum(of_concept * of_message[best], 1)
    concepts_held = int((of_concept > 0).sum())
    return float(value.mean()), float(value.sum() / concepts_held) if concepts_held else None, concepts_held


def _words(bits: np.ndarray) -> np.ndarray:
    """Rows of flags as rows of 64-bit words."""
    spare = -bits.shape[1] % 64
    packed_bits = np.packbits(np.pad(bits, ((0, 0), (0, spare))), axis=1)
    return np.ascontiguousarray(packed_bits).view(np.uint64)


def compute(sample: Sample) -> Iterator[dict[TeamGroup, list[list[SeatMoves]]]]:
    """Yield for every team and seat the moves, and the concepts that held at each of them."""
    rules = rules_of(sample)
    place, time, states, action = positions(sample)
    concepts = sample.shared("hanabi concepts", lambda _: packed(rules, states))
    teams = [team(e) for e in sample.episodes]
    numbers = {of: n for n, of in enumerate(dict.fromkeys(teams))}
    cell = np.array([numbers[of] for of in teams])[place] * rules.players + time % rules.players
    order = np.argsort(cell, kind="stable")
    ends = np.searchsorted(cell[order], np.arange(1, len(numbers) * rules.players))
    parts = np.split(order, ends)
    seats = range(rules.players)
    yield {
        of: [[SeatMoves(rules, action[i], concepts[i])] for i in (parts[n * rules.players + s] for s in seats)]
        for of, n in numbers.items()
    }


def finish(parts: Sequence[Any], options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield context independence of each agent with each partner, for messages as actions and as kinds of moves."""
    count, seed = int(options.get("concepts", CONCEPTS)), int(options.get("concept_seed", SEED))
    values_by_message: dict[str, dict] = {m: {} for m in MESSAGES}
    for pair, lists in by_pair(parts).items():
        moves_made = [s for part in lists for s in part]
        rules = moves_made[0].rules
        atoms = len(names(rules))
        action = np.concatenate([s.action for s in moves_made])
        concepts = np.unpackbits(np.concatenate([s.concepts for s in moves_made]), axis=1, count=atoms).astype(bool)
        concept_formulas = formulas(atoms, count, seed)
        spoken = {"actions": (action, rules.moves.noop), "kinds": (rules.moves.kind[action], NOOP)}
        for messages, (what, kinds) in spoken.items():
            values_by_message[messages][pair] = context_independence(concepts, what, concept_formulas, kinds)
    for messages, values in values_by_message.items():
        for number, metric in enumerate(("ci", "ci_held", "ci_concepts_held")):
            for row in over_partners({pair: value[number] for pair, value in values.items()}):
                yield {**row, "metric": metric, "messages": messages}


CONTEXT = Metric(
    name="hanabi/context",
    doc="context independence over random formulas of primitive concepts: the mean of p(m*|c) p(c|m*), where m* is the "
    "most frequent message while c holds; `messages` are all actions, or the four kinds of move. Lower is more "
    "dependent on context",
    compute=compute,
    finish=finish,
    describing=("sd", "partners"),
    direction="neither",
    unit="probability",
    source="Bogin et al. 2018, adapted to Hanabi as in the objective-metrics study, appendix C.2",
    options={"concepts": "how many formulas (500)", "concept_seed": "the seed that draws them (0)"},
)
