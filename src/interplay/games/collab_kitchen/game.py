"""The kitchen as a game: a thin shell around the rules. Plain Python, and deterministic."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step
from interplay.games.collab_kitchen import layouts, roles, rules
from interplay.games.collab_kitchen.dishes import HORIZONS, INGREDIENTS, KINDS, Dish, dish, dish_of, parts, process
from interplay.games.collab_kitchen.layouts import PLACES, KitchenLayout
from interplay.games.collab_kitchen.roles import OWN_VERBS, SHARED_VERBS, KitchenRole
from interplay.games.collab_kitchen.state import (
    PRIMITIVES,
    RIGHT,
    Cook,
    KitchenState,
    KitchenWorld,
    Utensil,
    canonical_text,
)
from interplay.games.family import LONGEST
from interplay.games.scene import Scene

REWARD = 20.0
EVENTS = (*(v for v in (*SHARED_VERBS, *OWN_VERBS) if v not in ("wait", "request")), "deliver_wrong")
DEFAULT_DISH = "boiled egg"


class Kitchen:
    """A kitchen in which cooks make one dish.

    The episode ends when it is delivered; `step.reward` pays the seat that delivers it.
    """

    replayable: ClassVar[bool] = True
    rules_version: ClassVar[str] = "kitchen-1"
    action_names: ClassVar[tuple[str, ...]] = (*PRIMITIVES, *(f"take {kind}" for kind in INGREDIENTS))
    event_names: ClassVar[tuple[str, ...]] = EVENTS
    encodings: ClassVar[Mapping[str, Encoding]] = {
        "state": Encoding(None, "record", "the kitchen's state, which all may see; the recipe is no part of it"),
        "nothing": NOTHING,
    }

    def __init__(
        self,
        id: str,
        layout: KitchenLayout,
        ordered: Dish,
        parts_of_seats: Sequence[KitchenRole],
        *,
        horizon: int | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        horizon = HORIZONS[ordered.level] if horizon is None else horizon
        if not 1 <= horizon <= LONGEST:
            raise InterplayError(f"horizon: {horizon}; an episode has 1 to {LONGEST} steps")
        self.id, self.options, self.horizon = id, dict(options or {}), horizon
        self.rules = rules.KitchenRules(layout, ordered, tuple(parts_of_seats), horizon)
        self.num_seats = len(layout.starts)
        self.seat_names = _seat_names(self.rules.roles)
        _check_cookable(self.rules)

    @property
    def layout(self) -> KitchenLayout:
        """The kitchen's layout."""
        return self.rules.layout

    @property
    def dish(self) -> Dish:
        """The dish that is ordered."""
        return self.rules.dish

    @property
    def roles(self) -> tuple[KitchenRole, ...]:
        """The role of each seat."""
        return self.rules.roles

    def init(self, key: Any = None, **start: Any) -> KitchenState:
        """Return the start state, which the layout determines."""
        for name in start:
            raise UnknownName("start value", name, [])
        layout = self.layout
        cooks = tuple(Cook(x, y, 0) for x, y in layout.starts)
        world = KitchenWorld(
            hands=(None,) * self.num_seats,
            counters=(None,) * len(layout.counters),
            utensils=(Utensil(),) * len(layout.utensils),
            taken=0,
            delivered=None,
        )
        return KitchenState(0, cooks, world)

    def start(self, state: KitchenState) -> dict[str, Any]:
        """Return nothing: chance decides nothing."""
        return {}

    def step(self, state: KitchenState, actions: Sequence[int] | Any, key: Any = None) -> tuple[KitchenState, Step]:
        """Play one joint action."""
        chosen = tuple(int(a) for a in np.asarray(actions))
        if len(chosen) != self.num_seats:
            raise InterplayError(f"{self.id}: {len(chosen)} actions for {self.num_seats} seats")
        after, completed = rules.advance(self.rules, state, chosen)
        reward = np.zeros(self.num_seats, np.float32)
        events = np.zeros((self.num_seats, len(EVENTS)), np.int32)
        for act in completed:
            events[act.seat, EVENTS.index(act.verb if act.right else "deliver_wrong")] += 1
            if act.verb == "deliver" and act.right:
                reward[act.seat] += REWARD
        done = after.world.delivered is not None
        step = Step(
            reward=reward,  # type: ignore[arg-type]
            shaped=np.zeros(self.num_seats, np.float32),  # type: ignore[arg-type]
            terminated=np.bool_(done),  # type: ignore[arg-type]
            truncated=np.bool_(not done and after.time >= self.horizon),  # type: ignore[arg-type]
            events=events,  # type: ignore[arg-type]
        )
        return after, step

    def observe(self, state: KitchenState, encoding: str = "state") -> Any:
        """Return what every seat sees."""
        if encoding == "state":
            seen = np.empty(self.num_seats, object)
            for seat in range(self.num_seats):
                seen[seat] = state
            return seen
        if encoding == "nothing":
            return np.zeros((self.num_seats, 0), np.float32)
        raise UnknownName("encoding", encoding, list(self.encodings))

    def legal(self, state: KitchenState) -> Any:
        """Return the legal actions: staying and moving always, others where they have an effect."""
        mask = np.zeros((self.num_seats, len(self.action_names)), bool)
        mask[:, : RIGHT + 1] = True
        for seat, cook in enumerate(state.cooks):
            station = rules.faced(self.layout, cook)
            if station is not None:
                for action in range(RIGHT + 1, len(self.action_names)):
                    mask[seat, action] = rules.use(self.rules, state.world, seat, station, action) is not None
        return mask

    def to_move(self, state: KitchenState) -> Any:
        """Return that all seats are to move."""
        return np.ones(self.num_seats, bool)

    def checksum(self, state: KitchenState) -> int:
        """Return a checksum of a state for traces."""
        return zlib.crc32(canonical_text(tuple(state)).encode())

    def render(self, state: KitchenState, seat: int | None = None) -> str:
        """Return the state as text for a seat."""
        from interplay.games.collab_kitchen import draw

        return draw.text(self, state, seat)

    def scene(self, state: KitchenState, seat: int | None = None) -> Scene:
        """Return the state as shapes."""
        from interplay.games.collab_kitchen import draw

        return draw.scene(self, state, seat)


