"""`interplay list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from interplay.cli.show import JsonOption, show
from interplay.table import Table


@dataclass(frozen=True)
class List(JsonOption):
    """What there is: games, agents, metrics, panels.

    Examples:
      interplay list
      interplay list games --json
    """

    what: Annotated[Literal["all", "games", "agents", "metrics", "panels"], tyro.conf.Positional] = "all"
    """What to list."""

    def run(self) -> None:
        """Print the names of the chosen kinds."""
        kinds = {"games": _games, "agents": _agents, "metrics": _metrics, "panels": _panels}
        chosen = kinds if self.what == "all" else {self.what: kinds[self.what]}
        show(
            Table.of([row for rows in chosen.values() for row in rows()], columns=["kind", "name", "about"]),
            json=self.json,
        )


def _games() -> list[dict]:
    from interplay.games.registry import make, names

    rows = []
    for name in names():
        game = make(name)
        sees = ", ".join(game.encodings)
        about = f"{game.num_seats} seats, {len(game.action_names)} actions, {game.horizon} steps; sees {sees}"
        rows.append({"kind": "game", "name": name, "about": about})
    return rows


def _agents() -> list[dict]:
    from interplay.agents.registry import agent, names

    rows = []
    for name in names():
        about = (type(agent(name).policy).__doc__ or "").split("\n")[0]
        rows.append({"kind": "agent", "name": name, "about": agent(name).config.get("about", about)})
    return rows + _trained()


def _trained() -> list[dict]:
    """A row for each game: its trained policies are many."""
    from interplay.agents.shipped import shipped

    of_game: dict[str, list[str]] = {}
    for name in shipped():
        game, _, policy = name.rpartition("/")
        of_game.setdefault(game, []).append(policy)
    return [{"kind": "agent", "name": f"trained/{g}/...", "about": ", ".join(p)} for g, p in of_game.items()]


def _metrics() -> list[dict]:
    from interplay.metrics.api import METRICS, metric

    metrics = [metric(name) for name in METRICS.names()]
    return [
        {"kind": "metric", "name": m.name, "about": f"{m.doc} [{m.unit}; {m.direction} is better]"} for m in metrics
    ]


def _panels() -> list[dict]:
    from interplay.games.registry import GAMES
    from interplay.partners.panels import all_shipped

    trained = [
        {"kind": "panel", "name": f"{game}: {name}", "about": "trained partners with their best responses"}
        for game, name in all_shipped()
    ]
    families = {name: GAMES.load(name).partners for name in GAMES.names()}
    return trained + [
        {"kind": "panel", "name": f"{name}: scripted", "about": ", ".join(partners)}
        for name, partners in families.items()
        if partners
    ]
