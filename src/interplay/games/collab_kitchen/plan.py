"""Plans for a team: who does what, where and after whom, from any state of the kitchen.

With up to two ingredients the plan is the shortest there is; with three it comes from a search that keeps only the most
advanced kitchens of each step. Of more than two cooks the best two work.
"""

from __future__ import annotations

import functools
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from interplay.errors import InterplayError
from interplay.games.collab_kitchen import rules
from interplay.games.collab_kitchen.action_parser import Macro
from interplay.games.collab_kitchen.dishes import DISHES, INGREDIENTS, Dish, process, raw
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import Station
from interplay.games.collab_kitchen.macros import next_primitive
from interplay.games.collab_kitchen.paths import make_way
from interplay.games.collab_kitchen.rules import CompletedAction, KitchenRules
from interplay.games.collab_kitchen.search import Search, SearchPlan
from interplay.games.collab_kitchen.state import FIRST_INGREDIENT, STAY, KitchenState

WIDTH = 3  # worlds that the quick search keeps at each stage of a recipe
WIDTH_SMALL = 10  # the same where there are few joint poses, as in separate rooms
FEW_POSES = 2048
EXACT_LIMIT = 150_000  # joint poses


class PlannedSubtask(NamedTuple):
    """A macro action of a plan, carried out by `next_primitive(game, state, seat, macro, at)`.

    `after` is the (seat, index in that seat's queue) of what another cook has to do there before.
    """

    macro: Macro
    at: Station
    t: int  # the step in which the plan completes it
    after: tuple[int, int] | None


class KitchenTeamPlan(NamedTuple):
    """A plan for all seats: in macro actions, a queue for each, and in primitive steps."""

    queues: tuple[tuple[PlannedSubtask, ...], ...]  # by seat
    actions: Int[np.ndarray, "step seat"]
    lower: int  # no plan is shorter

    @property
    def shortest(self) -> bool:
        """Whether this plan is proved to be the shortest."""
        return len(self.actions) == self.lower


def plan_team(game: Kitchen, state: KitchenState, seats: tuple[int, ...] | None = None) -> KitchenTeamPlan:
    """Return a plan from here to the delivered dish.

    Args:
        game: The kitchen.
        state: The state to start from.
        seats: Who acts, one or two of all, while the others stand where they are; None: the best two.

    Raises:
        InterplayError: The seats are wrong, or no plan is found.
    """
    if seats is not None and (
        not 1 <= len(set(seats)) == len(seats) <= 2 or not set(seats) <= set(range(game.num_seats))
    ):
        raise InterplayError(f"seats: {seats!r}; one or two different seats of 0 to {game.num_seats - 1} can act")
    plan = _cached_plan(game.rules, state._replace(time=0), None if seats is None else tuple(sorted(set(seats))))
    if plan.actions is None:
        who = "the team" if seats is None else " and the ".join(game.seat_names[seat] for seat in seats)
        raise InterplayError(
            f"{game.id}: no plan of {who} to {game.dish.name!r} from step {state.time} on; something may be out of "
            "reach, or somebody stands in the way"
        )
    return KitchenTeamPlan(_queues(game, state, plan.actions), plan.actions, plan.lower or 0)


@functools.lru_cache(maxsize=512)
def _cached_plan(constants: KitchenRules, state: KitchenState, active: tuple[int, ...] | None) -> SearchPlan:
    fresh = state.world.taken == 0
    alike = _like(constants.dish) if fresh else constants.dish
    if alike.name != constants.dish.name:
        plan = _cached_plan(constants._replace(dish=alike), state, active)
        return plan._replace(actions=_renamed(plan.actions, alike, constants.dish))
    seats = range(len(constants.roles))
    pairs = [active] if active is not None else list(combinations(seats, 2)) or [(0,)]
    plans = [search_plan(constants, state, pair) for pair in pairs]
    best = min(plans, key=lambda p: len(p.actions) if p.actions is not None else constants.horizon + 1)
    return best if len(pairs) == 1 else best._replace(lower=0)  # what two of three cannot do, three might


