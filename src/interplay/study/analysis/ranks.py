"""How people rank partners: mean ranks, agreement, who is ranked above whom, and against objective measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from scipy.stats import rankdata

from interplay.errors import InterplayError
from interplay.stats import friedman, mean_interval, proportion_interval, rank_shares
from interplay.stats.measure_agreement import rank_agreement
from interplay.stats.models import rank_fit
from interplay.study.analysis.analysis_list import Ranks
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import rank_figures
from interplay.study.analysis.mixed import estimate_row
from interplay.study.analysis.result import AnalysisResult, attempt, mean_row, with_holm
from interplay.table import Row, Table

RANKED = (
    "Rank 1 is best. Strengths: a linear model of ranks with people as blocks, partial rankings included, in standard "
    "deviations of a rank drawn at random; its F asks whether people agree on any order. Agreement: Friedman's test "
    "asks the same of whole rankings, W is 1 where all give the same and near 0 where none do. Spearman is taken over "
    "partners; its interval draws people again, its p asks how many other orders of the partners would agree as well, "
    "so with few partners it cannot be small. Person by person: each person's ranks with the scores that this person "
    "got, then the mean over people; its interval draws people, for these partners, and its p exchanges the partners, "
    "the same way for all people."
)
TITLES = {
    "ranks": "Ranks that people gave",
    "agreement": "Do people agree on an order?",
    "differ": "Do partners differ in rank?",
    "strengths": "Strength of each partner in the rankings",
    "pairs": "Differences in strength (a - b)",
    "above": "Who is ranked above whom (sign tests)",
    "objective": "People's ranks against other measures, over partners",
    "by_person": "Each person's ranks against their own scores: Spearman, mean over people",
}
MOST_ORDERS = 5000  # of partners, that a p value is counted over
HUMAN, SCORE = "people's ranks", "score with people"


def rank(data: Data, part: Ranks, objective: Table | None = None, *, seed: int = 0) -> AnalysisResult:
    """Return rank tables by game, and their Spearman correlations with scores and with the given measures.

    Args:
        data: The study.
        part: The analysis of the study file.
        objective: Measures of agents from elsewhere; None for none.
        seed: Seed of the bootstrap.
    """
    rankings = [row for row in data.rankings if row["form"] == part.page and len(row["order"]) > 1]
    tables: dict[str, list[Row]] = {name: [] for name in TITLES}
    shares: dict[str, tuple[list[str], np.ndarray]] = {}
    notes: list[str] = []
    for game in dict.fromkeys(row["game"] for row in rankings):
        last = _last_of_each([row for row in rankings if row["game"] == game])
        names = [n for n in data.partners if any(n in row["order"] for row in last)]
        if part.model == "linear":
            differ, strengths, pairs = compare_ranks([row["order"] for row in last])
            tables["differ"].append({"game": game, **differ})
            tables["strengths"] += [{"game": game, **row} for row in strengths]
            tables["pairs"] += [{"game": game, **row} for row in pairs]
        whole = [row for row in last if set(row["order"]) == set(names)]
        if len(whole) < len(last):
            partial = f"{len(last) - len(whole)} of {len(last)} rankings do not hold all partners"
            notes.append(f"{game}: {partial}, and go" + (" from all but strengths" if part.model == "linear" else ""))
        if not whole:
            continue
        places = np.array([[row["order"].index(name) + 1 for name in names] for row in whole], float)
        who = [row["person"] for row in whole]
        scores = _scores(data, game, who, names)
        tables["ranks"] += _rank_rows(game, names, places, scores)
        tables["agreement"].append({"game": game} | attempt(lambda p=places: _agreement(p)))
        tables["above"] += above(game, names, places)
        tables["objective"] += _objective(data, game, names, places, scores, who, objective, seed)
        tables["by_person"].append({"game": game} | attempt(lambda p=places, s=scores: by_person(p, s, seed)))
        order = np.argsort(places.mean(axis=0), kind="stable")
        shares[str(game)] = [names[i] for i in order], rank_shares(places[:, order], higher_is_better=False)
    if not tables["ranks"]:
        notes.append(f"nobody has given a whole ranking on the page {part.page!r}")
    for name in ("above", "pairs"):
        tables[name] = with_holm(tables[name]) if tables[name] else []
    made = {name: Table.of(rows, TITLES[name]) for name, rows in tables.items() if rows}
    return AnalysisResult(
        part.id,
        part.title or "Ranks",
        made,
        rank_figures(made.get("ranks"), shares, data.colours),
        RANKED,
        tuple(notes),
    )


def compare_ranks(orders: Sequence[Sequence[str]]) -> tuple[Row, list[Row], list[Row]]:
    """Return the test of whether partners differ in rank, the strength of each, and the differences.

    Args:
        orders: Partners from best to worst, one ranking for each person.
    """
    try:
        fit = rank_fit(orders)
    except InterplayError as error:
        return {"people": len(orders), "p": None, "note": str(error)}, [], []
    test = {"people": fit.rankings, "f": fit.test.f, "df1": fit.test.df1, "df2": fit.test.df2, "p": fit.test.p}
    ranked = sorted(fit.strengths.items(), key=lambda item: -item[1].estimate)
    strengths = [
        {"partner": name, "strength": made.estimate, "strength_low": made.low, "strength_high": made.high}
        for name, made in ranked
    ]
    return test, strengths, [{"a": a, "b": b, **estimate_row(made, "difference")} for (a, b), made in fit.pairs.items()]


def _last_of_each(rows: Sequence[Row]) -> list[Row]:
    """Return each person's last ranking, since it may be changed as partners are added."""
    return list({row["person"]: row for row in rows}.values())


