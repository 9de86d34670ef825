"""Search and rescue as a game: a thin shell around the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.compiled_method import compiled
from interplay.games.family import LONGEST
from interplay.games.rescue import encodings, generators, layouts, rules
from interplay.games.rescue.benchmark import BENCHMARK
from interplay.games.rescue.features import RescueFeatures
from interplay.games.rescue.generators import DrawnHouse, Generated, Plan, Spec
from interplay.games.rescue.state import ACTIONS, NOBODY, RescueState
from interplay.games.scene import Scene


class Rescue:
    """A team that searches a burning house. `step.reward` pays at the horizon, to the nurse who ended a treatment."""

    pure: ClassVar[bool] = True
    replayable: ClassVar[bool] = True
    rules_version: ClassVar[str] = "rescue-1"
    action_names: ClassVar[tuple[str, ...]] = ACTIONS
    event_names: ClassVar[tuple[str, ...]] = rules.EVENTS

    def __init__(
        self,
        id: str,
        plan: Plan,
        *,
        horizon: int = 400,
        spread: int = 0,
        options: Mapping[str, Any] | None = None,
    ):
        if not 1 <= horizon <= LONGEST:
            raise InterplayError(f"horizon: {horizon}; an episode has 1 to {LONGEST} steps")
        if not 0 <= spread <= LONGEST:
            raise InterplayError(f"spread: {spread}; fires spread every 1 to {LONGEST} steps, or never (0)")
        self.id, self.options, self.plan, self.horizon = id, dict(options or {}), plan, horizon
        self.num_seats = len(plan.roles)
        self.rules = rules.RescueRules(plan.width, plan.height, horizon, plan.room, plan.roles, plan.tool_kinds, spread)
        self.seat_names = layouts.role_names(tuple((role, 0) for role in plan.roles))
        self._features = RescueFeatures(self.rules)
        shape = (plan.width, plan.height, len(encodings.PLANES))
        self.encodings = {
            "planes": Encoding(shape, "float32", "what the seat knows, as planes (width, height, plane)"),
            "features": Encoding((self._features.size,), "float32", "what the seat knows, as a short vector"),
            "knowledge": Encoding(None, "record", "what the seat knows, as a short record"),
            "state": Encoding(None, "record", "the whole state and the own seat, victims included", privileged=True),
            "nothing": NOTHING,
        }

    def init(self, key: PRNGKeyArray, **start: Any) -> RescueState:
        """Draw the house of this key; `start` fixes any part of what the key decides (see `generators.HouseStart`).

        Raises:
            UnknownName: A start value is not known.
            InterplayError: It has the wrong shape.
        """
        drawn = vars(self.plan.draw(key))
        for name, value in start.items():
            if name not in drawn:
                raise UnknownName("start value", name, list(drawn))
            override = jnp.asarray(value, drawn[name].dtype)
            if override.shape != drawn[name].shape:
                raise InterplayError(f"{name}: shape {override.shape}; this house takes {drawn[name].shape}")
            drawn[name] = override
        seats, victims, tools = self.num_seats, self.plan.num_victims, len(self.plan.tool_kinds)
        return RescueState(
            time=jnp.zeros((), jnp.int32),
            held=jnp.full(seats, NOBODY, jnp.int32),
            guarding=jnp.full(seats, NOBODY, jnp.int32),
            tool_use=jnp.zeros(tools, jnp.int32),
            known=jnp.zeros(victims, bool),
            work=jnp.zeros(victims, jnp.int32),
            treated_by=jnp.full(victims, NOBODY, jnp.int32),
            **drawn,
        )

    def start(self, state: RescueState) -> dict[str, Any]:
        """Return all that the key decided."""
        return {field.name: getattr(state, field.name) for field in fields(generators.HouseStart)}

    @compiled()
    def step(
        self, state: RescueState, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None
    ) -> tuple[RescueState, Step]:
        """Play one joint action. Only the start is random, so the key is not used."""
        return rules.step(self.rules, state, jnp.asarray(actions))

    @compiled(1)
    def observe(self, state: RescueState, encoding: str = "planes") -> Any:
        """Return what every seat sees."""
        if encoding == "planes":
            return encodings.planes(self.rules, state)
        if encoding == "features":
            return self._features(state)
        if encoding == "knowledge":
            return encodings.knowledge(self.rules, state)
        if encoding == "state":
            everyone = {f: jnp.broadcast_to(v, (self.num_seats, *v.shape)) for f, v in vars(state).items()}
            return encodings.RescueView(state=RescueState(**everyone), seat=jnp.arange(self.num_seats))
        if encoding == "nothing":
            return no_observation(self.num_seats)
        raise UnknownName("encoding", encoding, list(self.encodings))

    @compiled()
    def legal(self, state: RescueState) -> Bool[Array, "seat action"]:
        """Return that all actions are legal."""
        return jnp.ones((self.num_seats, len(ACTIONS)), bool)

    def to_move(self, state: RescueState) -> Bool[Array, " seat"]:
        """Return that all seats are to move."""
        return jnp.ones(self.num_seats, bool)

    def render(self, state: RescueState, seat: int | None = None) -> str:
        """Return the state as text."""
        from interplay.games.rescue import draw

        return draw.text(self.rules, state, seat)

    def scene(self, state: RescueState, seat: int | None = None) -> Scene:
        """Return the state as shapes."""
        from interplay.games.rescue import draw

        return draw.scene(self.rules, state, seat)


@dataclass(frozen=True, kw_only=True)
class RescueOptions(Spec):
    """The options of a house: how long an episode may be, and what is drawn or generated."""

    horizon: int = 400  # steps of an episode; houses of the benchmark have their own
    spread: int = 0  # fires spread every so many steps; 0: never
    house: str | None = None  # a house as text, rows split by "/"
    hidden: int | None = None  # victims that lie at places of the text's "?"; null: half of the places


def variants() -> list[str]:
    """List the drawn layouts, the benchmark's, and `generated`, which draws a new house for every key."""
    return [*layouts.HOUSES, *BENCHMARK, "generated"]


