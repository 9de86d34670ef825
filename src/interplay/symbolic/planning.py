"""Planning models: a game as typed, spatial PDDL that a planner can solve, and plans played on the game's rules.

A model is generated from the game: where one can walk, what lies beside what, tools where they lie. One agent acts at a
time; walking, turning and interacting take a step each, as in the game. What the model leaves out (time in which a soup
cooks, teammates acting at once, fires that spread) is named by the model, and is why a planner's optimum bounds ours
from below while its plan, played, bounds ours from above.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.pddl_task import PlanAction, PlanningTask
from interplay.games.registry import capability
from interplay.games.search import SearchResult
from interplay.rollout.episode import Episode
from interplay.symbolic.certify import solver
from interplay.symbolic.pddl import export
from interplay.symbolic.read import symbolic_trace
from interplay.table import Row
from interplay.traces.replay import game_of

SECONDS = 45  # of one search
OPTIMAL, ANY = "astar(lmcut())", "lazy_greedy([ff()], preferred=[ff()])"


class PlanningModel(Protocol):
    """A game's planning model; its family offers it as `Model(game)`."""

    leaves_out: str  # in words

    def task(self, seats: Sequence[int]) -> PlanningTask:
        """Return the task of the game in which these seats act, and the others stand where they start."""
        ...

    def action(self, name: str, arguments: Sequence[str]) -> PlanAction:
        """Return what an action of the task is in the game."""
        ...


class Planned(NamedTuple):
    """What Fast Downward found.

    Attributes:
        solvable: None where the time was up.
        plan: The actions, each a name with its arguments.
        cost: Steps of the plan in the model.
        optimal: Whether the cost is proved to be the least.
    """

    solvable: bool | None
    plan: tuple[tuple[str, ...], ...] = ()
    cost: int | None = None
    optimal: bool = False


def planning_model(game: Game) -> PlanningModel:
    """Return the planning model that a game's family declares.

    Raises:
        InterplayError: It declares none.
    """
    model = capability(game, "planning_model")
    if model is None:
        raise InterplayError(f"{game.id} has no planning model: its family names none (planning_model)")
    return model(game)


def fast_downward(task: PlanningTask, *, optimal: bool = True, seconds: int = SECONDS) -> Planned:
    """Solve a task with Fast Downward.

    Args:
        task: The task.
        optimal: Search for the least cost (A* with LM-cut); else for any plan.
        seconds: Time limit of the search.

    Raises:
        InterplayError: Fast Downward is not installed, or it refuses the task.
    """
    try:
        import up_fast_downward
    except ImportError:
        raise InterplayError("Fast Downward is not installed; run: pip install 'interplay[planning]'") from None
    driver = Path(up_fast_downward.__file__).parent / "downward" / "fast-downward.py"
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "domain.pddl").write_text(task.domain)
        (where / "problem.pddl").write_text(task.problem)
        limits = ["--search-time-limit", f"{seconds}s", "--plan-file", "plan"]
        search = ["domain.pddl", "problem.pddl", "--search", OPTIMAL if optimal else ANY]
        command = [sys.executable, str(driver), *limits, *search]
        done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
        plan = where / "plan"
        if plan.is_file():
            return _read_plan(plan.read_text(), optimal)
    if done.returncode in (10, 11, 12):  # translated or searched: unsolvable, or all that this search looks at
        return Planned(False)
    if done.returncode in (20, 21, 22, 23, 24):  # out of memory or time
        return Planned(None)
    raise InterplayError(f"Fast Downward refused the task ({done.returncode}): {(done.stderr or done.stdout)[-400:]}")


def _read_plan(text: str, optimal: bool) -> Planned:
    lines = [line for line in text.splitlines() if line.startswith("(")]
    cost = re.search(r"; cost = (\d+)", text)
    actions = tuple(tuple(line.strip("()").split()) for line in lines)
    return Planned(True, actions, int(cost[1]) if cost else len(actions), optimal)


