"""Decide whether a kitchen requires cooperation, by exact searches for each cook alone and for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Step
from interplay.games.collab_kitchen import layouts
from interplay.games.collab_kitchen.dishes import KINDS, parts, process
from interplay.games.collab_kitchen.floor import FAR, floor_of
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import PLACES
from interplay.games.collab_kitchen.plan import WIDTH_SMALL, plan_team
from interplay.games.collab_kitchen.search import Search, SearchPlan
from interplay.games.collab_kitchen.state import KitchenState
from interplay.games.search import SearchResult

LIMIT = 800_000  # joint poses to look at before giving up on a proof


class KitchenSolver:
    """Searches for plans to the delivered dish."""

    def __init__(self, game: Kitchen, limit: int = LIMIT):
        self.game, self.limit = game, limit
        self.goal = f"{game.dish.name} delivered"

    def reached(self, state: KitchenState, step: Step) -> bool:
        """Return whether the dish is delivered."""
        return state.world.delivered is not None

    def alone(self, seat: int) -> SearchResult:
        """Search a plan of one cook; the others stand where they start, in the way or not."""
        return self._solo(self.game, seat)

    def unhindered(self, seat: int) -> SearchResult:
        """Search a plan of one cook in a kitchen without the others."""
        game, _ = self.by_itself(seat)
        if game is self.game:
            return SearchResult(actions=None, lower=None, why=self._why_not(self.game, seat, hindered=False))
        return self._solo(game, 0)

    def by_itself(self, seat: int) -> tuple[Kitchen, Mapping[str, Any]]:
        """Return the kitchen with this cook only; the game itself if the cook could not do anything there."""
        rows = []
        for row in self.game.layout.text.split("/"):
            rows.append("".join(_only(letter, seat) for letter in row))
        role = self.game.roles[seat]._replace(knows_recipe=True)
        try:
            layout = layouts.parse("/".join(rows))
            options = {"layout": layout.text, "dish": self.game.dish.name, "roles": [role.data]}
            return Kitchen(
                "kitchen/custom", layout, self.game.dish, [role], horizon=self.game.horizon, options=options
            ), {}
        except InterplayError:
            return self.game, {}

    def together(self) -> SearchResult:
        """Search a joint plan. Of more than two cooks two act, so that their plan is valid, but bounds nothing."""
        game, state = self.game, self.game.init()
        if game.num_seats == 1:
            return self._solo(game, 0)
        known = plan_team(game, state)
        if known.shortest or game.num_seats > 2:
            return SearchResult(actions=known.actions, lower=max(known.lower, 1))
        search = Search(game.rules, state, (0, 1))
        better = search.exact(game.horizon, self.limit, below=len(known.actions))
        best = known.actions if better.actions is None else better.actions
        return SearchResult(actions=best, lower=better.lower, expanded=better.expanded)

    def _solo(self, game: Kitchen, seat: int) -> SearchResult:
        why = self._why_not(game, seat)
        if why:
            return SearchResult(actions=None, lower=None, why=why)
        plan = self._searched(Search(game.rules, game.init(), (seat,)), game)
        return SearchResult(actions=plan.actions, lower=plan.lower, expanded=plan.expanded)

    def _searched(self, search: Search, game: Kitchen) -> SearchPlan:
        plan = search.exact(game.horizon, self.limit)
        if plan.actions is None and plan.lower is not None:
            quick = Search(game.rules, game.init(), search.active, thorough=False).quick(game.horizon, WIDTH_SMALL)
            return plan._replace(actions=quick.actions)
        return plan

    def _why_not(self, game: Kitchen, seat: int, hindered: bool = True) -> str:
        """Return what a cook cannot do without which there is no dish; empty if nothing."""
        made = [process(food) for food in parts(game.dish.food)]
        kinds = {m.kind for m in made if m is not None}
        letters = ["I", *(letter for letter, kind in KINDS.items() if kind in kinds), *("D" * game.dish.plated), "S"]
        verbs = [v for v in (*(k.verb for k in kinds), "deliver") if v not in game.roles[seat].verbs]
        if verbs:
            return f"this role may not {' or '.join(sorted(verbs))}"
        if hindered:
            steps = floor_of(game.layout, game.init().cooks, (seat,)).first.steps.min(axis=0)
            near = {s.letter for s, distance in zip(game.layout.stations, steps) if distance < FAR}
        else:
            near = {s.letter for s in game.layout.stations if game.layout.reaches(seat, s)}
        far = [PLACES[letter] for letter in letters if letter not in near]
        return f"this cook cannot reach the {' or the '.join(far)}" if far else ""


def _only(letter: str, seat: int) -> str:
    if not letter.isdigit():
        return letter
    return "1" if int(letter) == seat + 1 else layouts.FLOOR
