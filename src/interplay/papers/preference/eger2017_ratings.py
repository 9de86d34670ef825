"""What people thought of three Hanabi partners, against what happened in their games.

The data are games.jsonl.gz and surveys.csv of M. Eger, C. Martens and M. Alfaro Cordoba, "An Intentional AI for Hanabi"
(2017), the data set HanabiData. Each person rated one AI once, after their first game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats as scipy_stats

from interplay import stats
from interplay.api import measure
from interplay.errors import InterplayError
from interplay.games.hanabi.state import DISCARD
from interplay.metrics.api import samples
from interplay.metrics.hanabi.moves import positions
from interplay.metrics.information import CORRECTED, LEADS
from interplay.reports.document import Report
from interplay.reports.preference import preference_report
from interplay.rollout.episode import Episode
from interplay.stats import RatingPrediction
from interplay.stats.multiple_testing import over_everything
from interplay.study.analysis.mixed import slope_fit
from interplay.table import Row, Table
from interplay.traces import TraceSet
from interplay.traces.importers.hanabi_data import HUMAN, import_hanabi_data
from interplay.traces.importers.registry import sort_out

RATINGS = ("like", "skill", "intention")
AIS = ("outer", "intentional", "full")
METRICS = {  # what is measured of a game, in the words of the tables
    "team": ("score", "lives_lost", "turns"),
    "ai": (
        "ai_hints", "ai_plays", "ai_misplays", "ai_g1", "ai_g2", "ai_g3", "ai_lost_playable", "ai_lost_critical",
        "ai_adherence",
    ),
    "person": ("person_hints", "person_plays", "person_misplays", "person_g3", "person_adherence"),
}  # fmt: skip
GAME = tuple(m for part in METRICS.values() for m in part)
BACKGROUND = ("boardgameexp", "hanabiexp", "recent", "maxscore")  # what people said of themselves
PLAYS = {"played": "plays", "misplayed": "misplays"}
OF_THE_AI = ("g1", "g2", "g3", "hints", "adherence", "ad_entropy", "ard_entropy", "ic")


def analyse(
    folder: Path, *, seed: int = 0, shuffles: int = 999
) -> tuple[dict[str, Table], list[tuple[str, RatingPrediction]]]:
    """Return every table by name, with p corrected over all of their tests, and the predictions.

    Args:
        folder: Holds games.jsonl.gz and surveys.csv.
        seed: Seed of resampling and shuffling.
        shuffles: Of each permutation test of a prediction; 0 leaves predictions out.
    """
    episodes, _ = sort_out(import_hanabi_data(folder))
    about_ai = [e for e in episodes if ai_of(e) in AIS]  # without the games in which a person sat in the AI's seat
    rated = ratings_table([e for e in about_ai if survey_of(e)])
    agents = agent_table(about_ai)
    tables = {
        "games": describe_games(about_ai, people(episodes), seed),
        "ratings": describe_ratings(rated, seed),
        "agents": agents,
        "ais_differ": ais_differ(rated),
        "games_and_ratings": one_by_one(rated, GAME, "what happened in the game"),
        "people_and_ratings": one_by_one(rated, BACKGROUND, "what people said of themselves"),
        "agents_and_ratings": by_agent(rated, agents, seed),
    }
    predictions = predict(rated, seed, shuffles) if shuffles else []
    if predictions:
        rows = [{"metrics": name, **made.table().rows[0]} for name, made in predictions]
        tables["predictions"] = Table.of(rows, "Ratings that the model has not seen")
    corrected, tests = over_everything(tables)
    summary = {
        "games": len(episodes), "about the AI": len(about_ai), "people": len(rated), "tests": tests,
        "scoring": "points kept after the third bomb",
    }  # fmt: skip
    head = {"summary": Table.of([summary], "p_all: Holm's correction over every test of every table")}
    return head | corrected, predictions


def all_rows(tables: Mapping[str, Table]) -> Table:
    """Return every row of every table, with the table's name."""
    return Table.of([{"table": name, **row} for name, table in tables.items() for row in table])