def make(variant: str, options: Mapping[str, Any]) -> Rescue:
    """Make a drawn house, a house from text (`house=`), or a generated one with the options of `Spec`.

    Raises:
        UnknownName: There is no such house or option.
    """
    spec = {f.name for f in fields(Spec)}
    taken = spec if variant == "generated" else {"house", "hidden"}
    for option in options:
        if option not in taken | {"horizon", "spread"}:
            raise UnknownName("option", option, [*sorted(taken), "horizon", "spread"])
    level = BENCHMARK.get(variant)
    own = {} if level is None else {"horizon": level.horizon, "spread": level.spread, "hidden": level.hidden}
    settings = build(RescueOptions, own | dict(options))
    recorded_options = {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}
    if variant == "generated":
        plan = Generated(Spec(**{name: getattr(settings, name) for name in spec}))
        times = {"horizon": settings.horizon, "spread": settings.spread}
        return Rescue("rescue/generated", plan, **times, options=recorded_options)
    drawn = layouts.HOUSES | {name: house.text for name, house in BENCHMARK.items()}
    if settings.house is None and variant not in drawn:
        known = [f"rescue/{v}" for v in variants()]
        raise UnknownName("game", f"rescue/{variant}" if variant else "rescue", known)
    house = layouts.parse(drawn[variant] if settings.house is None else settings.house, variant or "house")
    if settings.house is not None:
        recorded_options["house"] = house.text
    name = variant if settings.house is None else "custom"
    plan = DrawnHouse(house, settings.hidden)
    times = {"horizon": settings.horizon, "spread": settings.spread}
    return Rescue(f"rescue/{name}", plan, **times, options=recorded_options)