def _seat_names(roles: tuple[KitchenRole, ...]) -> tuple[str, ...]:
    names = []
    for seat, role in enumerate(roles):
        before = sum(other.name == role.name for other in roles[:seat])
        names.append(role.name if before == 0 else f"{role.name} {before + 1}")
    return tuple(names)


def _check_cookable(constants: rules.KitchenRules) -> None:
    """Check that every utensil the dish needs exists, and that somebody who may use it can reach it."""
    layout, ordered = constants.layout, constants.dish
    needed = {made.kind.name for made in map(process, parts(ordered.food)) if made is not None}
    wanted = {letter: kind.verb for letter, kind in KINDS.items() if kind.name in needed}
    wanted |= {"I": "pickup", "S": "deliver"} | ({"D": "pickup"} if ordered.plated else {})
    for letter, verb in wanted.items():
        stations = [s for s in layout.stations if s.letter == letter]
        name = PLACES[letter]
        if not stations:
            raise InterplayError(f"{ordered.name!r} takes a {name}, but the layout has none ({letter})")
        able = [
            seat
            for seat, role in enumerate(constants.roles)
            if verb in role.verbs and any(layout.reaches(seat, s) for s in stations)
        ]
        if not able:
            raise InterplayError(
                f"{ordered.name!r} takes a {name}, but no cook who can reach it may {verb}; change layout or roles"
            )


@dataclass(frozen=True, kw_only=True)
class KitchenOptions:
    """The options of a kitchen for teams that talk."""

    dish: str | None = None  # what is ordered, by its name
    level: int | None = None  # or by its level, 1 to 6,
    number: int | None = None  # and its number within the level
    layout: str | None = None  # a kitchen as text, rows split by "/"
    roles: tuple[Any, ...] | None = None  # a role for each seat: name, verbs, knows_recipe
    horizon: int | None = None  # steps of an episode; null: by the level of the dish


def variants() -> list[str]:
    """List the original kitchen, its twins with (rc) and without (nrc) required cooperation, and the open room."""
    return list(layouts.LAYOUTS)


def make(variant: str, options: Mapping[str, Any]) -> Kitchen:
    """Make one of the registered kitchens, or one from text (`layout=`)."""
    settings = build(KitchenOptions, options)
    text = settings.layout
    if text is None and variant not in layouts.LAYOUTS:
        known = [f"kitchen/{v}" for v in variants()]
        raise UnknownName("game", f"kitchen/{variant}" if variant else "kitchen", known)
    layout = layouts.parse(layouts.LAYOUTS[variant] if text is None else text)
    seats = len(layout.starts)
    if settings.roles is not None:
        parts_of_seats = roles.read_roles(settings.roles, seats)
    else:
        split = text is None and variant == "original"
        parts_of_seats = roles.split_roles(seats) if split else roles.able_roles(seats)
    name = f"kitchen/{variant if text is None else 'custom'}"
    return Kitchen(name, layout, _ordered(options), parts_of_seats, horizon=settings.horizon, options=options)


def _ordered(options: Mapping[str, Any]) -> Dish:
    if "dish" in options and ("level" in options or "number" in options):
        raise InterplayError("give either a dish by its name, or a level and a number")
    if "number" in options and "level" not in options:
        raise InterplayError("a dish's number counts within its level: give the level too")
    if "level" in options:
        return dish_of(options["level"], options.get("number", 1))
    return dish(options.get("dish", DEFAULT_DISH))
