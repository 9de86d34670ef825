"""Reports of trace sets: which tables stand in them and which episodes are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interplay import __version__
from interplay.games.api import Game
from interplay.games.hanabi.game import Hanabi
from interplay.games.registry import capability
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports import hanabi, teamwork
from interplay.reports.diagrams import Mark
from interplay.reports.dialogue import dialogue_lines
from interplay.reports.document import Report
from interplay.reports.replay import replay_data
from interplay.reports.table_report import build_report, crossplay_report, grade_report, replay_sections
from interplay.table import Row, Table


def trace_document(measured: MeasuredTraces, scores: Table, *, title: str | None = None) -> Report:
    """Whatever was played: cross-play if teams of two differ, else scores and replays.

    Args:
        measured: The trace set.
        scores: The mean score of each team, as `api.team_scores` gives it.
        title: The report's title.
    """
    replays = [show_episode(measured, number) for number in measured.shown]
    provenance = _provenance(measured)
    pairs = _pairs(scores)
    if pairs is not None:
        report = crossplay_report(pairs, title=title or "Cross-play", provenance=provenance)
    else:
        report = build_report({"scores": scores}, title=title or "Report", provenance=provenance)
    more = [*teamwork.sections(measured), *hanabi.sections(measured)]
    if any(episode.events for sample in measured.samples for episode in sample.episodes):
        # Imported only where somebody may have talked or asked a model: they take longer than the rest of the report.
        from interplay.reports import communication, model_calls

        more += [*communication.sections(measured), *model_calls.sections(measured)]
    return replace(report, sections=[*report.sections, *more, *replay_sections(replays)])


def grade_document(
    game: Game,
    measured: MeasuredTraces,
    overall: Table,
    partners: Table,
    cells: Table,
    provenance: Mapping[str, Any],
    standing: Table | None = None,
) -> Report:
    """The report of `interplay grade`."""
    tables = {"standing": standing} if standing is not None else {}
    made = grade_report(
        _with_headline(overall),
        partners,
        title=f"{overall.rows[0]['agent']} in {game.id}",
        subtitle="How well it works with each partner of a panel",
        intro=GRADE_INTRO,
        tables=tables | {"seats": replace(cells, title="In each seat")},
        provenance=_provenance(measured) | dict(provenance),
    )
    more = [*teamwork.sections(measured), *hanabi.sections(measured)]
    replays = replay_sections([show_episode(measured, number) for number in measured.shown])
    return replace(made, sections=[*made.sections, *more, *replays])


def _with_headline(overall: Table) -> Table:
    """Leave the mean alone, with its interval, where half of the episodes have one score: that is the middle half's."""
    (row,) = overall
    if row["low"] is None or not row["low"] == row["high"] != row["mean"]:
        return overall
    kept = {name: value for name, value in row.items() if name not in ("iqm", "mean_low", "mean_high")}
    return Table.of([kept | {"low": row["mean_low"], "high": row["mean_high"]}], overall.title)


GRADE_INTRO = (
    "The agent played with every partner in every seat. The headline is the inter-quartile mean over all of these "
    "episodes, or their mean where half of them have one score, such as none; its interval treats the partners as a "
    "sample of those that the agent might meet (two skills of one partner are drawn together). The other intervals "
    "are about the very partner that they stand beside. *gives* and *gets* are hand-overs per episode that helped to "
    "reach the goal, *partner offers* what the partner put within reach, *ignored percent* what nobody took of that. "
    "*BR-Prox*, where the panel has best responses, is the agent's mean score over that of the partner's best response "
    "in the same seat, at most 1."
)


def show_episode(measured: MeasuredTraces, number: int) -> dict[str, Any]:
    """An episode as the report's player shows it."""
    game, episode, replay = measured.episode(number)
    names = [identity.name for identity in episode.agents]
    return replay_data(
        game,
        replay.states,
        episode.actions,
        replay.steps.reward,
        title=f"Episode {number}: {' with '.join(names)}, {episode.score:g} points",
        agents=names,
        id=number,
        events=replay.steps.events,
        mark_events=set(capability(game, "replay_events")) & set(game.event_names),
        marks=[*teamwork.hand_overs(measured, number), *_conventions(measured, number, game)],
        seat_views=any(encoding.privileged for encoding in game.encodings.values()),
        remarks=dialogue_lines(episode.events, tuple(game.seat_names)),
    )


def _conventions(measured: MeasuredTraces, number: int, game: Game) -> list[Mark]:
    """Which convention each move of a Hanabi game follows or breaks."""
    if not isinstance(game, Hanabi):
        return []
    return [
        Mark(
            t=row["t"] + 1,
            seat=row["seat"],
            kind="follows" if row["follows"] else "breaks",
            label=f"{row['rule']}: {row['says']}",
        )
        for row in measured.measure(["hanabi/conventions"], shown=True, detail=True)
        if row["episode"] == number
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


def _provenance(measured: MeasuredTraces) -> dict[str, Any]:
    games = sorted({row["game"] for row in measured.summary})
    facts = {"interplay": __version__, "games": ", ".join(games), "episodes": len(measured.summary)}
    return facts | dict(measured.traces.manifest.meta)