def search_plan(constants: KitchenRules, state: KitchenState, active: tuple[int, ...]) -> SearchPlan:
    """Search a plan of these seats, the others standing by: exact for one or two ingredients, else quick."""
    most = 2 * constants.horizon
    if len(raw(constants.dish.food)) <= 2:
        plan = Search(constants, state, active).exact(most, EXACT_LIMIT)
        if plan.actions is not None or plan.lower is None:
            return plan
    search = Search(constants, state, active, thorough=False)
    return search.quick(most, WIDTH_SMALL if len(search.floor.after) <= FEW_POSES else WIDTH)


def shape(food: str) -> str:
    """Return what is done to make a food, whatever it is made of."""
    made = process(food)
    if made is None:
        return "?"
    return f"{made.kind.makes}({'+'.join(sorted(map(shape, made.inputs)))})"


def _leaves(food: str) -> list[str]:
    """Return the ingredients in the order of the shape."""
    made = process(food)
    return [food] if made is None else [leaf for part in sorted(made.inputs, key=shape) for leaf in _leaves(part)]


def _like(dish: Dish) -> Dish:
    """Return the first dish that is made in the same way: its plans are this one's, with other ingredients."""
    return next((d for d in DISHES.values() if shape(d.food) == shape(dish.food)), dish)


def _renamed(actions: np.ndarray | None, of: Dish, to: Dish) -> np.ndarray | None:
    if actions is None:
        return None
    names = dict(zip(_leaves(of.food), _leaves(to.food), strict=True))
    number = {
        FIRST_INGREDIENT + INGREDIENTS.index(a): FIRST_INGREDIENT + INGREDIENTS.index(b) for a, b in names.items()
    }
    return np.vectorize(lambda a: number.get(a, a), otypes=[np.int32])(actions)


def _queues(game: Kitchen, state: KitchenState, actions: np.ndarray) -> tuple[tuple[PlannedSubtask, ...], ...]:
    queues: list[list[PlannedSubtask]] = [[] for _ in game.roles]
    last: dict[Station, tuple[int, int]] = {}
    for t, joint in enumerate(actions):
        state, completed = rules.advance(game.rules, state, tuple(int(a) for a in joint))
        for act in completed:
            before = last.get(act.station)
            waits = before is not None and before[0] != act.seat
            queues[act.seat].append(PlannedSubtask(macro_of(act), act.station, t, before if waits else None))
            if act.station.letter not in "IDS":
                last[act.station] = (act.seat, len(queues[act.seat]) - 1)
    return tuple(tuple(queue) for queue in queues)


def macro_of(act: CompletedAction) -> Macro:
    """Return the macro action that an act completes, its place spelled out."""
    x, y = act.station.cell
    place = f"counter({x},{y})" if act.station.letter == "X" else act.station.name
    return Macro(act.verb, act.object if act.verb == "pickup" else None, place)


class Follower:
    """A team that carries out a plan: `act(seat, state)` gives a seat's next primitive, called once a step.

    While all goes as planned these are the plan's own steps; if not, the queues are carried out, each act after those
    that it has to wait for.
    """

    def __init__(self, game: Kitchen, plan: KitchenTeamPlan, state: KitchenState):
        self.game, self.plan, self.begun = game, plan, state.time
        self.done = [0] * game.num_seats  # how much of its queue each seat has done
        self.expected = [state]
        for joint in plan.actions[:-1]:
            self.expected.append(rules.advance(game.rules, self.expected[-1], tuple(map(int, joint)))[0])

    def current(self, seat: int) -> PlannedSubtask | None:
        """Return what a seat is about to do; None: nothing any more."""
        queue = self.plan.queues[seat]
        return queue[self.done[seat]] if self.done[seat] < len(queue) else None

    def act(self, seat: int, state: KitchenState) -> int:
        """Return a seat's next primitive."""
        step, current = state.time - self.begun, self.current(seat)
        if step < len(self.expected) and state == self.expected[step]:
            self.done[seat] += current is not None and current.t == step
            return int(self.plan.actions[step][seat])
        if current is None:
            return make_way(self.game.layout, state, seat)
        following = next_primitive(self.game, state, seat, current.macro, current.at)
        if not following.done:
            return following.action
        if current.after is not None and self.done[current.after[0]] <= current.after[1]:
            return STAY
        self.done[seat] += 1
        return following.action
