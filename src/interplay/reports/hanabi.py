"""Hanabi's metrics as sections of a report: what teams do, and the objective metrics of every agent."""

from __future__ import annotations

from statistics import fmean

import numpy as np

from interplay.games.hanabi.game import Hanabi
from interplay.metrics.api import Sample
from interplay.metrics.grouping import AgentKey, team
from interplay.metrics.hanabi.agent_pool import wide
from interplay.metrics.hanabi.moves import is_discard, is_hint, is_play, moves, per_seat
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports.document import Group, Section, TableSection, Text
from interplay.table import Row, Table

TEAM_TEXT = (
    "Scores stand under both rules: *points kept* counts the cards on the table, *points lost* gives 0 to a game whose "
    "last life was lost (a *bomb*), whatever the games were played under. Hints, plays, misplays and discards are "
    "numbers in a game, of all seats together."
)
AGENT_TEXT = (
    "The metrics that have been set against people's ratings of agents. *self-play*, *intra-XP* and *inter-XP* are "
    "mean scores (points kept) with itself, with other runs of its algorithm and with other algorithms. *AD-entropy* "
    "is of its actions, *ARD-entropy* of its answers together with the move before, *IC* what that move tells of the "
    "answer (nats), corrected for its bias but in a handful of games still far too high. *CI* says how far a move "
    "stands for one concept, whatever else is so. *G1*: discards a card known to be playable, *G2*: plays one known "
    "to be unplayable, *G3*: plays one known to be playable, as shares of turns; known by hints and open cards. *IPP* "
    "is how much was known of the cards it played, *communicativeness* how often it hinted when it could, *adherence* "
    "the share of moves that follow H-Group's conventions. Metrics other than scores are means over partners; the "
    "table's files also hold standard deviations, of scores over games and of all else over partners."
)
LABELS = {
    "self_play": "self-play", "intra_xp": "intra-XP", "inter_xp": "inter-XP", "ci": "CI", "ic": "IC",
    "ad_entropy": "AD-entropy", "ard_entropy": "ARD-entropy", "g1": "G1", "g2": "G2", "g3": "G3", "ipp": "IPP",
}  # fmt: skip
SCORES = ("self_play", "intra_xp", "inter_xp")
COLUMNS = (*SCORES, "ci", "ic_corrected", "ad_entropy", "ard_entropy", "g1", "g2", "g3", "ipp", "communicativeness")


def sections(measured: MeasuredTraces) -> list[Section]:
    """Tables of teams and of agents; nothing for other games than Hanabi."""
    if not measured.games or not all(isinstance(game, Hanabi) for game in measured.games):
        return []
    parts: list[Section] = []
    if len(measured.measured) < len(measured.summary):
        parts.append(Text(f"Of {len(measured.measured)} of {len(measured.summary)} games, the first of each team."))
    parts += [Text(TEAM_TEXT), TableSection(team_table(measured), "Teams", name="hanabi-teams")]
    agents = agent_table(measured)
    hide = [c for c in agents.columns if c.endswith("_sd") or all(row[c] is None for row in agents)]
    digits = {c: 2 if c in SCORES else 3 for c in agents.columns if c not in ("game", "agent", "games")}
    table = TableSection(agents, "Agents", name="hanabi-agents", labels=LABELS, hide=hide, digits=digits)
    parts += [Text(AGENT_TEXT), table]
    return [Group(parts, "How Hanabi was played")]


def team_table(measured: MeasuredTraces) -> Table:
    """Return a row for each team: scores under both rules, perfect games, bombs, and moves in a game."""
    games: dict[tuple[str, str], list[Row]] = {}
    for sample in measured.samples:
        for number, row in zip(sample.numbers, _game_rows(sample), strict=True):
            if number in measured.measured:
                games.setdefault((row.pop("game"), row.pop("agents")), []).append(row)
    rows = [
        {"game": game, "agents": agents, "games": len(part), **{name: fmean(r[name] for r in part) for name in part[0]}}
        for (game, agents), part in games.items()
    ]
    return Table.of(rows, "Means over games; perfect and bombs are shares of games")


def _game_rows(sample: Sample) -> list[Row]:
    record, rules = moves(sample), sample.game.rules  # type: ignore[attr-defined]
    counts = {
        name: per_seat(sample, record, which(record)).sum(axis=1)
        for name, which in (("hints", is_hint), ("plays", is_play), ("discards", is_discard))
    }
    points = np.concatenate([np.asarray(b.states.fireworks[:, -1]).sum(axis=-1) for b in sample.batches])
    lives = np.concatenate([np.asarray(b.states.lives[:, -1]) for b in sample.batches])
    return [
        {
            "game": sample.game.id,
            "agents": " | ".join(identity.name for identity in episode.agents),
            "points kept": float(points[i]),
            "points lost": float(points[i]) if lives[i] > 0 else 0.0,
            "perfect": float(points[i] == rules.max_score),
            "bombs": float(lives[i] <= 0),
            "turns": episode.length,
            "hints": float(counts["hints"][i]),
            "plays": float(counts["plays"][i]),
            "misplays": float(rules.lives - lives[i]),
            "discards": float(counts["discards"][i]),
        }
        for i, episode in enumerate(sample.episodes)
    ]


def agent_table(measured: MeasuredTraces) -> Table:
    """Return a row for each agent and game: the objective metrics with their spread over partners, and adherence."""
    pool = measured.measure(["hanabi/pool"])
    followed: dict[tuple[str, str], list[float]] = {}
    for row in measured.measure(["hanabi/conventions"]).where(metric="adherence"):
        if row["value"] is not None:
            followed.setdefault((row["game"], row["agent"]), []).append(row["value"])
    counts = _games_of(measured)
    rows = []
    for (game,), part in pool.groups("game").items():
        for values in wide(part):
            agent = values["agent"]
            row: Row = {"game": game, "agent": agent, "games": counts[game, agent]}
            for name in COLUMNS:
                label = name.removesuffix("_corrected")
                row |= {label: values[name], f"{label}_sd": values[f"{name}_sd"]}
            shares = followed.get((game, agent))
            rows.append(row | {"adherence": fmean(shares) if shares else None})
    return Table.of(rows, "Objective metrics (points kept after the last bomb)")


def _games_of(measured: MeasuredTraces) -> dict[tuple[str, str], int]:
    """How many measured games each agent has a seat in, by game and name."""
    counts: dict[tuple[str, str], int] = {}
    for sample in measured.samples:
        for number, episode in zip(sample.numbers, sample.episodes, strict=True):
            if number in measured.measured:
                seats: set[AgentKey] = set(team(episode).seats)
                for one in seats:
                    counts[sample.game.id, one.name] = counts.get((sample.game.id, one.name), 0) + 1
    return counts
