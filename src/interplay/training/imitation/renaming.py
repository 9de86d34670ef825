"""Games of Hanabi with other names for the colours: as many games to learn from as there are orders of the colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from interplay.games.api import Game
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.suit_permutation import VECTORS, real_moves, vector_places


class Renamings(NamedTuple):
    """Every order of the colours, the first of them the real one."""

    seen: Int[np.ndarray, "order place"]  # vector as seen = real vector[..., seen]
    real: Int[np.ndarray, "order action"]  # what an action is really; legal as seen = legal[..., real]
    named: Int[np.ndarray, "order action"]  # what a real action is as seen


def renamings(game: Game, encoding: str) -> Renamings | None:
    """Return those of a game; None if it, or the encoding, has no colours to exchange."""
    if not isinstance(game, Hanabi) or encoding not in VECTORS:
        return None
    real = real_moves(game.rules)
    return Renamings(vector_places(game.rules), real, np.argsort(real, axis=1))
