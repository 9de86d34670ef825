"""Football as a game: `football/3v1` on the real engine, `football/keepaway` on the light one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.compiled_method import compiled
from interplay.games.family import LONGEST
from interplay.games.football import encodings, events, light
from interplay.games.football.light import LightState
from interplay.games.football.pitch import ACTIONS, SEAT_NAMES, SEATS
from interplay.games.scene import Scene

if TYPE_CHECKING:
    from interplay.games.football.real import RealFootball

REAL, LIGHT = "3v1", "keepaway"
HORIZONS = {REAL: 400, LIGHT: 100}  # steps of an episode
ENCODINGS = {
    "relative": Encoding((encodings.RELATIVE,), "float32", "58 numbers, places as the own player sees them (ZSC-Eval)"),
    "simple115": Encoding((encodings.SIMPLE115,), "float32", "the 115 numbers of Google Research Football"),
    "pitch": Encoding(None, "record", "the pitch with the own seat, for scripted players"),
    "nothing": NOTHING,
}


@dataclass(frozen=True, kw_only=True)
class FootballOptions:
    """The options of football."""

    horizon: int | None = None  # steps of an episode; null: 400 of the real engine, 100 of the light one


class FootballGame:
    """Three attackers, a defender and a keeper: what the games of both engines have in common."""

    num_seats: ClassVar[int] = SEATS
    seat_names: ClassVar[tuple[str, ...]] = SEAT_NAMES
    action_names: ClassVar[tuple[str, ...]] = ACTIONS
    event_names: ClassVar[tuple[str, ...]] = events.EVENTS
    encodings: ClassVar[Mapping[str, Encoding]] = ENCODINGS

    def __init__(self, variant: str, horizon: int, options: Mapping[str, Any] | None):
        self.id, self.horizon, self.options = f"football/{variant}", horizon, dict(options or {})

    def render(self, state: Any, seat: int | None = None) -> str:
        """Return the state as text."""
        from interplay.games.football import draw

        return draw.text(state.pitch, self.horizon, seat)

    def scene(self, state: Any, seat: int | None = None) -> Scene:
        """Return the state as shapes."""
        from interplay.games.football import draw

        return draw.scene(state.pitch, self.horizon, seat)


class KeepAway(FootballGame):
    """Three attackers, a defender and a keeper in the light engine. `step.reward` pays 1 to who scores."""

    pure: ClassVar[bool] = True
    replayable: ClassVar[bool] = True
    rules_version: ClassVar[str] = "football-light-1"

    def __init__(self, horizon: int = HORIZONS[LIGHT], options: Mapping[str, Any] | None = None):
        super().__init__(LIGHT, horizon, options)

    def init(self, key: PRNGKeyArray, **start: Any) -> LightState:
        """Draw the places of the seats and the seed of what chance decides; `start` fixes either.

        Raises:
            UnknownName: A start value is not known.
            InterplayError: It has the wrong shape.
        """
        for_places, for_chance = jax.random.split(key)
        drawn = {"places": light.start_places(for_places), "chance": jax.random.key_data(for_chance)}
        for name, value in start.items():
            if name not in drawn:
                raise UnknownName("start value", name, list(drawn))
            if jnp.shape(value) != drawn[name].shape:
                raise InterplayError(f"{name}: shape {jnp.shape(value)}; football takes {drawn[name].shape}")
            drawn[name] = jnp.asarray(value, drawn[name].dtype)
        return light.start(drawn["places"], drawn["chance"])

    def start(self, state: LightState) -> dict[str, Any]:
        """Return all that the key decided."""
        return {"places": state.pitch.left[1:], "chance": state.chance}

    @compiled()
    def step(
        self, state: LightState, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None
    ) -> tuple[LightState, Step]:
        """Play one joint action. Chance comes from the start state's seed, so the key is not used."""
        return light.step(state, jnp.asarray(actions), self.horizon)

    @compiled(1)
    def observe(self, state: LightState, encoding: str = "relative") -> Any:
        """Return what every seat sees."""
        return observe(state.pitch, encoding, jnp)

    @compiled()
    def legal(self, state: LightState) -> Bool[Array, "seat action"]:
        """Return that all actions are legal."""
        return jnp.ones((SEATS, len(ACTIONS)), bool)

    def to_move(self, state: LightState) -> Bool[Array, " seat"]:
        """Return that all seats are to move."""
        return jnp.ones(SEATS, bool)


def observe(pitch: Any, encoding: str, xp: Any) -> Any:
    """Return what every seat sees of a pitch, [seat, ...].

    Raises:
        UnknownName: Football has no such encoding.
    """
    if encoding == "relative":
        return encodings.relative(pitch, xp)
    if encoding == "simple115":
        return encodings.simple115(pitch, xp)
    if encoding == "pitch":
        return encodings.views(pitch, xp)
    if encoding == "nothing":
        return no_observation(SEATS)
    raise UnknownName("encoding", encoding, list(ENCODINGS))


def variants() -> list[str]:
    """List the two engines."""
    return [REAL, LIGHT]


def make(variant: str, options: Mapping[str, Any]) -> KeepAway | RealFootball:
    """Make football on the real engine (`3v1`) or on the light one (`keepaway`).

    Raises:
        UnknownName: There is no such game or option.
        InterplayError: The horizon is no number of steps.
    """
    if variant not in variants():
        raise UnknownName(
            "game", f"football/{variant}" if variant else "football", [f"football/{v}" for v in variants()]
        )
    horizon = build(FootballOptions, options).horizon
    horizon = HORIZONS[variant] if horizon is None else horizon
    if not 1 <= horizon <= LONGEST:
        raise InterplayError(f"horizon: {horizon}; an episode has 1 to {LONGEST} steps")
    if variant == LIGHT:
        return KeepAway(horizon, options)
    from interplay.games.football.real import RealFootball

    return RealFootball(horizon, options)
