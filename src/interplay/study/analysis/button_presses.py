"""Button presses after a partner's move in Hanabi, joined to that move: was it one that no player should make?

G1 is the discard of a card known to be playable, G2 the play of one known to be unplayable; known by hints and open
cards (public), or also by the other hands (seen).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.metrics.api import samples
from interplay.metrics.hanabi.dominance import flags as dominated
from interplay.metrics.hanabi.moves import KNOWN, is_discard, is_play, moves
from interplay.stats import bootstrap, proportion_interval
from interplay.study.analysis.analysis_list import Clicks
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import click_figures
from interplay.study.analysis.measures import traces_of
from interplay.study.analysis.result import AnalysisResult
from interplay.table import Row, Table

JOINED = (
    "A press is joined to the partner's last move in the picture that the person saw; pressing twice after one move "
    "counts once. `share` of presses after discards that were G1, and of presses after plays that were G2; intervals "
    "draw people whole (the study that introduced it found 13 % and 43 %). `pressed` says how often such moves, and "
    "other moves of the kind, made people press."
)
SORTS = {"discard": "g1", "play": "g2"}


def click(data: Data, part: Clicks, *, seed: int = 0) -> AnalysisResult:
    """Count presses by the kind of move, and by whether the move was dominated."""
    cards = {name for name, setting in data.protocol.games.items() if setting.game.startswith("hanabi/")}
    games = [g for g in data.games if g["game"] in cards and g["done"] and (part.practice or not g["practice"])]
    title = part.title or f"Presses of {part.flag}"
    if not games or data.traces is None:
        why = "no game of Hanabi was played to its end" if not games else "the traces of the games are not there"
        return AnalysisResult(part.id, title, {}, notes=(why,))
    table, lost = partner_moves(data, games, part.flag)
    elsewhere = sum(f["flag"] == part.flag for f in data.flags) - sum(r["presses"] for r in table) - len(lost)
    notes = []
    if lost:
        notes.append(f"presses before the partner's first move, joined to none: {len(lost)}")
    if elsewhere:
        notes.append(f"presses in practice games, unfinished games or other games, not used: {elsewhere}")
    tables = {
        "clicks": Table.of(_shares(table, seed), "Of the presses after a kind of move, how many were dominated"),
        "pressed": Table.of(_pressed(table, seed), "How often a move made people press"),
        "by_partner": Table.of(_by_partner(table), "Presses by partner"),
    }
    return AnalysisResult(part.id, title, tables, click_figures(tables["pressed"]), JOINED, tuple(notes))


def partner_moves(data: Data, games: Sequence[Row], flag: str) -> tuple[list[Row], list[Row]]:
    """Return every move of a partner with its number of presses, and the presses that no move precedes.

    Args:
        data: The study, with traces.
        games: The games of Hanabi to look at.
        flag: The button.

    Returns:
        A row for each move: kind, whether it was G1 or G2 in each sense, presses; and the presses without a move.
    """
    traces, ordered = traces_of(data, games)
    by_move: dict[tuple[int, int], Row] = {}  # by game and time
    first = 0
    for sample in samples(traces, {}):
        made = moves(sample)
        kinds = np.where(is_discard(made), "discard", np.where(is_play(made), "play", "hint"))
        bad = {name: dominated(made, name) for name in ("g1", "g2")}
        for i in np.flatnonzero(made.seat != np.array([g["seat"] for g in ordered])[first + made.episode]):
            game = ordered[first + int(made.episode[i])]
            row: Row = {"person": game["person"], "partner": game["partner"], "kind": str(kinds[i]), "presses": 0}
            row |= {f"{name}_{known}": bool(bad[name][i, k]) for name in bad for k, known in enumerate(KNOWN)}
            by_move[game["number"], int(made.time[i])] = row
        first += len(sample.episodes)
    numbers, lost = {g["number"] for g in games}, []
    for press in data.flags:
        if press["flag"] != flag or press["number"] not in numbers:
            continue
        seen = press["seen"]
        last = next((t for t in range(seen - 1, -1, -1) if (press["number"], t) in by_move), None)
        if last is None:
            lost.append(press)
        else:
            by_move[press["number"], last]["presses"] += 1
    return list(by_move.values()), lost


def _shares(table: Sequence[Row], seed: int) -> list[Row]:
    """Return the paper's two shares, in both senses of what was known, beside those of random presses."""
    rows: list[Row] = []
    for kind, name in SORTS.items():
        for known in KNOWN:
            every = [row for row in table if row["kind"] == kind]
            after = [row for row in every if row["presses"]]
            summary: Row = {"after": kind, "dominated": name, "known": known, "clicked_moves": len(after)}
            summary["presses"] = sum(row["presses"] for row in after)
            summary |= _share(after, f"{name}_{known}", seed)
            summary["among_all_moves"] = float(np.mean([r[f"{name}_{known}"] for r in every])) if every else None
            rows.append(summary | {"people": len({row["person"] for row in after})})
    after = [row for row in table if row["kind"] == "hint" and row["presses"]]
    rows.append({"after": "hint", "dominated": None, "clicked_moves": len(after),
                 "presses": sum(r["presses"] for r in after), "people": len({r["person"] for r in after})})  # fmt: skip
    return rows