def report(tables: Mapping[str, Table], predictions: list[tuple[str, RatingPrediction]], seed: int) -> Report:
    """Return the tables and predictions as a page."""
    drawn = {name: table for name, table in tables.items() if name != "predictions"}  # which the page draws
    data = {"data": "HanabiData (CC-BY-4.0), Eger, Martens and Alfaro Cordoba 2017", "seed": seed}
    title = "What people thought of three Hanabi partners"
    return preference_report(drawn, predictions, title=title, provenance=data)


def ai_of(episode: Episode) -> str:
    """Return the name of the AI of a game."""
    return next(a.name for a in episode.agents if a.name != HUMAN)


def seats(episode: Episode) -> dict[str, int]:
    """Which seat is the AI's and which the person's."""
    return {"person" if a.name == HUMAN else "ai": seat for seat, a in enumerate(episode.agents)}


def survey_of(episode: Episode) -> Mapping[str, Any] | None:
    """Return what the person said after a game; None without a survey."""
    return next((e.payload for e in episode.events if e.kind == "survey"), None)


def game_rows(episodes: Sequence[Episode]) -> list[Row]:
    """What happened in each game: the team's result, and rates of each seat's turns."""
    traces = TraceSet.in_memory(episodes)
    rows: list[Row] = []
    for episode in episodes:
        turns = {who: sum(1 for t in range(episode.length) if t % 2 == seat) for who, seat in seats(episode).items()}
        rows.append({"agent": ai_of(episode), "score": episode.score, "turns": episode.length, "_turns": turns})
    table = measure(traces, ["events", "hanabi/dominance", "hanabi/behaviour", "hanabi/conventions"])
    lost = lost_cards(traces)
    for value in table:
        row = rows[value["episode"]]
        who = "person" if value["agent"] == HUMAN else "ai"
        name, turns = value["metric"], row["_turns"][who]
        if name == "events" and value["event"] in ("played", "misplayed"):
            row[f"{who}_{PLAYS[value['event']]}"] = value["value"] / turns
            if value["event"] == "misplayed":
                row["lives_lost"] = row.get("lives_lost", 0) + value["value"]
        elif name in ("g1", "g2", "g3") and value["known"] == "public":
            row[f"{who}_{name}"] = value["value"]
        elif name == "communicativeness":
            row[f"{who}_hints"] = value["value"]
        elif name == "adherence":
            row[f"{who}_adherence"] = value["value"]
    for number, row in enumerate(rows):
        for who, seat in seats(episodes[number]).items():
            row[f"{who}_lost_playable"] = lost[number, seat, 0] / row["_turns"][who]
            row[f"{who}_lost_critical"] = lost[number, seat, 1] / row["_turns"][who]
        del row["_turns"]
    return rows


