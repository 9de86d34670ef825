"""Known agents with a panel: the table among which a graded agent finds its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.interdependence.metric import counted_channels
from interplay.partners import grade as grading
from interplay.partners.leaderboard import HANDOVERS
from interplay.partners.panel import Panel
from interplay.partners.panel_file import read_panel, write_baselines
from interplay.partners.proximity import headline, proximity
from interplay.rollout.engine import run
from interplay.table import Row, Table, mean
from interplay.traces import TraceSet


def measure_baselines(
    panel: Panel, game: Game, egos: Mapping[str, Sequence[Agent]], *, episodes: int = 20, seed: int = 0
) -> Table:
    """A row per algorithm, over its training seeds: BR-Prox, returns and who helped whom, as a grade has them."""
    played, helped = [], {name: [] for name in egos}
    for name, agents in egos.items():
        for number, ego in enumerate(agents):
            traces = TraceSet.in_memory(run(game, grading.teams(game, ego, panel), episodes=episodes, seed=seed))
            grade = grading.summarise(traces, game, ego, panel, seed)
            played.append((name, number, grade.values))
            helped[name].append(grade.overall.rows[0])
    near_best = proximity(panel, game, played, seed)
    rows: list[Row] = []
    for name, of_seeds in helped.items():
        means = {c: mean(row.get(c) for row in of_seeds) for c in ("mean", *HANDOVERS)}
        near = headline(near_best, name) if near_best is not None else {}
        rows.append({"agent": name, "seeds": len(of_seeds), **near, **means})
    return Table.of(rows, "Baselines")


def add_baselines(
    folder: str | Path, game: Game, egos: Mapping[str, Sequence[Agent]], *, episodes: int = 20, seed: int = 0
) -> Table:
    """Measure known agents with the panel of a folder and keep the table beside it."""
    if not egos or not all(egos.values()):
        raise InterplayError("name the agents to measure, as in sp=runs/sp")
    panel = read_panel(folder, game)
    table = measure_baselines(panel, game, egos, episodes=episodes, seed=seed)
    write_baselines(folder, panel, table.rows, episodes=episodes, seed=seed, channels=counted_channels(game))
    return table
