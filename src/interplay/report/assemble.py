"""Reports of trace sets: which tables stand in them and which episodes are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from interplay import __version__
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.api import measure
from interplay.report import communication, teamwork
from interplay.report.build import build_report, crossplay_report, grade_report
from interplay.report.diagrams import Mark
from interplay.report.dialogue import said
from interplay.report.document import Replay, Report, Section
from interplay.report.replay import replay_data
from interplay.table import Row, Table
from interplay.traces import TraceSet, game_of, replay

MARKED = {"delivery", "SOUP_PICKUP"}  # events that are marked on a replay's bar


def trace_document(
    traces: TraceSet, scores: Table, *, title: str | None = None, replays: Sequence[int] | None = None
) -> Report:
    """Whatever was played: cross-play if teams of two differ, else scores and replays."""
    chosen = list(replays) if replays is not None else extremes(traces)
    shown = [show_episode(traces, number) for number in chosen]
    provenance = _provenance(traces)
    pairs = _pairs(scores)
    if pairs is not None:
        made = crossplay_report(pairs, title=title or "Cross-play", replays=shown, provenance=provenance)
    else:
        made = build_report({"scores": scores}, shown, title=title or "Report", provenance=provenance)
    return _before_replays(made, [*teamwork.sections(traces, chosen), *communication.sections(traces, chosen)])


def grade_document(
    game: Game,
    traces: TraceSet,
    overall: Table,
    partners: Table,
    cells: Table,
    measured: Table,
    provenance: Mapping[str, Any],
    standing: Table | None = None,
) -> Report:
    """The report of `interplay grade`; `measured` is the tidy table behind the others."""
    name, chosen = overall.rows[0]["agent"], extremes(traces)
    tables = {"standing": standing} if standing is not None else {}
    made = grade_report(
        overall,
        partners,
        title=f"{name} in {game.id}",
        subtitle="How well it works with each partner of a panel",
        intro=GRADE_INTRO,
        tables=tables | {"seats": replace(cells, title="In each seat")},
        replays=[show_episode(traces, number) for number in chosen],
        provenance=_provenance(traces) | dict(provenance),
    )
    return _before_replays(made, teamwork.sections(traces, chosen, measured))


def _before_replays(made: Report, more: Sequence[Section]) -> Report:
    """The report with further sections, the replays still last."""
    body = [s for s in made.sections if not isinstance(s, Replay)]
    return replace(made, sections=[*body, *more, *(s for s in made.sections if isinstance(s, Replay))])


GRADE_INTRO = (
    "The agent played with every partner in every seat. The headline is the inter-quartile mean over all of these "
    "episodes; its interval treats the partners as a sample of those that the agent might meet. The other intervals "
    "are about the very partner that they stand beside. *gives* and *gets* are hand-overs per episode that helped to "
    "reach the goal, *partner offers* what the partner put within reach, *ignored percent* what nobody took of that. "
    "*BR-Prox*, where the panel has best responses, is the agent's mean score over that of the partner's best response "
    "in the same seat, at most 1."
)


def extremes(traces: TraceSet) -> list[int]:
    """The episode with the best score and the one with the worst."""
    rows = traces.summary().rows
    best = max(rows, key=lambda r: r["score"])
    worst = min(rows, key=lambda r: r["score"])
    return [best["episode"]] if best["episode"] == worst["episode"] else [best["episode"], worst["episode"]]


def show_episode(traces: TraceSet, number: int) -> dict[str, Any]:
    """An episode as the report's player shows it."""
    numbers = traces.numbers.tolist()
    if number not in numbers:
        raise InterplayError(f"{traces.name} has no episode {number}; it has {len(numbers)}, the last is {numbers[-1]}")
    episode = traces[numbers.index(number)]
    game = game_of(episode)
    again = replay(game, episode)
    names = [identity.name for identity in episode.agents]
    return replay_data(
        game,
        again.states,
        episode.actions,
        again.steps.reward,
        title=f"Episode {number}: {' with '.join(names)}, {episode.score:g} points",
        agents=names,
        id=number,
        events=again.steps.events,
        mark_events=MARKED & set(game.event_names),
        marks=[*teamwork.hand_overs(traces, number), *_conventions(traces, number, game)],
        seat_views=any(encoding.privileged for encoding in game.encodings.values()),
        remarks=said(episode.events, tuple(game.seat_names)),
    )


def _conventions(traces: TraceSet, number: int, game: Game) -> list[Mark]:
    """Which convention each move of a Hanabi game follows or breaks."""
    if not game.id.startswith("hanabi/"):
        return []
    one = traces.select(where=lambda row: row["episode"] == number)
    return [
        Mark(
            t=row["t"] + 1,
            seat=row["seat"],
            kind="follows" if row["follows"] else "breaks",
            label=f"{row['rule']}: {row['says']}",
        )
        for row in measure(one, ["hanabi/conventions"], detail=True)
    ]


def _pairs(scores: Table) -> Table | None:
    """Teams of two as agent (first seat) and partner (second seat), or None if that is not what was played."""
    names = [str(row["agents"]).split(" | ") for row in scores]
    if not names or any(len(n) != 2 for n in names) or len(names) < 2:
        return None
    rows: list[Row] = []
    for (agent, partner), row in zip(names, scores.rows, strict=True):
        rest = {k: v for k, v in row.items() if k != "agents"}
        rows.append({"agent": agent, "partner": partner, **rest})
    return Table.of(rows, "Pairs: agent in the first seat, partner in the second")


def _provenance(traces: TraceSet) -> dict[str, Any]:
    rows = traces.summary().rows
    games = sorted({row["game"] for row in rows})
    return {"interplay": __version__, "games": ", ".join(games), "episodes": len(rows)} | dict(traces.manifest.meta)
