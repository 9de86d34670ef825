"""Human proxies with themselves, with their clone, and how they behave beside people (the paper's Tables 2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import interplay
from interplay.agents.api import Agent
from interplay.games.registry import scoring
from interplay.papers.ah2ac2.published import PEOPLE, PROXIES, PUBLISHED_TABLE5
from interplay.table import Row, Table
from interplay.traces import TraceSet

OURS = ("bc-1", "proxy-1", "proxy-2")


def agents_of(players: int, names: Sequence[str] = ()) -> list[Agent]:
    """Return the agents of a table: those named, or the clone and the proxies that come with interplay, greedy."""
    return [interplay.agent(n) for n in names or [f"greedy:trained/hanabi/{players}p/{name}" for name in OURS]]


def self_play_table(players: int, games: int, names: Sequence[str] = (), seed: int = 0) -> Table:
    """Return Table 2: scores with themselves, perfect and zero games, with the published proxies below."""
    rows = []
    for agent in agents_of(players, names):
        traces = interplay.play(f"hanabi/{players}p", [agent] * players, episodes=games, seed=seed)
        scores = np.array([e.score for e in traces])
        error = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else None
        rows.append(
            {
                "agent": agent.name,
                "games": games,
                "self_play": float(np.mean(scores)),
                "se": error,
                "perfect": float(np.mean(scores == 25)),
                "zero": float(np.mean(scores == 0)),
            }
        )
    published = [
        {"agent": f"published proxy {n}", "games": 5000, "self_play": proxy.self_play, "se": 0.03}
        for n, proxy in enumerate(PROXIES.get(players, ()), 1)
    ]
    rule = scoring(f"hanabi/{players}p", {})["scoring"]
    return Table.of(rows + published, f"Self-play, {players} players ({rule})")


def behaviour(traces: TraceSet, agent: str | None = None) -> dict[str, float]:
    """Return information per play and communicativeness: ratios of sums over all plays and turns."""
    rows = interplay.measure(traces, ["hanabi/behaviour"]).rows
    mine = [r for r in rows if r["value"] is not None and (agent is None or agent in str(r["agent"]))]
    made = {}
    for metric, known in (("ipp", "told"), ("communicativeness", None)):
        some = [r for r in mine if r["metric"] == metric and (known is None or r["known"] == known)]
        made[metric] = sum(r["value"] * r["n"] for r in some) / sum(r["n"] for r in some)
    return made


def behaviour_table(
    players: int, games: int, people: TraceSet | None = None, agent: str = "human", names: Sequence[str] = ()
) -> Table:
    """Return Table 4: people (where their games are given), the clone and the proxies, and what the paper printed."""
    game: Any = interplay.make(f"hanabi/{players}p", bomb="keep")
    rows: list[Row] = []
    if people is not None:
        rows.append({"who": f"people ({agent})", **behaviour(people, agent)})
    for one in agents_of(players, names):
        traces = interplay.play(game, [one] * players, episodes=games, seed=0)
        rows.append({"who": one.name, **behaviour(traces)})
    ipp, communicativeness = PEOPLE[players]
    rows.append({"who": "published: people", "ipp": ipp, "communicativeness": communicativeness})
    for number, proxy in enumerate(PROXIES.get(players, ()), 1):
        who = f"published: proxy {number}"
        rows.append({"who": who, "ipp": proxy.ipp, "communicativeness": proxy.communicativeness})
    return Table.of(rows, f"Behaviour, {players} players")


def leaderboard_table(rows: Sequence[Row]) -> Table:
    """Return Table 1: a leaderboard's rows, and below them what the paper printed for each number of players."""
    kept = ("setting", "agent", "games", "one_seat", "low", "high", "several_seats", "median", "bombs", "scoring")
    listed: list[Row] = [{name: row.get(name) for name in kept} for row in rows]
    for players, methods in PUBLISHED_TABLE5.items():
        for method, (mean, median, _) in methods.items():
            about = {"setting": f"{players}p", "agent": f"published: {method}", "games": 1000}
            listed.append({**about, "one_seat": float(mean), "median": float(median)})
    listed.sort(key=lambda row: (row["setting"], -(row["one_seat"] or 0.0)))
    return Table.of(listed, "With hidden proxies; published means are with the paper's own proxies, over all line-ups")
