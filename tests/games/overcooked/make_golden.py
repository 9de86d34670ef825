"""Readable playthroughs of every shipped kitchen: a change of rules shows up as a readable diff.

`python -m tests.games.overcooked.make_golden` writes them again. The actions in a file are kept; a kitchen that has no
file yet gets new ones from a seeded numpy generator.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import jax
import numpy as np

import interplay
from interplay.games.checksum import checksum
from interplay.games.overcooked.game import variants
from interplay.games.overcooked.interact import EFFECTIVE
from interplay.games.overcooked.state import ACTIONS, COUNTER, DISHES, FLOOR, INTERACT, NUM_ITEMS, POT, OvercookedState

FOLDER = Path(__file__).parent / "golden"
STEPS = 60
COMPASS = "NSEW"


def playthrough(name: str, actions: np.ndarray) -> str:
    """An episode as text: who stands where with what, what lies where, what was done and what came of it.

    In numbers, not in drawings, which may change: `(x, y) facing held` of each chef, `(x, y) item timer` of each cell
    that holds something or cooks. Items and timers are explained in interplay.games.overcooked.state.
    """
    game = interplay.make(f"overcooked/{name}")
    step = jax.jit(lambda state, joint: game.step(state, joint, None))
    state = game.init(None)
    lines = [
        f"game: {game.id}",
        f"rules: {game.rules_version}",
        f"layout: {game.layout.text}",
        f"menu: {json.dumps(vars(game.menu), sort_keys=True)}",
        "",
        *described(game, state, 0),
    ]
    for t, joint in enumerate(actions):
        state, out = step(state, joint)
        lines.append(f"  do: {', '.join(ACTIONS[a] for a in joint)}")
        for seat, counts in enumerate(np.asarray(out.events)):
            happened = [n if c == 1 else f"{n} x{c}" for n, c in zip(game.event_names, counts, strict=True) if c]
            if happened:
                lines.append(f"  {game.seat_names[seat]}: {', '.join(happened)}")
        for what in ("reward", "shaped"):
            values = np.asarray(getattr(out, what))
            if values.any():
                lines.append(f"  {what}: {', '.join(f'{v:g}' for v in values)}")
        lines += ["", *described(game, state, t + 1)]
    lines += [f"  terminated {bool(out.terminated)}, truncated {bool(out.truncated)}", f"  checksum {checksum(state)}"]
    return "\n".join(lines) + "\n"


def described(game, state, t: int) -> list[str]:
    layout, cells = game.layout, np.asarray(state.cell)
    chefs = [f"{layout.xy(int(c))} {COMPASS[f]} {h}" for c, f, h in zip(cells, state.facing, state.held, strict=True)]
    lines = [f"t {t}", f"  chefs: {'; '.join(chefs)}"]
    items, timers = np.asarray(state.items), np.asarray(state.timer)
    things = [f"{layout.xy(c)} {items[c]} {timers[c]}" for c in np.flatnonzero((items != 0) | (timers != -1))]
    return [*lines, f"  cells: {'; '.join(things)}"] if things else lines


def recorded_actions(text: str) -> np.ndarray:
    """The joint actions that a playthrough tells."""
    joint = [line.split(", ") for line in re.findall(r"^  do: (.*)$", text, re.MULTILINE)]
    return np.array([[ACTIONS.index(name) for name in names] for names in joint], np.int32)


def new_actions(name: str, tries: int = 40) -> np.ndarray:
    """Pseudo-random play with a purpose: chefs walk to places where an interact would do something, and do it.

    Blind random actions would hardly ever fill a pot in 60 steps. One in ten is blind, for odd cases. Of some tries the
    one with most deliveries, then plated soups, then filled pots is told.
    """
    game = interplay.make(f"overcooked/{name}")
    step = jax.jit(lambda state, joint: game.step(state, joint, None))
    places = [game.event_names.index(event) for event in ("delivery", "SOUP_PICKUP", "PLACEMENT_IN_POT")]
    best: tuple[list[int], list[list[int]]] = ([], [])
    for seed in range(tries):
        rng, state, taken, count = np.random.default_rng([seed, *name.encode()]), game.init(None), [], np.zeros(3, int)
        for _ in range(STEPS):
            view = OvercookedState(**{field: np.asarray(value) for field, value in vars(state).items()})
            joint = [purposeful(game, view, seat, rng) for seat in range(game.num_seats)]
            state, out = step(state, np.array(joint, np.int32))
            count += np.asarray(out.events).sum(axis=0)[places]
            taken.append(joint)
        best = max(best, (count.tolist(), taken), key=lambda found: found[0])
    return np.array(best[1], np.int32)


def purposeful(game, state, seat: int, rng: np.random.Generator) -> int:
    pose = int(state.cell[seat]), int(state.facing[seat])
    if rng.random() < 0.1:
        return int(rng.integers(len(ACTIONS)))
    if would_work(game, state, seat, *pose) and rng.random() < odds(game, state, seat):
        return INTERACT
    moves = [walk(game, state, seat, counters, rng) for counters in (False, True)]
    return next((move for move in moves if move is not None), int(rng.integers(len(ACTIONS))))


def would_work(game, state, seat: int, cell: int, facing: int) -> bool:
    """Whether an interact from this pose would change anything."""
    front = game.kitchen.front[cell * 4 + facing]
    timer = state.timer[front]
    phase = 0 if timer < 0 else 1 if timer > 0 else 2
    place = ((game.kitchen.terrain[front] * NUM_ITEMS + state.items[front]) * 3 + phase) * NUM_ITEMS + state.held[seat]
    return bool(game.kitchen.table.packed[place] & EFFECTIVE)


def odds(game, state, seat: int) -> float:
    """How likely a possible interact is done: dishes are for soups, and counters for hand-overs."""
    front = game.kitchen.front[state.cell[seat] * 4 + state.facing[seat]]
    cooking = bool((state.timer >= 0).any())
    alone = walk(game, state, seat, False, np.random.default_rng(0)) is None
    kind = int(game.kitchen.terrain[front])
    if kind == POT and not state.held[seat]:
        return 0.3  # cooking may wait for more ingredients
    return {COUNTER: 0.9 if alone else 0.1, DISHES: 0.9 if cooking else 0.1}.get(kind, 1.0)


def walk(game, state, seat: int, counters: bool, rng: np.random.Generator) -> int | None:
    """The first move towards the nearest pose in which an interact would do something; None if there is none."""
    layout, start = game.layout, (int(state.cell[seat]), int(state.facing[seat]))
    cooking = bool((state.timer >= 0).any())
    first: dict[tuple[int, int], int] = {start: -1}
    queue = [start]
    for cell, facing in queue:
        kind = int(game.kitchen.terrain[game.kitchen.front[cell * 4 + facing]])
        wanted = kind == COUNTER if counters else kind != COUNTER and (kind != DISHES or cooking)
        if (cell, facing) != start and wanted and would_work(game, state, seat, cell, facing):
            return first[cell, facing]
        for direction in rng.permutation(4).tolist():
            near = layout.neighbour(cell, direction)
            goes = near is not None and layout.terrain[near] == FLOOR
            after = (near if goes else cell, direction)
            if after not in first:
                first[after] = direction if (cell, facing) == start else first[cell, facing]
                queue.append(after)
    return None


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in variants():
        path = FOLDER / f"{name}.txt"
        actions = recorded_actions(path.read_text()) if path.exists() else new_actions(name)
        text = playthrough(name, actions)
        changed = not path.exists() or path.read_text() != text
        path.write_text(text)
        print(f"{'written' if changed else 'as before'}: {path.name}")


if __name__ == "__main__":
    main()
