"""Overcooked as a game: a thin shell around the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.compiled_method import compiled
from interplay.games.family import LONGEST
from interplay.games.overcooked import layouts, rules
from interplay.games.overcooked.encodings import (
    Details,
    OvercookedFeatures,
    OvercookedView,
    num_planes,
    planes,
    planes_first,
)
from interplay.games.overcooked.interact import EVENTS
from interplay.games.overcooked.layouts import OvercookedLayout
from interplay.games.overcooked.random_kitchens import generate
from interplay.games.overcooked.recipes import Menu
from interplay.games.overcooked.state import ACTIONS, FLOOR, IDLE, INTERACT, OvercookedState
from interplay.games.overcooked.static_tables import StaticTables
from interplay.games.scene import Scene

GENERATED = "generated"  # the variant whose kitchen is drawn


@dataclass(frozen=True, kw_only=True)
class OvercookedOptions(Menu):
    """The options of a kitchen: its menu, and what else can be set."""

    players: int | None = None  # chefs; by default as many as the layout has starts
    horizon: int = 400  # steps of an episode
    rule_out_null_interacts: bool = False  # an interact that would do nothing is not legal
    layout: str | None = None  # a kitchen as text, rows split by "/"
    layout_file: str | None = field(default=None, metadata={"local": True})  # a file that holds such a text
    kitchen_seed: int = 0  # of `overcooked/generated`: which kitchen is drawn
    kitchen_size: tuple[int, ...] = (7, 6)  # of `overcooked/generated`: width and height
    kitchen_template: str | None = None  # of `overcooked/generated`: how its walls stand; by default drawn, too


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
        layout: OvercookedLayout,
        menu: Menu,
        *,
        players: int,
        horizon: int = 400,
        rule_out_null_interacts: bool = False,
        options: Mapping[str, Any] | None = None,
    ):
        if not 1 <= players <= layouts.MAX_SEATS:
            raise InterplayError(f"players: {players}; a kitchen takes 1 to {layouts.MAX_SEATS} chefs")
        if not 1 <= horizon <= LONGEST:
            raise InterplayError(f"horizon: {horizon}; an episode has 1 to {LONGEST} steps")
        self.id, self.options = id, dict(options or {})
        self.layout, self.menu, self.horizon, self.num_seats = layout, menu, horizon, players
        self.rule_out_null_interacts = rule_out_null_interacts
        self.kitchen = StaticTables.from_layout(layout, menu, horizon)
        self.seat_names = tuple(f"chef {seat + 1}" for seat in range(players))
        self._starts = np.array(layouts.seat_starts(layout, players), np.int32)
        self._features = OvercookedFeatures(self.kitchen, players)
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
        key: PRNGKeyArray | None,
        *,
        positions: ArrayLike | None = None,
        facing: ArrayLike | None = None,
    ) -> OvercookedState:
        """Return an empty kitchen with chefs at their starts (or `positions`, (x, y)), facing north (or `facing`)."""
        xy = jnp.asarray(self._starts if positions is None else self._checked(positions), jnp.int32)
        size = self.layout.size
        return OvercookedState(
            time=jnp.zeros((), jnp.int32),
            cell=xy[:, 0] * self.layout.height + xy[:, 1],
            facing=jnp.zeros(self.num_seats, jnp.int32) if facing is None else jnp.asarray(facing, jnp.int32),
            held=jnp.zeros(self.num_seats, jnp.int32),
            items=jnp.zeros(size, jnp.int8),
            timer=jnp.full(size, IDLE, jnp.int8),
        )

    def start(self, state: OvercookedState) -> dict[str, Any]:
        """Return the chefs' positions and facings."""
        height = self.layout.height
        return {"positions": jnp.stack([state.cell // height, state.cell % height], axis=-1), "facing": state.facing}

    @compiled()
    def step(
        self, state: OvercookedState, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None
    ) -> tuple[OvercookedState, Step]:
        """Play one joint action. Nothing is left to chance, so the key is not used."""
        return rules.step(self.kitchen, state, jnp.asarray(actions))

    @compiled(1)
    def observe(self, state: OvercookedState, encoding: str = "planes") -> Any:
        """Return what every seat sees."""
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
            return OvercookedView(state=OvercookedState(**everyone), seat=seats)
        if encoding == "nothing":
            return no_observation(self.num_seats)
        raise UnknownName("encoding", encoding, list(self.encodings))

    @compiled()
    def legal(self, state: OvercookedState) -> Bool[Array, "seat action"]:
        """Return the legal actions: all, or only interacts with an effect if the options say so."""
        legal = jnp.ones((self.num_seats, len(ACTIONS)), bool)
        if self.rule_out_null_interacts:
            legal = legal.at[:, INTERACT].set(rules.effective_interacts(self.kitchen, state))
        return legal

    def to_move(self, state: OvercookedState) -> Bool[Array, " seat"]:
        """Return that all seats are to move."""
        return jnp.ones(self.num_seats, bool)

    def render(self, state: OvercookedState, seat: int | None = None) -> str:
        """Return the state as text."""
        from interplay.games.overcooked import draw

        return draw.text(self.layout.rows, state)

    def scene(self, state: OvercookedState, seat: int | None = None) -> Scene:
        """Return the state as shapes."""
        from interplay.games.overcooked import draw

        return draw.scene(self.layout.rows, state, seat, cook_time=int(self.kitchen.time.max()))

    def _checked(self, positions: ArrayLike) -> ArrayLike:
        """Check concrete start places; traced ones cannot be checked."""
        if not isinstance(positions, np.ndarray | list | tuple):
            return positions
        places = np.asarray(positions)
        if places.shape != (self.num_seats, 2):
            raise InterplayError(f"positions: shape {places.shape}; give (x, y) for each of {self.num_seats} chefs")
        for seat, (x, y) in enumerate(places.tolist()):
            inside = 0 <= x < self.layout.width and 0 <= y < self.layout.height
            if not inside or self.layout.terrain[self.layout.cell(x, y)] != FLOOR:
                raise InterplayError(f"positions: chef {seat + 1} cannot start at ({x}, {y}), which is not floor")
        if len({tuple(p) for p in places.tolist()}) < self.num_seats:
            raise InterplayError("positions: two chefs start on one cell")
        return places


def _generated(settings: OvercookedOptions) -> OvercookedLayout:
    if len(settings.kitchen_size) != 2:
        raise InterplayError(f"kitchen_size: {list(settings.kitchen_size)}; give width and height, as in [7, 6]")
    width, height = settings.kitchen_size
    return generate(settings.kitchen_seed, width, height, template=settings.kitchen_template)


def variants() -> list[str]:
    """List the names of the registered kitchens."""
    return [*layouts.ONE_RECIPE, *layouts.SEVERAL_RECIPES, GENERATED]


def make(variant: str, options: Mapping[str, Any]) -> Overcooked:
    """Make a registered kitchen, or one from text (`layout=`) or from a file (`layout_file=`).

    Raises:
        UnknownName: There is no such kitchen.
    """
    name, recorded_options = layouts.ALIASES.get(variant, variant), dict(options)
    defaults = layouts.SEVERAL_RECIPES_OPTIONS if name in layouts.SEVERAL_RECIPES else {}
    settings = build(OvercookedOptions, {**defaults, **recorded_options})
    text = layouts.read(settings.layout_file).text if settings.layout_file is not None else settings.layout
    if text is not None:
        layout, name = layouts.parse(text, "layout"), "custom"
        recorded_options.pop("layout_file", None)
        recorded_options["layout"] = layout.text
    elif name == GENERATED:
        layout = _generated(settings)
    elif name in layouts.ONE_RECIPE or name in layouts.SEVERAL_RECIPES:
        layout = layouts.parse((layouts.ONE_RECIPE | layouts.SEVERAL_RECIPES)[name], name)
    else:
        known = [f"overcooked/{v}" for v in variants()]
        raise UnknownName("game", f"overcooked/{variant}" if variant else "overcooked", known)
    return Overcooked(
        f"overcooked/{name}",
        layout,
        Menu(**{f.name: getattr(settings, f.name) for f in fields(Menu)}),
        players=len(layout.starts) if settings.players is None else settings.players,
        horizon=settings.horizon,
        rule_out_null_interacts=settings.rule_out_null_interacts,
        options={k: list(v) if isinstance(v, tuple) else v for k, v in recorded_options.items()},
    )
