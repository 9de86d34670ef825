"""BR-Prox with a panel: what an agent gets with each partner, over what the partner's best response gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.partners.panel import Panel, PanelMember
from interplay.stats.brprox.summary import BRProx, br_prox
from interplay.table import Row, Table


def proximity(panel: Panel, game: Game, played: Iterable[tuple[str, int, Table]], seed: int) -> BRProx | None:
    """BR-Prox of one or several agents; None where the panel has no ruler for this game.

    `played` are (algorithm, number of its training seed, values), values with a row per episode: partner,
    seat_of_agent, episode, score. Seats in which no best response scores are left out, as the panel has no ruler there.
    """
    if not panel.has_best_response_returns(game):
        return None
    members = {m.agent.name: m for m in panel.members}
    rows = [
        _return(members[row["partner"]], row) | {"algorithm": algorithm, "seed": number}
        for algorithm, number, values in played
        for row in values
        if members[row["partner"]].response(row["seat_of_agent"]) is not None
    ]
    if not rows:
        raise InterplayError(f"the panel {panel.name} has no best responses; grade with another one")
    return br_prox(rows, _best_response_rows(panel), seed=seed, propagate=True)


def unit(member: PanelMember) -> str:
    """The partner that a member is a skill of: two skills of one candidate are no independent partners."""
    return member.agent.name if member.skill is None else member.agent.name.removesuffix(f".{member.skill}")


def by_cell(panel: Panel, result: BRProx) -> dict[tuple[str, int], Row]:
    """The ratio of every partner and seat, of the one agent that was measured."""
    names = {(unit(m), m.skill): m.agent.name for m in panel.members}
    return {(names[row["partner"], row["skill"]], int(row["ego_seats"])): row for row in result.cells}


def _return(member: PanelMember, row: Mapping[str, Any]) -> Row:
    return {
        "partner": unit(member),
        "skill": member.skill,
        "ego_seat": row["seat_of_agent"],
        "episode": row["episode"],
        "return": row["score"],
        "self_play_return": member.self_play.mean if member.self_play else None,
    }


def _best_response_rows(panel: Panel) -> list[Row]:
    return [
        {
            "partner": unit(member),
            "skill": member.skill,
            "ego_seat": response.seat,
            "return": response.worth.mean,
            "low": response.worth.low,
            "high": response.worth.high,
        }
        for member in panel.members
        for response in member.responses
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
