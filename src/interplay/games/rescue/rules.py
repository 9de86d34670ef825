"""The rules of search and rescue, as pure functions.

One step: the interacts first, seat by seat, from where the agents stand and face; then all walk at once; then, every
`spread` steps, each fire sets the free cells beside it alight. A treatment goes on only while a nurse keeps at it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.games.api import Step
from interplay.games.records import record
from interplay.games.rescue.state import (
    BY_HAND,
    DANGER,
    EXTINGUISHER,
    FIRE_FACTOR,
    FIREFIGHTER,
    INTERACT,
    KIT,
    MOVES,
    NOBODY,
    NOWHERE,
    NURSE,
    PASSED,
    POLICE,
    REWARD,
    STAY,
    USED,
    WALL,
    WITH_KIT,
    WORK,
    RescueState,
)

# What an interact can turn out to be.
OPERATIONS = ("none", "pass", "guard", "discover", "treat", "extinguish", "clear", "take", "put")
NONE, PASS, GUARD, DISCOVER, TREAT, EXTINGUISH, CLEAR, TAKE, PUT = range(len(OPERATIONS))

TREATMENT = 5.0  # what a whole treatment is worth in `progress`

EVENTS = (
    "pass_kit",
    "pass_extinguisher",
    "guard",
    "discover",
    "treat_with_kit",
    "treat_by_hand",
    "finish_treatment",
    "extinguish",
    "clear_debris",
    "take_kit",
    "take_extinguisher",
    "put_kit",
    "put_extinguisher",
    "move",
    "stay",
    "idle_interact",
)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["horizon", "room", "roles", "tool_kinds", "spread"],
    meta_fields=["width", "height"],
)
@dataclass(frozen=True, eq=False)
class RescueRules:
    """The constants of a game. A pytree, so that houses of one shape compile once."""

    width: int
    height: int
    horizon: int
    room: np.ndarray  # [cell] -1 in walls and doorways
    roles: tuple[int, ...]  # [seat]
    tool_kinds: tuple[int, ...]  # [tool]
    spread: int = 0  # fires spread every so many steps; 0: never

    @property
    def front(self) -> np.ndarray:
        """The cell faced from a cell in a direction, [cell * 4]; at the edge, the cell itself."""
        xs, ys = np.divmod(np.arange(self.width * self.height), self.height)
        columns = []
        for dx, dy in MOVES:
            x, y = xs + dx, ys + dy
            inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
            columns.append(np.where(inside, x * self.height + y, xs * self.height + ys))
        return np.stack(columns, axis=-1).reshape(-1).astype(np.int32)


@record
class Did:
    """What a seat's interact was: the operation, and the seat, victim or cell that it concerned."""

    operation: Int[Array, ""]
    target: Int[Array, ""]
    tool: Int[Array, ""]  # the tool in hand, given, taken or put; NOBODY for bare hands
    finished: Bool[Array, ""]  # a treatment ended
    lent: Bool[Array, ""]  # a kit was passed temporarily


def step(rules: RescueRules, state: RescueState, actions: Int[Array, " seat"]) -> tuple[RescueState, Step]:
    """Play one joint action."""
    after, did = interacts(rules, state, actions)
    cell, facing = walk(rules, after, actions)
    after = replace(after, cell=cell, facing=facing, time=state.time + 1)
    after = replace(after, burning=spread_fires(rules, after))
    over = after.time >= rules.horizon
    seats = jnp.arange(len(rules.roles))
    treated = jnp.sum(after.treated_by[None, :] == seats[:, None], axis=1, dtype=jnp.int32)
    none = jnp.zeros(len(rules.roles), jnp.float32)
    return after, Step(
        reward=jnp.where(over, REWARD * treated.astype(jnp.float32), none),
        shaped=none + (progress(rules, after) - progress(rules, state)) / len(rules.roles),
        terminated=jnp.zeros((), bool),
        truncated=over,
        events=_events(rules, did, state, after, actions),
    )