def _share(rows: Sequence[Row], column: str, seed: int) -> Row:
    if not rows:
        return {"share": None, "share_low": None, "share_high": None}
    hits = [float(row[column]) for row in rows]
    people = [row["person"] for row in rows]
    if len(set(hits)) == 1:  # a bootstrap of equal values has no width; Wilson's interval over people has
        made = proportion_interval(int(hits[0]) * len(set(people)), len(set(people)))
        return {"share": hits[0], "share_low": made.low, "share_high": made.high}
    if len(set(people)) < 3:
        return {"share": float(np.mean(hits)), "share_low": None, "share_high": None}
    made = bootstrap(hits, {"person": people}, seed=seed, units=["person"], statistic="mean", episodes=False)
    return {"share": made.estimate, "share_low": max(0.0, made.low), "share_high": min(1.0, made.high)}


def _pressed(table: Sequence[Row], seed: int) -> list[Row]:
    rows: list[Row] = []
    for kind, name in SORTS.items():
        for bad in (True, False):
            mine = [{**row, "hit": row["presses"] > 0} for row in table if row["kind"] == kind]
            mine = [row for row in mine if row[f"{name}_public"] == bad]
            share = _share(mine, "hit", seed)
            rows.append({"move": kind, "dominated": name if bad else "no", **_named(share, "pressed"),
                         "moves": len(mine), "people": len({row["person"] for row in mine})})  # fmt: skip
    hints = [{**row, "hit": row["presses"] > 0} for row in table if row["kind"] == "hint"]
    rows.append({"move": "hint", "dominated": "no", **_named(_share(hints, "hit", seed), "pressed"),
                 "moves": len(hints), "people": len({row["person"] for row in hints})})  # fmt: skip
    return rows


def _named(shares: Row, name: str) -> Row:
    return {key.replace("share", name): value for key, value in shares.items()}


def _by_partner(table: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for partner in dict.fromkeys(row["partner"] for row in table):
        mine = [row for row in table if row["partner"] == partner]
        summary: Row = {"partner": partner, "moves": len(mine), "presses": sum(row["presses"] for row in mine)}
        summary["per_100_moves"] = 100 * sum(row["presses"] > 0 for row in mine) / len(mine)
        for kind in ("discard", "play", "hint"):
            summary[f"after_{kind}s"] = sum(row["presses"] > 0 for row in mine if row["kind"] == kind)
        for name in ("g1", "g2"):
            summary[f"{name}_moves"] = sum(row[f"{name}_public"] for row in mine)
        rows.append(summary | {"people": len({row["person"] for row in mine})})
    return rows
