"""The rules. A corridor with a shelf in its middle: parcels lie at the left end and are wanted at the right end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.records import record
from interplay.games.scene import SEAT_COLOURS, Scene

LEFT, RIGHT, ACT, STAY = range(4)
CELL = 48  # points of a cell in pictures


@dataclass(frozen=True, kw_only=True)
class RelayOptions:
    """What can be set in a relay."""

    reach: int = 3  # cells on either side of the shelf
    horizon: int = 60  # steps of an episode

    def __post_init__(self) -> None:
        if not 1 <= self.reach <= 50 or not 1 <= self.horizon <= 10_000:
            raise InterplayError("reach is 1 to 50, and horizon 1 to 10000")


def variants() -> list[str]:
    """There is one relay."""
    return ["line"]


def make(variant: str, options: Mapping[str, Any]) -> Relay:
    """Make a relay, as the family's `build`."""
    if variant not in variants():
        raise UnknownName("game", f"relay/{variant}", ["relay/line"])
    return Relay(build(RelayOptions, options), dict(options))


@record
class RelayState:
    """Where the runners are, what they carry, and what lies on the shelf."""

    time: Any
    place: Any  # [seat] cells from the left end; the shelf is cell `reach`
    carries: Any  # [seat] bool
    shelf: Any  # bool


class Relay:
    """Seat 0 runs left of the shelf, seat 1 right of it. A delivered parcel gives a point to whoever delivers it."""

    pure, replayable, rules_version, num_seats = True, True, "relay-1", 2
    seat_names, action_names = ("runner 1", "runner 2"), ("left", "right", "act", "stay")
    event_names = ("pick_up", "hand_over", "take", "deliver")

    def __init__(self, settings: RelayOptions, options: Mapping[str, Any]):
        self.id, self.options, self.horizon, self.reach = "relay/line", options, settings.horizon, settings.reach
        self._low, self._high = np.array([0, self.reach + 1]), np.array([self.reach - 1, 2 * self.reach])
        vector = Encoding((5,), "float32", "own place, what both carry, the shelf, and the own seat")
        self.encodings = {"vector": vector, "nothing": NOTHING}

    def init(self, key: Any, *, place: Any = None) -> RelayState:
        """Runners at places that chance chooses, or at these."""
        drawn = jax.random.randint(key, (2,), self._low, self._high + 1) if place is None else jnp.asarray(place)
        nothing = jnp.zeros((), bool)
        return RelayState(time=jnp.int32(0), place=drawn.astype(jnp.int32), carries=jnp.zeros(2, bool), shelf=nothing)

    def start(self, state: RelayState) -> dict[str, Any]:
        """What chance decided."""
        return {"place": state.place}

    def step(self, state: RelayState, actions: Any, key: Any) -> tuple[RelayState, Step]:
        """Runners act at the ends of their ways, or move. The shelf is filled before it is emptied."""
        place, (first, second), act = state.place, state.carries, jnp.asarray(actions) == ACT
        pick_up = act[0] & (place[0] == 0) & ~first
        hand_over = act[0] & (place[0] == self._high[0]) & first & ~state.shelf
        full = state.shelf | hand_over
        take = act[1] & (place[1] == self._low[1]) & ~second & full
        deliver = act[1] & (place[1] == self._high[1]) & second
        moved = place + jnp.where(actions == RIGHT, 1, 0) - jnp.where(actions == LEFT, 1, 0)
        time = state.time + 1
        after = RelayState(
            time=time,
            place=jnp.clip(moved, self._low, self._high).astype(jnp.int32),
            carries=jnp.stack([(first | pick_up) & ~hand_over, (second | take) & ~deliver]),
            shelf=full & ~take,
        )
        events = jnp.array([[1, 1, 0, 0], [0, 0, 1, 1]]) * jnp.stack([pick_up, hand_over, take, deliver])
        points = jnp.stack([jnp.float32(0), deliver.astype(jnp.float32)])
        none, over = jnp.zeros((), bool), time >= self.horizon
        return after, Step(reward=points, shaped=0 * points, terminated=none, truncated=over, events=events)

    def observe(self, state: RelayState, encoding: str) -> Any:
        """What both runners see: everything."""
        if encoding == "nothing":
            return no_observation(2)
        common = jnp.concatenate([state.carries, state.shelf[None]]).astype(jnp.float32)
        seats = jnp.arange(2, dtype=jnp.float32)[:, None]
        return jnp.concatenate([state.place[:, None].astype(jnp.float32), jnp.tile(common, (2, 1)), seats], axis=1)

    def legal(self, state: RelayState) -> Any:
        """Everything, always."""
        return jnp.ones((2, 4), bool)

    def to_move(self, state: RelayState) -> Any:
        """Both, always."""
        return jnp.ones(2, bool)

    def render(self, state: RelayState, seat: int | None = None) -> str:
        """The corridor in words."""
        words = [
            f"{name} is at cell {int(state.place[s])} {'with a parcel' if state.carries[s] else 'empty-handed'}"
            for s, name in enumerate(self.seat_names)
        ]
        shelf = "holds a parcel" if state.shelf else "is empty"
        return f"Parcels are at cell 0, wanted at cell {2 * self.reach}. The shelf {shelf}. " + "; ".join(words) + "."

    def scene(self, state: RelayState, seat: int | None = None) -> Scene:
        """The corridor as a picture."""
        width = (2 * self.reach + 1) * CELL
        ground = (("rect", 0, 0, width, CELL, "#f4f1ea", 0), ("rect", self.reach * CELL, 0, CELL, CELL, "#b8a88a", 0))
        shapes: list[tuple] = [_parcel(self.reach)] if state.shelf else []
        for runner, colour in enumerate(SEAT_COLOURS[:2]):
            x = int(state.place[runner])
            shapes.append(("circle", (x + 0.5) * CELL, CELL / 2, CELL / 3, colour))
            shapes += [_parcel(x)] if state.carries[runner] else []
        return Scene(width, CELL, ground, tuple(shapes))


def _parcel(cell: int) -> tuple:
    return ("rect", (cell + 0.35) * CELL, CELL * 0.35, CELL * 0.3, CELL * 0.3, "#7a4b1e", 3)
