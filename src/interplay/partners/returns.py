"""What agents return with the partners of a panel, and with each other, as rows of a CSV file.

`interplay brprox FILE` reads such a file. Nothing but training's packages is needed, so that it runs where training
runs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.agents.api import Agent
from interplay.games.api import Game
from interplay.partners.describe import descriptions
from interplay.partners.evaluate import PolicyStack, all_pairs, play_pairs
from interplay.partners.known import policy_stacks
from interplay.partners.panel import Panel

ONE_SOUP = 20.0  # points
Egos = Mapping[str, Sequence[Agent]]  # by method, an agent for each seed


def panel_returns(game: Game, panel: Panel, egos: Egos, *, episodes: int, seed: int = 7) -> list[dict[str, Any]]:
    """A row for every ego (method and seed), partner and seat in which the partner has a best response."""
    partners, prefers = PolicyStack.of_agents(game, list(panel.partners)), descriptions(panel)
    rows = []
    for method, number, scores in _played(game, partners, egos, episodes, seed):
        for p, member in enumerate(panel.members):
            for best in member.responses:
                mine = scores[p, best.seat]
                own = member.self_play
                rows.append(
                    {
                        "algorithm": method,
                        "population": "",
                        "seed": number,
                        "partner": member.candidate if member.candidate is not None else member.agent.name,
                        "prefers": prefers.get(member.agent.name) or "",
                        "skill": member.skill or "",
                        "ego_seat": best.seat,
                        "return": round(float(mine.mean()), 3),
                        "return_se": round(float(mine.std(ddof=1) / np.sqrt(len(mine))), 4) if len(mine) > 1 else "",
                        "best_response_return": round(best.worth.mean, 3),
                        "best_response_low": round(best.worth.low, 3),
                        "best_response_high": round(best.worth.high, 3),
                        "self_play_return": "" if own is None else round(own.mean, 3),
                    }
                )
    return rows


def cross_play(game: Game, egos: Egos, *, episodes: int, seed: int = 11) -> list[dict[str, Any]]:
    """A row for every ego, other ego (itself among them) and seat of the first. Egos are of one kind of network."""
    everyone = [(method, number) for method, agents in egos.items() for number in range(1, len(agents) + 1)]
    stack = PolicyStack.of_agents(game, [a for agents in egos.values() for a in agents])
    crossed = play_pairs(game, stack, stack, all_pairs(len(stack), len(stack)), episodes=episodes, seed=seed)
    table = crossed.returns.reshape(len(stack), len(stack), game.num_seats)
    return [
        {"algorithm": a[0], "seed": a[1], "partner": b[0], "partner_seed": b[1], "ego_seat": s}
        | {"return": round(float(table[j, i, s]), 3)}
        for i, a in enumerate(everyone)
        for j, b in enumerate(everyone)
        for s in range(game.num_seats)
    ]


def dead_egos(crossplay: Iterable[Mapping[str, Any]], least: float = ONE_SOUP) -> dict[tuple[str, int], float]:
    """Return the egos that score less than one soup with themselves, and what they score.

    Args:
        crossplay: Rows of `cross_play`, or those of its file.
        least: The least mean return in self-play over both seats that counts as alive.

    Returns:
        (method, seed) -> mean return with itself.
    """
    own: dict[tuple[str, int], list[float]] = {}
    for row in crossplay:
        if row["algorithm"] == row["partner"] and str(row["seed"]) == str(row["partner_seed"]):
            own.setdefault((row["algorithm"], int(row["seed"])), []).append(float(row["return"]))
    return {ego: mean for ego, values in own.items() if (mean := sum(values) / len(values)) < least}


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of one shape as CSV, whole or not at all."""
    beside = path.with_name(f".{path.name}.writing")
    with beside.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    beside.replace(path)


def _played(
    game: Game, partners: PolicyStack, egos: Egos, episodes: int, seed: int
) -> list[tuple[str, int, np.ndarray]]:
    """(method, seed, scores [partner, seat, episode]) of every ego, whatever its kind, in the order of the methods."""
    named = {f"{m} {i}": (m, i, a) for m, agents in egos.items() for i, a in enumerate(agents, 1)}
    scores_by_name: dict[str, np.ndarray] = {}
    for stack in policy_stacks(game, [Agent(name, a.policy, a.config) for name, (_, _, a) in named.items()]):
        played = play_pairs(game, partners, stack, all_pairs(len(partners), len(stack)), episodes=episodes, seed=seed)
        scores = played.scores.reshape(len(partners), len(stack), game.num_seats, episodes)
        scores_by_name |= {name: scores[:, i] for i, name in enumerate(stack.names)}
    return [(m, i, scores_by_name[name]) for name, (m, i, _) in named.items()]