def _scores(data: Data, game: str | None, who: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Return [person, partner] mean scores of the games that count; NaN where none was played to its end."""
    by_pair: dict[tuple[str, str], list[float]] = {}
    for row in data.counted():
        if game is None or row["game"] == game:
            by_pair.setdefault((row["person"], row["partner"]), []).append(row["score"])
    return np.array([[np.mean(by_pair[p, n]) if (p, n) in by_pair else np.nan for n in names] for p in who], float)


def _rank_rows(game: str | None, names: Sequence[str], places: np.ndarray, scores: np.ndarray) -> list[Row]:
    overall = np.argsort(np.argsort(places.mean(axis=0), kind="stable"), kind="stable") + 1
    rows = []
    for i in np.argsort(overall):
        known = scores[~np.isnan(scores[:, i]), i]
        first = proportion_interval(int((places[:, i] == 1).sum()), len(places))
        rows.append(
            {
                "game": game, "partner": names[i], "place": int(overall[i]),
                **mean_row(list(places[:, i]), "mean_rank", (1, len(names))),
                "median_rank": float(np.median(places[:, i])),
                "first": first.estimate, "first_low": first.low, "first_high": first.high,
                "last": float(np.mean(places[:, i] == len(names))), "people": len(places),
                **mean_row(list(known), "score"),
            }
        )  # fmt: skip
    return rows


def _agreement(places: np.ndarray) -> Row:
    test = friedman(-places)
    counts = {"people": test.n, "partners": places.shape[1], "w": test.w}
    return {**counts, "chi2": test.chi2, "df": test.df, "p": test.p}


def above(game: str | None, names: Sequence[str], places: np.ndarray) -> list[Row]:
    """Return for each pair of partners how often one is ranked above the other, with a sign test."""
    from scipy.stats import binomtest

    rows = []
    for i, j in combinations(range(len(names)), 2):
        above = int((places[:, i] < places[:, j]).sum())
        share = proportion_interval(above, len(places))
        shares = {"share": share.estimate, "share_low": share.low, "share_high": share.high}
        p = float(binomtest(above, len(places)).pvalue)
        rows.append({"game": game, "partner": names[i], "above": names[j], **shares, "people": len(places), "p": p})
    return rows


def _objective(
    data: Data,
    game: str | None,
    names: Sequence[str],
    places: np.ndarray,
    scores: np.ndarray,
    who: Sequence[str],
    objective: Table | None,
    seed: int,
) -> list[Row]:
    """Return Spearman and Kendall of the mean ranks with the mean scores, and with every given measure."""
    rows = [
        {"agent": name, "measure": measure, "value": table[at, i], "person": person}
        for measure, table in ((HUMAN, places), (SCORE, scores))
        for at, person in enumerate(who)
        for i, name in enumerate(names)
        if not np.isnan(table[at, i])
    ]
    measures = [row for row in objective_rows(data, objective, game) if row["partner"] in names]
    rows += [{"agent": r["partner"], "measure": r["measure"], "value": r["value"], "person": None} for r in measures]
    lower = [HUMAN, *dict.fromkeys(row["measure"] for row in measures if row["lower"])]
    try:
        agreement = rank_agreement(Table.of(rows), seed=seed, own=(), shared=("person",), lower=lower)
    except InterplayError as error:
        return [{"game": game, "note": str(error)}]
    return [{"game": game, **row} for row in agreement.pairs]


def objective_rows(data: Data, objective: Table | None, game: str | None) -> list[Row]:
    """Return the given measures of a study's partners, in one game or in all.

    Agents are named as the study names its partners, or by their registered names.
    """
    if objective is None:
        return []
    names = {agent: partner for partner, agent in data.protocol.partners.items()}
    names |= {partner: partner for partner in data.protocol.partners}
    world = {game, data.protocol.games[game].game} if game in data.protocol.games else {game}
    here = [row for row in objective if row.get("game") in (None, "", *world)]
    return [
        {
            "partner": names[row["agent"]],
            "measure": row["measure"],
            "value": float(row["value"]),
            "lower": row.get("direction") == "lower",
        }
        for row in here
        if row["agent"] in names and row["value"] is not None
    ]


def by_person(places: np.ndarray, scores: np.ndarray, seed: int = 0) -> Row:
    """Return the mean over people of Spearman between ranks and own scores, without people whose scores are equal.

    Some partners are liked better and some partners score better, for whatever reason: people then agree although
    nobody ranks by score. So p exchanges the partners' scores, in one way for all people, and asks how often the mean
    is as far from 0, in standard errors over people: some people may rank by score and others against it.

    Args:
        places: [person, partner] ranks, 1 for the best.
        scores: [person, partner] own scores; NaN where none is known.
        seed: Seed of exchanges where there are too many to try all.
    """
    known = np.array([not np.isnan(row).any() and np.ptp(row) > 0 for row in scores])
    counts = {"people": int(known.sum()), "partners": places.shape[1], "left_out": int((~known).sum())}
    if counts["people"] < 2:
        raise InterplayError(f"{counts['people']} people have scores that differ: too few for a mean")
    ranked, scored = _unit_ranks(-places[known]), _unit_ranks(scores[known])
    made = mean_interval((ranked * scored).sum(axis=1).tolist())
    distances = _distances(ranked, scored, _orders(places.shape[1], seed))
    p = float(np.mean(distances >= distances[0] * (1 - 1e-9)))  # the first order is the partners' own
    return {"spearman": made.estimate, "spearman_low": made.low, "spearman_high": made.high, "p": p, **counts}


def _distances(ranked: np.ndarray, scored: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return for each order of the scores how many standard errors the mean correlation of people is from 0.

    Args:
        ranked: [person, partner] centred ranks of length 1.
        scored: The same of the scores.
        orders: [order, partner] whose scores stand in whose place.
    """
    people, partners = ranked.shape
    means = (ranked.T @ scored / people)[np.arange(partners), orders].sum(axis=1)
    # Of people's products, two and two: the mean of squared correlations, without a loop over people.
    pairs = [(x[:, :, None] * x[:, None, :]).reshape(people, -1) for x in (ranked, scored)]
    places = (orders[:, :, None] * partners + orders[:, None, :]).reshape(len(orders), -1)
    squares = (pairs[0].T @ pairs[1] / people)[np.arange(partners**2), places].sum(axis=1)
    variances = np.maximum(squares - means**2, 0.0) / (people - 1)
    return np.abs(means) / np.maximum(np.sqrt(variances), 1e-9)


def _unit_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of each row, centred and of length 1, so that products of rows are Spearman's correlations."""
    ranks = rankdata(values, axis=1)
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    return ranks / np.linalg.norm(ranks, axis=1, keepdims=True)


@lru_cache(maxsize=32)
def _orders(partners: int, seed: int) -> np.ndarray:
    """All orders of the partners, or the given one and as many drawn ones as make `MOST_ORDERS`."""
    if partners <= 7:
        return np.array(list(permutations(range(partners))))
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(partners) for _ in range(MOST_ORDERS - 1)]
    return np.array([np.arange(partners), *drawn])