def lost_cards(traces: TraceSet) -> np.ndarray:
    """[game, seat, 2] Discards of a card that was playable, and of the last copy of one that was still needed."""
    results = np.zeros((len(traces), 2, 2))
    first = 0
    for sample in samples(traces, {}):
        rules = sample.game.rules  # type: ignore[attr-defined]
        place, time, states, action = positions(sample)
        discards = np.flatnonzero(rules.moves.kind[action] == DISCARD)
        card = states.hands[discards, time[discards] % 2, rules.moves.slot[action[discards]]].astype(int)
        height = states.fireworks[discards, card // rules.ranks]
        playable = height == card % rules.ranks
        gone = states.discards[discards]
        copies = rules.total_copies - gone  # of every card, those not yet lost
        low = np.arange(rules.ranks)
        suit = copies.reshape(len(discards), -1, rules.ranks)[np.arange(len(discards)), card // rules.ranks]
        reachable = ((suit > 0) | (low >= (card % rules.ranks)[:, None]) | (low < height[:, None])).all(axis=1)
        critical = (card % rules.ranks >= height) & (copies[np.arange(len(discards)), card] == 1) & reachable
        for kind, which in enumerate((playable, critical)):
            cell: Any = (first + place[discards], time[discards] % 2, kind)
            np.add.at(results, cell, which)
        first += len(sample.episodes)
    return results


def ratings_table(episodes: Sequence[Episode]) -> Table:
    """One row per person: the first game, and what they said after it."""
    rows = []
    for episode, row in zip(episodes, game_rows(episodes), strict=True):
        said = survey_of(episode) or {}
        answers = {name: said.get(name) for name in (*RATINGS, *BACKGROUND)}
        rows.append({"person": episode.events[0].payload["id"], **row, **answers})
    return Table.of(rows, "People, their first game and their ratings")


def agent_table(episodes: Sequence[Episode]) -> Table:
    """Each AI over all of its games: means of the rates, and what only many games tell (entropies)."""
    rows = Table.of(game_rows(episodes))
    information = measure(TraceSet.in_memory(episodes), ["information"])
    results = []
    for ai in AIS:
        mine = rows.where(agent=ai)
        row: Row = {"agent": ai, "games": len(mine), "score": _mean(mine, "score")}
        for name in ("g1", "g2", "g3", "hints", "adherence"):
            row[name] = _mean(mine, f"ai_{name}")
        for value in information.where(agent=ai, partner=HUMAN, estimate=CORRECTED):
            if value["role"] != LEADS:  # what the AI answers to the person, as the paper defines both
                row[value["metric"]] = value["value"]
        results.append(row)
    return Table.of(results, "Each AI with people, over all games (entropies in nats, corrected)")


def _mean(table: Table, column: str) -> float:
    return float(np.mean([v for v in table.column(column) if v is not None]))


def people(episodes: Sequence[Episode]) -> dict[str, str]:
    """Of each game, the first game of the person who played it. A survey was taken after a person's first game."""
    by_id = {e.events[0].payload["id"]: e for e in episodes}

    def first(game: str) -> str:
        earlier = by_id[game].events[0].payload["prev"]
        while survey_of(by_id[game]) is None and earlier in by_id:
            game, earlier = earlier, by_id[earlier].events[0].payload["prev"]
        return game

    return {game: first(game) for game in by_id}


def describe_games(episodes: Sequence[Episode], person: Mapping[str, str], seed: int) -> Table:
    """Return mean scores by AI."""
    rows = [{"agent": ai_of(e), "score": e.score, "person": person[e.events[0].payload["id"]]} for e in episodes]
    results = stats.interval_table(
        Table.of(rows), by=["agent"], value="score", units=["person"], statistic="mean", seed=seed
    )
    rows = [{k: r[k] for k in ("agent", "n", "estimate", "low", "high")} for r in results]
    return Table.of(rows, "Mean score of all games with people (intervals resample people whole)")


def describe_ratings(rated: Table, seed: int) -> Table:
    """Return mean ratings by AI."""
    long = [
        {"rating": name, "agent": row["agent"], "value": row[name]}
        for name in (*RATINGS, "score") for row in rated if row[name] is not None
    ]  # fmt: skip
    results = stats.interval_table(Table.of(long), by=["rating", "agent"], statistic="mean", seed=seed)
    rows = [{k: r[k] for k in ("rating", "agent", "n", "estimate", "low", "high")} for r in results]
    return Table.of(rows, "Mean ratings (1 to 5) and scores of people's first games")


def ais_differ(rated: Table) -> Table:
    """Return whether these three AIs are rated differently, by means and by ranks."""
    rows = []
    for rating in RATINGS:
        known = [row for row in rated if row[rating] is not None]
        groups = [[row[rating] for row in known if row["agent"] == ai] for ai in AIS]
        f = scipy_stats.f_oneway(*groups)
        h = scipy_stats.kruskal(*groups)
        rows.append({"rating": rating, "n": len(known), "f": float(f.statistic), "p": float(f.pvalue),
                     "p_ordinal": float(h.pvalue)})  # fmt: skip
    return Table.of(rows, "Do the AIs differ? (analysis of variance; Kruskal and Wallis as the ordinal test)")


def one_by_one(rated: Table, metrics: Sequence[str], about: str) -> Table:
    """Each metric of a person's game against each rating, by three models.

    `slope` is of a linear mixed model in which the AI is drawn, `p_ordinal` of a cumulative-link one; `within` has the
    AIs as fixed effects, so that only differences between games with the same AI count.
    """
    rows: list[Row] = []
    for rating in RATINGS:
        part = []
        for metric in metrics:
            known = [
                {"person": row["person"], "partner": row["agent"], "game": None, "value": row[rating],
                 metric: row[metric]}
                for row in rated if row[rating] is not None and row[metric] is not None
            ]  # fmt: skip
            part.append({"rating": rating, "metric": metric, **_fits(known, metric)})
        rows += sorted(part, key=lambda row: row["p"] if row["p"] is not None else 2.0)
    return Table.of(rows, f"Ratings against {about}, person by person ({len(rows)} rows)")


def _fits(rows: Sequence[Row], metric: str) -> Row:
    """Return slope and tests of one metric by the three models; None where one cannot be fitted."""
    x, y = np.array([row[metric] for row in rows], float), np.array([row["value"] for row in rows], float)
    empty = dict.fromkeys(("r", "slope", "slope_low", "slope_high", "df", "p", "p_ordinal", "within", "p_within"))
    results: Row = {**empty, "n": len(rows)}
    if len(rows) < 10 or np.ptp(x) == 0:
        return results
    results["r"] = float(np.corrcoef(x, y)[0, 1])
    try:
        made = slope_fit(rows, metric, model="mixed")[0]
        results |= {"slope": made.estimate, "slope_low": made.low, "slope_high": made.high, "df": made.df, "p": made.p}
    except InterplayError as error:
        results["note"] = str(error)
    try:
        results["p_ordinal"] = slope_fit(rows, metric, model="ordinal")[0].p
    except InterplayError as error:
        results["note"] = str(error)
    ais = np.array([[row["partner"] == ai for ai in AIS] for row in rows], float)
    ais = ais[:, ais.any(axis=0)]

    def left(values: np.ndarray) -> np.ndarray:
        return values - ais @ np.linalg.lstsq(ais, values, rcond=None)[0]

    ex, ey = left(x), left(y)
    if ex @ ex > 1e-12:
        slope, df = float(ex @ ey / (ex @ ex)), len(rows) - ais.shape[1] - 1
        rest = ey - slope * ex
        t = slope / np.sqrt((rest @ rest) / df / (ex @ ex))
        results |= {"within": slope, "p_within": float(2 * scipy_stats.t.sf(abs(t), df))}
    return results


def by_agent(rated: Table, agents: Table, seed: int) -> Table:
    """The form of the metrics paper's Table 5: an AI's own metrics on x, people's ratings on y. Three AIs only."""
    value = {row["agent"]: row for row in agents}
    rows = [row | {name: value[row["agent"]][name] for name in OF_THE_AI} for row in rated]
    results = []
    for rating in RATINGS:
        table = stats.relations(
            Table.of(rows), OF_THE_AI, rating=rating, peaked=["ic"], tests=len(OF_THE_AI) * len(RATINGS), seed=seed
        )
        results += [{"rating": rating, **_without(row, "sample", "slope_low", "slope_high", "note")} for row in table]
    return Table.of(results, "Ratings against the AI's own metrics: 3 points on the x axis, whatever p says")


def predict(rated: Table, seed: int, shuffles: int) -> list[tuple[str, RatingPrediction]]:
    """Ratings of people from other people's, and ratings of an AI from the other two's."""
    sets = {
        "score": ["score"],
        "team": list(METRICS["team"]),
        "AI's play": list(METRICS["ai"]),
        "game": list(GAME),
        "person": list(BACKGROUND),
        "person and game": [*BACKGROUND, *GAME],
    }
    return [
        (
            name,
            stats.predict_ratings(
                rated, metrics, rating=rating, leave_out=leave_out, unit="person", shuffles=shuffles,
                missing="drop", seed=seed,
            ),
        )
        for rating in RATINGS for leave_out in (10, "agent") for name, metrics in sets.items()
    ]  # fmt: skip


def _without(row: Row, *names: str) -> Row:
    return {k: v for k, v in row.items() if k not in names}