def interacts(rules: RescueRules, state: RescueState, actions: Int[Array, " seat"]) -> tuple[RescueState, Did]:
    """Resolve all interacts in the order of the seats; `Did` is [seat].

    A later agent finds what an earlier one left.
    """
    front = jnp.asarray(rules.front)[state.cell * 4 + state.facing]

    def interact(state: RescueState, seat: Int[Array, ""]) -> tuple[RescueState, Did]:
        return _interact(rules, state, seat, actions[seat] == INTERACT, front[seat])

    return jax.lax.scan(interact, state, jnp.arange(len(rules.roles), dtype=jnp.int32))


def guarded(rules: RescueRules, state: RescueState) -> Bool[Array, " seat"]:
    """Return who is guarded: whoever an officer guards, and the officers themselves."""
    seats = jnp.arange(len(rules.roles))
    return jnp.any(state.guarding[None, :] == seats[:, None], axis=1) | (jnp.asarray(rules.roles) == POLICE)


def room_burns(rules: RescueRules, state: RescueState, cell) -> Bool[Array, ""]:
    """Return whether a fire burns in the room of a cell."""
    room = jnp.asarray(rules.room)
    return jnp.any(state.burning & (room == room[cell]))


def passable(rules: RescueRules, state: RescueState) -> Bool[Array, " cell"]:
    """Return where an agent may step, ignoring other agents."""
    free = (state.terrain != WALL) & ~state.debris & ~state.burning
    lying = jnp.where(state.tool_cell >= 0, state.tool_cell, 0)
    free = free.at[state.victim_cell].set(False)
    return free.at[lying].min(state.tool_cell < 0)


def walk(
    rules: RescueRules, state: RescueState, actions: Int[Array, " seat"]
) -> tuple[Int[Array, " seat"], Int[Array, " seat"]]:
    """Return where all stand and face after walking at once. Two who want one cell, or each other's, both stay."""
    seats = len(rules.roles)
    moves = actions < STAY
    facing = jnp.where(moves, actions, state.facing)
    target = jnp.asarray(rules.front)[state.cell * 4 + facing]
    target = jnp.where(moves & passable(rules, state)[target], target, state.cell)
    other = ~jnp.eye(seats, dtype=bool)
    meet = jnp.any((target[:, None] == target[None, :]) & other, axis=1)
    swap = jnp.any((target[:, None] == state.cell[None, :]) & (state.cell[:, None] == target[None, :]) & other, axis=1)
    target = jnp.where(meet | swap, state.cell, target)
    for _ in range(seats):  # whoever stays stops those behind, one link of the chain at a time
        stopped = jnp.any((target[:, None] == target[None, :]) & other, axis=1)
        target = jnp.where(stopped, state.cell, target)
    return target, facing


def spread_fires(rules: RescueRules, state: RescueState) -> Bool[Array, " cell"]:
    """Return what burns after the fires have spread, if they do so now.

    A fire spreads to the cells beside it in which nobody stands and nothing lies, doorways included.
    """
    now = (rules.spread > 0) & (state.time % jnp.maximum(rules.spread, 1) == 0)
    near = jnp.any(state.burning[jnp.asarray(rules.front).reshape(-1, 4)], axis=-1)
    free = passable(rules, state).at[state.cell].set(False)
    return state.burning | (now & near & free)


