"""Other-play: self-play in which every player has its own names for the colours, drawn anew in every game.

A convention that rests on which colour is which cannot be learnt, so that partners trained apart need not share one.
What is seen, allowed and chosen is kept in the player's own names; only the move that is made is mapped.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from interplay.games.hanabi.suit_permutation import OwnColours
from interplay.training.algorithms.sp import scheme as self_play
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.training.run import train as train_stage


@dataclass(frozen=True)
class OPOptions:
    """Whose names for the colours are drawn."""

    keep_first: bool = False  # the first seat keeps the real ones: as general, since only differences matter
    by_turns: bool = False  # as in self-play: only the seat to move is asked, judged and learnt from


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max E_φ J(π, φ(π)) over exchanges φ of colours."""
    options = build(OPOptions, experiment.algorithm.options, "algorithm.options")
    scheme = self_play(experiment, by_turns=options.by_turns)

    def world(game: Any) -> Any:
        own = OwnColours(game, options.keep_first)
        return own if scheme.world is None else scheme.world(own)  # type: ignore[arg-type]

    return train_stage(experiment, dataclasses.replace(scheme, world=world), quiet=quiet)
