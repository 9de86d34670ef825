"""Table 5: ratings of the agents by people on each objective metric, beside the published regressions.

Ratings come from a study (`interplay study`), or are simulated to try the pipeline: simulated people rate by their
score with an agent and by chance, and nothing that their ratings say is about people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from interplay.errors import InterplayError
from interplay.metrics.hanabi.agent_pool import measures
from interplay.papers.preference import published
from interplay.papers.preference.agent_pool import AGENTS
from interplay.rollout.episode import Episode
from interplay.stats import relations
from interplay.stats.regression import linear_fit
from interplay.study.analysis.data import gather
from interplay.study.analysis.exclusion import sort_people
from interplay.study.analysis.mixed import slope_fit
from interplay.study.analysis.regress import ratings_with_measures
from interplay.study.analysis.sources import read_records
from interplay.table import Row, Table
from interplay.traces import TraceSet

METRICS = tuple(name for name in published.METRICS)
SIMULATED = "simulated people: they rate by their score and by chance, so this says nothing about people"
LOW, HIGH = 0, 36  # of the teamwork rating, the sum of six items of seven points, each counted from 0


def simulated_ratings(traces: TraceSet, *, people: int = 240, seed: int = 0) -> Table:
    """Return ratings of simulated people, each of whom meets two of the paper's agents.

    A person plays as some other agent of the pool does: its score is the mean of three of their games.

    Args:
        traces: The pool's games.
        people: How many.
        seed: Seed of who meets whom and what they say.
    """
    rng = np.random.default_rng(seed)
    names = {agent: name for name, (agent, _) in AGENTS.items()}
    scores: dict[tuple[str, str], list[float]] = {}
    for _, episode in traces.items():
        pair = [identity.name for identity in episode.agents]
        for own, other in (pair, pair[::-1]):
            scores.setdefault((own, other), []).append(kept_score(episode))
    agents = [agent for agent in names if any(own == agent for own, _ in scores)]
    others = sorted({other for _, other in scores})
    if len(agents) < 3:
        raise InterplayError(f"{len(agents)} of the paper's agents are in these games; at least 3 are needed")
    rows: list[Row] = []
    for person in range(people):
        mood = rng.normal(0, 4)
        for agent in rng.choice(agents, 2, replace=False).tolist():
            stand_in = others[int(rng.integers(len(others)))]
            played = rng.choice(scores.get((agent, stand_in)) or scores[agent, agent], 3).tolist()
            score = float(np.mean(played))
            rating = int(np.clip(round(18 + 0.7 * (score - 11) + mood + rng.normal(0, 5)), LOW, HIGH))
            base = {"person": f"s{person}", "agent": names[agent], "partner": agent, "game": None}
            rows.append({**base, "human_ai_score": score, "rating": rating})
    return Table.of(rows, f"Ratings ({SIMULATED})")


def kept_score(episode: Episode) -> float:
    """Return a game's score as it was played; the pool keeps points after the third bomb."""
    return float(episode.score)


def table5(ratings: Table, pool: Table, *, seed: int = 0) -> Table:
    """Return the regression of ratings on each metric of the agents, with and without RandomBot.

    `r`, `slope` and `p` are the paper's: one row a rating, a parabola with a peak for IC. `p_agents` exchanges the
    metrics among the agents, `p_mixed` is of a mixed model with people and agents drawn: both ask whether the relation
    would hold for other agents, which the paper's p does not.

    Args:
        ratings: agent (the paper's name), person, human_ai_score, rating.
        pool: Rows of the metric hanabi/pool.
        seed: Seed of exchanges where there are too many to try all.
    """
    own = {agent: name for name, (agent, _) in AGENTS.items()}
    values: dict[str, dict[str, float]] = {}
    for row in measures(pool):
        metric = row["measure"].removeprefix("pool_")
        if row["agent"] in own and metric in METRICS:
            values.setdefault(own[row["agent"]], {})[metric] = row["value"]
    joined = [{**row, **dict.fromkeys(METRICS), **values.get(row["agent"], {})} for row in ratings]
    names = ("human_ai_score", *(m for m in METRICS if any(row[m] is not None for row in joined)))
    table = Table.of(joined)
    without = [published.RANDOM] if any(row["agent"] == published.RANDOM for row in joined) else []
    fits = relations(table, names, peaked=["ic"], without=without, seed=seed)
    theirs = published.table5()
    rows = []
    for row in fits:
        with_random = row["sample"] == "all"
        part = [r for r in joined if with_random or r["agent"] != published.RANDOM]
        printed = theirs.get((row["metric"], with_random), {})
        kept = ("metric", "shape", "r", "slope", "p", "significant", "p_agents", "peak", "n", "agents", "note")
        rows.append(
            {"sample": row["sample"], **{k: row[k] for k in kept}, "p_mixed": _mixed(part, row["metric"]),
             "published_r": printed.get("r"), "published_slope": printed.get("slope"),
             "published_p": printed.get("p")}
        )  # fmt: skip
    tests = sum(row["p"] is not None for row in rows)
    title = f"Table 5: ratings on objective metrics ({tests} tests; the paper divides by {published.TESTS})"
    return Table.of(rows, title)


def _mixed(rows: Sequence[Row], metric: str) -> float | None:
    """Return p of the slope in a mixed model with people and agents drawn; None where it cannot be fitted."""
    known = [{**row, "value": row["rating"], "partner": row["agent"]} for row in rows if row[metric] is not None]
    try:
        return slope_fit(known, metric, model="mixed")[0].p
    except InterplayError:
        return None


def study_ratings(source: str, *, study: str | None = None, rating: str = "teamwork") -> Table:
    """Return the ratings of a study with the scores of the games that they are about.

    Args:
        source: Database or folder of an export.
        study: Name of the study in the database.
        rating: The question or scale that rates an agent.

    Raises:
        InterplayError: There is no such rating, or no partner of the study is an agent of the paper.
    """
    records = read_records(source, study, traces=False)
    plan = records.protocol.analysis
    sums = {part.id: part for part in plan if part.kind == "scale"}
    rule = next((part for part in plan if part.kind == "exclude"), None)
    data = replace(sort_people(gather(records), rule), sums=sums)
    if rating not in sums and rating not in data.questions:
        raise InterplayError(f"{source} has no rating {rating!r}; it has {', '.join([*sums, *data.questions])}")
    games = {row["number"]: row for row in data.counted()}
    names = {bare(agent): name for name, (agent, _) in AGENTS.items()}
    rows = []
    for row in ratings_with_measures(data, rating, games, ("score",)):
        agent = bare(records.protocol.partners.get(row["partner"], ""))
        name = names.get(agent, row["partner"])
        rows.append({**row, "agent": name, "human_ai_score": row["score"], "rating": row["value"]})
    if not any(row["agent"] in AGENTS for row in rows):
        known = ", ".join(agent for agent, _ in AGENTS.values())
        raise InterplayError(f"no rated partner is one of the paper's agents: {known}")
    return Table.of(rows, f"Ratings of {source}")


def bare(agent: str) -> str:
    """Return an agent's name without what says under which options and how greedily it plays."""
    return agent.removeprefix("any_score:").removeprefix("greedy:")


def line_of(rows: Sequence[Row], metric: str) -> tuple[float, float] | None:
    """Return slope and intercept of the ratings on a metric; None where it does not vary."""
    known = [row for row in rows if row[metric] is not None]
    try:
        fit = linear_fit([row[metric] for row in known], [row["rating"] for row in known])
    except InterplayError:
        return None
    return fit.slope, fit.intercept
