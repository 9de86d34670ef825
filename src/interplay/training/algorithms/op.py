"""Other-play (Hu et al., 2020, "Other-Play" for Zero-Shot Coordination), for Hanabi.

    max E_φ J(π, φ(π)) over permutations φ of the colours

Every seat has its own names for the colours, drawn in every game. A convention that rests on which colour is which
cannot be learnt, so that partners trained apart need not share one. What is seen, allowed and chosen is in the seat's
own names; only the move that is made is translated. The learner is PPO's, where the paper trains with Q-learning.
"""

from __future__ import annotations

from dataclasses import dataclass

from interplay.games.api import Game
from interplay.games.hanabi.suit_permutation import OwnColours
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.config import Experiment
from interplay.training.loader import method_options
from interplay.training.run import Trained, train_stage


@dataclass(frozen=True)
class OPOptions:
    """Options of other-play."""

    keep_first: bool = False  # the first seat keeps the real ones: as general, since only differences matter
    by_turns: bool = False  # as in self-play: only the seat to move is asked, judged and learnt from


@dataclass(frozen=True, kw_only=True)
class OtherPlay(SelfPlay):
    """Self-play in a game whose colours are permuted for each seat."""

    keep_first: bool

    def wrap_game(self, game: Game) -> Game:
        """Return the game with own colours for each seat."""
        return super().wrap_game(OwnColours(game, self.keep_first))  # type: ignore[arg-type]


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train other-play, one policy a run."""
    options = method_options(OPOptions, experiment)
    method = OtherPlay.create(experiment, by_turns=options.by_turns, keep_first=options.keep_first)
    return train_stage(experiment, method, quiet=quiet)