def played(game: Game, model: PlanningModel, plan: Iterable[Sequence[str]], reached: Any) -> int | None:
    """Play a plan on the game's rules, one agent at a time, and return the steps until the goal.

    Args:
        game: The game.
        model: Whose plan it is.
        plan: Names with arguments.
        reached: Function of the state and the step, as a solver's.

    Returns:
        The number of steps; None where the plan does not reach the goal in an episode.
    """
    key = jax.random.key(0)
    state, steps = game.init(key), 0
    idle = next(game.action_names.index(n) for n in ("stay", "noop") if n in game.action_names)
    step = jax.jit(game.step)

    def joint(seat: int | None, action: int) -> Any:
        actions = np.full(game.num_seats, idle, np.int32)
        if seat is not None:
            actions[seat] = action
        return jnp.asarray(actions)

    for name, *arguments in plan:
        one = model.action(name, arguments)
        while one.wait is not None and one.wait(state) and steps < game.horizon:
            state, _ = step(state, joint(None, idle), key)
            steps += 1
        for action in one.actions:
            state, result = step(state, joint(one.seat, action), key)
            steps += 1
            if reached(state, result):
                return steps
            if steps >= game.horizon:
                return None
    return None


def cross_check(game: Game, *, seconds: int = SECONDS) -> list[Row]:
    """Compare a game's certificate with Fast Downward: who can reach the goal, and in how many steps.

    Alone, the least cost of the model bounds our plan from below, and the planner's plan, played, from above. Together,
    a joint plan of n steps holds at most n actions of each seat, so the least cost divided by the seats bounds ours.

    Args:
        game: The game; its family declares a solver and a planning model.
        seconds: Of each search.

    Returns:
        A row for each seat alone and for all together; `agrees` is None where neither says anything of the other.
    """
    search, model = solver(game), planning_model(game)
    everyone = tuple(range(game.num_seats))
    groups: list[tuple[int, ...]] = [*((seat,) for seat in everyone), everyone]
    rows = []
    for seats in groups:
        first, several = min(seats), len(seats) > 1
        ours = search.together() if several else search.alone(first)
        task = model.task(seats)
        theirs = fast_downward(task, seconds=seconds)
        if theirs.solvable is None:
            theirs = fast_downward(task, optimal=False, seconds=seconds)
        steps = played(game, model, theirs.plan, search.reached) if theirs.plan else None
        who = "all together" if several else f"{game.seat_names[first]} alone"
        row: Row = {
            "game": game.id,
            "who": who,
            "ours": ours.length,
            "our_bound": ours.lower,
            "possible": ours.possible,
        }
        row |= {"planner_solvable": theirs.solvable, "planner_cost": theirs.cost, "planner_optimal": theirs.optimal}
        rows.append(row | {"planner_played": steps, "agrees": _agrees(ours, theirs, steps, len(seats))})
    return rows


def _agrees(ours: SearchResult, theirs: Planned, steps: int | None, seats: int) -> bool | None:
    """Return whether two results can both be true; None where they say nothing of each other."""
    if ours.possible is None or theirs.solvable is None:
        return None
    if ours.possible != theirs.solvable:
        return False
    if not ours.possible:
        return True
    assert ours.length is not None
    assert ours.lower is not None
    below = not theirs.optimal or theirs.cost is None or theirs.cost <= seats * ours.length
    return below and (steps is None or ours.lower <= steps)


def write_pddl(game: Game, folder: str | Path) -> list[Path]:
    """Write a game's planning task (all seats act) into a folder, and return the files."""
    task, where = planning_model(game).task(range(game.num_seats)), Path(folder)
    return _write(where, {"domain.pddl": task.domain, "problem.pddl": task.problem})


def write_episode(episode: Episode, folder: str | Path) -> list[Path]:
    """Write an episode as PDDL: the plan that was played, and the game's planning task where it has one.

    Args:
        episode: Of a game with a symbolic domain.
        folder: `domain.pddl`, `problem.pddl` and `plan.txt` validate the plan; `task/` holds the planning task.

    Returns:
        The files.
    """
    game = game_of(episode)
    made = export(symbolic_trace(game, episode), name=game.id.replace("/", "-"))
    where = Path(folder)
    paths = _write(where, {"domain.pddl": made.domain, "problem.pddl": made.problem, "plan.txt": made.plan})
    return paths + (write_pddl(game, where / "task") if capability(game, "planning_model") else [])


def _write(folder: Path, texts: dict[str, str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
