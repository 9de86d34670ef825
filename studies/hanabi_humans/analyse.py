"""What people thought of three Hanabi partners, against what happened in their games.

    python studies/hanabi_humans/analyse.py FOLDER

FOLDER holds games.jsonl.gz and surveys.csv of M. Eger, C. Martens and M. Alfaro Cordoba, "An Intentional AI for Hanabi"
(2017). Every table that docs/results/hanabi_humans.md speaks of is printed; `--report FILE` writes them as a page too.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay import stats
from interplay.api import measure
from interplay.cli.show import show
from interplay.games.hanabi.state import DISCARD
from interplay.metrics.api import samples
from interplay.metrics.hanabi.moves import positions
from interplay.reports.preference import preference_report
from interplay.rollout.episode import Episode
from interplay.stats import RatingPrediction
from interplay.table import Row, Table
from interplay.traces import TraceSet
from interplay.traces.importers.hanabi_data import HUMAN, import_hanabi_data
from interplay.traces.importers.table import sort_out

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds games.jsonl.gz and surveys.csv")
    parser.add_argument("--report", type=Path, help="write the tables as one HTML file, too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shuffles", type=int, default=999, help="of each permutation test")
    chosen = parser.parse_args()
    episodes, _ = sort_out(import_hanabi_data(chosen.folder))
    about_ai = [e for e in episodes if ai_of(e) in AIS]  # without the games in which a person sat in the AI's seat
    print(f"{len(episodes)} games, {len(about_ai)} of them about the AI; scores keep the points after the third bomb\n")
    rated = ratings_table([e for e in about_ai if survey_of(e)])
    agents = agent_table(about_ai)
    tables = {
        "games": describe_games(about_ai, people(episodes), chosen.seed),
        "ratings": describe_ratings(rated, chosen.seed),
        "agents": agents,
        "games_and_ratings": one_by_one(rated, GAME, chosen.seed),
        "within_ai": within_ai(rated, GAME, chosen.seed),
        "people_and_ratings": one_by_one(rated, BACKGROUND, chosen.seed),
        "agents_and_ratings": by_agent(rated, agents, chosen.seed),
    }
    predictions = predict(rated, chosen.seed, chosen.shuffles)
    tables["predictions"] = Table.of(
        [{"metrics": name, **made.table().rows[0]} for name, made in predictions], "Ratings that the model has not seen"
    )
    for table in tables.values():
        show(table, json=False)
    for name, made in predictions:
        if name == "game" and made.left_out == "one agent":
            show(made.folds, json=False)
            show(Table.of(made.coefficients.rows, f"{made.rating}: {made.coefficients.title}"), json=False)
    if chosen.report:
        del tables["predictions"]  # the report draws them
        told = {"data": "HanabiData (CC-BY-4.0), Eger, Martens and Alfaro Cordoba 2017", "seed": chosen.seed}
        title = "What people thought of three Hanabi partners"
        print(preference_report(tables, predictions, title=title, provenance=told).write(chosen.report))


def ai_of(episode: Episode) -> str:
    return next(a.name for a in episode.agents if a.name != HUMAN)


def seats(episode: Episode) -> dict[str, int]:
    """Which seat is the AI's and which the person's."""
    return {"person" if a.name == HUMAN else "ai": seat for seat, a in enumerate(episode.agents)}


def survey_of(episode: Episode) -> Mapping[str, Any] | None:
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
    found = np.zeros((len(traces), 2, 2))
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
            np.add.at(found, (first + place[discards], time[discards] % 2, kind), which)
        first += len(sample.episodes)
    return found


def ratings_table(episodes: Sequence[Episode]) -> Table:
    """One row per person: the first game, and what they said after it."""
    rows = []
    for episode, row in zip(episodes, game_rows(episodes), strict=True):
        said = survey_of(episode) or {}
        told = {name: said.get(name) for name in (*RATINGS, *BACKGROUND)}
        rows.append({"person": episode.events[0].payload["id"], **row, **told})
    return Table.of(rows, "People, their first game and their ratings")


def agent_table(episodes: Sequence[Episode]) -> Table:
    """Each AI over all of its games: means of the rates, and what only many games tell (entropies)."""
    rows = Table.of(game_rows(episodes))
    information = measure(TraceSet.in_memory(episodes), ["information"])
    found = []
    for ai in AIS:
        mine = rows.where(agent=ai)
        row: Row = {"agent": ai, "games": len(mine), "score": _mean(mine, "score")}
        for name in ("g1", "g2", "g3", "hints", "adherence"):
            row[name] = _mean(mine, f"ai_{name}")
        for value in information.where(agent=ai, partner=HUMAN, estimate="miller-madow"):
            if value["metric"] in ("ad_entropy", "ard_entropy", "ic"):
                row[value["metric"]] = value["value"]
        found.append(row)
    return Table.of(found, "Each AI with people, over all games (entropies in nats, corrected)")


def _mean(table: Table, column: str) -> float:
    return float(np.mean([v for v in table.column(column) if v is not None]))


def people(episodes: Sequence[Episode]) -> dict[str, str]:
    """Of each game, the first game of the person who played it. A survey was taken after a person's first game."""
    told = {e.events[0].payload["id"]: e for e in episodes}

    def first(game: str) -> str:
        earlier = told[game].events[0].payload["prev"]
        while survey_of(told[game]) is None and earlier in told:
            game, earlier = earlier, told[earlier].events[0].payload["prev"]
        return game

    return {game: first(game) for game in told}


