"""Houses by difficulty: generated, solved for every placement of their victims, and kept if the class is certain.

The horizon is the length of the longest joint plan that search finds to treat every victim, over all placements. Within
it help is

    required     the nurse can treat nobody alone, however long she has
    helpful      she can treat some alone, but proved not all in time
    useless      she treats all alone in time

A teammate who comes to the second victim while she treats the first saves her the step of finding it, so that within
the longest joint plan alone help would hardly ever be useless. Houses of that class have 15 % more.

`python -m interplay.games.rescue.difficulty` prints houses of each class as text, for `benchmark.py`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.games.family import LONGEST
from interplay.games.rescue.benchmark import BenchmarkHouse
from interplay.games.rescue.game import Rescue, make
from interplay.games.rescue.generators import Generated, Spec
from interplay.games.rescue.solve import RescueSolver
from interplay.games.rescue.state import DANGER, DOOR, KIT, NURSE, ROLES, WALL, RescueState
from interplay.games.search import SearchResult

REQUIRED, HELPFUL, USELESS = DIFFICULTIES = ("required", "helpful", "useless")
LONG = 400  # steps in which a nurse who treats nobody alone is called helpless
EFFORT = 250_000  # successors looked at in one search
SPREAD = 30  # steps after which fires spread
HIDDEN = 2  # victims of a house; a third place stays empty
SPECS = {
    REQUIRED: Spec(across=2, down=2, victims=3, fires=1, debris=4, kits=1, extinguishers=1),
    HELPFUL: Spec(across=2, down=2, victims=3, fires=2, debris=1, kits=1, extinguishers=1),
    USELESS: Spec(across=3, down=2, victims=3, fires=1, debris=0, kits=2, extinguishers=1),
}
SLACK = {REQUIRED: 1.0, HELPFUL: 1.0, USELESS: 1.15}  # of the horizon, over the longest joint plan


class Solved(NamedTuple):
    """What search found of one placement of the victims.

    Attributes:
        places: Cells of the victims.
        joint: Steps of a joint plan that treats them all; None: none was found.
        joint_bound: No joint plan is shorter.
        alone_first: The nurse's plan to a first victim while the others stand idle.
        alone_all: Her plan to all of them, within the horizon.
    """

    places: tuple[int, ...]
    joint: int | None
    joint_bound: int
    alone_first: SearchResult
    alone_all: SearchResult


def drawn(spec: Spec, seed: int) -> str:
    """Return the text of the house that a seed generates, with a `?` for each place where a victim may lie."""
    plan = Generated(spec)
    start = plan.draw(jax.random.key(seed))
    letters = np.full(plan.width * plan.height, ".")
    terrain = np.asarray(start.terrain)
    for kind, letter in ((WALL, "#"), (DOOR, "+"), (DANGER, "!")):
        letters[terrain == kind] = letter
    letters[np.asarray(start.debris)], letters[np.asarray(start.burning)] = "D", "F"
    letters[np.asarray(start.victim_cell)] = "?"
    for kind, cell in zip(plan.tool_kinds, np.asarray(start.tool_cell)):
        letters[cell] = "K" if kind == KIT else "E"
    for role, cell in zip(plan.roles, np.asarray(start.cell)):
        letters[cell] = ROLES[role][0]
    return "/".join("".join(row) for row in letters.reshape(plan.width, plan.height).T)


def placements(game: Rescue) -> Iterator[RescueState]:
    """Yield the start of every placement of the hidden victims."""
    house: Any = game.plan
    for chosen in itertools.combinations(sorted(house.house.places), house.hidden):
        yield game.init(jax.random.key(0), victim_cell=jnp.array([*house.house.victims, *chosen]))


def plan_for_all(
    game: Rescue, start: RescueState, seat: int | None = None, *, effort: int = EFFORT
) -> np.ndarray | None:
    """Return a plan of all (or of one seat) that treats the victims one after the other; None: none was found."""
    state, parts = start, []
    for number in range(1, game.plan.num_victims + 1):
        if int(np.sum(np.asarray(state.treated_by) >= 0)) >= number:
            continue
        solver = RescueSolver(game, effort=effort, start=state, victims=number)
        part = (solver.together() if seat is None else solver.alone(seat)).actions
        if part is None:
            return None
        for actions in part:
            state, _ = game.step(state, jnp.asarray(actions), None)
        parts.append(part)
    return np.concatenate(parts)


def solve(game: Rescue, start: RescueState, horizon: int, *, joint: int | None = None, effort: int = EFFORT) -> Solved:
    """Search one placement; `joint` is the length of the joint plan where it is known already."""
    (nurse,) = (seat for seat, role in enumerate(game.plan.roles) if role == NURSE)
    long = _with_horizon(game, LONG)
    victims = game.plan.num_victims
    if joint is None:
        plan = plan_for_all(_with_horizon(game, LONGEST), start, effort=effort)
        joint = None if plan is None else len(plan)
    everyone = RescueSolver(long, effort=effort, start=start, victims=victims).bound()
    first = RescueSolver(long, effort=effort, start=start).alone(nurse)
    own = plan_for_all(long, start, nurse, effort=effort) if first.possible else None
    if own is not None and len(own) <= horizon:
        whole = SearchResult(actions=own, lower=0)
    else:
        short = _with_horizon(game, horizon)
        whole = RescueSolver(short, effort=4 * effort, start=start, victims=victims).alone(nurse)
    places = tuple(int(c) for c in np.asarray(start.victim_cell))
    return Solved(places, joint, everyone, first, whole)


def _with_horizon(game: Rescue, horizon: int) -> Rescue:
    return Rescue(game.id, game.plan, horizon=horizon, spread=game.rules.spread, options=game.options)


def difficulty(solved: list[Solved]) -> str | None:
    """Return the class that holds in every placement; None: search left it open, or placements differ."""
    if any(s.joint is None for s in solved):
        return None
    if all(s.alone_first.possible is False for s in solved):
        return REQUIRED
    if not all(s.alone_first.possible for s in solved):
        return None
    whole = {s.alone_all.possible for s in solved}
    return USELESS if whole == {True} else HELPFUL if whole == {False} else None


def assess(text: str, wanted: str) -> BenchmarkHouse | None:
    """Return a house with the horizon of a class; None where it is of another class, or search leaves that open."""
    game = make("", {"house": text, "spread": SPREAD, "hidden": HIDDEN})
    starts = list(placements(game))
    lengths = []
    for start in starts:
        plan = plan_for_all(_with_horizon(game, LONGEST), start)
        if plan is None:
            return None
        lengths.append(len(plan))
    horizon = int(SLACK[wanted] * max(lengths))
    solved = [solve(game, start, horizon, joint=length) for start, length in zip(starts, lengths)]
    return BenchmarkHouse(text, horizon, SPREAD, HIDDEN, max(lengths)) if difficulty(solved) == wanted else None


def main() -> None:
    """Print houses of each class."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", nargs="*", default=DIFFICULTIES, choices=DIFFICULTIES)
    parser.add_argument("--each", type=int, default=2, help="houses of each class")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--tries", type=int, default=40, help="seeds tried for each class")
    args = parser.parse_args()
    for wanted in args.classes:
        spec, number = SPECS[wanted], 0
        for seed in range(args.seed, args.seed + args.tries):
            house = assess(drawn(spec, seed), wanted)
            if house is None:
                continue
            number += 1
            print(f'    "{wanted}_{number}": {house},  # seed {seed}', flush=True)
            if number == args.each:
                break


if __name__ == "__main__":
    main()
