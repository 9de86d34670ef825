"""How well agents predict people's moves: rule bots, clones, proxies and trained agents (the paper's Table 3).

Works on any imported games of Hanabi. Every policy looks on from the seats of people and says how likely each move is
(the metric `prediction`), with a share of its odds spread evenly over the legal moves: for each half of the games the
share that fits the other half best. The paper's loss is a mean over all steps, forced ones included, so that per
decision it is the number of players times as large; `published_rows` converts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import interplay
from interplay.agents.api import Agent
from interplay.agents.hanabi.registry import HanabiAgents
from interplay.errors import InterplayError, UnknownName
from interplay.papers.ah2ac2.published import PROXIES
from interplay.table import Row, Table
from interplay.traces import TraceSet
from interplay.traces.imitation_data import recorded_games
from interplay.training.imitation.clone import TEST, splits
from interplay.training.imitation.recordings import persons_of

SPLITS = 5  # of the people in the games of 2017, by which the shipped clones were made
PRIVILEGED = ("cheat",)
TRAINED = ("bc-1", "proxy-1", "proxy-2", "ippo-1", "op-1", "obl1-1", "obl2-1", "fcp-1")


def held_out(traces: TraceSet, agent: str | None, split: int | None) -> TraceSet:
    """Return the episodes with this agent in them; of a split, those of the people that its clone never met."""
    episodes = list(traces)
    games = recorded_games(episodes, [agent] if agent else None)
    numbers = np.array([int(one.name.removeprefix("episode ")) for one in games], int)
    if split is not None:
        if not 0 <= split < SPLITS:
            raise InterplayError(f"--split {split}: from 0 to {SPLITS - 1}")
        numbers = numbers[splits(len(games), SPLITS, 0, persons_of(games))[split] == TEST]
    return TraceSet.in_memory([episodes[i] for i in numbers])


def default_policies(players: int) -> list[str]:
    """Return random, every rule bot that sees no more than it may, and the trained agents of this machine."""
    names = ["random", *(f"hanabi/{name}" for name in HanabiAgents.variants() if name not in PRIVILEGED)]
    for name in TRAINED:
        try:
            interplay.agent(f"trained/hanabi/{players}p/{name}")
        except (UnknownName, InterplayError):
            continue
        names.append(f"trained/hanabi/{players}p/{name}")
    return names


def people_table(
    traces: TraceSet,
    policies: Sequence[str],
    *,
    players: int,
    agent: str | None = None,
    split: int | None = None,
    most: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Table:
    """Return how well policies predict people's moves, best first, with the published proxies below.

    Args:
        traces: Imported games.
        policies: Names or files of agents.
        players: Of the games.
        agent: Whose decisions count, such as `human`; None: everybody's.
        split: Only games of people that the clones of this split never met; policies of other splits are left out.
        most: Games at most, drawn by a fixed seed.
        tell: Hears of each policy.

    Raises:
        InterplayError: There are no such games.
    """
    games = held_out(traces, agent, split)
    if most is not None and len(games) > most:
        chosen = np.sort(np.random.default_rng(0).permutation(len(games))[:most])
        listed = list(games)
        games = TraceSet.in_memory([listed[i] for i in chosen])
    if not len(games):
        raise InterplayError("there are no such games: name another --agent, or leave it out")
    rows = []
    for name in policies:
        # People's games have rules of their own, such as discards with all hint tokens there; views are the same.
        policy = interplay.agent(name, **({"any_game": True} if name.startswith("trained/") else {}))
        if split is not None and policy.config.get("split", split) != split:
            continue
        rows.append(foreseen(games, policy, name, agent))
        tell(f"{name}: {rows[-1]['cross_entropy']:.3f} nats, accuracy {rows[-1]['accuracy']:.3f}")
    rows.sort(key=lambda row: row["cross_entropy"])
    title = f"{len(games)} games, decisions of {agent or 'everybody'}"
    return Table.of(rows + published_rows(players), title)


def foreseen(games: TraceSet, policy: Agent, name: str, agent: str | None) -> Row:
    """Return one policy's row: nats and accuracy per decision, with standard errors over games."""
    measured = interplay.measure(games, ["prediction"], policies=[policy], smoothing="best").rows
    by_metric: dict[str, list[Any]] = {}
    for row in measured:
        if row["agent"] == agent or agent is None:
            by_metric.setdefault(row["metric"], []).append(row)
    nats, right = (pooled(by_metric[metric]) for metric in ("cross_entropy", "accuracy"))
    return {
        "policy": name,
        "cross_entropy": nats["mean"],
        "cross_entropy_se": nats["se"],
        "accuracy": right["mean"],
        "accuracy_se": right["se"],
        "softened_by": nats["smoothing"],
        "decisions": nats["n"],
    }


def pooled(rows: Sequence[Row]) -> dict[str, Any]:
    """Return one number of the rows of several rule sets, weighed by their decisions."""
    weights = np.array([row["n"] for row in rows], float)
    shares = weights / weights.sum()
    mean = float(shares @ np.array([row["value"] for row in rows], float))
    error = float(np.sqrt(sum((w * (row["se"] or 0.0)) ** 2 for w, row in zip(shares, rows, strict=True))))
    smoothing = float(sum(w * row["smoothing"] for w, row in zip(shares, rows, strict=True)))
    return {"mean": mean, "se": error, "n": int(weights.sum()), "smoothing": smoothing}


def published_rows(players: int) -> list[Row]:
    """Return the paper's proxies on its own test games, which nobody else has."""
    empty = {"cross_entropy_se": None, "accuracy_se": None, "softened_by": None, "decisions": None}
    return [
        {
            "policy": f"published proxy {number}, on the paper's games",
            "cross_entropy": players * proxy.loss,
            "accuracy": proxy.accuracy,
            **empty,
        }
        for number, proxy in enumerate(PROXIES.get(players, ()), 1)
    ]