def _interact(rules: RescueRules, state: RescueState, seat, acts, front) -> tuple[RescueState, Did]:
    role, seats, tools = jnp.asarray(rules.roles)[seat], jnp.arange(len(rules.roles)), len(rules.tool_kinds)
    kinds = jnp.asarray((*rules.tool_kinds, NOBODY), jnp.int32)  # the last stands for an empty hand
    tool_in_hand = state.held[seat]
    kind = kinds[jnp.where(tool_in_hand >= 0, tool_in_hand, tools)]
    able = acts & (guarded(rules, state)[seat] | (state.terrain[state.cell[seat]] != DANGER))

    mates, victims = (state.cell == front) & (seats != seat), state.victim_cell == front
    lying = state.tool_cell == front
    mate, victim = jnp.argmax(mates), jnp.argmax(victims)
    tool = jnp.argmax(lying) if tools else jnp.int32(0)
    at_mate, at_victim, at_tool = able & jnp.any(mates), able & jnp.any(victims), able & jnp.any(lying)
    at_debris, at_fire = able & state.debris[front], able & state.burning[front]
    at_floor = able & (state.terrain[front] != WALL) & ~(at_mate | at_victim | at_tool | at_debris | at_fire)
    full = tool_in_hand >= 0

    known, untreated = state.known[victim], state.treated_by[victim] < 0
    skilled = full & (kind == KIT) | ~full  # a nurse treats with a kit or with free hands
    choices = {
        PASS: at_mate & full & (state.held[mate] < 0),
        GUARD: at_mate & (role == POLICE) & ~(full & (state.held[mate] < 0)),
        DISCOVER: at_victim & ~known,
        TREAT: at_victim & known & untreated & (role == NURSE) & skilled,
        EXTINGUISH: at_fire & (role == FIREFIGHTER) & full & (kind == EXTINGUISHER),
        CLEAR: at_debris & (role == FIREFIGHTER),
        TAKE: at_tool & ~full,
        PUT: at_floor & full,
    }
    operation = sum((jnp.where(true, code, NONE) for code, true in choices.items()), jnp.int32(0))
    # Passing a kit while one stands by a victim still to be treated is part of that treatment.
    beside = jnp.isin(state.victim_cell, jnp.asarray(rules.front)[state.cell[seat] * 4 + jnp.arange(4)])
    lent = choices[PASS] & (role == NURSE) & (kind == KIT) & jnp.any(beside & state.known & (state.treated_by < 0))
    after, finished = _apply(rules, state, seat, choices, front, mate, victim, tool, kind, lent)
    target = jnp.where(choices[PASS] | choices[GUARD], mate, jnp.where(at_victim, victim, front)).astype(jnp.int32)
    moved = jnp.where(choices[TAKE], tool, tool_in_hand).astype(jnp.int32)
    return after, Did(operation=operation, target=target, tool=moved, finished=finished, lent=lent)


