"""States of games whose `step` is random, as named arrays: what a trace of such a game records.

`state.NAME` [step + 1, ...] for every leaf of the state, and `step.NAME` [step, ...] for every field of `Step`. A game
in plain Python whose state is no tree of numbers brings its own `pack_state(state) -> arrays by name` and
`unpack_state(arrays) -> state`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game, Step, is_jax
from interplay.games.records import is_key, key_as_bits

STATE, STEP = "state.", "step."


def pack(game: Game, states: Sequence[Any], steps: Sequence[Step]) -> dict[str, np.ndarray]:
    """Return named arrays of the states of an episode and the steps between them."""
    rows = [_state_arrays(game, state) for state in states]
    arrays = {STATE + name: np.stack([row[name] for row in rows]) for name in rows[0]}
    for field in dataclasses.fields(Step):
        values = [np.asarray(getattr(step, field.name)) for step in steps]
        arrays[STEP + field.name] = np.stack(values) if values else _no_steps(game)[field.name]
    return arrays


def pack_stacked(states: Any, steps: Step) -> dict[str, np.ndarray]:
    """Return the same from states [step + 1, ...] and steps [step, ...] that are stacked already."""
    arrays = {STATE + name: value for name, value in _leaves(states).items()}
    return arrays | {STEP + f.name: np.asarray(getattr(steps, f.name)) for f in dataclasses.fields(Step)}


def unpack(game: Game, arrays: Mapping[str, np.ndarray], length: int) -> tuple[Any, Step]:
    """Return states and steps of an episode of this length, from what `pack` gave.

    Returns:
        The states, stacked [step + 1, ...] for JAX games and a list for others, and the steps [step, ...].

    Raises:
        InterplayError: An array is missing or does not have the shape that the game's states have.
    """
    fields = {n: _checked(arrays, STEP + n, (length, *like.shape[1:])) for n, like in _no_steps(game).items()}
    steps = Step(**fields)  # type: ignore[arg-type]
    if hasattr(game, "unpack_state"):
        names = [name for name in arrays if name.startswith(STATE)]
        rows = [{n.removeprefix(STATE): arrays[n][t] for n in names} for t in range(length + 1)]
        return [game.unpack_state(row) for row in rows], steps  # type: ignore[attr-defined]
    key = jax.random.key(0)
    places, form = jax.tree_util.tree_flatten_with_path(
        jax.eval_shape(game.init, key) if is_jax(game) else game.init(key)
    )
    leaves = []
    for path, like in places:
        data = jax.eval_shape(jax.random.key_data, like) if is_key(like) else like
        values = _checked(arrays, STATE + _name(path), (length + 1, *np.shape(data)))
        values = values.astype(data.dtype) if hasattr(data, "dtype") else values
        leaves.append(jax.random.wrap_key_data(jnp.asarray(values)) if is_key(like) else values)
    if is_jax(game):
        return jax.tree.unflatten(form, leaves), steps
    return [jax.tree.unflatten(form, [leaf[t] for leaf in leaves]) for t in range(length + 1)], steps


def _state_arrays(game: Game, state: Any) -> dict[str, np.ndarray]:
    if hasattr(game, "pack_state"):
        arrays = game.pack_state(state)  # type: ignore[attr-defined]
        return {name: np.asarray(value) for name, value in arrays.items()}
    arrays = _leaves(state)
    wrong = [name for name, value in arrays.items() if value.dtype.kind not in "biuf"]
    if wrong:
        raise InterplayError(
            f"the state of {game.id} holds {wrong[0]!r} of {arrays[wrong[0]].dtype}, which a trace cannot record; give "
            "the game pack_state(state) -> arrays by name, and unpack_state(arrays)"
        )
    return arrays


def _leaves(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {_name(path): np.asarray(key_as_bits(leaf)) for path, leaf in leaves}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _no_steps(game: Game) -> dict[str, np.ndarray]:
    """Return the fields of `Step` for an episode without steps."""
    seats = game.num_seats
    return {
        "reward": np.zeros((0, seats), np.float32),
        "shaped": np.zeros((0, seats), np.float32),
        "terminated": np.zeros(0, bool),
        "truncated": np.zeros(0, bool),
        "events": np.zeros((0, seats, len(game.event_names)), np.int32),
    }


def _checked(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name not in arrays:
        raise InterplayError(f"the recorded states lack {name!r}")
    if arrays[name].shape != shape or arrays[name].dtype.kind not in "biuf":
        actual = f"{arrays[name].dtype}{list(arrays[name].shape)}"
        raise InterplayError(f"the recorded states have {name!r} as {actual}; expected the shape {list(shape)}")
    return arrays[name]
