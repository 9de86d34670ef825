"""Observations of a house: the map is known to all, a victim only once it was reported to the team or is in sight."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.games.records import record
from interplay.games.rescue import rules as r
from interplay.games.rescue.rules import RescueRules
from interplay.games.rescue.state import DANGER, DOOR, NOBODY, ROLES, WALL, WORK, RescueState

UNSEEN, SEEN, KNOWN, TREATED = range(4)  # what a seat knows of a victim in a cell


@record
class RescueView:
    """The encoding `state`: the whole state and the own seat. Privileged: it shows where the victims are."""

    state: RescueState
    seat: Int[Array, ""]


@record
class Knowledge:
    """The encoding `knowledge`: what a seat may know, as a short record for scripted agents; or of all seats."""

    time: Int[Array, "*seats"]
    seat: Int[Array, "*seats"]
    cell: Int[Array, "*seats seat"]
    facing: Int[Array, "*seats seat"]
    held: Int[Array, "*seats seat"]  # kind of the tool in hand, or NOBODY
    guarded: Bool[Array, "*seats seat"]
    terrain: Int[Array, "*seats cell"]
    debris: Bool[Array, "*seats cell"]
    burning: Bool[Array, "*seats cell"]
    tools: Int[Array, "*seats cell"]  # kind of the tool that lies there, or NOBODY
    victims: Int[Array, "*seats cell"]  # UNSEEN, SEEN (by this seat, the team does not know), KNOWN, TREATED
    sight: Bool[Array, "*seats cell"]


def sight(rules: RescueRules, state: RescueState) -> Bool[Array, "seat cell"]:
    """Return which cells each agent sees: its room and the cells beside it."""
    room = jnp.asarray(rules.room)
    here = room[state.cell][:, None]
    near = jnp.asarray(rules.front).reshape(-1, 4)[state.cell]
    cells = jnp.arange(room.shape[0])
    beside = jnp.any(near[:, :, None] == cells, axis=1)
    return ((here >= 0) & (room[None, :] == here)) | beside | (state.cell[:, None] == cells)


def knowledge(rules: RescueRules, state: RescueState) -> Knowledge:
    """Return the records of all seats, [seat, ...]."""
    seats, cells = len(rules.roles), state.terrain.shape[0]
    sees = sight(rules, state)
    kinds = jnp.asarray((*rules.tool_kinds, NOBODY), jnp.int32)
    held_kind = kinds[jnp.where(state.held >= 0, state.held, len(rules.tool_kinds))]
    tools = jnp.full(cells + 1, NOBODY, jnp.int32)
    if rules.tool_kinds:
        tools = tools.at[jnp.where(state.tool_cell >= 0, state.tool_cell, cells)].set(kinds[:-1])
    status = jnp.where(state.treated_by >= 0, TREATED, jnp.where(state.known, KNOWN, SEEN))  # [victim]
    seen = jnp.where(state.known[None, :] | sees[:, state.victim_cell], status[None, :], UNSEEN)
    victims = jnp.zeros((seats, cells), jnp.int32).at[:, state.victim_cell].set(seen)

    def everyone(value):
        return jnp.broadcast_to(value, (seats, *value.shape))

    return Knowledge(
        time=everyone(state.time),
        seat=jnp.arange(seats),
        cell=everyone(state.cell),
        facing=everyone(state.facing),
        held=everyone(held_kind),
        guarded=everyone(r.guarded(rules, state)),
        terrain=everyone(state.terrain),
        debris=everyone(state.debris),
        burning=everyone(state.burning),
        tools=everyone(tools[:cells]),
        victims=victims,
        sight=sees,
    )


PLANES = (
    "self",
    *(f"other {role}" for role in ROLES),
    *(f"facing {way}" for way in ("up", "down", "left", "right")),
    *("wall", "door", "danger", "debris", "fire", "kit", "extinguisher"),
    *("victim seen", "victim known", "victim treated", "treatment done", "in sight"),
    *("holds kit", "holds extinguisher", "guarded"),
    *(f"is {role}" for role in ROLES),
    "time left",
)


def planes(rules: RescueRules, state: RescueState) -> Float[Array, "seat width height plane"]:
    """Return what each seat knows, as planes; facts about the seat itself fill their plane."""
    seats, size = len(rules.roles), state.terrain.shape[0]
    known = knowledge(rules, state)
    roles, cells = jnp.asarray(rules.roles), jnp.arange(size)
    here = state.cell[:, None] == cells
    done = jnp.zeros(size).at[state.victim_cell].set(state.work / WORK)
    left = (rules.horizon - state.time) / rules.horizon
    views = []
    for seat in range(seats):
        others = here & (jnp.arange(seats) != seat)[:, None]
        mine = known.victims[seat]
        held_kind = known.held[seat, seat]
        views.append(
            jnp.stack(
                [
                    here[seat],
                    *(jnp.any(others & (roles == role)[:, None], axis=0) for role in range(len(ROLES))),
                    *(here[seat] & (state.facing[seat] == way) for way in range(4)),
                    *(state.terrain == kind for kind in (WALL, DOOR, DANGER)),
                    state.debris,
                    state.burning,
                    *(known.tools[seat] == kind for kind in range(2)),
                    *(mine == status for status in (SEEN, KNOWN, TREATED)),
                    jnp.where(mine > UNSEEN, done, 0.0),
                    known.sight[seat],
                    *(jnp.full(size, held_kind == kind) for kind in range(2)),
                    jnp.full(size, known.guarded[seat, seat]),
                    *(jnp.full(size, rules.roles[seat] == role) for role in range(len(ROLES))),
                    jnp.full(size, left),
                ],
                axis=-1,
            ).astype(jnp.float32)
        )
    return jnp.stack(views).reshape(seats, rules.width, rules.height, len(PLANES))