def _apply(
    rules: RescueRules, state: RescueState, seat, do, front, mate, victim, tool, kind, lent
) -> tuple[RescueState, Bool[Array, ""]]:
    """Return the state after one interact; at most one of `do` is true."""
    tool_in_hand = state.held[seat]
    safe = jnp.maximum(tool_in_hand, 0)
    gives, puts, takes = do[PASS], do[PUT], do[TAKE]
    hands = state.held.at[seat].set(jnp.where(gives | puts, NOBODY, jnp.where(takes, tool, tool_in_hand)))
    hands = hands.at[mate].set(jnp.where(gives, tool_in_hand, hands[mate]))
    where, use = state.tool_cell, state.tool_use
    if rules.tool_kinds:
        where = where.at[safe].set(jnp.where(puts, front, where[safe]))
        where = where.at[tool].set(jnp.where(takes, NOWHERE, where[tool]))
        with_kit = do[TREAT] & (tool_in_hand >= 0)
        use = use.at[safe].set(jnp.where(lent, PASSED, jnp.where(with_kit, USED, use[safe])))
    speed = jnp.where(kind == KIT, WITH_KIT, BY_HAND)
    speed = jnp.where(room_burns(rules, state, state.victim_cell[victim]), speed // FIRE_FACTOR, speed)
    work = jnp.minimum(state.work.at[victim].add(jnp.where(do[TREAT], speed, 0)), WORK)
    finished = do[TREAT] & (work[victim] >= WORK)
    after = replace(
        state,
        held=hands,
        guarding=state.guarding.at[seat].set(jnp.where(do[GUARD], mate, state.guarding[seat])),
        debris=state.debris.at[front].set(state.debris[front] & ~do[CLEAR]),
        burning=state.burning.at[front].set(state.burning[front] & ~do[EXTINGUISH]),
        tool_cell=where,
        tool_use=use,
        known=state.known.at[victim].set(state.known[victim] | do[DISCOVER]),
        work=work,
        treated_by=state.treated_by.at[victim].set(jnp.where(finished, seat, state.treated_by[victim])),
    )
    return after, finished


def progress(rules: RescueRules, state: RescueState) -> Float[Array, ""]:
    """Return how far the team has come; what a step adds to it is the shaped reward, so that no loop pays.

    A known victim counts 1, a whole treatment 5, a kit in a nurse's and an extinguisher in a firefighter's hand 1, a
    cell with debris or fire -1, and a cell between an agent and what it goes for next -0.2 for a nurse, -0.1 for a
    firefighter: the tool of its role, wherever that is; with it in hand, or where there is none, the nearest victim
    to treat, or the nearest hazard or unknown victim. A firefighter needs the tool while something burns.
    """
    kinds, roles = jnp.asarray(rules.tool_kinds, jnp.int32), jnp.asarray(rules.roles)
    holds = state.held[:, None] == jnp.arange(len(rules.tool_kinds))  # [seat, tool]
    tool_cell = jnp.where(state.tool_cell >= 0, state.tool_cell, jnp.sum(holds * state.cell[:, None], axis=0))
    untreated, burns = state.treated_by < 0, jnp.any(state.burning)
    errands = (state.debris | state.burning).at[state.victim_cell].max(~state.known)
    gained = jnp.sum(state.known) + TREATMENT * jnp.sum(state.work) / WORK
    gained -= jnp.sum(state.debris) + jnp.sum(state.burning)
    for role, kind, goals, there, needed, price in (
        (NURSE, KIT, state.victim_cell, untreated, True, 0.2),
        (FIREFIGHTER, EXTINGUISHER, jnp.arange(errands.shape[0]), errands, burns, 0.1),
    ):
        seats = roles == role
        equipped = seats & jnp.any(holds & (kinds == kind), axis=1)
        free = (kinds == kind) & ~jnp.any(holds & equipped[:, None], axis=0)
        fetch = needed & ~equipped & jnp.any(free)
        to_go = jnp.where(fetch, _nearest(rules, state, tool_cell, free), _nearest(rules, state, goals, there))
        gained += jnp.sum(equipped) - price * jnp.sum(jnp.where(seats & jnp.any(there), to_go, 0))
    return gained


def _nearest(rules: RescueRules, state: RescueState, cells, there) -> Int[Array, " seat"]:
    """Return how far each seat is from the nearest of some cells, as if there were no walls."""
    xs, ys = jnp.divmod(cells, rules.height)
    x, y = jnp.divmod(state.cell, rules.height)
    far = jnp.abs(x[:, None] - xs) + jnp.abs(y[:, None] - ys)
    most = rules.width + rules.height
    return jnp.min(jnp.where(there, far, most), axis=1, initial=most)


def _events(rules: RescueRules, did: Did, before: RescueState, after: RescueState, actions) -> Int[Array, "seat event"]:
    kinds = jnp.asarray((*rules.tool_kinds, NOBODY), jnp.int32)
    kind = kinds[jnp.where(did.tool >= 0, did.tool, len(rules.tool_kinds))]
    is_kit, op = kind == KIT, did.operation
    happened = {
        "pass_kit": (op == PASS) & is_kit,
        "pass_extinguisher": (op == PASS) & ~is_kit,
        "guard": op == GUARD,
        "discover": op == DISCOVER,
        "treat_with_kit": (op == TREAT) & is_kit,
        "treat_by_hand": (op == TREAT) & ~is_kit,
        "finish_treatment": did.finished,
        "extinguish": op == EXTINGUISH,
        "clear_debris": op == CLEAR,
        "take_kit": (op == TAKE) & is_kit,
        "take_extinguisher": (op == TAKE) & ~is_kit,
        "put_kit": (op == PUT) & is_kit,
        "put_extinguisher": (op == PUT) & ~is_kit,
        "move": after.cell != before.cell,
        "stay": actions == STAY,
        "idle_interact": (actions == INTERACT) & (op == NONE),
    }
    return jnp.stack([happened[name] for name in EVENTS], axis=-1).astype(jnp.int32)
