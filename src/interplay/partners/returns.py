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
from interplay.partners.describe import set_descriptions
from interplay.partners.evaluate import PolicyStack, all_pairs, play_pairs
from interplay.partners.known import policy_stacks
from interplay.partners.panel import Panel
from interplay.partners.proximity import set_unit

ONE_SOUP = 20.0  # points
Egos = Mapping[str, Sequence[Agent]]  # by method, an agent for each seed


def panel_returns(game: Game, panel: Panel, egos: Egos, *, episodes: int, seed: int = 7) -> list[dict[str, Any]]:
    """A row for every ego (method and seed), partner and seat in which the partner has a best response."""
    partners, about = PolicyStack.of_agents(game, list(panel.partners)), set_descriptions(panel)
    sets = panel.partner_sets(game.num_seats)
    beside = [s.numbers for s in panel.sets] or [(i,) for i in range(len(panel.partners))]
    rows = []
    for method, number, scores in _played(game, partners, egos, episodes, seed, beside):
        for p, one in enumerate(sets):
            member, alone = panel.members[one.numbers[0]], len(set(one.numbers)) == 1
            name, skill = set_unit(panel, one)
            own = member.self_play if alone else None
            for best in one.responses:
                mine = scores[p, best.seat]
                rows.append(
                    {
                        "algorithm": method,
                        "population": "",
                        "seed": number,
                        "partner": name if panel.sets or member.candidate is None else member.candidate,
                        "prefers": about[panel.name_of(one)]["prefers"] or "",
                        "skill": skill or "",
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
    everyone = [(method, number) for method, agents in egos.items() for number in seeds_of(method, agents)]
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


def seeds_of(method: str, agents: Sequence[Agent]) -> list[int]:
    """Return the seeds of a method's egos: those in their names, METHOD-SEED, or else as they stand."""
    numbers = [one.name.removeprefix(f"{method}-") for one in agents]
    named = all(number.isdecimal() for number in numbers) and len(set(numbers)) == len(numbers)
    return [int(number) for number in numbers] if named else list(range(1, len(agents) + 1))


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


def egos_that_failed(training: Mapping[str, Any]) -> dict[tuple[str, int], float]:
    """Return the egos that a gate left out after they had been trained again, and what they score with themselves.

    Args:
        training: By job: its `experiment` and what its `gate` found, as benchmarks/zsc/install.py writes them.

    Returns:
        (method, seed) -> mean return with itself.
    """
    failed: dict[tuple[str, int], float] = {}
    for job in training.values():
        for one in ((job.get("gate") if isinstance(job, dict) else None) or {}).get("dead", ()):
            name, options = job["experiment"]["algorithm"]["name"], job["experiment"]["algorithm"]["options"]
            methods = [method + options.get("suffix", "") for method in options.get("methods", ())] or [name]
            method, number = divmod(one["run"], job["experiment"]["runs"] // len(methods))
            failed[methods[method], number + 1] = one["with_itself"]
    return failed


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of one shape as CSV, whole or not at all."""
    beside = path.with_name(f".{path.name}.writing")
    with beside.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    beside.replace(path)


def _played(
    game: Game, partners: PolicyStack, egos: Egos, episodes: int, seed: int, beside: Sequence[tuple[int, ...]]
) -> list[tuple[str, int, np.ndarray]]:
    """(method, seed, scores [set, seat, episode]) of every ego, whatever its kind, in the order of the methods."""
    named = {
        f"{m} {i}": (m, i, a) for m, agents in egos.items() for i, a in zip(seeds_of(m, agents), agents, strict=True)
    }
    scores_by_name: dict[str, np.ndarray] = {}
    for stack in policy_stacks(game, [Agent(name, a.policy, a.config) for name, (_, _, a) in named.items()]):
        pairs = [(*numbers, ego) for numbers in beside for ego in range(len(stack))]
        played = play_pairs(game, partners, stack, pairs, episodes=episodes, seed=seed)
        scores = played.scores.reshape(len(beside), len(stack), game.num_seats, episodes)
        scores_by_name |= {name: scores[:, i] for i, name in enumerate(stack.names)}
    return [(m, i, scores_by_name[name]) for name, (m, i, _) in named.items()]
