"""BR-Prox with a panel: what an agent gets with each partner, over what the partner's best response gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.partners.panel import SET_JOIN, Panel, PartnerSet
from interplay.stats.brprox.summary import BRProx, br_prox
from interplay.table import Row, Table


def proximity(panel: Panel, game: Game, played: Iterable[tuple[str, int, Table]], seed: int) -> BRProx | None:
    """BR-Prox of one or several agents; None where the panel has no best responses in this game.

    `played` are (algorithm, number of its training seed, values), values with a row per episode: partner,
    seat_of_agent, episode, score. Seats in which no best response scores are left out.
    """
    if not panel.has_best_response_returns(game):
        return None
    sets = {panel.name_of(beside): beside for beside in panel.partner_sets(game.num_seats)}
    rows = [
        _return(panel, sets[row["partner"]], row) | {"algorithm": algorithm, "seed": number}
        for algorithm, number, values in played
        for row in values
        if sets[row["partner"]].response(row["seat_of_agent"]) is not None
    ]
    if not rows:
        raise InterplayError(f"the panel {panel.name} has no best responses; grade with another one")
    return br_prox(rows, _best_response_rows(panel, sets.values()), seed=seed, propagate=True)


def set_unit(panel: Panel, beside: PartnerSet) -> tuple[str, str | None]:
    """The name and skill of a set of partners in tables of BR-Prox: a|b with mid|final where the panel has sets."""
    return SET_JOIN.join(panel.base_names_of(beside)), panel.skills_of(beside)


def by_cell(panel: Panel, result: BRProx) -> dict[tuple[str, int], Row]:
    """The ratio of every partner (or set of partners) and seat, of the one agent that was measured."""
    sets = panel.sets or [PartnerSet((i,)) for i in range(len(panel.members))]
    names = {set_unit(panel, beside): panel.name_of(beside) for beside in sets}
    return {(names[row["partner"], row["skill"]], int(row["ego_seats"])): row for row in result.cells}


def _return(panel: Panel, beside: PartnerSet, row: Mapping[str, Any]) -> Row:
    partner, skill = set_unit(panel, beside)
    own = [panel.members[i].self_play for i in beside.numbers]
    known = [estimate.mean for estimate in own if estimate is not None]
    return {
        "partner": partner,
        "skill": skill,
        "ego_seat": row["seat_of_agent"],
        "episode": row["episode"],
        "return": row["score"],
        "self_play_return": sum(known) / len(known) if len(known) == len(own) else None,
    }


def _best_response_rows(panel: Panel, sets: Iterable[PartnerSet]) -> list[Row]:
    return [
        {
            **dict(zip(("partner", "skill"), set_unit(panel, beside), strict=True)),
            "ego_seat": response.seat,
            "return": response.worth.mean,
            "low": response.worth.low,
            "high": response.worth.high,
        }
        for beside in sets
        for response in beside.responses
    ]


def headline(result: BRProx, algorithm: str) -> Row:
    """The numbers of one algorithm that a grade shows."""
    row = next(r for r in result.summary if str(r["algorithm"]) == algorithm)
    return {
        "br_prox": row["honest_iqm"],
        "br_prox_low": row["honest_low"],
        "br_prox_high": row["honest_high"],
        "br_prox_expert": row["expert_honest_iqm"],
        "br_prox_moderate": row["moderate_honest_iqm"],
        "br_prox_expert_by_response": row["expert_by_response_honest_iqm"],
        "br_prox_moderate_by_response": row["moderate_by_response_honest_iqm"],
        "above_best_response": row["above_share"],
        "beyond_noise": row["n_beyond_noise"],
    }
