"""The 76 games of 2019 that people played together, on five kitchens. See ATTRIBUTION.md beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int8

from interplay.errors import InterplayError
from interplay.games.overcooked.state import ACTIONS


@dataclass(frozen=True, eq=False)
class HumanGame:
    """A game of two people. `interplay.make(f"overcooked/{layout}", **options)` is the kitchen it was played in."""

    layout: str
    pair: str  # a hash that stands for the two people; a pair has played several layouts
    positions: Int8[np.ndarray, "2 2"]  # (x, y) of each chef at the start
    facing: Int8[np.ndarray, " 2"]
    actions: Int8[np.ndarray, "step 2"]
    score: float  # as recorded, in standard points: 20 for a soup
    grid: str | None = None  # the kitchen's text, if it is not one of ours

    @property
    def length(self) -> int:
        """Steps played."""
        return len(self.actions)

    @property
    def game_id(self) -> str:
        """The id of the kitchen."""
        return f"overcooked/{self.layout}"

    @property
    def options(self) -> dict[str, Any]:
        """The game's options: people played for about 1,200 steps, longer than a standard episode."""
        longer = {"horizon": self.length} if self.length > 400 else {}
        return longer if self.grid is None else longer | {"layout": self.grid}

    @property
    def start(self) -> dict[str, np.ndarray]:
        """What `game.init(key, **start)` needs."""
        return {"positions": self.positions.astype(np.int32), "facing": self.facing.astype(np.int32)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HumanGame):
            return NotImplemented
        arrays = ("positions", "facing", "actions")
        plain = ("layout", "pair", "score", "grid")
        return all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays) and all(
            getattr(self, p) == getattr(other, p) for p in plain
        )


def human_games() -> list[HumanGame]:
    """Return the 76 human-human games of 2019 (Carroll et al., overcooked_ai, MIT licence), by layout and pair."""
    return list(_shipped())


@cache
def _shipped() -> tuple[HumanGame, ...]:
    with (files(__name__) / "games.npz").open("rb") as file, np.load(file) as kept:
        return tuple(_unpacked({name: kept[name] for name in kept.files}))


def save_games(games: Sequence[HumanGame], path: str | Path) -> None:
    """Write games compactly: all joint actions in one row of bytes."""
    if any(game.grid is not None for game in games):
        raise InterplayError("only games in known kitchens can be saved in the compact form; use a trace set instead")
    joined = np.concatenate([game.actions for game in games]).astype(np.int16)
    np.savez_compressed(
        path,
        layout=np.array([game.layout for game in games]),
        pair=np.array([game.pair for game in games]),
        positions=np.stack([game.positions for game in games]).astype(np.int8),
        facing=np.stack([game.facing for game in games]).astype(np.int8),
        score=np.array([game.score for game in games], np.float32),
        length=np.array([game.length for game in games], np.int32),
        joint_actions=(joined[:, 0] * len(ACTIONS) + joined[:, 1]).astype(np.uint8),
    )


def _unpacked(kept: dict[str, np.ndarray]) -> list[HumanGame]:
    actions = np.stack(divmod(kept["joint_actions"], len(ACTIONS)), axis=-1).astype(np.int8)
    ends = np.cumsum(kept["length"])
    return [
        HumanGame(
            layout=str(kept["layout"][i]),
            pair=str(kept["pair"][i]),
            positions=kept["positions"][i],
            facing=kept["facing"][i],
            actions=actions[end - kept["length"][i] : end],
            score=float(kept["score"][i]),
        )
        for i, end in enumerate(ends)
    ]
