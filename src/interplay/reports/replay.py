"""An episode to watch: frames as small JSON, for the player in the page.

Most of a frame was there before, so everything is stored once: `shapes` are the shapes, `sprites` the contents of
groups as numbers of shapes, `placed` are sprites at a place (or lone shapes), a frame is a list of numbers into
`placed`, and equal frames are one.
Everywhere in a replay `t` counts the steps played: t = 0 is the start, t = 1 what the first actions brought.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game, State
from interplay.games.scene import Scene, Shape
from interplay.reports.diagrams import Mark
from interplay.table import plain

Arrays = np.ndarray | jax.Array


def replay_data(
    game: Game,
    states: State,
    actions: Arrays,
    rewards: Arrays,
    *,
    title: str = "",
    agents: Sequence[str] = (),
    id: str | int | None = None,
    events: Arrays | None = None,
    mark_events: Collection[str] = (),
    marks: Sequence[Mark] = (),
    remarks: Sequence[Mapping[str, Any]] = (),
    seat_views: bool = False,
) -> dict[str, Any]:
    """The replay of one episode.

    `states` is a record of stacked arrays [T + 1, ...], or a list of T + 1 states; `actions` and `rewards` are
    [T, seat]; `events` [T, seat, event]. Marks appear on the scrub bar: points are marked by themselves, the
    events named in `mark_events` and the given `marks` (hand-overs) besides. Events are told beside the seats, but
    for those that happen to somebody in a quarter of all steps or more, which are no news. `remarks` are what was
    said, as {"t", "seat", "kind", "text"}. With `seat_views` each seat's own view can be chosen.
    """
    actions, rewards = np.asarray(actions), np.asarray(rewards, dtype=float)
    frames = _unstacked(states)
    _check(frames, actions, rewards, events, game)
    shapes = _Shapes()
    seats: list[int | None] = [None, *(range(game.num_seats) if seat_views else ())]
    views = {"" if s is None else str(s): shapes.view([game.scene(f, s) for f in frames]) for s in seats}
    first = game.scene(frames[0])
    earned = [(int(t) + 1, int(s), float(rewards[t, s])) for t, s in np.argwhere(rewards != 0)]
    points = (Mark(t, s, "points", f"{reward:+g} points") for t, s, reward in earned)
    all_marks = [*points, *_events_as_marks(game, events, mark_events), *marks]
    data = {
        "title": title,
        "game": game.id,
        "agents": list(agents) or [f"seat {s}" for s in range(game.num_seats)],
        "seats": list(game.seat_names),
        "width": first.width,
        "height": first.height,
        "steps": len(actions),
        "shapes": list(shapes.shapes),
        "sprites": list(shapes.sprites),
        "placed": list(shapes.placed),
        "views": views,
        "action_names": list(game.action_names),
        "actions": actions.T.tolist(),
        "rewards": earned,
        "event_names": list(game.event_names),
        "events": _news(events),
        "marks": [_mark(m) for m in sorted(all_marks, key=lambda m: m.t)],
        "remarks": [dict(r) for r in remarks],
    }
    return plain(data if id is None else {"id": str(id)} | data)


def still(data: Mapping[str, Any], t: int = 0, view: str = "") -> Scene:
    """The scene that the player shows at a step: for print, for pages without scripts, for tests."""
    if not 0 <= t <= data["steps"]:
        raise InterplayError(f"this replay has the steps 0 to {data['steps']}, not {t}")
    seen = data["views"][view]

    def shape(index: int) -> Shape:
        stored = data["placed"][index]
        if isinstance(stored[0], int):
            sprite, x, y = stored
            return ("group", x, y, tuple(_tuples(data["shapes"][s]) for s in data["sprites"][sprite]))
        return _tuples(stored)

    backdrop, frame = seen["backdrop"], seen["frames"][seen["at"][t]]
    return Scene(data["width"], data["height"], tuple(map(shape, backdrop)), tuple(map(shape, frame)))


class _Shapes:
    """The tables of shapes, sprites and placed sprites that all views of a replay share, each with its numbers."""

    def __init__(self) -> None:
        self.shapes: dict[Shape, int] = {}
        self.sprites: dict[tuple[int, ...], int] = {}
        self.placed: dict[Shape, int] = {}
        self._known: dict[Shape, int] = {}  # numbers within `placed`, by the shape as it is drawn

    def view(self, scenes: Sequence[Scene]) -> dict[str, Any]:
        backdrop = scenes[0].backdrop
        if any(scene.backdrop is not backdrop and scene.backdrop != backdrop for scene in scenes):
            raise InterplayError("the backdrop of a scene must not change within an episode; draw it as shapes instead")
        numbers: dict[tuple[int, ...], int] = {}
        at = [numbers.setdefault(tuple(map(self._number, s.shapes)), len(numbers)) for s in scenes]
        return {"backdrop": list(map(self._number, backdrop)), "frames": [list(f) for f in numbers], "at": at}

    def _number(self, shape: Shape) -> int:
        if shape not in self._known:
            stored = shape
            if shape[0] == "group":
                sprite = tuple(self.shapes.setdefault(inner, len(self.shapes)) for inner in shape[3])
                stored = (self.sprites.setdefault(sprite, len(self.sprites)), shape[1], shape[2])
            self._known[shape] = self.placed.setdefault(stored, len(self.placed))
        return self._known[shape]


def _unstacked(states: State) -> list[Any]:
    if isinstance(states, list | tuple) and not hasattr(states, "_fields"):
        return list(states)
    leaves, tree = jax.tree_util.tree_flatten(states)
    arrays = [np.asarray(leaf) for leaf in leaves]
    return [jax.tree_util.tree_unflatten(tree, [a[t] for a in arrays]) for t in range(len(arrays[0]))]


def _check(frames: list, actions: np.ndarray, rewards: np.ndarray, events, game: Game) -> None:
    steps = len(actions)
    if len(frames) != steps + 1:
        raise InterplayError(f"{steps} joint actions lead through {steps + 1} states, but there are {len(frames)}")
    if actions.shape != (steps, game.num_seats) or rewards.shape != (steps, game.num_seats):
        raise InterplayError(
            f"actions and rewards must be [step, {game.num_seats}], not {actions.shape} and {rewards.shape}"
        )
    expected = (steps, game.num_seats, len(game.event_names))
    if events is not None and np.shape(events) != expected:
        raise InterplayError(f"events of {game.id} must be {expected}, not {np.shape(events)}")


def _events_as_marks(game: Game, events: Arrays | None, names: Collection[str]) -> list[Mark]:
    unknown = set(names) - set(game.event_names)
    if unknown:
        raise InterplayError(
            f"{game.id} has no event {', '.join(sorted(unknown))}; it has {', '.join(game.event_names)}"
        )
    if events is None:
        return []
    happened = np.argwhere(np.asarray(events))
    return [Mark(int(t) + 1, int(s), game.event_names[e]) for t, s, e in happened if game.event_names[e] in names]


def _news(events: Arrays | None) -> list[list[int]]:
    if events is None:
        return []
    happened = np.asarray(events) != 0
    rare = happened.any(axis=1).mean(axis=0) < 0.25
    return [[int(t) + 1, int(s), int(e)] for t, s, e in np.argwhere(happened & rare)]


def _mark(mark: Mark) -> dict[str, Any]:
    content = {"t": mark.t, "seat": mark.seat, "kind": mark.kind, "label": mark.label or mark.kind.replace("_", " ")}
    return content if mark.to is None else content | {"to": mark.to}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list | tuple) else value
