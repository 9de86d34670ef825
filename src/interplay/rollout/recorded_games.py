"""Recorded games as one small file: starts and actions, and whose actions are worth learning.

A trace set holds more and needs more to be read; this is what travels to a machine that only trains. An `.npz` with

    about       JSON: format, version, and for every set of rules the game's id and options
    rules       [game] which of these it was played by
    actions     [game, step, seat], filled up with -1
    length      [game]
    learn       [game, seat] whose actions are to be learnt
    person      [game] games of one number go together when some are held out
    score       [game]
    start.NAME  [game, ...] what the game's `init` needs
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from interplay.errors import InterplayError
from interplay.untrusted_files import parse_json, read_npz

FORMAT, VERSION = "interplay-recorded", 1
ARRAYS = ("rules", "actions", "length", "learn", "person", "score")


@dataclass(frozen=True)
class Recorded:
    """A game that was played: enough to play it again."""

    name: str  # for messages
    actions: Int[np.ndarray, "step seat"]
    start: Mapping[str, Any] = field(default_factory=dict)  # what `game.init(key, **start)` needs
    score: float | None = None  # if it was written down, the replay has to come to it
    game: str = ""  # the game's id; "": whatever game it is replayed in
    options: Mapping[str, Any] = field(default_factory=dict)  # of the rules by which it was played
    learn: tuple[bool, ...] | None = None  # by seat, whose actions are to be learnt; None: everybody's
    person: int | None = None  # games of one person go together when some are held out; None: this game alone


def save(path: str | Path, games: Sequence[Recorded]) -> None:
    """Write games, which may differ in the options of their rules."""
    if not games:
        raise InterplayError(f"there are no games to write to {path}")
    kinds: list[dict[str, Any]] = []
    for one in games:
        kind = {"game": one.game, "options": dict(one.options)}
        if kind not in kinds:
            kinds.append(kind)
    seats, steps = games[0].actions.shape[1], max(len(one.actions) for one in games)
    actions = np.full((len(games), steps, seats), -1, np.int16)
    for row, one in zip(actions, games, strict=True):
        row[: len(one.actions)] = one.actions
    arrays: dict[str, np.ndarray] = {
        "about": np.array(json.dumps({"format": FORMAT, "version": VERSION, "rules": kinds})),
        "rules": np.array([kinds.index({"game": g.game, "options": dict(g.options)}) for g in games], np.int16),
        "actions": actions.astype(np.int8) if actions.max(initial=0) < 128 else actions,
        "length": np.array([len(one.actions) for one in games], np.int32),
        "learn": np.array([(True,) * seats if one.learn is None else one.learn for one in games], bool),
        "person": np.array([-1 - i if g.person is None else g.person for i, g in enumerate(games)], np.int64),
        "score": np.array([np.nan if one.score is None else one.score for one in games], np.float32),
    }
    arrays |= {f"start.{name}": np.stack([np.asarray(g.start[name]) for g in games]) for name in games[0].start}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.writing.npz")
    np.savez_compressed(beside, **arrays)  # type: ignore[arg-type]
    beside.replace(path)


def load(path: str | Path) -> list[Recorded]:
    """The games of a file that `save` wrote."""
    path = Path(path)
    arrays = read_npz(path)
    about = parse_json(str(arrays.pop("about", "null")), f"{path}, about")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InterplayError(f"{path} holds no recorded games: it does not say {FORMAT!r}")
    if about.get("version") != VERSION:
        raise InterplayError(f"{path} has version {about.get('version')} of the format; this interplay reads {VERSION}")
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise InterplayError(f"{path} lacks {', '.join(missing)}")
    _check(path, arrays, about)
    starts = {name.removeprefix("start."): arrays[name] for name in arrays if name.startswith("start.")}
    return [
        Recorded(
            name=f"{path.name}, game {i}",
            actions=arrays["actions"][i, : arrays["length"][i]].astype(np.int32),
            start={name: values[i] for name, values in starts.items()},
            score=None if np.isnan(arrays["score"][i]) else float(arrays["score"][i]),
            game=about["rules"][arrays["rules"][i]]["game"],
            options=about["rules"][arrays["rules"][i]]["options"],
            learn=tuple(bool(x) for x in arrays["learn"][i]),
            person=int(arrays["person"][i]),
        )
        for i in range(len(arrays["length"]))
    ]


def _check(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Every array speaks of the same games, and every game of rules that are there."""
    games, rules = arrays["actions"].shape[:1], about.get("rules")
    shapes = {"rules": games, "length": games, "person": games, "score": games}
    shapes["learn"] = (*games, *arrays["actions"].shape[2:])
    for name, shape in shapes.items():
        if arrays["actions"].ndim != 3 or arrays[name].shape != shape or arrays[name].dtype.kind not in "biuf":
            raise InterplayError(f"{path}: {name} does not fit actions of shape {arrays['actions'].shape}")
    starts = [values for name, values in arrays.items() if name.startswith("start.")]
    if any(values.shape[:1] != games for values in starts):
        raise InterplayError(f"{path}: a start value does not have a row for each of {games[0]} games")
    whole = isinstance(rules, list) and all(isinstance(r, dict) and {"game", "options"} <= set(r) for r in rules)
    numbers, lengths = arrays["rules"], arrays["length"]
    if not whole or (numbers.size and not (numbers.min() >= 0 and numbers.max() < len(rules))):  # type: ignore[arg-type]
        raise InterplayError(f"{path}: a game names rules that the file does not tell")
    if lengths.size and not (lengths.min() >= 0 and lengths.max() <= arrays["actions"].shape[1]):
        raise InterplayError(f"{path}: a game is longer than its actions")