def describe_games(episodes: Sequence[Episode], person: Mapping[str, str], seed: int) -> Table:
    rows = [{"agent": ai_of(e), "score": e.score, "person": person[e.events[0].payload["id"]]} for e in episodes]
    found = stats.interval_table(
        Table.of(rows), by=["agent"], value="score", units=["person"], statistic="mean", seed=seed
    )
    shown = [{k: r[k] for k in ("agent", "n", "estimate", "low", "high")} for r in found]
    return Table.of(shown, "Mean score of all games with people (intervals resample people whole)")


def describe_ratings(rated: Table, seed: int) -> Table:
    long = [
        {"rating": name, "agent": row["agent"], "value": row[name]}
        for name in (*RATINGS, "score") for row in rated if row[name] is not None
    ]  # fmt: skip
    found = stats.interval_table(Table.of(long), by=["rating", "agent"], statistic="mean", seed=seed)
    shown = [{k: r[k] for k in ("rating", "agent", "n", "estimate", "low", "high")} for r in found]
    return Table.of(shown, "Mean ratings (1 to 5) and scores of people's first games")


def one_by_one(rated: Table, metrics: Sequence[str], seed: int, title: str = "") -> Table:
    """Each metric of a person's game against each rating; one Bonferroni correction over all."""
    tests = len(metrics) * len(RATINGS)
    found = [
        {"rating": rating, **_without(row, "sample", "p_agents", "peak", "shape", "agents", "note")}
        for rating in RATINGS
        for row in stats.relations(rated, metrics, rating=rating, tests=tests, seed=seed)
    ]
    found.sort(key=lambda r: (RATINGS.index(r["rating"]), -abs(r["r"] or 0)))
    about = "what people said of themselves" if metrics == BACKGROUND else "what happened in the game"
    return Table.of(found, f"Ratings against {about}, person by person{title} ({tests} tests)")


def within_ai(rated: Table, metrics: Sequence[str], seed: int) -> Table:
    """The same after taking away each AI's mean: what is left is about games, not about which AI it was."""
    centred = [dict(row) for row in rated]
    for ai in AIS:
        mine = [row for row in centred if row["agent"] == ai]
        for name in (*metrics, *RATINGS):
            known = [row[name] for row in mine if row[name] is not None]
            for row in mine:
                row[name] = None if row[name] is None else row[name] - float(np.mean(known))
    return one_by_one(Table.of(centred), metrics, seed, ", within each AI")


def by_agent(rated: Table, agents: Table, seed: int) -> Table:
    """The form of the metrics paper's Table 5: an AI's own metrics on x, people's ratings on y. Three AIs only."""
    value = {row["agent"]: row for row in agents}
    rows = [row | {name: value[row["agent"]][name] for name in OF_THE_AI} for row in rated]
    found = []
    for rating in RATINGS:
        table = stats.relations(
            Table.of(rows), OF_THE_AI, rating=rating, peaked=["ic"], tests=len(OF_THE_AI) * len(RATINGS), seed=seed
        )
        found += [{"rating": rating, **_without(row, "sample", "slope_low", "slope_high", "note")} for row in table]
    return Table.of(found, "Ratings against the AI's own metrics: 3 points on the x axis, whatever p says")


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


if __name__ == "__main__":
    main()
