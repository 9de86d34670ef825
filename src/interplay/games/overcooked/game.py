"""Overcooked as a game of interplay: a thin shell around the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.compiled import compiled
from interplay.games.overcooked import layouts, rules
from interplay.games.overcooked.encodings import Details, Features, Seen, num_planes, planes, planes_first
from interplay.games.overcooked.interact import EVENTS
from interplay.games.overcooked.kitchen import Kitchen
from interplay.games.overcooked.layouts import Layout
from interplay.games.overcooked.recipes import Menu
from interplay.games.overcooked.state import ACTIONS, FLOOR, IDLE, INTERACT, State
from interplay.games.scene import Scene


class Overcooked:
    """Chefs who share a kitchen. `step.reward` credits a delivered soup to the chef who served it."""

    pure: ClassVar[bool] = True
    replayable: ClassVar[bool] = True
    rules_version: ClassVar[str] = "overcooked-1"
    action_names: ClassVar[tuple[str, ...]] = ACTIONS
    event_names: ClassVar[tuple[str, ...]] = EVENTS

    def __init__(
        self,
        id: str,
        layout: Layout,
        menu: Menu,
        *,
        players: int,
        horizon: int = 400,
        rule_out_null_interacts: bool = False,
        options: Mapping[str, Any] | None = None,
    ):
        if not 1 <= players <= layouts.MAX_SEATS:
            raise InterplayError(f"players: {players}; a kitchen takes 1 to {layouts.MAX_SEATS} chefs")
        if horizon < 1:
            raise InterplayError(f"horizon: {horizon}; an episode has at least one step")
        self.id, self.options = id, dict(options or {})
        self.layout, self.menu, self.horizon, self.num_seats = layout, menu, horizon, players
        self.rule_out_null_interacts = rule_out_null_interacts
        self.kitchen = Kitchen.of(layout, menu, horizon)
        self.seat_names = tuple(f"chef {seat + 1}" for seat in range(players))
        self._starts = np.array(layouts.seat_starts(layout, players), np.int32)
        self._features = Features(self.kitchen, players)
        self._details = Details(self.kitchen, self._features)
        width, height, depth = layout.width, layout.height, num_planes(players)
        self.encodings = {
            "planes": Encoding((width, height, depth), "uint8", "the field's standard planes, the own seat's first"),
            "planes_first": Encoding((depth, width, height), "uint8", "the same with the plane axis first; faster"),
            "features": Encoding((self._features.size,), "float32", "a short vector: hands, ways to things, pots"),
            "details": Encoding(
                (self._details.size,), "float32", "features, every counter, and which actions do anything", useful=True
            ),
            "state": Encoding(None, "record", "the whole state and the own seat; nothing is hidden in a kitchen"),
            "nothing": NOTHING,
        }

    def init(
        self,
        key: PRNGKeyArray,
        *,
        positions: Int[Array, "seat 2"] | None = None,
        facing: Int[Array, " seat"] | None = None,
    ) -> State:
        """Chefs at their starts (or at these (x, y)), facing north (or these ways), an empty kitchen."""
        xy = jnp.asarray(self._starts if positions is None else self._checked(positions), jnp.int32)
        size = self.layout.size
        return State(
            time=jnp.zeros((), jnp.int32),
            cell=xy[:, 0] * self.layout.height + xy[:, 1],
            facing=jnp.zeros(self.num_seats, jnp.int32) if facing is None else jnp.asarray(facing, jnp.int32),
            held=jnp.zeros(self.num_seats, jnp.int32),
            items=jnp.zeros(size, jnp.int8),
            timer=jnp.full(size, IDLE, jnp.int8),
        )

    def start(self, state: State) -> dict[str, Any]:
        height = self.layout.height
        return {"positions": jnp.stack([state.cell // height, state.cell % height], axis=-1), "facing": state.facing}

    @compiled()
    def step(self, state: State, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None) -> tuple[State, Step]:
        """Play one joint action. Nothing here is left to chance, so the key is not used."""
        return rules.step(self.kitchen, state, jnp.asarray(actions))

    @compiled(1)
    def observe(self, state: State, encoding: str = "planes") -> Any:
        if encoding == "planes":
            return planes(self.kitchen, state)
        if encoding == "planes_first":
            return planes_first(self.kitchen, state)
        if encoding == "features":
            return self._features(state)
        if encoding == "details":
            return self._details(state)
        if encoding == "state":
            seats = jnp.arange(self.num_seats)
            everyone = {f: jnp.broadcast_to(v, (self.num_seats, *v.shape)) for f, v in vars(state).items()}
            return Seen(state=State(**everyone), seat=seats)
        if encoding == "nothing":
            return no_observation(self.num_seats)
        raise UnknownName("encoding", encoding, list(self.encodings))

    @compiled()
    def legal(self, state: State) -> Bool[Array, "seat action"]:
        legal = jnp.ones((self.num_seats, len(ACTIONS)), bool)
        if self.rule_out_null_interacts:
            legal = legal.at[:, INTERACT].set(rules.effective_interacts(self.kitchen, state))
        return legal

    def to_move(self, state: State) -> Bool[Array, " seat"]:
        return jnp.ones(self.num_seats, bool)

    def render(self, state: State, seat: int | None = None) -> str:
        from interplay.games.overcooked import draw

        return draw.text(self.layout.rows, state)

    def scene(self, state: State, seat: int | None = None) -> Scene:
        from interplay.games.overcooked import draw

        return draw.scene(self.layout.rows, state, seat, cook_time=int(self.kitchen.time.max()))

    def _checked(self, positions: Any) -> Any:
        """Concrete start places are checked; traced ones cannot be."""
        if not isinstance(positions, np.ndarray | list | tuple):
            return positions
        places = np.asarray(positions)
        if places.shape != (self.num_seats, 2):
            raise InterplayError(f"positions: shape {places.shape}; give (x, y) for each of {self.num_seats} chefs")
        for seat, (x, y) in enumerate(places):
            inside = 0 <= x < self.layout.width and 0 <= y < self.layout.height
            if not inside or self.layout.terrain[self.layout.cell(x, y)] != FLOOR:
                raise InterplayError(f"positions: chef {seat + 1} cannot start at ({x}, {y}), which is not floor")
        if len({tuple(p) for p in places.tolist()}) < self.num_seats:
            raise InterplayError("positions: two chefs start on one cell")
        return places


class Family:
    """The registered kitchens, and kitchens from text (`layout=`) and files (`layout_file=`)."""

    @staticmethod
    def variants() -> list[str]:
        return [*layouts.ONE_RECIPE, *layouts.SEVERAL_RECIPES]

    @staticmethod
    def make(variant: str = "", **options: Any) -> Overcooked:
        name = layouts.ALIASES.get(variant, variant)
        given = dict(options)
        settings: dict[str, Any] = {}
        text, path = given.pop("layout", None), given.pop("layout_file", None)
        if path is not None:
            text = layouts.read(path).text
        if text is not None:
            layout, name = layouts.parse(text, "layout"), "custom"
            given["layout"] = layout.text
        elif name in layouts.ONE_RECIPE:
            layout = layouts.parse(layouts.ONE_RECIPE[name], name)
        elif name in layouts.SEVERAL_RECIPES:
            layout, settings = layouts.parse(layouts.SEVERAL_RECIPES[name], name), dict(layouts.SEVERAL_RECIPES_OPTIONS)
        else:
            known = [f"overcooked/{v}" for v in Family.variants()]
            raise UnknownName("game", f"overcooked/{variant}" if variant else "overcooked", known)
        settings |= {k: v for k, v in given.items() if k != "layout"}
        return _build(f"overcooked/{name}", layout, settings, given)


_OWN = ("players", "horizon", "rule_out_null_interacts")
_WORDS = ("orders", "bonus_orders")
_NUMBERS = ("values", "times")
_SWITCHES = ("auto_cook", "rule_out_null_interacts")
_WHOLE = ("players", "horizon", "cook_time", "onion_time", "tomato_time")


def _check_option(option: str, value: Any) -> None:
    known = {*Menu.__dataclass_fields__, *_OWN}
    if option not in known:
        raise UnknownName("option", option, sorted(known | {"layout", "layout_file"}))
    wants, fits = "a number", isinstance(value, int | float) and not isinstance(value, bool)
    if option in _SWITCHES:
        wants, fits = "true or false", isinstance(value, bool)
    elif option in _WHOLE:
        wants, fits = "a whole number", isinstance(value, int) and not isinstance(value, bool)
    elif option in _WORDS:
        fits = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
        wants = 'a list of recipes, as in ["OOO", "OT"]'
    elif option in _NUMBERS:
        fits = isinstance(value, list | tuple) and all(isinstance(v, int | float) for v in value)
        wants = "a list of numbers, one for each order"
    if not fits and not (value is None and option not in (*_SWITCHES, *_WORDS, "players", "horizon")):
        raise InterplayError(f"{option}: {value!r} is not {wants}")


def _build(id: str, layout: Layout, settings: dict[str, Any], options: dict[str, Any]) -> Overcooked:
    for option, value in settings.items():
        _check_option(option, value)
    menu: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items() if k not in _OWN}
    rest = {k: v for k, v in settings.items() if k in _OWN}
    rest.setdefault("players", len(layout.starts))
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}
    return Overcooked(id, layout, Menu(**menu), options=plain, **rest)
