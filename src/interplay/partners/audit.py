"""Is a panel's best response the best that is known? Every known agent plays with every partner in every seat."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.partners.best_responses import Evaluation, ReturnCell, agent_of, exceeding
from interplay.partners.describe import set_descriptions
from interplay.partners.evaluate import PolicyStack
from interplay.partners.known import policy_stacks
from interplay.partners.panel import Panel
from interplay.partners.reward_space import least_return
from interplay.table import Row, Table

COLUMNS = ("partner", "prefers", "seat", "best_response", "best_return", "agent", "return", "low", "high", "p")


def audit(
    panel: Panel, game: Game, agents: Sequence[Agent], *, trial: int = 20, episodes: int = 200, seed: int = 0
) -> Table:
    """The cells of a panel in which a known agent does better than the best response, beyond noise.

    Args:
        panel: A panel with best responses for this very game.
        game: The game.
        agents: Whom to try; the panel's own partners and best responses are tried, too.
        trial: Episodes of every agent with every partner in every seat.
        episodes: Fresh episodes of the agents that did better in the trial, whose mean is then tested (Welch's test,
            Holm's correction over all of them).
        seed: Of all episodes; another seed than that of the panel's making plays other ones.

    Returns:
        A row for each such cell; none means that no known agent is above any best-response return beyond noise.

    Raises:
        InterplayError: if the panel has no best responses for this game.
    """
    if not panel.has_best_response_returns(game):
        raise InterplayError(f"the panel {panel.name} has no best responses for {game.id} with these options")
    sets = panel.partner_sets(game.num_seats)
    own = {a.name: a for m in panel.members for a in (m.agent, *(r.agent for r in m.responses))}
    own |= {r.agent.name: r.agent for one in panel.sets for r in one.responses}
    named = {a.name for a in agents}
    stacks = policy_stacks(game, [*agents, *(a for name, a in own.items() if name not in named)])
    partners = PolicyStack.of_agents(game, list(panel.partners))
    beside = tuple(one.numbers for one in panel.sets)
    evaluation = Evaluation(game, partners, trial, episodes, seed + 7000, sets=beside)
    best = {ReturnCell(p, r.seat): r for p, one in enumerate(sets) for r in one.responses}
    least = panel.provenance.get("config", {}).get("least_return", least_return(game))
    returns = evaluation.trial(stacks, seed=0)
    worth = {cell: response.worth for cell, response in best.items()}
    above = exceeding(evaluation, stacks, returns, worth, seed=100, least=least)
    about = set_descriptions(panel)
    rows: list[Row] = []
    for one in sorted(above, key=lambda one: one.cell):
        response, name = best.get(one.cell), panel.name_of(sets[one.cell.partner])
        rows.append(
            {
                "partner": name,
                "prefers": about[name]["prefers"],
                "seat": one.cell.seat,
                "best_response": response.agent.name if response else None,
                "best_return": response.worth.mean if response else None,
                "agent": agent_of(stacks, one.agent).name,
                "return": one.worth.mean,
                "low": one.worth.low,
                "high": one.worth.high,
                "p": one.p,
            }
        )
    return Table.of(rows, "Known agents above a best response, beyond noise", columns=list(COLUMNS))
